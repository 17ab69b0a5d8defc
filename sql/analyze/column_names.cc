#include "sql/analyze/expressions.h"

namespace pinwheel::sql {

namespace {

/// How good a name is: 0 none, 1 a fallback, 2 a good one that outer constructs keep.
int figure(const raw::Node* node, std::string_view* name) {
  if (node == nullptr) return 0;
  const auto good = [&](std::string_view text) {
    *name = text;
    return 2;
  };
  const auto last_string = [](raw::NodeList list) {
    std::string_view last;
    for (const raw::Node* item : list) {
      if (RAW_IS(item, STRING)) last = raw::string_of(item);
    }
    return last;
  };
  switch (node->node_case) {
    case PG_QUERY__NODE__NODE_COLUMN_REF: {
      const std::string_view last = last_string(RAW_LIST(node->column_ref, fields));
      return last.empty() ? 0 : good(last);
    }
    case PG_QUERY__NODE__NODE_A_INDIRECTION: {
      const std::string_view last = last_string(RAW_LIST(node->a_indirection, indirection));
      return last.empty() ? figure(node->a_indirection->arg, name) : good(last);
    }
    case PG_QUERY__NODE__NODE_FUNC_CALL:
      return good(last_string(RAW_LIST(node->func_call, funcname)));
    case PG_QUERY__NODE__NODE_A_EXPR:
      return node->a_expr->kind == PG_QUERY__A__EXPR__KIND__AEXPR_NULLIF ? good("nullif") : 0;
    case PG_QUERY__NODE__NODE_TYPE_CAST: {
      const int strength = figure(node->type_cast->arg, name);
      if (strength > 1) return strength;
      if (node->type_cast->type_name == nullptr) return strength;
      *name = last_string(RAW_LIST(node->type_cast->type_name, names));
      return 1;
    }
    case PG_QUERY__NODE__NODE_COLLATE_CLAUSE:
      return figure(node->collate_clause->arg, name);
    case PG_QUERY__NODE__NODE_GROUPING_FUNC:
      return good("grouping");
    case PG_QUERY__NODE__NODE_SUB_LINK:
      switch (node->sub_link->sub_link_type) {
        case PG_QUERY__SUB_LINK_TYPE__EXISTS_SUBLINK:
          return good("exists");
        case PG_QUERY__SUB_LINK_TYPE__ARRAY_SUBLINK:
          return good("array");
        case PG_QUERY__SUB_LINK_TYPE__EXPR_SUBLINK: {
          // The name of the sub-select's column.
          if (!RAW_IS(node->sub_link->subselect, SELECT_STMT)) return 0;
          const PgQuery__SelectStmt* select = node->sub_link->subselect->select_stmt;
          while (select->op > PG_QUERY__SET_OPERATION__SETOP_NONE && select->larg != nullptr)
            select = select->larg;
          if (select->n_values_lists > 0) return good("column1");
          if (select->n_target_list == 0) return 0;
          const PgQuery__ResTarget* target = select->target_list[0]->res_target;
          if (!raw::text(target->name).empty()) return good(raw::text(target->name));
          std::string_view inner = "?column?";
          figure(target->val, &inner);
          return good(inner);
        }
        default:
          return 0;
      }
    case PG_QUERY__NODE__NODE_CASE_EXPR: {
      const int strength = figure(node->case_expr->defresult, name);
      if (strength > 1) return strength;
      *name = "case";
      return 1;
    }
    case PG_QUERY__NODE__NODE_A_ARRAY_EXPR:
      return good("array");
    case PG_QUERY__NODE__NODE_ROW_EXPR:
      return good("row");
    case PG_QUERY__NODE__NODE_COALESCE_EXPR:
      return good("coalesce");
    case PG_QUERY__NODE__NODE_MIN_MAX_EXPR:
      return good(node->min_max_expr->op == PG_QUERY__MIN_MAX_OP__IS_GREATEST ? "greatest" : "least");
    case PG_QUERY__NODE__NODE_SQLVALUE_FUNCTION:
      switch (node->sqlvalue_function->op) {
        case PG_QUERY__SQLVALUE_FUNCTION_OP__SVFOP_CURRENT_DATE:
          return good("current_date");
        case PG_QUERY__SQLVALUE_FUNCTION_OP__SVFOP_CURRENT_TIME:
        case PG_QUERY__SQLVALUE_FUNCTION_OP__SVFOP_CURRENT_TIME_N:
          return good("current_time");
        case PG_QUERY__SQLVALUE_FUNCTION_OP__SVFOP_CURRENT_TIMESTAMP:
        case PG_QUERY__SQLVALUE_FUNCTION_OP__SVFOP_CURRENT_TIMESTAMP_N:
          return good("current_timestamp");
        case PG_QUERY__SQLVALUE_FUNCTION_OP__SVFOP_LOCALTIME:
        case PG_QUERY__SQLVALUE_FUNCTION_OP__SVFOP_LOCALTIME_N:
          return good("localtime");
        case PG_QUERY__SQLVALUE_FUNCTION_OP__SVFOP_LOCALTIMESTAMP:
        case PG_QUERY__SQLVALUE_FUNCTION_OP__SVFOP_LOCALTIMESTAMP_N:
          return good("localtimestamp");
        case PG_QUERY__SQLVALUE_FUNCTION_OP__SVFOP_CURRENT_ROLE:
          return good("current_role");
        case PG_QUERY__SQLVALUE_FUNCTION_OP__SVFOP_CURRENT_USER:
          return good("current_user");
        case PG_QUERY__SQLVALUE_FUNCTION_OP__SVFOP_USER:
          return good("user");
        case PG_QUERY__SQLVALUE_FUNCTION_OP__SVFOP_SESSION_USER:
          return good("session_user");
        case PG_QUERY__SQLVALUE_FUNCTION_OP__SVFOP_CURRENT_CATALOG:
          return good("current_catalog");
        default:
          return good("current_schema");
      }
    default:
      return 0;
  }
}

}  // namespace

std::string_view figure_column_name(Analysis& an, const raw::Node* node) {
  std::string_view name = "?column?";
  figure(node, &name);
  return an.arena.copy(name);
}

}  // namespace pinwheel::sql
