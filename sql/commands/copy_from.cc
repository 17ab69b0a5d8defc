#include "sql/commands/copy_from.h"

#include <algorithm>

#include "base/file.h"
#include "base/sqlstate.h"
#include "shm/interrupts.h"
#include "sql/catalog/relation_lock.h"
#include "sql/commands/bound_expressions.h"
#include "sql/commands/constraints.h"
#include "sql/commands/copy_reader.h"
#include "sql/commands/support.h"
#include "sql/commands/table_writer.h"
#include "sql/types/type_info.h"
#include "txn/transaction.h"

namespace pinwheel::sql {
namespace {

constexpr int kRowExclusive = 3;
constexpr int kShare = 5;
constexpr std::size_t kMaxShownBytes = 100;

std::string shown(std::string_view text) {
  if (text.size() <= kMaxShownBytes) return std::string{text};
  std::size_t keep = kMaxShownBytes;
  while (keep > 0 && (static_cast<unsigned char>(text[keep]) & 0xC0) == 0x80) --keep;
  return std::string{text.substr(0, keep)} + "...";
}

/// Reads a server file piece by piece.
class FileSource {
 public:
  explicit FileSource(const std::string& path) : file_{File::open(path, OpenMode::kRead)}, bytes_(65536) {}
  bool next(std::string_view& data) {
    const std::size_t got = file_.read_at(offset_, bytes_);
    offset_ += got;
    data = {reinterpret_cast<const char*>(bytes_.data()), got};
    return got > 0;
  }

 private:
  File file_;
  std::vector<std::byte> bytes_;
  std::uint64_t offset_ = 0;
};

/// One run of COPY FROM over one table.
class CopyIn {
 public:
  CopyIn(CommandContext& context, const CopyUtility& utility, const CopyOptions& options,
         RelationRef relation, CopySource source)
      : context_{context},
        options_{options},
        relation_{std::move(relation)},
        columns_{copy_columns(*relation_, utility.columns)},
        reader_{options, std::move(source)},
        writer_{context, relation_, {.frozen = options.freeze}},
        defaults_{context.catalog, *relation_},
        values_(relation_->columns.size()),
        nulls_{std::make_unique<bool[]>(relation_->columns.size())} {
    prepare_inputs();
    prepare_defaults();
    prepare_forced();
    if (!utility.where.text.empty()) {
      where_ = defaults_.expression(utility.where.text, SourceUse::kCopyWhere);
    }
    slot_.values = values_.data();
    slot_.nulls = nulls_.get();
    slot_.count = slot_.valid = static_cast<int>(values_.size());
    frame_.slots[static_cast<int>(SlotSource::kScan)] = &slot_;
    frame_.arena = &row_arena_;
    frame_.eval = &context.catalog.eval();
  }

  std::uint64_t run() {
    std::vector<CopyField> fields;
    std::uint64_t count = 0;
    try {
      if (options_.header) read_header(fields);
      while (read_line(fields)) {
        row_arena_.reset();
        fill_row(fields);
        if (where_ != nullptr && !passes()) continue;
        column_ = nullptr;
        writer_.add(values_.data(), nulls_.get(), reader_.line_number());
        ++count;
      }
      writer_.finish();
    } catch (SqlError& error) {
      add_context(error);
      throw;
    }
    reader_.drain();
    return count;
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
      if (type == nullptr || type->input == nullptr) {
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
      default_columns_.push_back({i, defaults_.value(source, SourceUse::kColumnDefault, column)});
    }
  }

  std::vector<bool> forced(const std::vector<std::string_view>& names) {
    std::vector<bool> by_field(columns_.size(), false);
    for (const std::string_view name : names) {
      const Column& column = require_column(*relation_, name);
      const auto found = std::ranges::find(columns_, column.number);
      if (found != columns_.end()) by_field[static_cast<std::size_t>(found - columns_.begin())] = true;
    }
    return by_field;
  }
  void prepare_forced() {
    if (!options_.force_not_null.empty()) force_not_null_ = forced(options_.force_not_null);
    if (!options_.force_null.empty()) force_null_ = forced(options_.force_null);
  }

  bool read_line(std::vector<CopyField>& fields) {
    in_line_ = true;
    const bool got = reader_.next(fields, force_not_null_.empty() ? nullptr : &force_not_null_,
                                  force_null_.empty() ? nullptr : &force_null_);
    in_line_ = got;
    return got;
  }

