#include "sql/commands/stored_texts.h"

#include <algorithm>

#include "sql/analyze/analyzer.h"
#include "sql/analyze/expression_source.h"
#include "sql/catalog/catalog_scan.h"
#include "sql/catalog/relation_builder.h"
#include "sql/commands/stored_expression.h"
#include "sql/deparse/deparse.h"
#include "sql/query/walk.h"

namespace pinwheel::sql {

bool StoredTexts::known(Kind kind, Oid object) const {
  return std::ranges::any_of(texts_,
                             [&](const Text& text) { return text.kind == kind && text.object == object; });
}

void StoredTexts::collect(Oid relation_oid) {
  Catalog& catalog = context_.catalog;
  const RelationRef relation = catalog.require_relation(relation_oid);
  for (const Column& column : relation->columns) {
    if (is_valid(column.default_oid)) collect_default(column.default_oid);
  }
  for (const CheckConstraint& check : relation->checks) collect_check(check.oid);
  for (const IndexInfo& index : relation->indexes) collect_index(index.oid);
  if (relation->kind == 'v') {
    if (const auto rule = find_row<RewriteRow>(catalog, {{3, relation_oid}})) collect_view(rule->oid);
  }
  for (const DependRow& row : find_rows<DependRow>(catalog, {{4, kClassTable}, {5, relation_oid}})) {
    if (row.classid == kRewriteTable) collect_view(row.objid);
    if (row.classid == kAttrDefTable) collect_default(row.objid);
    if (row.classid == kConstraintTable) collect_check(row.objid);
  }
}

void StoredTexts::collect_default(Oid object) {
  if (known(Kind::kDefault, object)) return;
  const auto row = find_row<AttrDefRow>(context_.catalog, {{1, object}});
  if (!row) return;
  const RelationRef table = context_.catalog.require_relation(row->adrelid);
  const Column& column = table->column(row->adnum);
  const ExprType type{column.type, column.type_modifier, column.collation};
  const SourceUse use = column.generated != 0 ? SourceUse::kGenerated : SourceUse::kColumnDefault;
  Expr* expr = analyze_column_value(context_.analyze, context_.arena.copy(row->adbin.value_or("")),
                                    view_relation(*table, context_.arena), use,
                                    context_.arena.copy(column.name), type);
  texts_.push_back({Kind::kDefault, object, row->adrelid, {expr}, nullptr});
}

void StoredTexts::collect_check(Oid object) {
  if (known(Kind::kCheck, object)) return;
  const auto row = find_row<ConstraintRow>(context_.catalog, {{1, object}});
  if (!row || row->contype != 'c' || !row->conbin) return;
  const RelationRef table = context_.catalog.require_relation(row->conrelid);
  Expr* expr = analyze_expression(context_.analyze, context_.arena.copy(*row->conbin),
                                  view_relation(*table, context_.arena), SourceUse::kCheck);
  texts_.push_back({Kind::kCheck, object, row->conrelid, {expr}, nullptr});
}

void StoredTexts::collect_index(Oid index) {
  const auto row = find_row<IndexRow>(context_.catalog, {{1, index}});
  if (!row || known(Kind::kIndexExpressions, index)) return;
  const RelationRef table = context_.catalog.require_relation(row->indrelid);
  const ViewedRelation* viewed = view_relation(*table, context_.arena);
  if (row->indexprs) {
    Text text{Kind::kIndexExpressions, index, row->indrelid, {}, nullptr};
    for (const std::string& source : split_expressions(*row->indexprs)) {
      text.expressions.push_back(analyze_expression(context_.analyze, context_.arena.copy(source), viewed,
                                                    SourceUse::kIndexExpression));
    }
    texts_.push_back(std::move(text));
  }
  if (row->indpred) {
    Expr* expr = analyze_expression(context_.analyze, context_.arena.copy(*row->indpred), viewed,
                                    SourceUse::kIndexPredicate);
    texts_.push_back({Kind::kIndexPredicate, index, row->indrelid, {expr}, nullptr});
  }
}

void StoredTexts::collect_view(Oid rule) {
  if (known(Kind::kView, rule)) return;
  const auto row = find_row<RewriteRow>(context_.catalog, {{1, rule}});
  if (!row || !row->ev_action) return;
  Query* query = analyze_select_text(context_.analyze, context_.arena.copy(*row->ev_action));
  texts_.push_back({Kind::kView, rule, row->ev_class, {}, query});
}

/// Range entries remember names as they were when analyzed: brings them up to date.
void StoredTexts::refresh_names(Query& query) {
  for (RangeEntry& entry : query.range_table) {
    const Oid oid = entry.kind == RangeKind::kRelation   ? entry.relation
                    : entry.kind == RangeKind::kSubquery ? entry.view
                                                         : kInvalidOid;
    if (is_valid(oid)) {
      const RelationRef relation = context_.catalog.require_relation(oid);
      if (!entry.has_alias) entry.alias = context_.arena.copy(relation->name);
      for (std::size_t i = 0; i < entry.columns.size() && i < relation->columns.size(); ++i) {
        const bool written = i < entry.alias_columns.size();
        if (!written && !relation->columns[i].dropped) {
          entry.columns[i].name = context_.arena.copy(relation->columns[i].name);
        }
      }
    }
    if (entry.kind == RangeKind::kSubquery && !is_valid(entry.view)) refresh_names(*entry.subquery);
  }
  for (CommonTable& cte : query.ctes) refresh_names(*cte.query);
  for_each_expression(query, [&](Expr*& expr) {
    for_each_node(expr, [&](Expr* node) {
      if (auto* link = expr_if<SubLinkExpr>(node)) refresh_names(*link->query);
    });
  });
}

std::string StoredTexts::text_of(const Text& text) {
  const DeparseOptions options{.qualify_all = true};
  const RelationRef table = context_.catalog.require_relation(text.table);
  if (text.kind == Kind::kView) {
    refresh_names(*text.query);
    std::size_t next = 0;
    for (Target& target : text.query->targets) {
      if (target.hidden) continue;
      if (next < table->columns.size()) target.name = context_.arena.copy(table->columns[next].name);
      ++next;
    }
    return deparse_query(*text.query, context_.analyze.catalog, context_.analyze.eval, options);
  }
  std::string joined;
  for (std::size_t i = 0; i < text.expressions.size(); ++i) {
    if (i > 0) joined += kExpressionSeparator;
    joined += deparse_expression(text.expressions[i], view_relation(*table, context_.arena),
                                 context_.analyze.catalog, context_.analyze.eval, options);
  }
  return joined;
}

void StoredTexts::store() {
  Catalog& catalog = context_.catalog;
  for (const Text& text : texts_) {
    std::string source;
    {
      const QualifiedNames qualified{catalog};
      source = text_of(text);
    }
    TupleId at;
    switch (text.kind) {
      case Kind::kDefault: {
        auto row = find_row<AttrDefRow>(catalog, {{1, text.object}}, &at);
        row->adbin = std::move(source);
        update_row(catalog, at, *row);
        break;
      }
      case Kind::kCheck: {
        auto row = find_row<ConstraintRow>(catalog, {{1, text.object}}, &at);
        row->conbin = std::move(source);
        update_row(catalog, at, *row);
        break;
      }
      case Kind::kIndexExpressions:
      case Kind::kIndexPredicate: {
        auto row = find_row<IndexRow>(catalog, {{1, text.object}}, &at);
        (text.kind == Kind::kIndexPredicate ? row->indpred : row->indexprs) = std::move(source);
        update_row(catalog, at, *row);
        catalog.invalidate_relation(text.object);
        break;
      }
      case Kind::kView: {
        auto row = find_row<RewriteRow>(catalog, {{1, text.object}}, &at);
        row->ev_action = std::move(source);
        update_row(catalog, at, *row);
        break;
      }
    }
    catalog.invalidate_relation(text.table);
  }
}

}  // namespace pinwheel::sql
