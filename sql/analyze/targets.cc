#include "sql/analyze/coercion.h"
#include "sql/analyze/expressions.h"
#include "sql/analyze/names.h"
#include "sql/analyze/statements.h"
#include "sql/analyze/types.h"

namespace pinwheel::sql {

namespace {

void add_item_columns(Scope& scope, const NamespaceItem& item, int levels_up, int location,
                      TargetList& targets) {
  for (std::size_t i = 0; i < item.columns.size(); ++i) {
    const NamespaceColumn& column = item.columns[i];
    if (column.name.empty() || column.star_hidden) continue;
    Target target;
    target.expr = make_column(scope, item, column, static_cast<std::int16_t>(i + 1), levels_up, location);
    target.name = column.name;
    targets.push_back(target);
  }
}

}  // namespace

void add_star(Scope& scope, const PgQuery__ColumnRef* ref, TargetList& targets, ExprUse use) {
  Analysis& an = scope.an;
  UseGuard guard{scope, use};
  const raw::NodeList fields = RAW_LIST(ref, fields);
  if (fields.size() == 1) {
    bool found = false;
    const std::size_t before = targets.size();
    for (const NamespaceItem& item : scope.names) {
      if (!item.columns_visible) continue;
      if (item.lateral_only) continue;
      found = true;
      add_item_columns(scope, item, 0, ref->location, targets);
    }
    (void)before;
    if (!found) {
      throw an.error(sqlstate::kSyntaxError, "SELECT * with no tables specified is not valid", ref->location);
    }
    return;
  }
  if (fields.size() > 4) {
    throw an.error(sqlstate::kSyntaxError,
                   cat("improper qualified name (too many dotted names): ", dotted(fields)), ref->location);
  }
  const std::string_view table = raw::string_of(fields[fields.size() - 2]);
  const std::string_view schema =
      fields.size() >= 3 ? raw::string_of(fields[fields.size() - 3]) : std::string_view{};
  if (fields.size() == 4 && raw::string_of(fields[0]) != an.catalog.database_name()) {
    throw an.error(sqlstate::kFeatureNotSupported,
                   cat("cross-database references are not implemented: ", dotted(fields)), ref->location);
  }
  int levels_up = 0;
  const NamespaceItem* item = find_item(scope, schema, table, ref->location, &levels_up);
  if (item == nullptr) throw_missing_item(scope, schema, table, ref->location);
  add_item_columns(scope, *item, levels_up, ref->location, targets);
}

TargetList transform_targets(Scope& scope, raw::NodeList list, ExprUse use) {
  Analysis& an = scope.an;
  TargetList targets;
  for (const raw::Node* node : list) {
    const PgQuery__ResTarget* res = node->res_target;
    if (use != ExprUse::kUpdateSource) {
      if (RAW_IS(res->val, COLUMN_REF) &&
          RAW_IS(res->val->column_ref->fields[res->val->column_ref->n_fields - 1], A_STAR)) {
        add_star(scope, res->val->column_ref, targets, use);
        continue;
      }
      if (RAW_IS(res->val, A_INDIRECTION)) {
        const PgQuery__AIndirection* indirection = res->val->a_indirection;
        if (RAW_IS(indirection->indirection[indirection->n_indirection - 1], A_STAR)) {
          // (row).*: one target per field.
          PgQuery__AIndirection without_star = *indirection;
          --without_star.n_indirection;
          PgQuery__Node inner = PG_QUERY__NODE__INIT;
          inner.node_case = PG_QUERY__NODE__NODE_A_INDIRECTION;
          inner.a_indirection = &without_star;
          Expr* row = without_star.n_indirection == 0 ? transform(scope, indirection->arg, use)
                                                      : transform(scope, &inner, use);
          if (!is_row_type(an, row->type.type)) {
            throw an.error(sqlstate::kDatatypeMismatch,
                           cat("type ", type_text(an, row->type.type), " is not composite"),
                           location_of(row));
          }
          UseGuard guard{scope, use};
          for (const ColumnDefinition& column : row_columns(scope, row)) {
            if (column.name.empty()) continue;
            Target target;
            target.expr = select_field(scope, row, column.name, location_of(row));
            target.name = column.name;
            targets.push_back(target);
          }
          continue;
        }
      }
    }
    Target target;
    target.expr = transform(scope, res->val, use);
    target.name =
        raw::text(res->name).empty() ? figure_column_name(an, res->val) : an.arena.copy(raw::text(res->name));
    targets.push_back(target);
  }
  if (targets.size() > 1664) {
    throw an.error(sqlstate::kTooManyColumns, "target lists can have at most 1664 entries");
  }
  return targets;
}

void resolve_unknowns(Scope& scope, TargetList& targets) {
  for (Target& target : targets) {
    if (target.expr->type.type != kUnknownType) continue;
    target.expr = coerce_type(scope, target.expr, kUnknownType, kTextType, -1, CoercionContext::kImplicit,
                              CallForm::kImplicitCast, -1);
  }
}

namespace {

void mark_origin(Scope& scope, const ColumnExpr* column, Target& target) {
  Scope* level = &scope;
  for (int up = column->levels_up; up > 0 && level->parent != nullptr; --up) level = level->parent;
  const RangeEntry& entry = level->range_table[column->range_index];
  if (column->attribute == 0) return;
  switch (entry.kind) {
    case RangeKind::kRelation:
      target.origin_table = entry.relation;
      target.origin_attribute = column->attribute;
      return;
    case RangeKind::kSubquery: {
      if (entry.view.value != 0) {
        target.origin_table = entry.view;
        target.origin_attribute = column->attribute;
        return;
      }
      int at = 0;
      for (const Target& inner : entry.subquery->targets) {
        if (inner.hidden || ++at != column->attribute) continue;
        target.origin_table = inner.origin_table;
        target.origin_attribute = inner.origin_attribute;
        return;
      }
      return;
    }
    case RangeKind::kJoin: {
      const std::size_t at = static_cast<std::size_t>(column->attribute) - 1;
      if (at < entry.join_columns.size()) {
        if (const auto* inner = expr_if<ColumnExpr>(entry.join_columns[at]))
          mark_origin(*level, inner, target);
      }
      return;
    }
    case RangeKind::kCte: {
      if (entry.cte_self_reference) return;
      Scope* at_level = level;
      for (int up = entry.cte_levels_up; up > 0 && at_level != nullptr; --up) at_level = at_level->parent;
      if (at_level == nullptr) return;
      for (const CommonTable& cte : at_level->ctes) {
        if (cte.name != entry.cte_name || cte.query == nullptr) continue;
        const std::span<Target> inner_targets =
            cte.query->command == CommandKind::kSelect ? cte.query->targets : cte.query->returning;
        int at = 0;
        for (const Target& inner : inner_targets) {
          if (inner.hidden || ++at != column->attribute) continue;
          target.origin_table = inner.origin_table;
          target.origin_attribute = inner.origin_attribute;
          return;
        }
      }
      return;
    }
    default:
      return;
  }
}

}  // namespace

void mark_origins(Scope& scope, std::span<Target> targets) {
  for (Target& target : targets) {
    if (const auto* column = expr_if<ColumnExpr>(target.expr)) mark_origin(scope, column, target);
  }
}

std::span<Target> transform_returning(Scope& scope, raw::NodeList list) {
  if (list.empty()) return {};
  TargetList targets = transform_targets(scope, list, ExprUse::kReturning);
  if (targets.empty()) {
    throw scope.an.error(sqlstate::kSyntaxError, "RETURNING must have at least one column",
                         raw::location(list[0]));
  }
  resolve_unknowns(scope, targets);
  std::span<Target> result = to_span(scope.an.arena, targets);
  mark_origins(scope, result);
  return result;
}

namespace {

/// a[i][j:k] := value as a new array value made from `current`.
Expr* assign_subscripts(Scope& scope, Expr* value, Expr* current, std::string_view column,
                        raw::NodeList indices, int location) {
  Analysis& an = scope.an;
  for (const raw::Node* index : indices) {
    if (RAW_IS(index, A_INDICES)) continue;
    throw an.error(sqlstate::kFeatureNotSupported,
                   cat("assignment to a field of column ", quoted(column), " is not supported"), location);
  }
  SubscriptExpr* node = expr_cast<SubscriptExpr>(transform_subscripts(scope, current, indices));
  const Oid wanted = node->lower.empty() ? node->element_type : node->container_type;
  const Oid given = value->type.type;
  Expr* coerced =
      coerce_to_target(scope, value, given, {wanted, current->type.type_modifier, type_collation(an, wanted)},
                       CoercionContext::kAssignment, CallForm::kImplicitCast, -1);
  if (coerced == nullptr) {
    throw an
        .error(sqlstate::kDatatypeMismatch,
               cat("subscripted assignment to ", quoted(column), " requires type ", type_text(an, wanted),
                   " but expression is of type ", type_text(an, given)),
               location)
        .hint("You will need to rewrite or cast the expression.");
  }
  node->assign = coerced;
  node->type = current->type;
  return node;
}

}  // namespace

Expr* prepare_assignment(Scope& scope, Expr* value, const ViewedRelation& relation, std::int16_t attribute,
                         raw::NodeList indirection, int location, ExprUse use, Expr* current) {
  Analysis& an = scope.an;
  (void)use;
  const ViewedColumn& column = relation.columns[static_cast<std::size_t>(attribute) - 1];
  const ExprType target{column.type, column.type_modifier, column.collation};
  if (SetToDefaultExpr* marker = expr_if<SetToDefaultExpr>(value)) {
    if (!indirection.empty()) {
      throw an.error(sqlstate::kFeatureNotSupported,
                     RAW_IS(indirection[0], A_INDICES) ? "cannot set an array element to DEFAULT"
                                                       : "cannot set a subfield to DEFAULT",
                     location);
    }
    marker->type = target;
    marker->attribute = attribute;
    return marker;
  }
  if (!indirection.empty()) {
    if (current == nullptr) current = make_null(an, target);  // INSERT: into an array that is not there yet
    return assign_subscripts(scope, value, current, column.name, indirection, location);
  }
  const Oid given = value->type.type;
  Expr* coerced = coerce_to_target(scope, value, given, target, CoercionContext::kAssignment,
                                   CallForm::kImplicitCast, -1);
  if (coerced == nullptr) {
    throw an
        .error(sqlstate::kDatatypeMismatch,
               cat("column ", quoted(column.name), " is of type ", type_text(an, column.type),
                   " but expression is of type ", type_text(an, given)),
               location_of(value))
        .hint("You will need to rewrite or cast the expression.");
  }
  return coerced;
}

}  // namespace pinwheel::sql
