#pragma once

#include <memory>
#include <string_view>

#include "sql/catalog/catalog.h"
#include "sql/catalog/relation.h"
#include "sql/catalog/rows.h"
#include "sql/catalog/system_tables.h"

namespace pinwheel::sql {

/// A table or view of the system itself, from constant facts.
std::unique_ptr<Relation> build_system_relation(const SystemRelation& facts, Oid database);
/// An index of the system itself, as a relation of kind 'i'.
std::unique_ptr<Relation> build_system_index(const SystemIndex& facts, Oid database);
/// A user's relation, from its pg_class row and what the other catalogs say of it.
std::unique_ptr<Relation> build_relation(Catalog& catalog, const ClassRow& row);

/// Fills what follows from the column list (layout) and heap facts; for commands that make a relation before
/// its catalog rows can be read.
void finish_layout(Relation& relation);

/// WITH options as stored ("fillfactor=90") to fields. Unknown ones are kept in `all` only.
RelationOptions parse_relation_options(const std::vector<std::string>& stored);

/// Splits pg_index.indexprs.
std::vector<std::string> split_expressions(std::string_view stored);

}  // namespace pinwheel::sql
