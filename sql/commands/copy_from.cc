#include "sql/commands/copy_from.h"

#include <algorithm>

#include "base/sqlstate.h"
#include "shm/progress.h"
#include "sql/catalog/relation_lock.h"
#include "sql/commands/bound_expressions.h"
#include "sql/commands/constraints.h"
#include "sql/commands/copy_binary.h"
#include "sql/commands/copy_file.h"
#include "sql/commands/copy_reader.h"
#include "sql/commands/support.h"
#include "sql/commands/table_writer.h"
#include "sql/types/type_info.h"
#include "sql/types/utf8.h"
#include "txn/transaction.h"

namespace pinwheel::sql {
namespace {

constexpr std::size_t kMaxShownBytes = 100;

std::string shown(std::string_view text) {
  if (text.size() <= kMaxShownBytes) return std::string{text};
  return std::string{text.substr(0, clip_to_characters(text, kMaxShownBytes))} + "...";
}

/// One run of COPY FROM over one table.
class CopyIn {
 public:
  CopyIn(CommandContext& context, const CopyUtility& utility, const CopyOptions& options,
         RelationRef relation)
      : context_{context},
        options_{options},
        relation_{std::move(relation)},
        columns_{copy_columns(*relation_, utility.columns)},
        writer_{context, relation_, {.frozen = options.freeze}},
        expressions_{context.catalog, *relation_},
        values_(relation_->columns.size()),
        nulls_{std::make_unique<bool[]>(relation_->columns.size())},
        force_not_null_{copy_forced_columns(*relation_, columns_, options.force_not_null, "FORCE_NOT_NULL")},
        force_null_{copy_forced_columns(*relation_, columns_, options.force_null, "FORCE_NULL")} {
    prepare_inputs();
    prepare_defaults();
    if (!utility.where.text.empty()) {
      where_ = expressions_.expression(utility.where.text, SourceUse::kCopyWhere);
    }
    slot_.values = values_.data();
    slot_.nulls = nulls_.get();
    slot_.count = slot_.valid = static_cast<int>(values_.size());
    slot_.table = relation_->oid;
    frame_.slots[static_cast<int>(SlotSource::kScan)] = &slot_;
    frame_.arena = &row_arena_;
    frame_.eval = &context.catalog.eval();
  }

  std::size_t column_count() const { return columns_.size(); }

  std::uint64_t run(CopySource source) {
    if (options_.format == CopyFormat::kBinary) {
      binary_.emplace(std::move(source));
    } else {
      text_.emplace(options_, std::move(source));
    }
    try {
      if (binary_) binary_->read_header();
      if (options_.header != CopyHeader::kNone) read_header();
      copy_rows();
      in_rows_ = false;
      writer_.finish();
    } catch (SqlError& error) {
      add_context(error);
      throw;
    }
    if (binary_) binary_->drain();
    if (text_) text_->drain();
    return count_;
  }

 private:
  struct Input {
    std::size_t column;  // from 0
    const TypeInfo* type;
    int modifier;
  };
  struct Default {
    std::size_t column;
    const Program* value;
  };

  void prepare_inputs() {
    for (const std::int16_t number : columns_) {
      const Column& column = relation_->column(number);
      const TypeInfo* type = find_type(column.type);
      const bool usable =
          type != nullptr &&
          (options_.format == CopyFormat::kBinary ? type->receive != nullptr : type->input != nullptr);
      if (!usable) {
        throw SqlError{sqlstate::kFeatureNotSupported,
                       "COPY of type " + context_.catalog.format_type(column.type) + " is not supported"};
      }
      inputs_.push_back({static_cast<std::size_t>(number) - 1, type, column.type_modifier});
    }
  }

  void prepare_defaults() {
    for (std::size_t i = 0; i < relation_->columns.size(); ++i) {
      const Column& column = relation_->columns[i];
      const auto number = static_cast<std::int16_t>(i + 1);
      nulls_[i] = true;
      if (column.dropped || column.generated != 0) continue;
      if (std::ranges::find(columns_, number) != columns_.end()) continue;
      std::string source = column.default_source;
      if (is_valid(column.identity_sequence)) {
        source = "nextval(" + std::to_string(column.identity_sequence.value) + "::regclass)";
      }
      if (source.empty()) continue;
      defaults_.push_back({i, expressions_.value(source, SourceUse::kColumnDefault, column)});
    }
  }

