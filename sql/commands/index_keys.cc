#include "sql/commands/index_keys.h"

#include "sql/analyze/expression_source.h"
#include "sql/catalog/analyzer_adapter.h"
#include "sql/commands/bound_expressions.h"
#include "sql/commands/stored_expression.h"
#include "sql/deparse/deparse.h"
#include "sql/plan/plan_expression.h"
#include "sql/types/type_info.h"

namespace pinwheel::sql {
struct IndexKeyReader::Expressions {
  explicit Expressions(Catalog& catalog) : adapter{catalog} {}
  AnalyzerAdapter adapter;
  Arena arena;
  Slot slot;
  EvalFrame frame;
  const Program* keys = nullptr;
  const Program* predicate = nullptr;
  std::vector<Datum> values;
  std::unique_ptr<bool[]> nulls;
};

IndexKeyReader::IndexKeyReader(Catalog& catalog, const Relation& table, const IndexInfo& index)
    : catalog_{catalog},
      table_{table},
      index_{index},
      row_values_(table.columns.size()),
      row_nulls_{std::make_unique<bool[]>(table.columns.size())} {
  if (!index.has_expressions && index.predicate.empty()) return;
  expressions_ = std::make_unique<Expressions>(catalog);
  Expressions& all = *expressions_;
  const AnalyzeContext context{all.arena, all.adapter, catalog.eval()};
  const ViewedRelation* viewed = view_relation(table, all.arena);
  ProgramCompiler compiler{all.arena, nullptr};
  std::vector<const Expr*> keys;
  for (const IndexKey& key : index.keys) {
    if (key.column != 0) continue;
    Expr* expr = analyze_expression(context, key.expression, viewed, SourceUse::kIndexExpression);
    bind_columns(all.arena, expr);
    keys.push_back(expr);
  }
  all.values.resize(keys.size());
  all.nulls = std::make_unique<bool[]>(keys.size() + 1);
  if (!keys.empty()) all.keys = compiler.into(keys, all.values.data(), all.nulls.get());
  if (!index.predicate.empty()) {
    Expr* predicate = analyze_expression(context, index.predicate, viewed, SourceUse::kIndexPredicate);
    bind_columns(all.arena, predicate);
    Expr** list = all.arena.make_array<Expr*>(1);
    list[0] = predicate;
    all.predicate = compiler.condition({list, 1});
  }
  all.slot.values = row_values_.data();
  all.slot.nulls = row_nulls_.get();
  all.slot.count = static_cast<int>(table.columns.size());
  all.frame.slots[static_cast<int>(SlotSource::kScan)] = &all.slot;
  all.frame.arena = &row_arena_;
  all.frame.eval = &catalog.eval();
}

IndexKeyReader::~IndexKeyReader() = default;

bool IndexKeyReader::read(const storage::HeapTupleView& tuple) {
  row_arena_.reset();
  storage::deform(tuple, table_.layout, table_.columns.size(),
                  reinterpret_cast<std::uint64_t*>(row_values_.data()), row_nulls_.get());
  if (expressions_ != nullptr) {
    Expressions& all = *expressions_;
    all.slot.valid = all.slot.count;
    if (all.predicate != nullptr && !all.predicate->test(all.frame)) return false;
    if (all.keys != nullptr) all.keys->run(all.frame);
  }
  std::size_t next_expression = 0;
  for (std::size_t i = 0; i < index_.keys.size(); ++i) {
    const IndexKey& key = index_.keys[i];
    Datum value;
    if (key.column != 0) {
      const auto column = static_cast<std::size_t>(key.column) - 1;
      key_nulls_[i] = row_nulls_[column];
      value = row_values_[column];
    } else {
      key_nulls_[i] = expressions_->nulls[next_expression];
      value = expressions_->values[next_expression++];
    }
    if (!key_nulls_[i] && key.length == -1 && needs_detoast(value)) {
      value = detoast(value, row_arena_, catalog_.eval().detoaster);
    }
    key_values_[i] = value.bits;
  }
  return true;
}

std::string describe_key(Catalog& catalog, const Relation& table, const IndexInfo& index,
                         const std::uint64_t* values, const bool* nulls) {
  Arena arena;
  std::string names, texts;
  for (int i = 0; i < index.key_count; ++i) {
    const IndexKey& key = index.keys[static_cast<std::size_t>(i)];
    if (i > 0) names += ", ", texts += ", ";
    names += key.column != 0 ? quote_identifier(table.column(key.column).name) : key.expression;
    const TypeInfo* type = find_type(key.type);
    const bool known = !nulls[i] && type != nullptr;
    texts += known ? output_value(*type, Datum{values[i]}, arena, catalog.eval()) : "null";
  }
  return "(" + names + ")=(" + texts + ")";
}

}  // namespace pinwheel::sql
