#include "sql/commands/row_input.h"

#include <memory>
#include <string>
#include <vector>

#include "base/sqlstate.h"
#include "sql/types/row_value.h"
#include "sql/types/type_info.h"

namespace pinwheel::sql {
namespace {

/// Takes a row's text apart, field by field.
class RowTextReader {
 public:
  explicit RowTextReader(std::string_view text) : text_{text} {}

  void open() {
    skip_space();
    if (!take('(')) fail("Missing left parenthesis.");
  }
  void next_field() {
    if (!take(',')) fail("Too few columns.");
  }
  void close() {
    if (!take(')')) fail("Too many columns.");
    skip_space();
    if (at_ < text_.size()) fail("Junk after right parenthesis.");
  }

  /// False for NULL, which is nothing at all; an empty string is written "".
  bool read_field(std::string& field) {
    field.clear();
    if (at_ < text_.size() && (text_[at_] == ',' || text_[at_] == ')')) return false;
    bool quoted = false;
    for (;; ++at_) {
      if (at_ >= text_.size()) fail("Unexpected end of input.");
      const char c = text_[at_];
      if (!quoted && (c == ',' || c == ')')) return true;
      if (c == '\\') {
        if (++at_ >= text_.size()) fail("Unexpected end of input.");
        field += text_[at_];
      } else if (c != '"') {
        field += c;
      } else if (quoted && at_ + 1 < text_.size() && text_[at_ + 1] == '"') {
        field += '"';
        ++at_;
      } else {
        quoted = !quoted;
      }
    }
  }

 private:
  bool take(char c) {
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  void skip_space() {
    while (at_ < text_.size() && (text_[at_] == ' ' || (text_[at_] >= '\t' && text_[at_] <= '\r'))) ++at_;
  }
  [[noreturn]] void fail(std::string_view detail) const {
    throw SqlError{sqlstate::kInvalidTextRepresentation,
                   "malformed record literal: \"" + std::string{text_} + "\""}
        .detail(std::string{detail});
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

Datum read_row_text(const Relation& relation, std::string_view text, EvalContext& eval, Arena& arena) {
  RowTextReader reader{text};
  std::vector<Oid> types;
  std::vector<Datum> values;
  const auto nulls = std::make_unique<bool[]>(relation.columns.size());
  std::string field;
  reader.open();
  for (const Column& column : relation.columns) {
    if (column.dropped) continue;
    if (!types.empty()) reader.next_field();
    const bool present = reader.read_field(field);
    nulls[types.size()] = !present;
    types.push_back(column.type);
    Datum value{};
    if (present) {
      const TypeInfo* info = find_type(column.type);
      value = info != nullptr
                  ? input_value(*info, arena.copy(field), arena, eval, column.type_modifier)
                  : eval.catalog->input_user_type(column.type, field, column.type_modifier, arena);
    }
    values.push_back(value);
  }
  reader.close();
  return make_row(arena, relation.row_type, types, values.data(), nulls.get());
}

}  // namespace pinwheel::sql
