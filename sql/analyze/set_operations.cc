#include "sql/analyze/coercion.h"
#include "sql/analyze/statements.h"
#include "sql/analyze/types.h"

namespace pinwheel::sql {

namespace {

constexpr std::string_view set_name(SetOperation operation) {
  switch (operation) {
    case SetOperation::kUnion:
      return "UNION";
    case SetOperation::kIntersect:
      return "INTERSECT";
    default:
      return "EXCEPT";
  }
}

/// The visible targets of a leaf.
std::vector<Target*> leaf_targets(Scope& scope, const SetNode* node) {
  std::vector<Target*> targets;
  for (Target& target : scope.range_table[node->range_index].subquery->targets) {
    if (!target.hidden) targets.push_back(&target);
  }
  return targets;
}

/// One expression that has the type (and, at a leaf, is the value) of a column of `node`.
Expr* column_expr(Scope& scope, const SetNode* node, std::size_t column) {
  if (node->operation == SetOperation::kNone) return leaf_targets(scope, node)[column]->expr;
  const SetNode* leaf = node;
  while (leaf->operation != SetOperation::kNone) leaf = leaf->left;
  SetToDefaultExpr* stand_in = scope.an.arena.make<SetToDefaultExpr>();
  stand_in->type = node->column_types[column];
  stand_in->location = location_of(leaf_targets(scope, leaf)[column]->expr);
  return stand_in;
}

/// Puts a query between a leaf and the set operation, so that casts do not disturb its DISTINCT, GROUP BY or
/// ORDER BY.
Query* wrap_leaf(Scope& scope, Query* inner) {
  Analysis& an = scope.an;
  Query* outer = an.arena.make<Query>();
  RangeEntry entry;
  entry.kind = RangeKind::kSubquery;
  entry.subquery = inner;
  entry.alias = "*SELECT*";
  std::vector<ColumnDefinition> columns;
  TargetList targets;
  for (const Target& target : inner->targets) {
    if (target.hidden) continue;
    columns.push_back({target.name, target.expr->type});
    ColumnExpr* column = an.arena.make<ColumnExpr>();
    column->attribute = static_cast<std::int16_t>(columns.size());
    column->type = target.expr->type;
    Target copy = target;
    copy.expr = column;
    targets.push_back(copy);
  }
  entry.columns = to_span(an.arena, columns);
  outer->range_table = one_span(an.arena, entry);
  FromItem* item = an.arena.make<FromItem>();
  item->range_index = 0;
  outer->from = one_span(an.arena, item);
  outer->targets = to_span(an.arena, targets);
  return outer;
}

/// Makes `node` deliver `type` in a column. Untyped literals change in place; other casts must not change
/// what the leaf itself computes with.
void coerce_column(Scope& scope, SetNode* node, std::size_t column, ExprType type, const char* construct) {
  if (node->operation != SetOperation::kNone) {
    if (node->column_types[column].type != type.type) {
      coerce_column(scope, node->left, column, type, construct);
      coerce_column(scope, node->right, column, type, construct);
    }
    node->column_types[column] = type;
    return;
  }
  RangeEntry& entry = scope.range_table[node->range_index];
  Target* target = leaf_targets(scope, node)[column];
  if (target->expr->type.type == type.type) return;
  const bool literal = target->expr->type.type == kUnknownType;
  const Query& query = *entry.subquery;
  const bool delicate = !query.distinct.empty() || !query.group_by.empty() || !query.order_by.empty() ||
                        query.set_operation != nullptr || !query.windows.empty();
  if (!literal && delicate) {
    entry.subquery = wrap_leaf(scope, entry.subquery);
    target = leaf_targets(scope, node)[column];
  }
  target->expr = coerce_to_common(scope, target->expr, type.type, construct);
  entry.columns[column].type = target->expr->type;
}

SetNode* make_leaf(Scope& scope, const PgQuery__SelectStmt* select) {
  Analysis& an = scope.an;
  if (select->into_clause != nullptr) {
    throw an.error(sqlstate::kSyntaxError, "INTO is only allowed on first SELECT of UNION/INTERSECT/EXCEPT",
                   select->into_clause->rel->location);
  }
  PgQuery__Node node = PG_QUERY__NODE__INIT;
  node.node_case = PG_QUERY__NODE__NODE_SELECT_STMT;
  node.select_stmt = const_cast<PgQuery__SelectStmt*>(select);
  Query* query = analyze_query(an, &scope, &node, false, false);
  NamespaceItem names = add_subquery_entry(scope, query, nullptr, false, -1);
  scope.range_table[names.range_index].alias = an.arena.copy(cat("*SELECT* ", names.range_index + 1));
  SetNode* leaf = an.arena.make<SetNode>();
  leaf->range_index = names.range_index;
  std::vector<ExprType> types;
  for (const ColumnDefinition& column : scope.range_table[names.range_index].columns)
    types.push_back(column.type);
  leaf->column_types = to_span(an.arena, types);
  return leaf;
}

SetNode* make_node(Scope& scope, const PgQuery__SelectStmt* select, bool top) {
  check_stack_depth();
  Analysis& an = scope.an;
  const bool has_own_clauses = select->n_sort_clause > 0 || select->limit_offset != nullptr ||
                               select->limit_count != nullptr || select->n_locking_clause > 0 ||
                               select->with_clause != nullptr;
  if (select->op <= PG_QUERY__SET_OPERATION__SETOP_NONE || (!top && has_own_clauses))
    return make_leaf(scope, select);

  SetNode* node = an.arena.make<SetNode>();
  switch (select->op) {
    case PG_QUERY__SET_OPERATION__SETOP_UNION:
      node->operation = SetOperation::kUnion;
      break;
    case PG_QUERY__SET_OPERATION__SETOP_INTERSECT:
      node->operation = SetOperation::kIntersect;
      break;
    default:
      node->operation = SetOperation::kExcept;
      break;
  }
  node->all = select->all;
  node->left = make_node(scope, select->larg, false);
  node->right = make_node(scope, select->rarg, false);
  const std::string construct{set_name(node->operation)};
  const std::size_t count = node->left->column_types.size();
  if (count != node->right->column_types.size()) {
    const SetNode* leaf = node->right;
    while (leaf->operation != SetOperation::kNone) leaf = leaf->left;
    const std::vector<Target*> targets = leaf_targets(scope, leaf);
    throw an.error(sqlstate::kSyntaxError,
                   cat("each ", construct, " query must have the same number of columns"),
                   targets.empty() ? -1 : location_of(targets[0]->expr));
  }
  std::vector<ExprType> types;
  std::vector<SortClause> grouping;
  for (std::size_t i = 0; i < count; ++i) {
    Expr* pair[] = {column_expr(scope, node->left, i), column_expr(scope, node->right, i)};
    ExprType type = plain_type(an, select_common_type(scope, pair, construct.c_str()));
    coerce_column(scope, node->left, i, type, construct.c_str());
    coerce_column(scope, node->right, i, type, construct.c_str());
    Expr* coerced[] = {column_expr(scope, node->left, i), column_expr(scope, node->right, i)};
    type.type_modifier = select_common_modifier(coerced, type.type);
    if (type.collation.value != 0) {
      type.collation = common_collation(an, coerced, node->operation == SetOperation::kUnion && node->all);
    }
    types.push_back(type);
    if (node->operation != SetOperation::kUnion || !node->all) {
      TargetList probe(1);
      probe[0].expr = coerced[0];
      SortClause clause = default_sort(scope, probe, 0, false, location_of(coerced[0]));
      clause.target_index = static_cast<int>(i);
      grouping.push_back(clause);
    }
  }
  node->column_types = to_span(an.arena, types);
  node->grouping = to_span(an.arena, grouping);
  return node;
}

void refuse_references(Scope& scope, const SetNode* node) {
  if (node->operation != SetOperation::kNone) {
    refuse_references(scope, node->left);
    refuse_references(scope, node->right);
  }
}

}  // namespace

Query* analyze_set_operation(Scope& scope, const PgQuery__SelectStmt* select) {
  Analysis& an = scope.an;
  Query* query = an.arena.make<Query>();
  query->command = CommandKind::kSelect;
  if (select->n_locking_clause > 0) {
    const LockStrength strength = lock_strength(select->locking_clause[0]->locking_clause->strength);
    throw an.error(sqlstate::kFeatureNotSupported,
                   cat(lock_name(strength), " is not allowed with UNION/INTERSECT/EXCEPT"));
  }
  if (select->with_clause != nullptr) {
    transform_with(scope, select->with_clause);
    query->with_recursive = select->with_clause->recursive;
  }
  SetNode* tree = make_node(scope, select, true);
  refuse_references(scope, tree);
  query->set_operation = tree;

  const SetNode* leftmost = tree;
  while (leftmost->operation != SetOperation::kNone) leftmost = leftmost->left;
  TargetList targets;
  const std::vector<Target*> first = leaf_targets(scope, leftmost);
  std::vector<NamespaceColumn> columns;
  for (std::size_t i = 0; i < first.size(); ++i) {
    ColumnExpr* column = an.arena.make<ColumnExpr>();
    column->range_index = leftmost->range_index;
    column->attribute = static_cast<std::int16_t>(i + 1);
    column->type = tree->column_types[i];
    column->location = location_of(first[i]->expr);
    Target target;
    target.expr = column;
    target.name = first[i]->name;
    targets.push_back(target);
    columns.push_back({target.name, column->type, column->range_index, column->attribute, false});
  }
  // ORDER BY may name result columns only.
  NamespaceItem names;
  names.range_index = -1;
  names.name_visible = false;
  names.columns = to_span(an.arena, columns);
  scope.names.push_back(names);
  const std::size_t count = targets.size();
  const std::vector<SortClause> order =
      transform_sort(scope, RAW_LIST(select, sort_clause), targets, ExprUse::kOrderBy, false);
  scope.names.clear();
  if (targets.size() > count) {
    throw an
        .error(sqlstate::kFeatureNotSupported, "invalid UNION/INTERSECT/EXCEPT ORDER BY clause",
               location_of(targets[count].expr))
        .detail("Only result column names can be used, not expressions or functions.")
        .hint("Add the expression/function to every SELECT, or move the UNION into a FROM clause.");
  }
  query->offset = transform_limit(scope, select->limit_offset, ExprUse::kOffset, "OFFSET");
  query->limit_with_ties = select->limit_option == PG_QUERY__LIMIT_OPTION__LIMIT_OPTION_WITH_TIES;
  query->limit =
      transform_limit(scope, select->limit_count, ExprUse::kLimit, "LIMIT", query->limit_with_ties);
  query->targets = to_span(an.arena, targets);
  query->order_by = to_span(an.arena, order);
  FromResult nothing;
  finish_query(scope, *query, nothing);
  assign_collations(scope, *query);
  return query;
}

}  // namespace pinwheel::sql
