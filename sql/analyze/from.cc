#include <algorithm>

#include "sql/analyze/coercion.h"
#include "sql/analyze/expressions.h"
#include "sql/analyze/from_internal.h"
#include "sql/analyze/names.h"
#include "sql/analyze/operators.h"
#include "sql/analyze/types.h"

namespace pinwheel::sql {

namespace {

FromEntry transform_item(Scope& scope, const raw::Node* node);

std::span<std::string_view> alias_columns(Analysis& an, const PgQuery__Alias* alias) {
  std::vector<std::string_view> names;
  if (alias != nullptr) {
    for (const raw::Node* node : RAW_LIST(alias, colnames))
      names.push_back(an.arena.copy(raw::string_of(node)));
  }
  return to_span(an.arena, names);
}

FromItem* range_item(Analysis& an, int index) {
  FromItem* item = an.arena.make<FromItem>();
  item->kind = FromItem::Kind::kRange;
  item->range_index = index;
  return item;
}

}  // namespace

std::string_view alias_name(const PgQuery__Alias* alias) {
  return alias == nullptr ? std::string_view{} : raw::text(alias->aliasname);
}

void apply_alias(Scope& scope, RangeEntry& entry, const PgQuery__Alias* alias, std::string_view kind) {
  Analysis& an = scope.an;
  if (alias == nullptr) return;
  entry.alias = an.arena.copy(alias_name(alias));
  entry.has_alias = true;
  entry.alias_columns = alias_columns(an, alias);
  std::size_t given = 0, available = 0;
  for (ColumnDefinition& column : entry.columns) {
    if (column.name.empty()) continue;  // dropped
    ++available;
    if (given < entry.alias_columns.size()) column.name = entry.alias_columns[given++];
  }
  if (entry.alias_columns.size() > available) {
    throw an.error(sqlstate::kInvalidColumnReference,
                   cat(kind, " ", quoted(entry.alias), " has ", available, " columns available but ",
                       entry.alias_columns.size(), " columns specified"));
  }
}

FromEntry plain_item(Scope& scope, NamespaceItem names) {
  FromEntry item;
  item.tree = range_item(scope.an, names.range_index);
  item.whole = names;
  item.names.push_back(names);
  return item;
}

NamespaceItem make_names(Scope& scope, int range_index) {
  const RangeEntry& entry = scope.range_table[range_index];
  std::vector<NamespaceColumn> columns;
  for (std::size_t i = 0; i < entry.columns.size(); ++i) {
    columns.push_back(
        {entry.columns[i].name, entry.columns[i].type, range_index, static_cast<std::int16_t>(i + 1), false});
  }
  NamespaceItem item;
  item.range_index = range_index;
  item.name = entry.alias;
  if (!entry.has_alias) item.relation = entry.view.value != 0 ? entry.view : entry.relation;
  item.columns = to_span(scope.an.arena, columns);
  return item;
}

const ViewedRelation* open_relation(Scope& scope, const PgQuery__RangeVar* name, int table_lock,
                                    bool missing_ok) {
  Analysis& an = scope.an;
  const std::string_view catalog = raw::text(name->catalogname), schema = raw::text(name->schemaname);
  if (!catalog.empty() && catalog != an.catalog.database_name()) {
    throw an.error(sqlstate::kFeatureNotSupported,
                   cat("cross-database references are not implemented: \"", catalog, ".", schema, ".",
                       raw::text(name->relname), "\""),
                   name->location);
  }
  const ViewedRelation* relation = an.catalog.find_relation(schema, raw::text(name->relname), table_lock);
  if (relation == nullptr) {
    if (missing_ok) return nullptr;
    if (!schema.empty()) {
      throw an.error(sqlstate::kUndefinedTable,
                     cat("relation \"", schema, ".", raw::text(name->relname), "\" does not exist"),
                     name->location);
    }
    SqlError error =
        an.error(sqlstate::kUndefinedTable,
                 cat("relation ", quoted(raw::text(name->relname)), " does not exist"), name->location);
    for (Scope* level = &scope; level != nullptr; level = level->parent) {
      for (const PgQuery__CommonTableExpr* later : level->later_ctes) {
        if (raw::text(later->ctename) != raw::text(name->relname)) continue;
        throw std::move(error)
            .detail(cat("There is a WITH item named ", quoted(raw::text(later->ctename)),
                        ", but it cannot be referenced from this part of the query."))
            .hint("Use WITH RECURSIVE, or re-order the WITH items to remove forward references.");
      }
    }
    throw error;
  }
  if (relation->kind == 'i' || relation->kind == 'I' || relation->kind == 'c') {
    throw an
        .error(sqlstate::kWrongObjectType, cat("cannot open relation ", quoted(relation->name)),
               name->location)
        .detail(relation->kind == 'c' ? "This operation is not supported for composite types."
                                      : "This operation is not supported for indexes.");
  }
  return relation;
}

NamespaceItem add_relation_entry(Scope& scope, const ViewedRelation& relation, const PgQuery__Alias* alias,
                                 bool only, int table_lock, LockStrength row_lock) {
  Analysis& an = scope.an;
  RangeEntry entry;
  entry.kind = RangeKind::kRelation;
  entry.relation = relation.oid;
  entry.relation_kind = relation.kind;
  entry.only = only;
  entry.table_lock = static_cast<std::uint8_t>(table_lock);
  entry.row_lock = row_lock;
  entry.check_as_user = an.check_as_user;
  entry.alias = an.arena.copy(relation.name);
  std::vector<ColumnDefinition> columns;
  for (const ViewedColumn& column : relation.columns) {
    columns.push_back({column.dropped ? std::string_view{} : an.arena.copy(column.name),
                       {column.type, column.type_modifier, column.collation}});
  }
  entry.columns = to_span(an.arena, columns);
  apply_alias(scope, entry, alias, "table");
  scope.range_table.push_back(entry);
  return make_names(scope, static_cast<int>(scope.range_table.size()) - 1);
}

namespace {

std::span<ColumnDefinition> query_columns(Analysis& an, const Query& query) {
  std::vector<ColumnDefinition> columns;
  const std::span<Target> targets = query.command == CommandKind::kSelect ? query.targets : query.returning;
  for (const Target& target : targets) {
    if (!target.hidden) columns.push_back({target.name, target.expr->type});
  }
  return to_span(an.arena, columns);
}

}  // namespace

NamespaceItem add_subquery_entry(Scope& scope, Query* query, const PgQuery__Alias* alias, bool lateral,
                                 int location) {
  Analysis& an = scope.an;
  (void)location;
  RangeEntry entry;
  entry.kind = RangeKind::kSubquery;
  entry.subquery = query;
  entry.lateral = lateral;
  entry.columns = query_columns(an, *query);
  apply_alias(scope, entry, alias, "table");
  scope.range_table.push_back(entry);
  return make_names(scope, static_cast<int>(scope.range_table.size()) - 1);
}

bool is_locked(Scope& scope, std::string_view name) {
  if (scope.locked_from_parent) return true;
  for (const PgQuery__LockingClause* clause : scope.locking) {
    if (clause->n_locked_rels == 0) return true;
    for (const raw::Node* rel : RAW_LIST(clause, locked_rels)) {
      if (RAW_IS(rel, RANGE_VAR) && raw::text(rel->range_var->relname) == name) return true;
    }
  }
  return false;
}

void check_names(Scope& scope, std::span<const NamespaceItem> first, std::span<const NamespaceItem> second) {
  for (const NamespaceItem& a : first) {
    if (!a.name_visible) continue;
    for (const NamespaceItem& b : second) {
      if (!b.name_visible || a.name != b.name) continue;
      if (a.relation.value != 0 && b.relation.value != 0 && a.relation != b.relation) continue;
      throw scope.an.error(sqlstate::kDuplicateAlias,
                           cat("table name ", quoted(a.name), " specified more than once"));
    }
  }
}

int add_result_relation(Scope& scope, const PgQuery__RangeVar* name, int table_lock, std::uint32_t privileges,
                        bool visible) {
  Analysis& an = scope.an;
  int levels_up = 0;
  bool in_work = false;
  if (raw::text(name->schemaname).empty() &&
      find_cte(scope, raw::text(name->relname), &levels_up, &in_work) != nullptr) {
    throw an.error(sqlstate::kSyntaxError, cat("relation ", quoted(raw::text(name->relname)),
                                               " cannot be the target of a modifying statement"));
  }
  const ViewedRelation* relation = open_relation(scope, name, table_lock);
  switch (relation->kind) {
    case 'r':
    case 'p':
      break;
    case 'v': {
      const std::string_view what = privileges & 1   ? "insert into"
                                    : privileges & 4 ? "update"
                                                     : "delete from";
      throw an.error(sqlstate::kFeatureNotSupported, cat("cannot ", what, " view ", quoted(relation->name)))
          .detail("Automatically updatable views are not supported.");
    }
    case 'S':
      throw an.error(sqlstate::kWrongObjectType, cat("cannot change sequence ", quoted(relation->name)));
    case 't':
      throw an.error(sqlstate::kWrongObjectType,
                     cat("cannot change TOAST relation ", quoted(relation->name)));
    case 'm':
      throw an.error(sqlstate::kWrongObjectType,
                     cat("cannot change materialized view ", quoted(relation->name)));
    default:
      throw an.error(sqlstate::kWrongObjectType, cat("cannot change relation ", quoted(relation->name)));
  }
  NamespaceItem names =
      add_relation_entry(scope, *relation, name->alias, !name->inh, table_lock, LockStrength::kNone);
  scope.range_table[names.range_index].required_privileges = privileges;
  scope.result_range_index = names.range_index;
  if (visible) scope.names.push_back(names);
  return names.range_index;
}

namespace {

FromEntry transform_range_var(Scope& scope, const PgQuery__RangeVar* name) {
  Analysis& an = scope.an;
  if (raw::text(name->schemaname).empty()) {
    int levels_up = 0;
    bool in_work = false;
    if (CommonTable* cte = find_cte(scope, raw::text(name->relname), &levels_up, &in_work)) {
      if (!in_work) ++cte->reference_count;
      RangeEntry entry;
      entry.kind = RangeKind::kCte;
      entry.cte_name = cte->name;
      entry.cte_levels_up = levels_up;
      entry.cte_self_reference = in_work;
      entry.alias = cte->name;
      if (in_work) {
        cte->recursive = true;
        if (cte->columns.empty()) {
          throw an.error(sqlstate::kInvalidRecursion,
                         cat("recursive reference to query ", quoted(cte->name),
                             " must not appear within its non-recursive term"),
                         name->location);
        }
      } else if (cte->query->command != CommandKind::kSelect && cte->query->returning.empty()) {
        throw an.error(sqlstate::kFeatureNotSupported,
                       cat("WITH query ", quoted(cte->name), " does not have a RETURNING clause"),
                       name->location);
      }
      entry.columns =
          to_span(an.arena, std::vector<ColumnDefinition>(cte->columns.begin(), cte->columns.end()));
      apply_alias(scope, entry, name->alias, "table");
      scope.range_table.push_back(entry);
      NamespaceItem names = make_names(scope, static_cast<int>(scope.range_table.size()) - 1);
      names.relation = {};
      return plain_item(scope, names);
    }
  }
  const std::string_view shown = name->alias != nullptr ? alias_name(name->alias) : raw::text(name->relname);
  const int table_lock = is_locked(scope, shown) ? 2 : 1;
  const ViewedRelation* relation = open_relation(scope, name, table_lock);
  if (relation->kind == 'v') {
    Query* query = expand_view(scope, *relation);
    RangeEntry entry;
    entry.kind = RangeKind::kSubquery;
    entry.view = relation->oid;
    entry.relation_kind = 'v';
    entry.subquery = query;
    entry.table_lock = static_cast<std::uint8_t>(table_lock);
    entry.required_privileges = 2;
    entry.check_as_user = an.check_as_user;
    entry.alias = an.arena.copy(relation->name);
    std::vector<ColumnDefinition> columns;
    for (const ViewedColumn& column : relation->columns) {
      columns.push_back({an.arena.copy(column.name), {column.type, column.type_modifier, column.collation}});
    }
    entry.columns = to_span(an.arena, columns);
    apply_alias(scope, entry, name->alias, "table");
    scope.range_table.push_back(entry);
    return plain_item(scope, make_names(scope, static_cast<int>(scope.range_table.size()) - 1));
  }
  NamespaceItem names =
      add_relation_entry(scope, *relation, name->alias, !name->inh, table_lock, LockStrength::kNone);
  scope.range_table[names.range_index].required_privileges = 2;
  return plain_item(scope, names);
}

FromEntry transform_subselect(Scope& scope, const PgQuery__RangeSubselect* sub) {
  Analysis& an = scope.an;
  if (sub->alias == nullptr) {
    throw an.error(sqlstate::kSyntaxError, "subquery in FROM must have an alias")
        .hint("For example, FROM (SELECT ...) [AS] foo.");
  }
  UseGuard guard{scope, ExprUse::kFromSubselect};
  const bool saved = scope.lateral_active;
  scope.lateral_active = sub->lateral;
  Query* query = analyze_query(an, &scope, sub->subquery, is_locked(scope, alias_name(sub->alias)));
  scope.lateral_active = saved;
  return plain_item(scope, add_subquery_entry(scope, query, sub->alias, sub->lateral, -1));
}

// --- Joins

int find_join_column(Scope& scope, const NamespaceItem& item, std::string_view name, std::string_view side) {
  int found = -1;
  for (std::size_t i = 0; i < item.columns.size(); ++i) {
    if (item.columns[i].name != name || item.columns[i].name.empty()) continue;
    if (found >= 0) {
      throw scope.an.error(sqlstate::kAmbiguousColumn, cat("common column name ", quoted(name),
                                                           " appears more than once in ", side, " table"));
    }
    found = static_cast<int>(i);
  }
  if (found < 0) {
    throw scope.an.error(
        sqlstate::kUndefinedColumn,
        cat("column ", quoted(name), " specified in USING clause does not exist in ", side, " table"));
  }
  return found;
}

Expr* column_as_expr(Scope& scope, const NamespaceItem& item, int index) {
  return make_column(scope, item, item.columns[index], static_cast<std::int16_t>(index + 1), 0, -1);
}

/// What a merged column of USING is.
Expr* merge_columns(Scope& scope, JoinKind kind, Expr* left, Expr* right) {
  Analysis& an = scope.an;
  Expr* pair[] = {left, right};
  const Oid type = select_common_type(scope, pair, "JOIN/USING");
  const std::int32_t modifier = select_common_modifier(pair, type);
  const auto as_common = [&](Expr* expr) -> Expr* {
    if (expr->type.type != type) {
      return coerce_type(scope, expr, expr->type.type, type, modifier, CoercionContext::kImplicit,
                         CallForm::kImplicitCast, -1);
    }
    if (expr->type.type_modifier != modifier) {
      RelabelExpr* relabel = an.arena.make<RelabelExpr>();
      relabel->arg = expr;
      relabel->type = {type, modifier, expr->type.collation};
      return relabel;
    }
    return expr;
  };
  Expr* l = as_common(left);
  Expr* r = as_common(right);
  switch (kind) {
    case JoinKind::kInner:
      return l->kind == ExprKind::kColumn || r->kind != ExprKind::kColumn ? l : r;
    case JoinKind::kLeft:
      return l;
    case JoinKind::kRight:
      return r;
    case JoinKind::kFull:
      break;
  }
  CoalesceExpr* node = an.arena.make<CoalesceExpr>();
  node->type = plain_type(an, type);
  node->args = to_span(an.arena, std::vector<Expr*>{l, r});
  return node;
}

FromEntry transform_join(Scope& scope, const PgQuery__JoinExpr* join) {
  Analysis& an = scope.an;
  JoinKind kind = JoinKind::kInner;
  switch (join->jointype) {
    case PG_QUERY__JOIN_TYPE__JOIN_LEFT:
      kind = JoinKind::kLeft;
      break;
    case PG_QUERY__JOIN_TYPE__JOIN_RIGHT:
      kind = JoinKind::kRight;
      break;
    case PG_QUERY__JOIN_TYPE__JOIN_FULL:
      kind = JoinKind::kFull;
      break;
    default:
      break;
  }
  FromEntry left = transform_item(scope, join->larg);
  // LATERAL items of the right side see the left one.
  const std::size_t visible = scope.names.size();
  for (NamespaceItem names : left.names) {
    names.lateral_only = true;
    names.lateral_ok = kind == JoinKind::kInner || kind == JoinKind::kLeft;
    scope.names.push_back(names);
  }
  FromEntry right = transform_item(scope, join->rarg);
  scope.names.resize(visible);
  check_names(scope, left.names, right.names);

  std::vector<std::string_view> using_columns;
  if (join->is_natural) {
    for (const NamespaceColumn& column : left.whole.columns) {
      if (column.name.empty()) continue;
      for (const NamespaceColumn& other : right.whole.columns) {
        if (column.name == other.name) {
          using_columns.push_back(column.name);
          break;
        }
      }
    }
  } else {
    for (const raw::Node* node : RAW_LIST(join, using_clause))
      using_columns.push_back(an.arena.copy(raw::string_of(node)));
  }

  FromItem* tree = an.arena.make<FromItem>();
  tree->kind = FromItem::Kind::kJoin;
  tree->join = kind;
  tree->left = left.tree;
  tree->right = right.tree;
  tree->using_columns = to_span(an.arena, using_columns);
  tree->natural = join->is_natural;

  const int index = static_cast<int>(scope.range_table.size());
  std::vector<NamespaceColumn> columns;
  std::vector<Expr*> exprs;
  std::vector<bool> left_used(left.whole.columns.size()), right_used(right.whole.columns.size());
  std::vector<Expr*> conditions;
  for (std::size_t i = 0; i < using_columns.size(); ++i) {
    const std::string_view name = using_columns[i];
    for (std::size_t k = 0; k < i; ++k) {
      if (using_columns[k] == name) {
        throw an.error(sqlstate::kDuplicateColumn,
                       cat("column name ", quoted(name), " appears more than once in USING clause"));
      }
    }
    const int l = find_join_column(scope, left.whole, name, "left");
    const int r = find_join_column(scope, right.whole, name, "right");
    left_used[l] = right_used[r] = true;
    UseGuard guard{scope, ExprUse::kJoinUsing};
    Expr* condition = make_operator(scope, "=", column_as_expr(scope, left.whole, l),
                                    column_as_expr(scope, right.whole, r), -1);
    conditions.push_back(coerce_to_boolean(scope, condition, "JOIN/USING"));
    Expr* merged = merge_columns(scope, kind, column_as_expr(scope, left.whole, l),
                                 column_as_expr(scope, right.whole, r));
    NamespaceColumn column{name, merged->type, index, static_cast<std::int16_t>(exprs.size() + 1), false};
    if (const ColumnExpr* plain = expr_if<ColumnExpr>(merged)) {
      column.range_index = plain->range_index;
      column.attribute = plain->attribute;
    }
    columns.push_back(column);
    exprs.push_back(merged);
  }
  const auto add_rest = [&](const FromEntry& side, const std::vector<bool>& used) {
    for (std::size_t i = 0; i < side.whole.columns.size(); ++i) {
      if (used[i] || side.whole.columns[i].name.empty()) continue;
      columns.push_back(side.whole.columns[i]);
      exprs.push_back(column_as_expr(scope, side.whole, static_cast<int>(i)));
    }
  };
  add_rest(left, left_used);
  add_rest(right, right_used);

  if (conditions.size() == 1) {
    tree->condition = conditions[0];
  } else if (!conditions.empty()) {
    tree->condition = make_bool_expr(an, BoolOp::kAnd, conditions, -1);
  } else if (join->quals != nullptr) {
    // ON sees just the two sides (and lateral names from outside).
    std::vector<NamespaceItem> saved;
    saved.swap(scope.names);
    scope.names.insert(scope.names.end(), left.names.begin(), left.names.end());
    scope.names.insert(scope.names.end(), right.names.begin(), right.names.end());
    tree->condition = transform_where(scope, join->quals, ExprUse::kJoinOn, "JOIN/ON");
    scope.names.swap(saved);
  }

  RangeEntry entry;
  entry.kind = RangeKind::kJoin;
  entry.alias = "unnamed_join";
  entry.join_columns = to_span(an.arena, exprs);
  std::vector<ColumnDefinition> definitions;
  for (const NamespaceColumn& column : columns) definitions.push_back({column.name, column.type});
  entry.columns = to_span(an.arena, definitions);
  apply_alias(scope, entry, join->alias, "join expression");
  for (std::size_t i = 0; i < columns.size(); ++i) columns[i].name = entry.columns[i].name;
  scope.range_table.push_back(entry);
  tree->range_index = index;

  FromEntry item;
  item.tree = tree;
  item.whole.range_index = index;
  item.whole.name = entry.alias;
  item.whole.columns = to_span(an.arena, columns);
  item.whole.name_visible = join->alias != nullptr;
  if (join->alias == nullptr) {
    for (const FromEntry* side : {&left, &right}) {
      for (NamespaceItem names : side->names) {
        names.columns_visible = false;
        item.names.push_back(names);
      }
    }
    if (join->join_using_alias != nullptr) {
      NamespaceItem using_names = item.whole;
      using_names.name = an.arena.copy(alias_name(join->join_using_alias));
      using_names.columns = using_names.columns.first(using_columns.size());
      using_names.name_visible = true;
      using_names.columns_visible = false;
      check_names(scope, item.names, {&using_names, 1});
      item.names.push_back(using_names);
    }
  }
  item.names.push_back(item.whole);
  return item;
}

FromEntry transform_item(Scope& scope, const raw::Node* node) {
  check_stack_depth();
  switch (node->node_case) {
    case PG_QUERY__NODE__NODE_RANGE_VAR:
      return transform_range_var(scope, node->range_var);
    case PG_QUERY__NODE__NODE_RANGE_SUBSELECT:
      return transform_subselect(scope, node->range_subselect);
    case PG_QUERY__NODE__NODE_RANGE_FUNCTION:
      return transform_function(scope, node->range_function);
    case PG_QUERY__NODE__NODE_JOIN_EXPR:
      return transform_join(scope, node->join_expr);
    case PG_QUERY__NODE__NODE_RANGE_TABLE_SAMPLE:
      throw scope.an.error(sqlstate::kFeatureNotSupported, "TABLESAMPLE is not supported",
                           node->range_table_sample->location);
    default:
      throw scope.an.error(sqlstate::kFeatureNotSupported, "this kind of FROM item is not supported");
  }
}

}  // namespace

void transform_from(Scope& scope, raw::NodeList list, FromResult& out) {
  for (const raw::Node* node : list) {
    FromEntry item = transform_item(scope, node);
    check_names(scope, scope.names, item.names);
    for (NamespaceItem& names : item.names) {
      names.lateral_only = true;
      names.lateral_ok = true;
      scope.names.push_back(names);
    }
    out.items.push_back(item.tree);
  }
  for (NamespaceItem& names : scope.names) {
    names.lateral_only = false;
    names.lateral_ok = true;
  }
}

}  // namespace pinwheel::sql
