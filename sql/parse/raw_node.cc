#include "sql/parse/raw_node.h"

#include <cstdint>
#include <cstring>

namespace pinwheel::sql::raw {

namespace {

int leftmost(int a, int b) {
  if (a < 0) return b;
  if (b < 0) return a;
  return a < b ? a : b;
}

int list_location(NodeList list) {
  for (const Node* item : list) {
    if (int at = location(item); at >= 0) return at;
  }
  return -1;
}

/// One value of a field, at `a` and `b`.
bool same_value(const ProtobufCFieldDescriptor& field, const void* a, const void* b) {
  switch (field.type) {
    case PROTOBUF_C_TYPE_MESSAGE:
      return same_tree(*static_cast<ProtobufCMessage* const*>(a), *static_cast<ProtobufCMessage* const*>(b));
    case PROTOBUF_C_TYPE_STRING:
      return text(*static_cast<char* const*>(a)) == text(*static_cast<char* const*>(b));
    case PROTOBUF_C_TYPE_INT64:
    case PROTOBUF_C_TYPE_UINT64:
    case PROTOBUF_C_TYPE_DOUBLE:
      return std::memcmp(a, b, 8) == 0;
    case PROTOBUF_C_TYPE_BOOL:
    case PROTOBUF_C_TYPE_ENUM:
    default:
      return std::memcmp(a, b, 4) == 0;  // protobuf_c_boolean is an int
  }
}

std::size_t value_size(const ProtobufCFieldDescriptor& field) {
  switch (field.type) {
    case PROTOBUF_C_TYPE_MESSAGE:
    case PROTOBUF_C_TYPE_STRING:
    case PROTOBUF_C_TYPE_INT64:
    case PROTOBUF_C_TYPE_UINT64:
    case PROTOBUF_C_TYPE_DOUBLE:
      return 8;
    default:
      return 4;
  }
}

}  // namespace

bool same_tree(const ProtobufCMessage* a, const ProtobufCMessage* b) {
  if (a == nullptr || b == nullptr) return a == b;
  if (a->descriptor != b->descriptor) return false;
  const char* left = reinterpret_cast<const char*>(a);
  const char* right = reinterpret_cast<const char*>(b);
  for (unsigned i = 0; i < a->descriptor->n_fields; ++i) {
    const ProtobufCFieldDescriptor& field = a->descriptor->fields[i];
    if (std::string_view{field.name} == "location") continue;
    if (field.label == PROTOBUF_C_LABEL_REPEATED) {
      std::size_t n, m;
      std::memcpy(&n, left + field.quantifier_offset, sizeof n);
      std::memcpy(&m, right + field.quantifier_offset, sizeof m);
      if (n != m) return false;
      if (n == 0) continue;
      const char *x, *y;
      std::memcpy(&x, left + field.offset, sizeof x);
      std::memcpy(&y, right + field.offset, sizeof y);
      for (std::size_t k = 0; k < n; ++k) {
        if (!same_value(field, x + k * value_size(field), y + k * value_size(field))) return false;
      }
      continue;
    }
    if (field.flags & PROTOBUF_C_FIELD_FLAG_ONEOF) {
      std::uint32_t x, y;
      std::memcpy(&x, left + field.quantifier_offset, sizeof x);
      std::memcpy(&y, right + field.quantifier_offset, sizeof y);
      if (x != y) return false;
      if (x != field.id) continue;
    }
    if (!same_value(field, left + field.offset, right + field.offset)) return false;
  }
  return true;
}

int location(const Node* node) {
  if (node == nullptr) return -1;
  switch (node->node_case) {
    case PG_QUERY__NODE__NODE_COLUMN_REF:
      return node->column_ref->location;
    case PG_QUERY__NODE__NODE_PARAM_REF:
      return node->param_ref->location;
    case PG_QUERY__NODE__NODE_A_CONST:
      return node->a_const->location;
    case PG_QUERY__NODE__NODE_A_EXPR:
      return leftmost(node->a_expr->location, location(node->a_expr->lexpr));
    case PG_QUERY__NODE__NODE_BOOL_EXPR:
      return leftmost(node->bool_expr->location, list_location(RAW_LIST(node->bool_expr, args)));
    case PG_QUERY__NODE__NODE_FUNC_CALL:
      return leftmost(node->func_call->location, list_location(RAW_LIST(node->func_call, args)));
    case PG_QUERY__NODE__NODE_TYPE_CAST: {
      const PgQuery__TypeCast* cast = node->type_cast;
      int at = location(cast->arg);
      if (cast->type_name != nullptr) at = leftmost(at, cast->type_name->location);
      return leftmost(at, cast->location);
    }
    case PG_QUERY__NODE__NODE_SUB_LINK:
      return leftmost(location(node->sub_link->testexpr), node->sub_link->location);
    case PG_QUERY__NODE__NODE_NULL_TEST:
      return leftmost(node->null_test->location, location(node->null_test->arg));
    case PG_QUERY__NODE__NODE_BOOLEAN_TEST:
      return leftmost(node->boolean_test->location, location(node->boolean_test->arg));
    case PG_QUERY__NODE__NODE_COLLATE_CLAUSE:
      return location(node->collate_clause->arg);
    case PG_QUERY__NODE__NODE_A_ARRAY_EXPR:
      return node->a_array_expr->location;
    case PG_QUERY__NODE__NODE_A_INDIRECTION:
      return location(node->a_indirection->arg);
    case PG_QUERY__NODE__NODE_CASE_EXPR:
      return node->case_expr->location;
    case PG_QUERY__NODE__NODE_CASE_WHEN:
      return node->case_when->location;
    case PG_QUERY__NODE__NODE_COALESCE_EXPR:
      return node->coalesce_expr->location;
    case PG_QUERY__NODE__NODE_MIN_MAX_EXPR:
      return node->min_max_expr->location;
    case PG_QUERY__NODE__NODE_ROW_EXPR:
      return node->row_expr->location;
    case PG_QUERY__NODE__NODE_SQLVALUE_FUNCTION:
      return node->sqlvalue_function->location;
    case PG_QUERY__NODE__NODE_SET_TO_DEFAULT:
      return node->set_to_default->location;
    case PG_QUERY__NODE__NODE_GROUPING_FUNC:
      return node->grouping_func->location;
    case PG_QUERY__NODE__NODE_GROUPING_SET:
      return node->grouping_set->location;
    case PG_QUERY__NODE__NODE_NAMED_ARG_EXPR:
      return leftmost(node->named_arg_expr->location, location(node->named_arg_expr->arg));
    case PG_QUERY__NODE__NODE_RES_TARGET:
      return node->res_target->location;
    case PG_QUERY__NODE__NODE_MULTI_ASSIGN_REF:
      return location(node->multi_assign_ref->source);
    case PG_QUERY__NODE__NODE_RANGE_VAR:
      return node->range_var->location;
    case PG_QUERY__NODE__NODE_COLUMN_DEF:
      return node->column_def->location;
    case PG_QUERY__NODE__NODE_TYPE_NAME:
      return node->type_name->location;
    case PG_QUERY__NODE__NODE_SORT_BY:
      return location(node->sort_by->node);
    case PG_QUERY__NODE__NODE_WINDOW_DEF:
      return node->window_def->location;
    case PG_QUERY__NODE__NODE_LIST:
      return list_location(RAW_LIST(node->list, items));
    case PG_QUERY__NODE__NODE_WITH_CLAUSE:
      return node->with_clause->location;
    case PG_QUERY__NODE__NODE_COMMON_TABLE_EXPR:
      return node->common_table_expr->location;
    case PG_QUERY__NODE__NODE_XML_EXPR:
      return node->xml_expr->location;
    default:
      return -1;
  }
}

}  // namespace pinwheel::sql::raw
