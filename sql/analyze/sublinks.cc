#include "sql/analyze/coercion.h"
#include "sql/analyze/expressions.h"
#include "sql/analyze/statements.h"
#include "sql/analyze/types.h"

namespace pinwheel::sql {

namespace {

/// Places where no sub-select may stand.
std::string_view forbidden_place(ExprUse use) {
  switch (use) {
    case ExprUse::kCheck:
      return "check constraint";
    case ExprUse::kDefault:
      return "DEFAULT expression";
    case ExprUse::kIndexExpression:
      return "index expression";
    case ExprUse::kIndexPredicate:
      return "index predicate";
    case ExprUse::kAlterUsing:
      return "transform expression";
    case ExprUse::kExecuteParameter:
      return "EXECUTE parameter";
    case ExprUse::kCopyWhere:
      return "COPY FROM WHERE condition";
    case ExprUse::kGenerated:
      return "column generation expression";
    case ExprUse::kPartitionKey:
      return "partition key expression";
    default:
      return {};
  }
}

std::vector<const Target*> visible_targets(const Query& query) {
  std::vector<const Target*> targets;
  for (const Target& target : query.targets) {
    if (!target.hidden) targets.push_back(&target);
  }
  return targets;
}

/// `left` op the sub-select's columns.
Expr* make_test(Scope& scope, const PgQuery__SubLink* link, const Query& query) {
  Analysis& an = scope.an;
  std::vector<Expr*> left;
  if (RAW_IS(link->testexpr, ROW_EXPR)) {
    Expr* row = transform(scope, link->testexpr);
    const RowExpr* parts = expr_cast<RowExpr>(row);
    left.assign(parts->args.begin(), parts->args.end());
  } else {
    left.push_back(transform(scope, link->testexpr));
  }
  std::vector<Expr*> right;
  for (const Target* target : visible_targets(query)) {
    ExecParamExpr* column = an.arena.make<ExecParamExpr>();
    column->slot = -static_cast<int>(right.size()) - 1;
    column->type = target->expr->type;
    right.push_back(column);
  }
  if (left.size() < right.size()) {
    throw an.error(sqlstate::kSyntaxError, "subquery has too many columns", link->location);
  }
  if (left.size() > right.size()) {
    throw an.error(sqlstate::kSyntaxError, "subquery has too few columns", link->location);
  }
  if (link->n_oper_name > 0) {
    return make_row_compare(scope, RAW_LIST(link, oper_name), left, right, link->location);
  }
  PgQuery__String equal_name = PG_QUERY__STRING__INIT;
  char equal_text[] = "=";
  equal_name.sval = equal_text;
  PgQuery__Node equal_node = PG_QUERY__NODE__INIT;
  equal_node.node_case = PG_QUERY__NODE__NODE_STRING;
  equal_node.string = &equal_name;
  PgQuery__Node* names[] = {&equal_node};
  return make_row_compare(scope, raw::NodeList{names, 1}, left, right, link->location);
}

}  // namespace

Expr* transform_sublink(Scope& scope, const PgQuery__SubLink* link) {
  Analysis& an = scope.an;
  if (const std::string_view place = forbidden_place(scope.use); !place.empty()) {
    throw an.error(sqlstate::kFeatureNotSupported, cat("cannot use subquery in ", place), link->location);
  }
  scope.has_sublinks = true;
  SubLinkExpr* node = an.arena.make<SubLinkExpr>();
  node->location = link->location;
  node->query = analyze_query(an, &scope, link->subselect);
  if (node->query->command != CommandKind::kSelect) {
    throw an.error(sqlstate::kInternalError, "unexpected non-SELECT command in SubLink");
  }
  node->type = {kBoolType, -1, {}};
  const std::vector<const Target*> targets = visible_targets(*node->query);
  switch (link->sub_link_type) {
    case PG_QUERY__SUB_LINK_TYPE__EXISTS_SUBLINK:
      node->kind_of_link = SubLinkKind::kExists;
      return node;
    case PG_QUERY__SUB_LINK_TYPE__EXPR_SUBLINK:
    case PG_QUERY__SUB_LINK_TYPE__ARRAY_SUBLINK: {
      if (targets.size() != 1) {
        throw an.error(sqlstate::kSyntaxError, "subquery must return only one column", link->location);
      }
      node->type = targets[0]->expr->type;
      node->kind_of_link = SubLinkKind::kExpression;
      if (link->sub_link_type == PG_QUERY__SUB_LINK_TYPE__ARRAY_SUBLINK) {
        node->kind_of_link = SubLinkKind::kArray;
        // An array of arrays is an array of more dimensions.
        Oid array =
            element_type(an, node->type.type).value != 0 ? node->type.type : array_type(an, node->type.type);
        if (array.value == 0) {
          throw an.error(sqlstate::kUndefinedObject,
                         cat("could not find array type for data type ", type_text(an, node->type.type)),
                         link->location);
        }
        node->type.type = array;
      }
      return node;
    }
    case PG_QUERY__SUB_LINK_TYPE__ALL_SUBLINK:
      node->kind_of_link = SubLinkKind::kAll;
      break;
    case PG_QUERY__SUB_LINK_TYPE__ROWCOMPARE_SUBLINK:
      node->kind_of_link = SubLinkKind::kRowCompare;
      break;
    default:
      node->kind_of_link = SubLinkKind::kAny;
      break;
  }
  if (link->n_oper_name > 0)
    node->operator_name = an.arena.copy(raw::string_of(link->oper_name[link->n_oper_name - 1]));
  node->test = make_test(scope, link, *node->query);
  return node;
}

}  // namespace pinwheel::sql
