#include "sql/analyze/names.h"

#include "base/name_match.h"
#include "sql/analyze/types.h"

namespace pinwheel::sql {

namespace {

struct SystemColumn {
  std::string_view name;
  std::int16_t attribute;
  Oid type;
};
constexpr SystemColumn kSystemColumns[] = {
    {"ctid", -1, kTidType}, {"xmin", -2, kXidType}, {"cmin", -3, kCidType},
    {"xmax", -4, kXidType}, {"cmax", -5, kCidType}, {"tableoid", -6, kOidType},
};

void note_read(Scope& level, int range_index) {
  RangeEntry& entry = level.range_table[range_index];
  if (entry.kind == RangeKind::kRelation) entry.required_privileges |= 2;  // SELECT
}

}  // namespace

std::int16_t system_column(std::string_view name, Oid* type) {
  for (const SystemColumn& column : kSystemColumns) {
    if (column.name != name) continue;
    *type = column.type;
    return column.attribute;
  }
  return 0;
}

std::string_view system_column_name(std::int16_t attribute) {
  for (const SystemColumn& column : kSystemColumns) {
    if (column.attribute == attribute) return column.name;
  }
  return "???";
}

Expr* make_column(Scope& scope, const NamespaceItem& item, const NamespaceColumn& column, std::int16_t number,
                  int levels_up, int location) {
  Scope* level = &scope;
  for (int i = 0; i < levels_up; ++i) level = level->parent;
  note_read(*level, column.range_index);
  ColumnExpr* node = scope.an.arena.make<ColumnExpr>();
  node->range_index = column.range_index;
  node->attribute = column.attribute;
  node->levels_up = levels_up;
  node->type = column.type;
  node->location = location;
  if (item.range_index >= 0 && item.range_index != column.range_index &&
      level->range_table[item.range_index].has_alias) {
    node->named_range_index = item.range_index;
    node->named_attribute = number;
  }
  return node;
}

Expr* column_of_item(Scope& scope, const NamespaceItem& item, int levels_up, std::string_view name,
                     int location) {
  int found = -1;
  for (std::size_t i = 0; i < item.columns.size(); ++i) {
    if (item.columns[i].name.empty() || item.columns[i].star_hidden || item.columns[i].name != name) continue;
    if (found >= 0) {
      throw scope.an.error(sqlstate::kAmbiguousColumn,
                           cat("column reference ", quoted(name), " is ambiguous"), location);
    }
    found = static_cast<int>(i);
  }
  if (found >= 0) {
    return make_column(scope, item, item.columns[found], static_cast<std::int16_t>(found + 1), levels_up,
                       location);
  }
  Scope* level = &scope;
  for (int i = 0; i < levels_up; ++i) level = level->parent;
  if (item.range_index < 0) return nullptr;
  const RangeEntry& entry = level->range_table[item.range_index];
  if (entry.kind != RangeKind::kRelation || (entry.relation_kind != 'r' && entry.relation_kind != 'm' &&
                                             entry.relation_kind != 'S' && entry.relation_kind != 't')) {
    return nullptr;
  }
  Oid type;
  const std::int16_t attribute = system_column(name, &type);
  if (attribute == 0) return nullptr;
  note_read(*level, item.range_index);
  ColumnExpr* node = scope.an.arena.make<ColumnExpr>();
  node->range_index = item.range_index;
  node->attribute = attribute;
  node->levels_up = levels_up;
  node->type = {type, -1, {}};
  node->location = location;
  return node;
}

Expr* make_whole_row(Scope& scope, const NamespaceItem& item, int levels_up, int location) {
  Analysis& an = scope.an;
  Scope* level = &scope;
  for (int i = 0; i < levels_up; ++i) level = level->parent;
  const RangeEntry& entry = level->range_table[item.range_index];
  if (entry.kind == RangeKind::kJoin) {
    // A join has no row of its own: make it from its columns.
    std::vector<Expr*> args;
    std::vector<std::string_view> names;
    for (std::size_t i = 0; i < item.columns.size(); ++i) {
      if (item.columns[i].name.empty()) continue;
      args.push_back(
          make_column(scope, item, item.columns[i], static_cast<std::int16_t>(i + 1), levels_up, location));
      names.push_back(item.columns[i].name);
    }
    RowExpr* row = an.arena.make<RowExpr>();
    row->type = {kRecordType, -1, {}};
    row->args = to_span(an.arena, args);
    row->names = to_span(an.arena, names);
    row->location = location;
    return row;
  }
  // A function that gives one column: its "row" is the value itself.
  if (entry.kind == RangeKind::kFunction && entry.scalar_function && entry.functions.size() == 1 &&
      !entry.with_ordinality && entry.columns.size() == 1) {
    return make_column(scope, item, item.columns[0], 1, levels_up, location);
  }
  note_read(*level, item.range_index);
  ColumnExpr* node = an.arena.make<ColumnExpr>();
  node->range_index = item.range_index;
  node->attribute = 0;
  node->levels_up = levels_up;
  node->location = location;
  node->type = {kRecordType, -1, {}};
  if (entry.kind == RangeKind::kRelation || entry.view.value != 0) {
    const Oid relation = entry.view.value != 0 ? entry.view : entry.relation;
    if (const ViewedRelation* info = an.catalog.relation(relation);
        info != nullptr && info->row_type.value != 0) {
      node->type.type = info->row_type;
    }
  } else if (entry.kind == RangeKind::kFunction && entry.functions.size() == 1 && !entry.with_ordinality &&
             entry.functions[0]->type.type != kRecordType && is_row_type(an, entry.functions[0]->type.type)) {
    node->type.type = entry.functions[0]->type.type;
  }
  return node;
}

Expr* find_column_by_name(Scope& scope, std::string_view name, int location) {
  Analysis& an = scope.an;
  int levels_up = 0;
  for (Scope* level = &scope; level != nullptr; level = level->parent, ++levels_up) {
    Expr* found = nullptr;
    for (const NamespaceItem& item : level->names) {
      if (!item.columns_visible) continue;
      if (item.lateral_only && !level->lateral_active) continue;
      Expr* column = column_of_item(scope, item, levels_up, name, location);
      if (column == nullptr) continue;
      // System columns are only named through their table when several could give them.
      if (found != nullptr) {
        throw an.error(sqlstate::kAmbiguousColumn, cat("column reference ", quoted(name), " is ambiguous"),
                       location);
      }
      if (item.lateral_only && !item.lateral_ok) {
        throw an
            .error(sqlstate::kInvalidColumnReference,
                   cat("invalid reference to FROM-clause entry for table ", quoted(item.name)), location)
            .detail("The combining JOIN type must be INNER or LEFT for a LATERAL reference.");
      }
      found = column;
    }
    if (found != nullptr) return found;
  }
  return nullptr;
}

const NamespaceItem* find_item(Scope& scope, std::string_view schema, std::string_view name, int location,
                               int* levels_up) {
  Analysis& an = scope.an;
  Oid wanted;
  if (!schema.empty()) {
    const Oid schema_oid = an.catalog.find_schema(schema);
    if (schema_oid.value == 0) return nullptr;
    const ViewedRelation* relation = an.catalog.find_relation(schema, name, 1);
    if (relation == nullptr) return nullptr;
    wanted = relation->oid;
  }
  *levels_up = 0;
  for (Scope* level = &scope; level != nullptr; level = level->parent, ++*levels_up) {
    const NamespaceItem* found = nullptr;
    for (const NamespaceItem& item : level->names) {
      if (!item.name_visible) continue;
      if (item.lateral_only && !level->lateral_active) continue;
      if (wanted.value != 0 ? item.relation != wanted : item.name != name) continue;
      if (found != nullptr) {
        throw an.error(sqlstate::kAmbiguousAlias,
                       wanted.value != 0 ? cat("table reference ", wanted.value, " is ambiguous")
                                         : cat("table reference ", quoted(name), " is ambiguous"),
                       location);
      }
      if (item.lateral_only && !item.lateral_ok) {
        throw an
            .error(sqlstate::kInvalidColumnReference,
                   cat("invalid reference to FROM-clause entry for table ", quoted(item.name)), location)
            .detail("The combining JOIN type must be INNER or LEFT for a LATERAL reference.");
      }
      found = &item;
    }
    if (found != nullptr) return found;
  }
  return nullptr;
}

void throw_missing_item(Scope& scope, std::string_view schema, std::string_view name, int location) {
  Analysis& an = scope.an;
  // A table of that name or alias that is there but out of reach.
  const RangeEntry* hidden = nullptr;
  bool real_name_only = false;
  for (Scope* level = &scope; level != nullptr && hidden == nullptr; level = level->parent) {
    for (const RangeEntry& entry : level->range_table) {
      if (entry.kind == RangeKind::kJoin && !entry.has_alias) continue;
      if (entry.alias == name) hidden = &entry;
    }
    if (hidden != nullptr) break;
    for (const RangeEntry& entry : level->range_table) {
      if (entry.kind != RangeKind::kRelation && entry.view.value == 0) continue;
      const ViewedRelation* relation =
          an.catalog.relation(entry.view.value != 0 ? entry.view : entry.relation);
      if (relation == nullptr || relation->name != name) continue;
      if (!schema.empty() && relation->schema_name != schema) continue;
      hidden = &entry;
      real_name_only = true;
    }
  }
  if (hidden != nullptr && real_name_only && hidden->alias != name) {
    throw an
        .error(sqlstate::kUndefinedTable,
               cat("invalid reference to FROM-clause entry for table ", quoted(name)), location)
        .hint(cat("Perhaps you meant to reference the table alias ", quoted(hidden->alias), "."));
  }
  if (hidden != nullptr) {
    throw an
        .error(sqlstate::kUndefinedTable,
               cat("invalid reference to FROM-clause entry for table ", quoted(name)), location)
        .hint(cat("There is an entry for table ", quoted(hidden->alias),
                  ", but it cannot be referenced from this part of the query."));
  }
  throw an.error(sqlstate::kUndefinedTable, cat("missing FROM-clause entry for table ", quoted(name)),
                 location);
}

namespace {

/// The one or two columns whose names come closest to what was written.
struct Suggestions {
  static constexpr int kFarthest = 3;
  int distance = kFarthest + 1;
  std::string first, second;
  int count = 0;
  std::string_view exact_table;

