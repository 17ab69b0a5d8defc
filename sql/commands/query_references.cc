#include "sql/commands/query_references.h"

#include <algorithm>

#include "sql/catalog/system_tables.h"
#include "sql/query/walk.h"
#include "sql/types/type_oids.h"

namespace pinwheel::sql {
namespace {

class ReferenceCollector {
 public:
  void visit(Query& query) {
    queries_.push_back(&query);
    for (const RangeEntry& entry : query.range_table) {
      if (entry.kind == RangeKind::kRelation) add(entry.relation, 0);
      if (entry.kind == RangeKind::kSubquery && is_valid(entry.view)) add(entry.view, 0);
    }
    for_each_expression(query, [&](Expr*& expr) { visit_expression(expr); });
    for (RangeEntry& entry : query.range_table) {
      if (entry.kind == RangeKind::kSubquery && !is_valid(entry.view)) visit(*entry.subquery);
    }
    for (CommonTable& cte : query.ctes) visit(*cte.query);
    queries_.pop_back();
  }

  std::vector<ObjectAddress> take() { return std::move(found_); }

 private:
  void visit_expression(Expr* expr) {
    for_each_node(expr, [&](Expr* node) {
      if (const auto* column = expr_if<ColumnExpr>(node)) add_column(*column);
      if (const auto* link = expr_if<SubLinkExpr>(node)) visit(*link->query);
      const auto* constant = expr_if<ConstExpr>(node);
      if (constant != nullptr && constant->type.type == kRegClassType && !constant->is_null) {
        add(constant->value.as_oid(), 0);
      }
    });
  }

  void add_column(const ColumnExpr& column) {
    if (static_cast<std::size_t>(column.levels_up) >= queries_.size()) return;
    const Query& query = *queries_[queries_.size() - 1 - static_cast<std::size_t>(column.levels_up)];
    const RangeEntry& entry = query.range_table[static_cast<std::size_t>(column.range_index)];
    if (column.attribute < 0) return;
    if (entry.kind == RangeKind::kRelation) add(entry.relation, column.attribute);
    if (entry.kind == RangeKind::kSubquery && is_valid(entry.view)) add(entry.view, column.attribute);
  }

  void add(Oid relation, std::int32_t part) {
    const ObjectAddress address{kClassTable, relation, part};
    if (std::ranges::find(found_, address) == found_.end()) found_.push_back(address);
  }

  std::vector<Query*> queries_;
  std::vector<ObjectAddress> found_;
};

}  // namespace

std::vector<ObjectAddress> references_of(const Query& query) {
  ReferenceCollector collector;
  collector.visit(const_cast<Query&>(query));
  return collector.take();
}

}  // namespace pinwheel::sql
