#include "sql/analyze/clauses.h"

#include <algorithm>

#include "sql/analyze/coercion.h"
#include "sql/analyze/expressions.h"
#include "sql/analyze/names.h"
#include "sql/analyze/operators.h"
#include "sql/analyze/types.h"

namespace pinwheel::sql {

std::string_view use_name(ExprUse use) {
  switch (use) {
    case ExprUse::kNone:
      return "invalid expression context";
    case ExprUse::kJoinOn:
      return "JOIN/ON";
    case ExprUse::kJoinUsing:
      return "JOIN/USING";
    case ExprUse::kFromSubselect:
      return "sub-SELECT in FROM";
    case ExprUse::kFromFunction:
      return "function in FROM";
    case ExprUse::kWhere:
    case ExprUse::kCopyWhere:
      return "WHERE";
    case ExprUse::kHaving:
      return "HAVING";
    case ExprUse::kFilter:
      return "FILTER";
    case ExprUse::kWindowPartition:
      return "window PARTITION BY";
    case ExprUse::kWindowOrder:
      return "window ORDER BY";
    case ExprUse::kWindowRange:
      return "window RANGE";
    case ExprUse::kWindowRows:
      return "window ROWS";
    case ExprUse::kWindowGroups:
      return "window GROUPS";
    case ExprUse::kSelectTarget:
      return "SELECT";
    case ExprUse::kInsertTarget:
      return "INSERT";
    case ExprUse::kUpdateSource:
    case ExprUse::kUpdateTarget:
      return "UPDATE";
    case ExprUse::kGroupBy:
      return "GROUP BY";
    case ExprUse::kOrderBy:
      return "ORDER BY";
    case ExprUse::kDistinctOn:
      return "DISTINCT ON";
    case ExprUse::kLimit:
      return "LIMIT";
    case ExprUse::kOffset:
      return "OFFSET";
    case ExprUse::kReturning:
      return "RETURNING";
    case ExprUse::kValues:
    case ExprUse::kValuesSingle:
      return "VALUES";
    case ExprUse::kCheck:
      return "CHECK";
    case ExprUse::kDefault:
      return "DEFAULT";
    case ExprUse::kIndexExpression:
      return "index expression";
    case ExprUse::kIndexPredicate:
      return "index predicate";
    case ExprUse::kAlterUsing:
      return "USING";
    case ExprUse::kExecuteParameter:
      return "EXECUTE";
    case ExprUse::kGenerated:
      return "GENERATED AS";
    case ExprUse::kPartitionKey:
      return "PARTITION BY";
  }
  return "";
}

std::string_view placement_name(ExprUse use) {
  switch (use) {
    case ExprUse::kCheck:
      return "check constraints";
    case ExprUse::kDefault:
      return "DEFAULT expressions";
    case ExprUse::kIndexExpression:
      return "index expressions";
    case ExprUse::kIndexPredicate:
      return "index predicates";
    case ExprUse::kAlterUsing:
      return "transform expressions";
    case ExprUse::kExecuteParameter:
      return "EXECUTE parameters";
    case ExprUse::kCopyWhere:
      return "COPY FROM WHERE conditions";
    case ExprUse::kGenerated:
      return "column generation expressions";
    case ExprUse::kPartitionKey:
      return "partition key expressions";
    default:
      return use_name(use);
  }
}

Expr* transform_where(Scope& scope, const raw::Node* node, ExprUse use, std::string_view construct) {
  if (node == nullptr) return nullptr;
  return coerce_to_boolean(scope, transform(scope, node, use), construct);
}

namespace {

/// A column of this very level in the expression, null when there is none.
const ColumnExpr* find_own_column(const Expr* expr) {
  if (const auto* column = expr_if<ColumnExpr>(expr)) return column->levels_up == 0 ? column : nullptr;
  const ColumnExpr* found = nullptr;
  for_each_child(expr, [&](const Expr* child) {
    if (found == nullptr) found = find_own_column(child);
  });
  return found;
}

void refuse_columns(Analysis& an, const Expr* expr, std::string_view construct) {
  if (const ColumnExpr* column = find_own_column(expr)) {
    throw an.error(sqlstate::kInvalidColumnReference,
                   cat("argument of ", construct, " must not contain variables"), column->location);
  }
}

int find_target_99(Scope& scope, const raw::Node* node, TargetList& targets, ExprUse use) {
  Expr* expr = transform(scope, node, use);
  for (std::size_t i = 0; i < targets.size(); ++i) {
    if (equal(expr, targets[i].expr)) return static_cast<int>(i);
  }
  Target target;
  target.expr = expr;
  target.name = figure_column_name(scope.an, node);
  target.hidden = true;
  targets.push_back(target);
  return static_cast<int>(targets.size()) - 1;
}

/// Output names and ordinals first, as SQL-92 has it.
int find_target_92(Scope& scope, const raw::Node* node, TargetList& targets, ExprUse use) {
  Analysis& an = scope.an;
  if (RAW_IS(node, COLUMN_REF) && node->column_ref->n_fields == 1 &&
      RAW_IS(node->column_ref->fields[0], STRING)) {
    const std::string_view name = raw::string_of(node->column_ref->fields[0]);
    // GROUP BY prefers a column of FROM over an output name.
    const bool is_input =
        use == ExprUse::kGroupBy && find_column_by_name(scope, name, node->column_ref->location) != nullptr;
    if (!is_input) {
      int found = -1;
      for (std::size_t i = 0; i < targets.size(); ++i) {
        if (targets[i].hidden || targets[i].name != name) continue;
        if (found >= 0) {
          if (equal(targets[found].expr, targets[i].expr)) continue;
          throw an.error(sqlstate::kAmbiguousColumn, cat(use_name(use), " ", quoted(name), " is ambiguous"),
                         node->column_ref->location);
        }
        found = static_cast<int>(i);
      }
      if (found >= 0) return found;
    }
  }
  if (RAW_IS(node, A_CONST)) {
    const PgQuery__AConst* constant = node->a_const;
    if (constant->isnull || constant->val_case != PG_QUERY__A__CONST__VAL_IVAL) {
      throw an.error(sqlstate::kSyntaxError, cat("non-integer constant in ", use_name(use)),
                     constant->location);
    }
    int position = 0;
    for (std::size_t i = 0; i < targets.size(); ++i) {
      if (!targets[i].hidden && ++position == constant->ival->ival) return static_cast<int>(i);
    }
    throw an.error(sqlstate::kInvalidColumnReference,
                   cat(use_name(use), " position ", constant->ival->ival, " is not in select list"),
                   constant->location);
  }
  return find_target_99(scope, node, targets, use);
}

bool has_target(std::span<const SortClause> list, int target) {
  for (const SortClause& clause : list) {
    if (clause.target_index == target) return true;
  }
  return false;
}

void resolve_unknown_target(Scope& scope, Target& target) {
  if (target.expr->type.type != kUnknownType) return;
  target.expr = coerce_type(scope, target.expr, kUnknownType, kTextType, -1, CoercionContext::kImplicit,
                            CallForm::kImplicitCast, -1);
}

SortClause sort_clause(Scope& scope, TargetList& targets, int index, const PgQuery__SortBy* by) {
  Analysis& an = scope.an;
  Target& target = targets[index];
  resolve_unknown_target(scope, target);
  const Oid type = target.expr->type.type;
  const int location = by->use_op != nullptr && by->location >= 0 ? by->location : location_of(target.expr);
  SortClause clause;
  clause.target_index = index;
  if (by->sortby_dir == PG_QUERY__SORT_BY_DIR__SORTBY_USING) {
    const ViewedOperator* op = find_operator(an, RAW_LIST(by, use_op), type, type, false, by->location);
    bool valid = false;
    for (const OperatorFamilyEntry& entry : an.catalog.btree_memberships(op->oid)) {
      if (entry.strategy != 1 && entry.strategy != 5) continue;
      clause.descending = entry.strategy == 5;
      clause.equality_operator = an.catalog.family_operator(entry.family, 3, entry.left, entry.right);
      valid = true;
      break;
    }
    if (!valid) {
      throw an
          .error(sqlstate::kWrongObjectType,
                 cat("operator ", dotted(RAW_LIST(by, use_op)), " is not a valid ordering operator"),
                 by->location)
          .hint("Ordering operators must be \"<\" or \">\" members of btree operator families.");
    }
    clause.sort_operator = op->oid;
  } else {
    const SortOperators operators = require_sort_operators(an, type, true, true, location);
    clause.descending = by->sortby_dir == PG_QUERY__SORT_BY_DIR__SORTBY_DESC;
    clause.sort_operator = clause.descending ? operators.greater : operators.less;
    clause.equality_operator = operators.equal;
  }
  clause.nulls_first = by->sortby_nulls == PG_QUERY__SORT_BY_NULLS__SORTBY_NULLS_FIRST ||
                       (by->sortby_nulls != PG_QUERY__SORT_BY_NULLS__SORTBY_NULLS_LAST && clause.descending);
  return clause;
}

}  // namespace

Expr* transform_limit(Scope& scope, const raw::Node* node, ExprUse use, std::string_view construct,
                      bool with_ties) {
  if (node == nullptr) return nullptr;
  Expr* expr = coerce_to_specific(scope, transform(scope, node, use), kInt8Type, construct);
  refuse_columns(scope.an, expr, construct);
  if (with_ties && use == ExprUse::kLimit && RAW_IS(node, A_CONST) && node->a_const->isnull) {
    throw scope.an.error(sqlstate::kInvalidRowCountInLimitClause,
                         "row count cannot be null in FETCH FIRST ... WITH TIES clause");
  }
  return expr;
}

SortClause default_sort(Scope& scope, TargetList& targets, int target_index, bool need_order, int location) {
  Target& target = targets[target_index];
  resolve_unknown_target(scope, target);
  const SortOperators operators =
      require_sort_operators(scope.an, target.expr->type.type, need_order, true, location);
  SortClause clause;
  clause.target_index = target_index;
  clause.equality_operator = operators.equal;
  clause.sort_operator = operators.less;
  return clause;
}

std::vector<SortClause> transform_sort(Scope& scope, raw::NodeList list, TargetList& targets, ExprUse use,
                                       bool sql99) {
  std::vector<SortClause> clauses;
  for (const raw::Node* item : list) {
    const PgQuery__SortBy* by = item->sort_by;
    const int index =
        sql99 ? find_target_99(scope, by->node, targets, use) : find_target_92(scope, by->node, targets, use);
    const SortClause clause = sort_clause(scope, targets, index, by);
    if (!has_target(clauses, index)) clauses.push_back(clause);
  }
  return clauses;
}

namespace {

void add_group_item(Scope& scope, const raw::Node* item, TargetList& targets,
                    std::span<const SortClause> order_by, ExprUse use, bool sql99,
                    std::vector<SortClause>& clauses) {
  if (RAW_IS(item, ROW_EXPR) && item->row_expr->row_format == PG_QUERY__COERCION_FORM__COERCE_IMPLICIT_CAST) {
    for (const raw::Node* part : RAW_LIST(item->row_expr, args)) {
      add_group_item(scope, part, targets, order_by, use, sql99, clauses);
    }
    return;
  }
  if (RAW_IS(item, GROUPING_SET)) {
    if (item->grouping_set->kind == PG_QUERY__GROUPING_SET_KIND__GROUPING_SET_EMPTY) return;
    throw scope.an.error(sqlstate::kFeatureNotSupported, "GROUPING SETS, ROLLUP and CUBE are not supported",
                         item->grouping_set->location);
  }
  const int index =
      sql99 ? find_target_99(scope, item, targets, use) : find_target_92(scope, item, targets, use);
  if (has_target(clauses, index)) return;
  for (const SortClause& sort : order_by) {
    if (sort.target_index == index) {
      clauses.push_back(sort);
      return;
    }
  }
  clauses.push_back(default_sort(scope, targets, index, false, location_of(targets[index].expr)));
}

}  // namespace

std::vector<SortClause> transform_group(Scope& scope, raw::NodeList list, TargetList& targets,
                                        std::span<const SortClause> order_by) {
  std::vector<SortClause> clauses;
  for (const raw::Node* item : list) {
    add_group_item(scope, item, targets, order_by, ExprUse::kGroupBy, false, clauses);
  }
  return clauses;
}

std::vector<SortClause> transform_distinct(Scope& scope, TargetList& targets,
                                           std::span<const SortClause> order_by, bool is_aggregate) {
  Analysis& an = scope.an;
  std::vector<SortClause> clauses;
  for (const SortClause& sort : order_by) {
    const Target& target = targets[sort.target_index];
    if (target.hidden) {
      throw an.error(sqlstate::kInvalidColumnReference,
                     is_aggregate
                         ? "in an aggregate with DISTINCT, ORDER BY expressions must appear in argument list"
                         : "for SELECT DISTINCT, ORDER BY expressions must appear in select list",
                     location_of(target.expr));
    }
    clauses.push_back(sort);
  }
  for (std::size_t i = 0; i < targets.size(); ++i) {
    const int index = static_cast<int>(i);
    if (targets[i].hidden || has_target(clauses, index)) continue;
    clauses.push_back(default_sort(scope, targets, index, is_aggregate, location_of(targets[i].expr)));
  }
  if (clauses.empty()) {
    throw an.error(sqlstate::kSyntaxError, is_aggregate
                                               ? "an aggregate with DISTINCT must have at least one argument"
                                               : "SELECT DISTINCT must have at least one column");
  }
  return clauses;
}

std::vector<SortClause> transform_distinct_on(Scope& scope, raw::NodeList list, TargetList& targets,
                                              std::span<const SortClause> order_by) {
  Analysis& an = scope.an;
  std::vector<int> wanted;
  for (const raw::Node* item : list) {
    wanted.push_back(find_target_92(scope, item, targets, ExprUse::kDistinctOn));
  }
  const auto is_wanted = [&](int index) {
    return std::find(wanted.begin(), wanted.end(), index) != wanted.end();
  };
  std::vector<SortClause> clauses;
  bool skipped = false;
  int mismatch = -1;
  for (const SortClause& sort : order_by) {
    if (!is_wanted(sort.target_index)) {
      skipped = true;
      continue;
    }
    if (skipped) mismatch = location_of(targets[sort.target_index].expr);
    if (skipped) break;
    clauses.push_back(sort);
  }
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (has_target(clauses, wanted[i])) continue;
    if (skipped) {
      throw an.error(sqlstate::kInvalidColumnReference,
                     "SELECT DISTINCT ON expressions must match initial ORDER BY expressions",
                     mismatch >= 0 ? mismatch : raw::location(list[i]));
    }
    clauses.push_back(default_sort(scope, targets, wanted[i], false, raw::location(list[i])));
  }
  return clauses;
}

