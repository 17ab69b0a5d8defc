#pragma once

#include <string_view>

#include "sql/analyze/expression_source.h"
#include "sql/catalog/analyzer_adapter.h"
#include "sql/catalog/catalog.h"
#include "sql/execute/program.h"

namespace pinwheel::sql {

/// Compiles stored expressions of a table to programs that read the row in SlotSource::kScan. Programs live
/// as long as this object.
class BoundExpressions {
 public:
  BoundExpressions(Catalog& catalog, const Relation& relation);
  BoundExpressions(const BoundExpressions&) = delete;
  BoundExpressions& operator=(const BoundExpressions&) = delete;

  const Program* expression(std::string_view source, SourceUse use);
  /// A default or generated column's value.
  const Program* value(std::string_view source, SourceUse use, const Column& column);

 private:
  Catalog& catalog_;
  const Relation& relation_;
  AnalyzerAdapter adapter_;
  Arena arena_;
  const ViewedRelation* viewed_;
};

/// Replaces columns of range entry 0 in an analyzed expression by columns of the scan's slot.
void bind_columns(Arena& arena, Expr*& expr);

}  // namespace pinwheel::sql
