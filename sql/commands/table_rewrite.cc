#include "sql/commands/table_rewrite.h"

#include "sql/analyze/analyzer.h"
#include "sql/catalog/catalog_scan.h"
#include "sql/catalog/relation_builder.h"
#include "sql/commands/index_create.h"
#include "sql/commands/relation_create.h"
#include "sql/commands/table_writer.h"
#include "sql/deparse/deparse.h"
#include "sql/execute/slot.h"
#include "txn/transaction.h"

namespace pinwheel::sql {
namespace {

/// Spreads the query's columns over the target's, and writes.
class RewriteReceiver final : public RowReceiver {
 public:
  RewriteReceiver(TableWriter& writer, std::size_t columns, std::vector<int> source_of)
      : writer_{writer},
        source_of_{std::move(source_of)},
        values_(columns),
        nulls_{std::make_unique<bool[]>(columns)} {}

  void row(const Slot& slot) override {
    for (std::size_t i = 0; i < values_.size(); ++i) {
      const int source = source_of_[i];
      nulls_[i] = source < 0 || slot.nulls[source];
      if (source >= 0) values_[i] = slot.values[source];
    }
    writer_.add(values_.data(), nulls_.get());
  }

 private:
  TableWriter& writer_;
  std::vector<int> source_of_;
  std::vector<Datum> values_;
  std::unique_ptr<bool[]> nulls_;
};

RelationRef make_target(const Relation& table, const RewriteTarget& target, FileId file) {
  auto made = std::make_unique<Relation>();
  made->oid = table.oid;
  made->name = table.name;
  made->schema = table.schema;
  made->schema_name = table.schema_name;
  made->kind = table.kind;
  made->persistence = target.persistence;
  made->file = file;
  made->owner = table.owner;
  made->columns = target.columns;
  for (Column& column : made->columns) column.has_missing = false;
  made->toast_table = table.toast_table;
  made->options = table.options;
  finish_layout(*made);
  return RelationRef{made.release()};
}

}  // namespace

Oid rewrite_table(CommandContext& context, const Relation& table, const RewriteTarget& target,
                  const std::vector<std::string>& sources) {
  std::string text;
  std::vector<int> source_of;
  int count = 0;
  for (const std::string& source : sources) {
    if (source.empty()) {
      source_of.push_back(-1);
      continue;
    }
    text += count == 0 ? "SELECT " : ", ";
    text += source;
    source_of.push_back(count++);
  }
  source_of.resize(target.columns.size(), -1);
  if (count == 0) text = "SELECT";
  text += " FROM ONLY " + quote_qualified(table.schema_name, table.name);
  const Query* query = analyze_select_text(context.analyze, context.arena.copy(text));

  Catalog& catalog = context.catalog;
  const Oid file = new_oid(catalog);
  create_relation_files(catalog, {catalog.eval().database, file}, target.persistence);
  TableWriter writer{context,
                     make_target(table, target, {catalog.eval().database, file}),
                     {.check_constraints = false, .maintain_indexes = false}};
  RewriteReceiver receiver{writer, target.columns.size(), std::move(source_of)};
  context.run_query(*query, receiver);
  writer.finish();
  return file;
}

void adopt_rewrite(CommandContext& context, Oid table_oid, Oid file) {
  Catalog& catalog = context.catalog;
  Oid old_file;
  change_class_row(catalog, table_oid, [&](ClassRow& row) {
    old_file = row.relfilenode;
    row.relfilenode = file;
  });
  catalog.transaction().drop_file_at_commit({catalog.eval().database, old_file});
  const RelationRef table = catalog.require_relation(table_oid);
  for (const IndexInfo& index : table->indexes) rebuild_index(catalog, *table, index.oid);
}

}  // namespace pinwheel::sql