namespace {

// PostgreSQL's FRAMEOPTION bits.
constexpr std::uint32_t kFrameNonDefault = 0x1, kFrameRange = 0x2, kFrameRows = 0x4, kFrameGroups = 0x8;

Expr* frame_offset(Scope& scope, const PgQuery__WindowDef* definition, const raw::Node* node,
                   const Expr* sort_key) {
  if (node == nullptr) return nullptr;
  const std::uint32_t options = static_cast<std::uint32_t>(definition->frame_options);
  if (options & kFrameRows) {
    Expr* expr = coerce_to_specific(scope, transform(scope, node, ExprUse::kWindowRows), kInt8Type, "ROWS");
    refuse_columns(scope.an, expr, "ROWS");
    return expr;
  }
  if (options & kFrameGroups) {
    Expr* expr =
        coerce_to_specific(scope, transform(scope, node, ExprUse::kWindowGroups), kInt8Type, "GROUPS");
    refuse_columns(scope.an, expr, "GROUPS");
    return expr;
  }
  Expr* expr = transform(scope, node, ExprUse::kWindowRange);
  // Offsets are of the key's type, for dates and times intervals.
  Oid wanted = sort_key->type.type;
  switch (wanted.value) {
    case kDateType.value:
    case kTimestampType.value:
    case kTimestampTzType.value:
    case kTimeType.value:
    case kTimeTzType.value:
    case kIntervalType.value:
      wanted = kIntervalType;
      break;
    case kInt2Type.value:
    case kInt4Type.value:
    case kInt8Type.value:
      if (expr->type.type != kUnknownType) wanted = expr->type.type == kInt8Type ? kInt8Type : kInt4Type;
      break;
    case kFloat4Type.value:
      wanted = kFloat8Type;
      break;
    case kFloat8Type.value:
    case kNumericType.value:
      break;
    default:
      throw scope.an.error(sqlstate::kFeatureNotSupported,
                           cat("RANGE with offset PRECEDING/FOLLOWING is not supported for column type ",
                               type_text(scope.an, wanted)),
                           location_of(expr));
  }
  expr = coerce_to_specific(scope, expr, wanted, "RANGE");
  refuse_columns(scope.an, expr, "RANGE");
  return expr;
}

}  // namespace