  bool read_row() {
    in_rows_ = true;
    if (binary_) return binary_->next(fields_, columns_.size());
    return text_->next(fields_, force_not_null_.empty() ? nullptr : &force_not_null_,
                       force_null_.empty() ? nullptr : &force_null_);
  }

  void read_header() {
    if (!read_row() || options_.header != CopyHeader::kMatch) return;
    if (fields_.size() != columns_.size()) {
      throw SqlError{sqlstate::kBadCopyFileFormat, "wrong number of fields in header line: got " +
                                                       std::to_string(fields_.size()) + ", expected " +
                                                       std::to_string(columns_.size())};
    }
    for (std::size_t i = 0; i < fields_.size(); ++i) {
      const std::string& name = relation_->column(columns_[i]).name;
      const std::string where =
          "column name mismatch in header line field " + std::to_string(i + 1) + ": got ";
      if (fields_[i].is_null) {
        throw SqlError{sqlstate::kBadCopyFileFormat, where + "null value (" + in_quotes(options_.null_text) +
                                                         "), expected " + in_quotes(name)};
      }
      if (fields_[i].text == name) continue;
      throw SqlError{sqlstate::kBadCopyFileFormat,
                     where + in_quotes(fields_[i].text) + ", expected " + in_quotes(name)};
    }
  }

  void copy_rows() {
    while (read_row()) {
      row_arena_.reset();
      fill_row();
      if (where_ != nullptr && !passes()) {
        shm::add_progress(shm::CopyProgress::kTuplesExcluded);
        continue;
      }
      writer_.add(values_.data(), nulls_.get(), row_number());
      shm::set_progress(shm::CopyProgress::kTuplesProcessed, static_cast<std::int64_t>(++count_));
    }
  }

  void fill_row() {
    if (fields_.size() > inputs_.size()) {
      throw SqlError{sqlstate::kBadCopyFileFormat, "extra data after last expected column"};
    }
    EvalContext& eval = context_.catalog.eval();
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      const Input& input = inputs_[i];
      if (i >= fields_.size()) {
        column_ = nullptr;
        throw SqlError{sqlstate::kBadCopyFileFormat,
                       "missing data for column " + in_quotes(relation_->columns[input.column].name)};
      }
      nulls_[input.column] = fields_[i].is_null;
      if (fields_[i].is_null) continue;
      column_ = &relation_->columns[input.column];
      field_ = fields_[i].text;
      const IoContext io{row_arena_, eval, input.type->oid, input.modifier};
      values_[input.column] = binary_ ? input.type->receive(field_, io) : input.type->input(field_, io);
    }
    column_ = nullptr;
    for (const Default& each : defaults_) {
      values_[each.column] = each.value->value(frame_, &nulls_[each.column]);
    }
  }

  bool passes() {
    bool is_null = false;
    const Datum result = where_->value(frame_, &is_null);
    return !is_null && result.as_bool();
  }

  std::uint64_t row_number() const { return binary_ ? binary_->row_number() : text_->line_number(); }

  void add_context(SqlError& error) {
    if (writer_.in_key_checks()) return;
    std::string text = "COPY " + relation_->name;
    if (writer_.in_flush()) {
      text += ", line " + std::to_string(writer_.current_tag());
    } else if (in_rows_) {
      text += ", line " + std::to_string(row_number());
      if (column_ != nullptr) {
        text += ", column " + column_->name;
        if (!binary_) text += ": \"" + shown(field_) + "\"";
      } else if (text_ && text_->has_line()) {
        text += ": \"" + shown(text_->line()) + "\"";
      }
    } else {
      return;
    }
    if (error.fields().context.empty()) error.fields().context = std::move(text);
  }

  CommandContext& context_;
  const CopyOptions& options_;
  RelationRef relation_;
  std::vector<std::int16_t> columns_;
  TableWriter writer_;
  BoundExpressions expressions_;
  std::vector<Datum> values_;
  std::unique_ptr<bool[]> nulls_;
  std::vector<bool> force_not_null_, force_null_;  // by field
  std::vector<Input> inputs_;
  std::vector<Default> defaults_;
  const Program* where_ = nullptr;
  std::optional<CopyReader> text_;
  std::optional<CopyBinaryReader> binary_;
  std::vector<CopyField> fields_;
  std::uint64_t count_ = 0;
  Slot slot_;
  EvalFrame frame_;
  Arena row_arena_;
  bool in_rows_ = false;
  const Column* column_ = nullptr;  // whose text is being read
  std::string_view field_;
};

void check_target(const Relation& relation) {
  if (relation.kind == 'r') {
    refuse_system_relation(relation);
    return;
  }
  const std::string name = " " + in_quotes(relation.name);
  switch (relation.kind) {
    case 'v':
      throw SqlError{sqlstate::kWrongObjectType, "cannot copy to view" + name}.hint(
          "To enable copying to a view, provide an INSTEAD OF INSERT trigger.");
    case 'm':
      throw SqlError{sqlstate::kWrongObjectType, "cannot copy to materialized view" + name};
    case 'S':
      throw SqlError{sqlstate::kWrongObjectType, "cannot copy to sequence" + name};
    default:
      throw SqlError{sqlstate::kWrongObjectType, "cannot copy to non-table relation" + name};
  }
}

}  // namespace

