#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "sql/catalog/catalog.h"
#include "sql/catalog/rows.h"

namespace pinwheel::sql {

/// A column to be made. Layout facts come from its type.
struct NewColumn {
  std::string name;
  Oid type;
  std::int32_t type_modifier = -1;
  Oid collation;
  std::int32_t dimensions = 0;
  bool not_null = false;
  char identity = '\0';
  char generated = '\0';
  char storage = '\0';  // '\0' = the type's
  char compression = '\0';
};

/// A relation to be made: table, view, sequence, index or toast table.
struct NewRelation {
  Oid oid;  // 0 = a new one
  std::string name;
  Oid schema;
  char kind = 'r';
  char persistence = 'p';
  Oid owner;
  Oid access_method;
  std::vector<NewColumn> columns;
  std::vector<std::string> options;  // "name=value"
  bool has_row_type = true;
};

/// Inserts the pg_class, pg_attribute and pg_type rows of a new relation and makes its empty files. The
/// caller has checked privileges. Errors: 42P07 `relation "x" already exists`, 42710 `type "x" already
/// exists`, 42701, 42P16 for pseudo-types, 54011.
Oid create_relation(Catalog& catalog, const NewRelation& relation);

/// Facts of a column's layout from its type, as pg_attribute holds them.
AttributeRow make_attribute(Catalog& catalog, Oid relation, const NewColumn& column, std::int16_t number);

/// Raises what create_relation would if the name were taken.
void check_name_free(Catalog& catalog, Oid schema, std::string_view name);
bool name_is_taken(Catalog& catalog, Oid schema, std::string_view name);

/// Makes the empty main fork (and init fork of unlogged ones) of a new file of this transaction.
void create_relation_files(Catalog& catalog, FileId file, char persistence);

/// Gives a table (or toast table) a new, empty file in place of its own, transactionally. Its indexes are the
/// caller's to rebuild.
void replace_relation_file(Catalog& catalog, Oid relation);

/// Gives `table` a toast table if its columns may need one.
void create_toast_table(Catalog& catalog, Oid table);
bool needs_toast_table(const Relation& table);

/// Reads a pg_class row, lets `change` alter it, writes it back and invalidates the relation.
template <class Change>
void change_class_row(Catalog& catalog, Oid relation, Change change);
/// As above for a pg_attribute row.
template <class Change>
void change_attribute_row(Catalog& catalog, Oid relation, std::int16_t number, Change change);

}  // namespace pinwheel::sql

#include "sql/commands/relation_create.inl.h"