  void consider(std::string_view alias, std::string_view wanted, std::string_view actual, int penalty) {
    if (penalty > distance) return;
    int d = edit_distance(actual, wanted, distance + 1 - penalty);
    if (d > static_cast<int>(wanted.size()) / 2) return;
    d += penalty;
    if (d < distance) {
      distance = d;
      first = cat(alias, ".", actual);
      second.clear();
      count = 1;
    } else if (d == distance) {
      if (count == 1) {
        second = cat(alias, ".", actual);
        count = 2;
      } else {
        // Too many equally good ones are no help; from here only better ones count.
        --distance;
        first.clear();
        second.clear();
        count = 0;
      }
    }
  }
};

}  // namespace

void throw_missing_column(Scope& scope, std::string_view table, std::string_view column, int location) {
  Analysis& an = scope.an;
  Suggestions best;
  for (Scope* level = &scope; level != nullptr; level = level->parent) {
    for (const RangeEntry& entry : level->range_table) {
      if (entry.kind == RangeKind::kJoin) continue;
      const int penalty = table.empty() || entry.alias == table
                              ? 0
                              : edit_distance(table, entry.alias, Suggestions::kFarthest + 1);
      for (const ColumnDefinition& candidate : entry.columns) {
        if (candidate.name.empty()) continue;
        if (candidate.name == column && penalty == 0 && best.exact_table.empty())
          best.exact_table = entry.alias;
        best.consider(entry.alias, column, candidate.name, penalty);
      }
    }
  }
  SqlError error = an.error(sqlstate::kUndefinedColumn,
                            table.empty() ? cat("column ", quoted(column), " does not exist")
                                          : cat("column ", table, ".", column, " does not exist"),
                            location);
  if (!best.exact_table.empty()) {
    throw std::move(error).hint(cat("There is a column named ", quoted(column), " in table ",
                                    quoted(best.exact_table),
                                    ", but it cannot be referenced from this part of the query."));
  }
  if (best.count == 1) {
    throw std::move(error).hint(cat("Perhaps you meant to reference the column ", quoted(best.first), "."));
  }
  if (best.count == 2) {
    throw std::move(error).hint(cat("Perhaps you meant to reference the column ", quoted(best.first),
                                    " or the column ", quoted(best.second), "."));
  }
  throw error;
}

}  // namespace pinwheel::sql