void show_copy_progress(bool from, bool is_file) {
  shm::set_progress(shm::CopyProgress::kCommand, from ? 1 : 2);
  shm::set_progress(shm::CopyProgress::kType, is_file ? 1 : 3);
}

std::vector<std::int16_t> copy_columns(const Relation& relation, std::span<std::string_view> names) {
  std::vector<std::int16_t> columns;
  if (names.empty()) {
    for (const Column& column : relation.columns) {
      if (!column.dropped && column.generated == 0) columns.push_back(column.number);
    }
    return columns;
  }
  for (const std::string_view name : names) {
    const Column& column = require_column(relation, name);
    if (column.generated != 0) {
      throw SqlError{sqlstate::kInvalidColumnReference,
                     "column " + in_quotes(name) + " is a generated column"}
          .detail("Generated columns cannot be used in COPY.");
    }
    if (std::ranges::find(columns, column.number) != columns.end()) {
      throw SqlError{sqlstate::kDuplicateColumn, "column " + in_quotes(name) + " specified more than once"};
    }
    columns.push_back(column.number);
  }
  return columns;
}

std::vector<bool> copy_forced_columns(const Relation& relation, const std::vector<std::int16_t>& columns,
                                      const std::vector<std::string_view>& names, std::string_view word) {
  if (names.empty()) return {};
  std::vector<bool> by_field(columns.size(), false);
  for (const std::string_view name : names) {
    const auto found = std::ranges::find(columns, require_column(relation, name).number);
    if (found == columns.end()) {
      throw SqlError{sqlstate::kInvalidColumnReference,
                     std::string{word} + " column " + in_quotes(name) + " not referenced by COPY"};
    }
    by_field[static_cast<std::size_t>(found - columns.begin())] = true;
  }
  return by_field;
}

std::uint64_t copy_from(CommandContext& context, const CopyUtility& utility, const CopyOptions& options) {
  Catalog& catalog = context.catalog;
  const RelationRef relation = require_relation(context, utility.table, kRowExclusiveLock);
  const std::vector<std::int16_t> columns = copy_columns(*relation, utility.columns);
  catalog.check_relation_privilege(*relation, kInsertPrivilege, columns);
  if (catalog.transaction().options().read_only && !relation->is_temporary()) {
    throw SqlError{sqlstate::kReadOnlySqlTransaction, "cannot execute COPY FROM in a read-only transaction"};
  }
  static_cast<void>(copy_forced_columns(*relation, columns, options.force_not_null, "FORCE_NOT_NULL"));
  static_cast<void>(copy_forced_columns(*relation, columns, options.force_null, "FORCE_NULL"));
  std::optional<CopyInputFile> file;
  if (utility.file_name.empty()) {
    // From here on the client sends data, also while errors are on their way to it.
    context.client.copy_in_begin(options.format == CopyFormat::kBinary, static_cast<int>(columns.size()));
  } else {
    file.emplace(std::string{utility.file_name});
  }
  check_target(*relation);
  if (options.freeze && !catalog.is_new_file_of_level(relation->file)) {
    throw SqlError{sqlstate::kObjectNotInPrerequisiteState,
                   "cannot perform COPY FREEZE because the table was not created or truncated in the current "
                   "subtransaction"};
  }
  const shm::ProgressScope progress{shm::ProgressCommand::kCopy, relation->oid};
  show_copy_progress(/*from=*/true, file.has_value());
  if (file) shm::set_progress(shm::CopyProgress::kBytesTotal, file->size_bytes());
  CopyIn copy{context, utility, options, relation};
  return copy.run([&](std::string_view& data) {
    const bool more = file ? file->next(data) : context.client.copy_in_read(data);
    if (more) shm::add_progress(shm::CopyProgress::kBytesProcessed, static_cast<std::int64_t>(data.size()));
    return more;
  });
}

}  // namespace pinwheel::sql