std::span<WindowClause> transform_windows(Scope& scope, TargetList& targets) {
  Analysis& an = scope.an;
  std::vector<WindowClause> windows;
  const auto find = [&](std::string_view name) -> const WindowClause* {
    for (const WindowClause& window : windows) {
      if (!window.name.empty() && window.name == name) return &window;
    }
    return nullptr;
  };
  for (std::size_t i = 0; i < scope.window_definitions.size(); ++i) {
    const PgQuery__WindowDef* definition = scope.window_definitions[i];
    const std::string_view name = raw::text(definition->name), base_name = raw::text(definition->refname);
    if (!name.empty() && find(name) != nullptr) {
      throw an.error(sqlstate::kWindowingError, cat("window ", quoted(name), " is already defined"),
                     definition->location);
    }
    const WindowClause* base = nullptr;
    if (!base_name.empty()) {
      base = find(base_name);
      if (base == nullptr) {
        throw an.error(sqlstate::kUndefinedObject, cat("window ", quoted(base_name), " does not exist"),
                       definition->location);
      }
    }
    const std::vector<SortClause> order =
        transform_sort(scope, RAW_LIST(definition, order_clause), targets, ExprUse::kWindowOrder, true);
    std::vector<SortClause> partition;
    for (const raw::Node* item : RAW_LIST(definition, partition_clause)) {
      add_group_item(scope, item, targets, order, ExprUse::kWindowPartition, true, partition);
    }
    WindowClause window;
    window.name = an.arena.copy(name);
    window.frame.options = static_cast<std::uint32_t>(definition->frame_options);
    window.partition_by = to_span(an.arena, partition);
    window.order_by = to_span(an.arena, order);
    if (base != nullptr) {
      if (!partition.empty()) {
        throw an.error(sqlstate::kWindowingError,
                       cat("cannot override PARTITION BY clause of window ", quoted(base_name)),
                       definition->location);
      }
      if (!order.empty() && !base->order_by.empty()) {
        throw an.error(sqlstate::kWindowingError,
                       cat("cannot override ORDER BY clause of window ", quoted(base_name)),
                       definition->location);
      }
      if (base->frame.options & kFrameNonDefault) {
        SqlError error =
            an.error(sqlstate::kWindowingError,
                     cat("cannot copy window ", quoted(base_name), " because it has a frame clause"),
                     definition->location);
        if (name.empty() && order.empty() && !(window.frame.options & kFrameNonDefault)) {
          throw std::move(error).hint("Omit the parentheses in this OVER clause.");
        }
        throw error;
      }
      window.partition_by = base->partition_by;
      if (order.empty()) window.order_by = base->order_by;
    }
    const bool has_offset = definition->start_offset != nullptr || definition->end_offset != nullptr;
    const Expr* key = nullptr;
    if (has_offset && (window.frame.options & kFrameRange)) {
      if (window.order_by.size() != 1) {
        throw an.error(sqlstate::kWindowingError,
                       "RANGE with offset PRECEDING/FOLLOWING requires exactly one ORDER BY column",
                       definition->location);
      }
      key = targets[window.order_by[0].target_index].expr;
    }
    if ((window.frame.options & kFrameGroups) && window.order_by.empty()) {
      throw an.error(sqlstate::kWindowingError, "GROUPS mode requires an ORDER BY clause",
                     definition->location);
    }
    window.frame.start_offset = frame_offset(scope, definition, definition->start_offset, key);
    window.frame.end_offset = frame_offset(scope, definition, definition->end_offset, key);
    windows.push_back(window);
  }
  return to_span(an.arena, windows);
}

}  // namespace pinwheel::sql
