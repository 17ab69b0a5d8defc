#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/ids.h"
#include "sql/catalog/catalog.h"

namespace pinwheel::sql {

struct NewIndexKey {
  std::int16_t column = 0;  // 0 = expression
  std::string expression;   // stored source
  std::string name;         // of an expression: as a query's column would be called; "" = "expr"
  Oid type;
  std::int32_t type_modifier = -1;
  Oid collation;
  Oid operator_class;
  bool descending = false;
  bool nulls_first = false;
};

/// An index to be made, everything resolved.
struct NewIndex {
  std::string name;
  Oid schema;
  Oid table;
  std::vector<NewIndexKey> keys;  // INCLUDE columns last
  int key_count = 0;
  bool unique = false;
  bool nulls_not_distinct = false;
  bool primary = false;
  bool immediate = true;
  std::string predicate;
  std::vector<std::string> options;
};

/// Makes the catalog rows and the file of an index on a table that nobody else can change meanwhile (Share
/// lock or stronger, or the table is new), and fills it from the table's rows. Errors: 42P07; 23505 `could
/// not create unique index "x"` with the key's detail. Returns the index's oid. Dependencies on columns are
/// recorded; those of a constraint are the caller's.
Oid create_index(Catalog& catalog, const NewIndex& index, bool for_constraint = false);

/// Empties and fills an index anew from its table, in a new file: REINDEX, TRUNCATE, rewrites.
void rebuild_index(Catalog& catalog, const Relation& table, Oid index);

/// The name PostgreSQL would choose: `t_a_b_idx`, `t_a_key`, `t_pkey`, with a number when taken.
std::string choose_index_name(Catalog& catalog, Oid schema, std::string_view table,
                              const std::vector<std::string>& columns, bool primary, bool constraint);
/// name1_name2_label, cut so that it fits in 63 bytes, and free among relations of the schema (and not in
/// `taken`).
std::string choose_relation_name(Catalog& catalog, Oid schema, std::string_view name1, std::string_view name2,
                                 std::string_view label);
/// As above without looking whether it is free.
std::string make_object_name(std::string_view name1, std::string_view name2, std::string_view label);

}  // namespace pinwheel::sql