  void read_header(std::vector<CopyField>& fields) {
    if (!read_line(fields) || !options_.header_match) return;
    if (fields.size() != columns_.size()) {
      throw SqlError{sqlstate::kBadCopyFileFormat, "wrong number of fields in header line: got " +
                                                       std::to_string(fields.size()) + ", expected " +
                                                       std::to_string(columns_.size())};
    }
    for (std::size_t i = 0; i < fields.size(); ++i) {
      const std::string& name = relation_->column(columns_[i]).name;
      if (fields[i].text == name && !fields[i].is_null) continue;
      throw SqlError{sqlstate::kBadCopyFileFormat,
                     "column name mismatch in header line field " + std::to_string(i + 1) + ": got " +
                         in_quotes(fields[i].text) + ", expected " + in_quotes(name)};
    }
  }

  void fill_row(const std::vector<CopyField>& fields) {
    if (fields.size() > inputs_.size()) {
      throw SqlError{sqlstate::kBadCopyFileFormat, "extra data after last expected column"};
    }
    EvalContext& eval = context_.catalog.eval();
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      const Input& input = inputs_[i];
      if (i >= fields.size()) {
        throw SqlError{sqlstate::kBadCopyFileFormat,
                       "missing data for column " + in_quotes(relation_->columns[input.column].name)};
      }
      nulls_[input.column] = fields[i].is_null;
      if (fields[i].is_null) continue;
      column_ = &relation_->columns[input.column];
      field_ = fields[i].text;
      const IoContext io{row_arena_, eval, input.type->oid, input.modifier};
      values_[input.column] = input.type->input(fields[i].text, io);
    }
    column_ = nullptr;
    for (const Default& each : default_columns_) {
      values_[each.column] = each.value->value(frame_, &nulls_[each.column]);
    }
  }

  bool passes() {
    bool is_null = false;
    const Datum result = where_->value(frame_, &is_null);
    return !is_null && result.as_bool();
  }

  void add_context(SqlError& error) {
    std::string text = "COPY " + relation_->name;
    if (writer_.in_flush()) {
      text += ", line " + std::to_string(writer_.current_tag());
    } else if (in_line_) {
      text += ", line " + std::to_string(reader_.line_number());
      if (column_ != nullptr) {
        text += ", column " + column_->name + ": \"" + shown(field_) + "\"";
      } else {
        text += ": \"" + shown(reader_.line()) + "\"";
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
  CopyReader reader_;
  TableWriter writer_;
  BoundExpressions defaults_;
  std::vector<Datum> values_;
  std::unique_ptr<bool[]> nulls_;
  std::vector<Input> inputs_;
  std::vector<Default> default_columns_;
  std::vector<bool> force_not_null_, force_null_;
  const Program* where_ = nullptr;
  Slot slot_;
  EvalFrame frame_;
  Arena row_arena_;
  bool in_line_ = false;
  const Column* column_ = nullptr;  // whose text is being read
  std::string_view field_;
};

void check_target(const Relation& relation) {
  if (relation.kind == 'r') {
    refuse_system_relation(relation);
    return;
  }
  const std::string word{relation_kind_word(relation.kind)};
  throw SqlError{sqlstate::kWrongObjectType, "cannot copy to " + word + " " + in_quotes(relation.name)};
}

}  // namespace

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

std::uint64_t copy_from(CommandContext& context, const CopyUtility& utility, const CopyOptions& options) {
  const RelationRef relation = require_relation(context, utility.table, kRowExclusive);
  check_target(*relation);
  const std::vector<std::int16_t> columns = copy_columns(*relation, utility.columns);
  context.catalog.check_relation_privilege(*relation, kInsertPrivilege, columns);
  if (context.catalog.transaction().options().read_only && !relation->is_temporary()) {
    throw SqlError{sqlstate::kReadOnlySqlTransaction, "cannot execute COPY FROM in a read-only transaction"};
  }
  if (options.freeze && !context.catalog.is_new_file(relation->file)) {
    throw SqlError{sqlstate::kObjectNotInPrerequisiteState,
                   "cannot perform COPY FREEZE because the table was not created or truncated in the current "
                   "subtransaction"};
  }
  // Keys are looked for once all rows are in: until the end nobody may take away what they refer to.
  for (const ForeignKey& key : relation->references) {
    static_cast<void>(lock_relation(context.catalog, key.to_table, kShare));
  }
  std::uint64_t count = 0;
  if (utility.file_name.empty()) {
    context.client.copy_in_begin(false, static_cast<int>(columns.size()));
    CopyIn copy{context, utility, options, relation,
                [&](std::string_view& data) { return context.client.copy_in_read(data); }};
    count = copy.run();
  } else {
    FileSource source{std::string{utility.file_name}};
    CopyIn copy{context, utility, options, relation,
                [&](std::string_view& data) { return source.next(data); }};
    count = copy.run();
  }
  if (!relation->references.empty()) {
    context.catalog.transaction().advance_command();
    for (const ForeignKey& key : relation->references) validate_foreign_key(context, *relation, key);
  }
  return count;
}

}  // namespace pinwheel::sql
