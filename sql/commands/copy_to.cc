#include <algorithm>
#include <cstring>

#include "base/file.h"
#include "base/sqlstate.h"
#include "sql/analyze/analyzer.h"
#include "sql/commands/commands_list.h"
#include "sql/commands/constraints.h"
#include "sql/commands/copy_from.h"
#include "sql/commands/support.h"
#include "sql/deparse/deparse.h"
#include "sql/execute/slot.h"
#include "sql/types/type_info.h"

namespace pinwheel::sql {
namespace {

constexpr int kAccessShare = 1;

/// Where COPY's lines go: the client or a server file.
class CopySink {
 public:
  virtual ~CopySink() = default;
  virtual void line(std::string_view text) = 0;
  virtual void end() {}
};

class ClientSink final : public CopySink {
 public:
  ClientSink(Client& client, int columns) : client_{client} { client.copy_out_begin(false, columns); }
  void line(std::string_view text) override { client_.copy_out_data(text); }
  void end() override { client_.copy_out_end(); }

 private:
  Client& client_;
};

class FileSink final : public CopySink {
 public:
  explicit FileSink(const std::string& path) : file_{File::open(path, OpenMode::kTruncate)} {}
  void line(std::string_view text) override {
    buffer_ += text;
    if (buffer_.size() >= kFlushBytes) flush();
  }
  void end() override { flush(); }

 private:
  static constexpr std::size_t kFlushBytes = 65536;
  void flush() {
    file_.write_at(offset_, std::as_bytes(std::span{buffer_}));
    offset_ += buffer_.size();
    buffer_.clear();
  }
  File file_;
  std::string buffer_;
  std::uint64_t offset_ = 0;
};

/// Turns rows into lines.
class LineWriter final : public RowReceiver {
 public:
  LineWriter(CommandContext& context, const CopyOptions& options, std::span<const QueryColumn> columns,
             CopySink& sink)
      : context_{context}, options_{options}, sink_{sink} {
    for (const QueryColumn& column : columns) {
      const TypeInfo* type = find_type(column.type.type);
      if (type == nullptr || type->output == nullptr) {
        throw SqlError{sqlstate::kFeatureNotSupported,
                       "COPY of type " + context.catalog.format_type(column.type.type) + " is not supported"};
      }
      types_.push_back(type);
      const bool forced = options.force_quote_all ||
                          std::ranges::find(options.force_quote, column.name) != options.force_quote.end();
      force_quote_.push_back(forced);
    }
  }

  void header(std::span<const QueryColumn> columns) {
    line_.clear();
    for (std::size_t i = 0; i < columns.size(); ++i) {
      if (i > 0) line_ += options_.delimiter;
      put(columns[i].name, false);
    }
    finish_line();
  }

  void row(const Slot& slot) override {
    line_.clear();
    for (std::size_t i = 0; i < types_.size(); ++i) {
      if (i > 0) line_ += options_.delimiter;
      if (slot.nulls[i]) {
        line_ += options_.null_text;
        continue;
      }
      text_.clear();
      const IoContext io{arena_, context_.catalog.eval(), types_[i]->oid, -1};
      types_[i]->output(slot.values[i], io, text_);
      put(text_, force_quote_[i]);
    }
    finish_line();
    arena_.reset();
  }

 private:
  void finish_line() {
    line_ += '\n';
    sink_.line(line_);
  }

  void put(std::string_view text, bool force_quote) {
    if (options_.csv) {
      put_csv(text, force_quote);
    } else {
      put_text(text);
    }
  }

  void put_text(std::string_view text) {
    for (const char c : text) {
      switch (c) {
        case '\b':
          line_ += "\\b";
          break;
        case '\f':
          line_ += "\\f";
          break;
        case '\n':
          line_ += "\\n";
          break;
        case '\r':
          line_ += "\\r";
          break;
        case '\t':
          line_ += "\\t";
          break;
        case '\v':
          line_ += "\\v";
          break;
        default:
          if (c == '\\' || c == options_.delimiter) line_ += '\\';
          line_ += c;
      }
    }
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
  CopySink& sink_;
  std::vector<const TypeInfo*> types_;
  std::vector<bool> force_quote_;
  std::string line_, text_;
  Arena arena_;
};

/// COPY t TO is COPY (SELECT columns FROM ONLY t) TO.
const Query* table_query(CommandContext& context, const CopyUtility& utility) {
  const RelationRef relation = require_relation(context, utility.table, kAccessShare);
  if (relation->kind != 'r') {
    const std::string word{relation_kind_word(relation->kind)};
    SqlError error{sqlstate::kWrongObjectType, "cannot copy from " + word + " " + in_quotes(relation->name)};
    if (relation->kind == 'v' || relation->kind == 'm')
      throw std::move(error).hint("Try the COPY (SELECT ...) TO variant.");
    throw error;
  }
  const std::vector<std::int16_t> columns = copy_columns(*relation, utility.columns);
  context.catalog.check_relation_privilege(*relation, kSelectPrivilege, columns);
  std::string text = "SELECT ";
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (i > 0) text += ", ";
    text += quote_identifier(relation->column(columns[i]).name);
  }
  text += " FROM ONLY " + quote_qualified(relation->schema_name, relation->name);
  return analyze_select_text(context.analyze, context.arena.copy(text));
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
  const Query* query = utility.query != nullptr ? utility.query : table_query(context, utility);
  const std::span<const QueryColumn> columns = result_columns(*query, context.arena);
  std::unique_ptr<CopySink> sink;
  if (utility.file_name.empty()) {
    sink = std::make_unique<ClientSink>(context.client, static_cast<int>(columns.size()));
  } else {
    if (utility.file_name.front() != '/') {
      throw SqlError{sqlstate::kInvalidName, "relative path not allowed for COPY to file"};
    }
    sink = std::make_unique<FileSink>(std::string{utility.file_name});
  }
  LineWriter writer{context, options, columns, *sink};
  if (options.header) writer.header(columns);
  const std::uint64_t count = context.run_query(*query, writer);
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
