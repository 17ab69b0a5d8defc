#include <algorithm>
#include <cstring>
#include <optional>

#include "base/bytes.h"
#include "base/sqlstate.h"
#include "shm/progress.h"
#include "sql/analyze/analyzer.h"
#include "sql/catalog/relation_lock.h"
#include "sql/commands/commands_list.h"
#include "sql/commands/copy_binary.h"
#include "sql/commands/copy_file.h"
#include "sql/commands/copy_from.h"
#include "sql/commands/support.h"
#include "sql/deparse/deparse.h"
#include "sql/execute/slot.h"
#include "sql/types/type_info.h"

namespace pinwheel::sql {
namespace {

/// Where COPY's lines go: the client or a server file.
class CopySink {
 public:
  virtual ~CopySink() = default;
  virtual void line(std::string_view text) = 0;
  virtual void end() = 0;
};

class ClientSink final : public CopySink {
 public:
  ClientSink(Client& client, bool binary, int columns) : client_{client} {
    client.copy_out_begin(binary, columns);
  }
  void line(std::string_view text) override { client_.copy_out_data(text); }
  void end() override { client_.copy_out_end(); }

 private:
  Client& client_;
};

class FileSink final : public CopySink {
 public:
  explicit FileSink(const std::string& path) : file_{path} {}
  void line(std::string_view text) override { file_.write(text); }
  void end() override { file_.finish(); }

 private:
  CopyOutputFile file_;
};

template <class Word>
void append_network(std::string& out, Word word) {
  for (int shift = static_cast<int>(sizeof(Word)) * 8 - 8; shift >= 0; shift -= 8) {
    out += static_cast<char>(static_cast<std::uint64_t>(word) >> shift & 0xFF);
  }
}

/// Bytes at the start of `text` that stand for themselves in the text format, a word at a time; the next byte
/// may.
std::size_t plain_prefix(std::string_view text, char delimiter) {
  constexpr std::uint64_t kOnes = 0x0101010101010101u, kHigh = 0x8080808080808080u;
  const auto has_zero_byte = [](std::uint64_t word) { return (word - kOnes) & ~word & kHigh; };
  const std::uint64_t delimiters = kOnes * static_cast<unsigned char>(delimiter);
  std::size_t at = 0;
  for (; at + 8 <= text.size(); at += 8) {
    const auto word = load<std::uint64_t>(text.data() + at);
    const std::uint64_t control = (word - kOnes * ' ') & ~word & kHigh;
    if ((control | has_zero_byte(word ^ kOnes * '\\') | has_zero_byte(word ^ delimiters)) != 0) break;
  }
  return at;
}

/// Turns rows into lines, or into rows of the binary format.
class LineWriter final : public RowReceiver {
 public:
  LineWriter(CommandContext& context, const CopyOptions& options, std::span<const QueryColumn> columns,
             std::vector<bool> force_quote, CopySink& sink)
      : context_{context},
        options_{options},
        binary_{options.format == CopyFormat::kBinary},
        force_quote_{std::move(force_quote)},
        sink_{sink} {
    force_quote_.resize(columns.size(), options.force_quote_all);
    for (const QueryColumn& column : columns) {
      const TypeInfo* type = find_type(column.type.type);
      if (binary_ && (type == nullptr || type->send == nullptr)) {
        throw SqlError{sqlstate::kUndefinedFunction, "no binary output function available for type " +
                                                         context.catalog.format_type(column.type.type)};
      }
      types_.push_back(type);
      oids_.push_back(column.type.type);
    }
  }

  void begin(std::span<const QueryColumn> columns) {
    line_.clear();
    if (binary_) {
      line_ = kBinarySignature;
      append_network(line_, std::uint32_t{0});
      append_network(line_, std::uint32_t{0});
      sink_.line(line_);
    } else if (options_.header != CopyHeader::kNone) {
      for (std::size_t i = 0; i < columns.size(); ++i) {
        if (i > 0) line_ += options_.delimiter;
        put(columns[i].name, false);
      }
      finish_line();
    }
  }

  void end() {
    if (!binary_) return;
    line_.clear();
    append_network(line_, std::int16_t{-1});
    sink_.line(line_);
  }

