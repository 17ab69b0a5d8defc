#pragma once

#include <pg_query/pg_query.pb-c.h>

#include <cstddef>
#include <string_view>

/// Short names for the grammar library's trees. Heavy: include it in .cc files and in internal headers only.
namespace pinwheel::sql::raw {

using Node = PgQuery__Node;

/// A repeated field: pointer and count lie side by side in the library's structs.
struct NodeList {
  Node* const* nodes = nullptr;
  std::size_t count = 0;

  Node* const* begin() const { return nodes; }
  Node* const* end() const { return nodes + count; }
  std::size_t size() const { return count; }
  bool empty() const { return count == 0; }
  Node* operator[](std::size_t i) const { return nodes[i]; }
  Node* back() const { return nodes[count - 1]; }
  NodeList first(std::size_t n) const { return {nodes, n}; }
  NodeList from(std::size_t n) const { return {nodes + n, count - n}; }
};

/// RAW_LIST(statement, target_list): the repeated field as a NodeList.
#define RAW_LIST(owner, field) \
  (::pinwheel::sql::raw::NodeList{(owner)->field, static_cast<std::size_t>((owner)->n_##field)})

/// RAW_IS(node, COLUMN_REF): the node is there and of that kind.
#define RAW_IS(node, KIND) ((node) != nullptr && (node)->node_case == PG_QUERY__NODE__NODE_##KIND)

/// A string field; absent ones are empty.
inline std::string_view text(const char* field) { return field == nullptr ? std::string_view{} : field; }

/// The contents of a String node; "" for any other.
inline std::string_view string_of(const Node* node) {
  return RAW_IS(node, STRING) ? text(node->string->sval) : std::string_view{};
}

inline NodeList items_of(const Node* node) {
  return RAW_IS(node, LIST) ? RAW_LIST(node->list, items) : NodeList{};
}

/// Byte offset where the expression starts, as PostgreSQL's exprLocation() finds it (leftmost of an operator
/// and its left operand); -1 unknown.
int location(const Node* node);

/// The same tree but for source positions.
bool same_tree(const ProtobufCMessage* a, const ProtobufCMessage* b);

}  // namespace pinwheel::sql::raw
