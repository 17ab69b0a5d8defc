#include "base/sqlstate.h"
#include "sql/analyze/analyzer.h"
#include "sql/commands/commands_list.h"
#include "sql/commands/relation_create.h"
#include "sql/commands/support.h"
#include "sql/commands/table_writer.h"
#include "sql/execute/slot.h"
#include "sql/types/type_oids.h"
#include "txn/transaction.h"

namespace pinwheel::sql {
namespace {

/// Stores the query's rows in the new table.
class StoreRows final : public RowReceiver {
 public:
  StoreRows(TableWriter& writer, std::size_t columns)
      : writer_{writer}, values_(columns), nulls_{std::make_unique<bool[]>(columns)} {}
  void row(const Slot& slot) override {
    for (std::size_t i = 0; i < values_.size(); ++i) {
      values_[i] = slot.values[i];
      nulls_[i] = slot.nulls[i];
    }
    writer_.add(values_.data(), nulls_.get());
  }

 private:
  TableWriter& writer_;
  std::vector<Datum> values_;
  std::unique_ptr<bool[]> nulls_;
};

}  // namespace

std::string run_create_table_as(CommandContext& context, const CreateTableAsUtility& utility) {
  if (utility.materialized_view) {
    throw SqlError{sqlstate::kFeatureNotSupported, "CREATE MATERIALIZED VIEW is not supported"};
  }
  if (utility.on_commit == OnCommit::kDrop || utility.on_commit == OnCommit::kDeleteRows) {
    throw SqlError{sqlstate::kFeatureNotSupported, "ON COMMIT for temporary tables is not supported"};
  }
  Catalog& catalog = context.catalog;
  NewRelation table;
  table.name = utility.name.name;
  table.persistence = utility.name.persistence;
  table.schema = creation_schema(context, utility.name, table.persistence);
  table.owner = catalog.eval().user;
  table.options = check_relation_options(utility.with, 'r');
  if (name_is_taken(catalog, table.schema, table.name)) {
    if (!utility.if_not_exists) check_name_free(catalog, table.schema, table.name);
    context.client.notice(NoticeLevel::kNotice,
                          SqlError{sqlstate::kDuplicateTable,
                                   "relation " + in_quotes(table.name) + " already exists, skipping"});
    return "CREATE TABLE AS";
  }
  const auto results = result_columns(*utility.query, context.arena);
  if (utility.column_names.size() > results.size()) {
    throw SqlError{sqlstate::kSyntaxError, "too many column names were specified"};
  }
  for (std::size_t i = 0; i < results.size(); ++i) {
    NewColumn& column = table.columns.emplace_back();
    column.name = i < utility.column_names.size() ? utility.column_names[i] : results[i].name;
    column.type = results[i].type.type == kUnknownType ? kTextType : results[i].type.type;
    column.type_modifier = results[i].type.type_modifier;
    column.collation = results[i].type.collation;
  }
  const Oid oid = create_relation(catalog, table);
  create_toast_table(catalog, oid);
  if (!utility.with_data) return "CREATE TABLE AS";
  TableWriter writer{context, catalog.require_relation(oid), {.check_constraints = false}};
  StoreRows receiver{writer, table.columns.size()};
  context.run_query(*utility.query, receiver);
  writer.finish();
  return "SELECT " + std::to_string(writer.rows());
}

}  // namespace pinwheel::sql