  void row(const Slot& slot) override {
    line_.clear();
    if (binary_) {
      binary_row(slot);
    } else {
      text_row(slot);
    }
    arena_.reset();
  }

 private:
  void text_row(const Slot& slot) {
    for (std::size_t i = 0; i < types_.size(); ++i) {
      if (i > 0) line_ += options_.delimiter;
      if (slot.nulls[i]) {
        line_ += options_.null_text;
        continue;
      }
      text_.clear();
      if (types_[i] != nullptr) {
        types_[i]->output(slot.values[i], {arena_, context_.catalog.eval(), oids_[i], -1}, text_);
      } else {
        context_.catalog.eval().catalog->output_user_type(oids_[i], slot.values[i], text_);
      }
      put(text_, force_quote_[i]);
    }
    finish_line();
    shm::add_progress(shm::CopyProgress::kTuplesProcessed);
  }

  void binary_row(const Slot& slot) {
    append_network(line_, static_cast<std::int16_t>(types_.size()));
    for (std::size_t i = 0; i < types_.size(); ++i) {
      if (slot.nulls[i]) {
        append_network(line_, std::int32_t{-1});
        continue;
      }
      text_.clear();
      types_[i]->send(slot.values[i], {arena_, context_.catalog.eval(), oids_[i], -1}, text_);
      append_network(line_, static_cast<std::int32_t>(text_.size()));
      line_ += text_;
    }
    sink_.line(line_);
    shm::add_progress(shm::CopyProgress::kTuplesProcessed);
    shm::add_progress(shm::CopyProgress::kBytesProcessed, static_cast<std::int64_t>(line_.size()));
  }

  void finish_line() {
    line_ += '\n';
    sink_.line(line_);
    shm::add_progress(shm::CopyProgress::kBytesProcessed, static_cast<std::int64_t>(line_.size()));
  }

  void put(std::string_view text, bool force_quote) {
    if (options_.format == CopyFormat::kCsv) {
      put_csv(text, force_quote);
    } else {
      put_text(text);
    }
  }

  /// The letter that stands for a control character after a backslash; 0 when it stands for itself.
  static char escape_letter(char c) {
    constexpr std::string_view kFrom = "\b\f\n\r\t\v", kTo = "bfnrtv";
    const std::size_t at = kFrom.find(c);
    return at == std::string_view::npos ? '\0' : kTo[at];
  }

  void put_text(std::string_view text) {
    const auto is_plain = [&](char c) {
      return static_cast<unsigned char>(c) >= ' ' && c != '\\' && c != options_.delimiter;
    };
    std::size_t from = 0;
    for (std::size_t i = plain_prefix(text, options_.delimiter); i < text.size(); ++i) {
      const char c = text[i];
      if (is_plain(c)) continue;
      const char letter = escape_letter(c);
      if (letter == '\0' && c != '\\' && c != options_.delimiter) continue;
      line_ += text.substr(from, i - from);
      line_ += '\\';
      line_ += letter != '\0' ? letter : c;
      from = i + 1;
    }
    line_ += text.substr(from);
  }

  void put_csv(std::string_view text, bool force_quote) {
    bool quote = force_quote || text == options_.null_text || (types_.size() == 1 && text == "\\.");
    for (const char c : text) {
      quote |= c == options_.delimiter || c == options_.quote || c == '\n' || c == '\r';
    }
    if (!quote) {
      line_ += text;
      return;
    }
    line_ += options_.quote;
    for (const char c : text) {
      if (c == options_.quote || c == options_.escape) line_ += options_.escape;
      line_ += c;
    }
    line_ += options_.quote;
  }

  CommandContext& context_;
  const CopyOptions& options_;
  bool binary_;
  std::vector<bool> force_quote_;
  CopySink& sink_;
  std::vector<const TypeInfo*> types_;  // null: not built in
  std::vector<Oid> oids_;
  std::string line_, text_;
  Arena arena_;
};

[[noreturn]] void refuse_source(const Relation& relation) {
  const std::string name = " " + in_quotes(relation.name);
  switch (relation.kind) {
    case 'v':
      throw SqlError{sqlstate::kWrongObjectType, "cannot copy from view" + name}.hint(
          "Try the COPY (SELECT ...) TO variant.");
    case 'm':
      throw SqlError{sqlstate::kWrongObjectType, "cannot copy from materialized view" + name}.hint(
          "Try the COPY (SELECT ...) TO variant.");
    case 'S':
      throw SqlError{sqlstate::kWrongObjectType, "cannot copy from sequence" + name};
    default:
      throw SqlError{sqlstate::kWrongObjectType, "cannot copy from non-table relation" + name};
  }
}

/// COPY t TO is COPY (SELECT columns FROM ONLY t) TO.
const Query* table_query(CommandContext& context, const Relation& relation,
                         const std::vector<std::int16_t>& columns) {
  std::string text = "SELECT";
  for (std::size_t i = 0; i < columns.size(); ++i) {
    text += i > 0 ? ", " : " ";
    text += quote_identifier(relation.column(columns[i]).name);
  }
  text += " FROM ONLY " + quote_qualified(relation.schema_name, relation.name);
  return analyze_select_text(context.analyze, context.arena.copy(text));
}

/// FORCE_QUOTE over a query's columns.
std::vector<bool> force_quote_of_query(const CopyOptions& options, std::span<const QueryColumn> columns) {
  std::vector<bool> forced(options.force_quote.empty() ? 0 : columns.size(), false);
  for (const std::string_view name : options.force_quote) {
    const auto found = std::ranges::find(columns, name, &QueryColumn::name);
    if (found == columns.end()) {
      throw SqlError{sqlstate::kUndefinedColumn, "column " + in_quotes(name) + " does not exist"};
    }
    forced[static_cast<std::size_t>(found - columns.begin())] = true;
  }
  return forced;
}

void check_file_access(CommandContext& context, const CopyUtility& utility) {
  if (utility.program) {
    throw SqlError{sqlstate::kFeatureNotSupported, "COPY to or from an external program is not supported"};
  }
  if (utility.file_name.empty() || context.superuser) return;
  const Oid role{utility.from ? 4569u : 4570u};
  if (context.catalog.has_privileges_of(context.catalog.eval().user, role)) return;
  throw SqlError{sqlstate::kInsufficientPrivilege,
                 std::string{"must be superuser or have privileges of the pg_"} +
                     (utility.from ? "read" : "write") + "_server_files role to COPY " +
                     (utility.from ? "from" : "to") + " a file"}
      .hint("Anyone can COPY to stdout or from stdin. psql's \\copy command also works for anyone.");
}

}  // namespace

std::uint64_t copy_to(CommandContext& context, const CopyUtility& utility, const CopyOptions& options) {
  const Query* query = utility.query;
  std::vector<bool> force_quote;
  Oid source{};
  if (query == nullptr) {
    const RelationRef relation = require_relation(context, utility.table, kAccessShareLock);
    const std::vector<std::int16_t> numbers = copy_columns(*relation, utility.columns);
    context.catalog.check_relation_privilege(*relation, kSelectPrivilege, numbers);
    if (relation->kind != 'r') refuse_source(*relation);
    source = relation->oid;
    force_quote = copy_forced_columns(*relation, numbers, options.force_quote, "FORCE_QUOTE");
    query = table_query(context, *relation, numbers);
  }
  const std::span<const QueryColumn> columns = result_columns(*query, context.arena);
  if (utility.query != nullptr) force_quote = force_quote_of_query(options, columns);
  std::unique_ptr<CopySink> sink;
  if (utility.file_name.empty()) {
    sink = std::make_unique<ClientSink>(context.client, options.format == CopyFormat::kBinary,
                                        static_cast<int>(columns.size()));
  } else {
    sink = std::make_unique<FileSink>(std::string{utility.file_name});
  }
  const shm::ProgressScope progress{shm::ProgressCommand::kCopy, source};
  show_copy_progress(/*from=*/false, !utility.file_name.empty());
  LineWriter writer{context, options, columns, std::move(force_quote), *sink};
  writer.begin(columns);
  const std::uint64_t count = context.run_query(*query, writer);
  writer.end();
  sink->end();
  return count;
}

std::string run_copy(CommandContext& context, const CopyUtility& utility) {
  const CopyOptions options = read_copy_options(utility);
  check_file_access(context, utility);
  const std::uint64_t count =
      utility.from ? copy_from(context, utility, options) : copy_to(context, utility, options);
  return "COPY " + std::to_string(count);
}

}  // namespace pinwheel::sql
