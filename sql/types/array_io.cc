#include <strings.h>

#include <charconv>
#include <vector>

#include "base/bytes.h"
#include "sql/types/array.h"
#include "sql/types/binary_io.h"
#include "sql/types/io_errors.h"
#include "sql/types/io_functions.h"
#include "sql/types/numbers.h"

namespace pinwheel::sql::io {

namespace {

Datum plain(Datum value, const IoContext& io) {
  return needs_detoast(value) ? detoast(value, io.arena, io.eval.detoaster) : value;
}

Oid element_of(const IoContext& io) {
  const TypeInfo* type = find_type(io.type);
  return type && type->element.value ? type->element : kTextType;
}

Datum input_element(Oid element, std::string_view text, const IoContext& io) {
  if (const TypeInfo* type = find_type(element)) {
    return type->input(text, IoContext{io.arena, io.eval, element, io.typmod});
  }
  return io.eval.catalog->input_user_type(element, text, io.typmod, io.arena);
}

void output_element(Oid element, Datum value, const IoContext& io, std::string& out) {
  if (const TypeInfo* type = find_type(element)) {
    return type->output(value, IoContext{io.arena, io.eval, element, -1}, out);
  }
  io.eval.catalog->output_user_type(element, value, out);
}

/// Reads "[1:2]={...}" and nested braces in one pass.
class ArrayParser {
 public:
  ArrayParser(std::string_view text, const IoContext& io, Oid element)
      : text_{text},
        io_{io},
        element_{element},
        delimiter_{find_type(element) ? find_type(element)->delimiter : ','} {}

  Datum run() {
    skip();
    bounds();
    skip();
    if (peek() != '{') bad("Array value must start with \"{\" or dimension information.");
    level(0);
    skip();
    if (at_ != text_.size()) bad("Junk after closing right brace.");
    if (values_.empty()) return build_array(io_.arena, element_, nullptr, nullptr, 0);
    if (explicit_bounds_ > 0) {
      if (explicit_bounds_ != ndim_) bad("Specified array dimensions do not match array contents.");
      for (int i = 0; i < ndim_; ++i) {
        if (explicit_lengths_[i] != lengths_[i])
          bad("Specified array dimensions do not match array contents.");
      }
    }
    bool* nulls = io_.arena.make_array<bool>(nulls_.size());
    for (std::size_t i = 0; i < nulls_.size(); ++i) nulls[i] = nulls_[i];
    return build_array(io_.arena, element_, ndim_, lengths_, lower_, values_.data(), nulls);
  }

 private:
  [[noreturn]] void bad(std::string detail) const {
    throw SqlError{sqlstate::kInvalidTextRepresentation,
                   "malformed array literal: \"" + std::string{text_} + "\""}
        .detail(std::move(detail));
  }
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  void skip() {
    while (at_ < text_.size() && is_space(text_[at_])) ++at_;
  }
  int integer() {
    int value = 0;
    if (peek() == '+') ++at_;
    const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    if (error != std::errc{}) bad("Missing array dimension value.");
    at_ = static_cast<std::size_t>(end - text_.data());
    return value;
  }

  void bounds() {
    for (int& lower : lower_) lower = 1;
    if (peek() != '[') return;
    while (peek() == '[') {
      if (explicit_bounds_ == kMaxDimensions) too_many();
      ++at_;
      int lower = 1;
      int upper = integer();
      if (peek() == ':') {
        ++at_;
        lower = upper;
        upper = integer();
      }
      if (peek() != ']') bad("Missing \"]\" after array dimensions.");
      ++at_;
      if (upper < lower) {
        throw SqlError{sqlstate::kArraySubscriptError, "upper bound cannot be less than lower bound"};
      }
      lower_[explicit_bounds_] = lower;
      explicit_lengths_[explicit_bounds_++] = upper - lower + 1;
      skip();
    }
    if (peek() != '=') bad("Missing \"=\" after array dimensions.");
    ++at_;
  }
  [[noreturn]] static void too_many() {
    throw SqlError{sqlstate::kProgramLimitExceeded,
                   "number of array dimensions (7) exceeds the maximum allowed (6)"};
  }

  /// One brace level. Every sublist of a level must be as long as the first.
  void level(int depth) {
    if (depth == kMaxDimensions) too_many();
    ++at_;  // '{'
    int count = 0;
    skip();
    if (peek() == '}' && depth == 0) {
      ++at_;
      return;
    }
    for (;;) {
      skip();
      if (peek() == '{') {
        if (ndim_ != 0 && depth + 1 >= ndim_) bad("Unexpected \"{\" character.");
        level(depth + 1);
      } else {
        if (ndim_ == 0) ndim_ = depth + 1;
        if (depth + 1 != ndim_) bad("Unexpected array element.");
        item();
      }
      ++count;
      skip();
      if (peek() == delimiter_) {
        ++at_;
        continue;
      }
      if (peek() == '}') {
        ++at_;
        break;
      }
      if (at_ >= text_.size()) bad("Unexpected end of input.");
      bad("Unexpected array element.");
    }
    if (seen_[depth] && lengths_[depth] != count) {
      bad("Multidimensional arrays must have sub-arrays with matching dimensions.");
    }
    seen_[depth] = true;
    lengths_[depth] = count;
  }

  void item() {
    item_.clear();
    bool quoted = false;
    std::size_t keep = 0;  // trailing white space after this length is not part of the item
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '"') {
        if (!quoted && keep > 0) bad("Unexpected array element.");
        quoted = true;
        ++at_;
        while (peek() != '"') {
          if (at_ >= text_.size()) bad("Unexpected end of input.");
          if (peek() == '\\') ++at_;
          if (at_ >= text_.size()) bad("Unexpected end of input.");
          item_ += text_[at_++];
        }
        ++at_;
        keep = item_.size();
        skip();
        if (peek() != delimiter_ && peek() != '}') {
          if (at_ >= text_.size()) bad("Unexpected end of input.");
          bad("Unexpected array element.");
        }
        break;
      }
      if (c == delimiter_ || c == '}') break;
      if (c == '{') bad("Unexpected \"{\" character.");
      if (c == '\\') {
        if (++at_ >= text_.size()) bad("Unexpected end of input.");
        item_ += text_[at_++];
        keep = item_.size();
        escaped_ = true;
        continue;
      }
      item_ += c;
      ++at_;
      if (!is_space(c)) keep = item_.size();
    }
    item_.resize(keep);
    if (!quoted && keep == 0) {
      if (at_ >= text_.size()) bad("Unexpected end of input.");
      bad(std::string{"Unexpected \""} + peek() + "\" character.");
    }
    const bool is_null =
        !quoted && !escaped_ && item_.size() == 4 && strncasecmp(item_.data(), "null", 4) == 0;
    escaped_ = false;
    nulls_.push_back(is_null);
    values_.push_back(is_null ? Datum{} : input_element(element_, item_, io_));
  }

  std::string_view text_;
  const IoContext& io_;
  Oid element_;
  char delimiter_;
  std::size_t at_ = 0;
  int ndim_ = 0;
  int lengths_[kMaxDimensions]{};
  int lower_[kMaxDimensions]{};
  bool seen_[kMaxDimensions]{};
  int explicit_bounds_ = 0;
  int explicit_lengths_[kMaxDimensions]{};
  bool escaped_ = false;
  std::string item_;
  std::vector<Datum> values_;
  std::vector<bool> nulls_;
};

bool must_quote(std::string_view item, char delimiter) {
  if (item.empty() || (item.size() == 4 && strncasecmp(item.data(), "null", 4) == 0)) return true;
  for (char c : item) {
    if (c == '"' || c == '\\' || c == '{' || c == '}' || c == delimiter || is_space(c)) return true;
  }
  return false;
}

void append_item(std::string& out, std::string_view item, char delimiter) {
  if (!must_quote(item, delimiter)) {
    out += item;
    return;
  }
  out += '"';
  for (char c : item) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  out += '"';
}

/// "1 2 3": int2vector and oidvector.
template <class T>
std::vector<T> parse_vector(std::string_view text, auto parse) {
  std::vector<T> values;
  std::size_t at = 0;
  for (;;) {
    while (at < text.size() && is_space(text[at])) ++at;
    if (at == text.size()) return values;
    const std::size_t start = at;
    while (at < text.size() && !is_space(text[at])) ++at;
    values.push_back(static_cast<T>(parse(text.substr(start, at - start))));
  }
}

void append_vector(std::string& out, Datum value, const IoContext& io) {
  const ArrayView view = view_array(plain(value, io));
  ArrayReader reader{view};
  Datum item;
  bool is_null;
  bool first = true;
  while (reader.next(&item, &is_null)) {
    if (!first) out += ' ';
    first = false;
    if (view.element == kOidType) {
      append_uint(out, item.as_oid().value);
    } else {
      append_int(out, item.as_int16());
    }
  }
}

}  // namespace

Datum array_in(std::string_view text, const IoContext& io) {
  return ArrayParser{text, io, element_of(io)}.run();
}

void array_out(Datum value, const IoContext& io, std::string& out) {
  const ArrayView view = view_array(plain(value, io));
  if (view.count == 0) {
    out += "{}";
    return;
  }
  bool shifted = false;
  for (int i = 0; i < view.ndim; ++i) shifted |= view.lower[i] != 1;
  if (shifted) {
    for (int i = 0; i < view.ndim; ++i) {
      out += '[';
      append_int(out, view.lower[i]);
      out += ':';
      append_int(out, view.lower[i] + view.lengths[i] - 1);
      out += ']';
    }
    out += '=';
  }
  const TypeInfo* type = find_type(view.element);
  const char delimiter = type ? type->delimiter : ',';
  ArrayReader reader{view};
  std::string item;
  int position[kMaxDimensions]{};
  out.append(static_cast<std::size_t>(view.ndim), '{');
  Datum element;
  bool is_null;
  while (reader.next(&element, &is_null)) {
    if (is_null) {
      out += "NULL";
    } else {
      item.clear();
      output_element(view.element, element, io, item);
      append_item(out, item, delimiter);
    }
    // Close as many braces as dimensions that ended here, and open them again unless this was the last.
    int closed = 0;
    int d = view.ndim - 1;
    while (d >= 0 && ++position[d] == view.lengths[d]) {
      position[d--] = 0;
      ++closed;
    }
    out.append(static_cast<std::size_t>(closed), '}');
    if (d < 0) break;
    out += delimiter;
    out.append(static_cast<std::size_t>(closed), '{');
  }
}

/// Wire form: int32 dimensions, has-nulls flag, element type; per dimension length and lower bound; per
/// element int32 length (-1 NULL) and bytes.
void array_send(Datum value, const IoContext& io, std::string& out) {
  const ArrayView view = view_array(plain(value, io));
  const TypeInfo* type = find_type(view.element);
  if (!type || !type->send) {
    throw SqlError{sqlstate::kUndefinedFunction,
                   "no binary output function available for the array's element type"};
  }
  append_network<std::int32_t>(out, view.ndim);
  append_network<std::int32_t>(out, view.has_nulls);
  append_network<std::uint32_t>(out, view.element.value);
  for (int i = 0; i < view.ndim; ++i) {
    append_network<std::int32_t>(out, view.lengths[i]);
    append_network<std::int32_t>(out, view.lower[i]);
  }
  ArrayReader reader{view};
  Datum element;
  bool is_null;
  while (reader.next(&element, &is_null)) {
    if (is_null) {
      append_network<std::int32_t>(out, -1);
      continue;
    }
    const std::size_t length_at = out.size();
    append_network<std::int32_t>(out, 0);
    type->send(element, IoContext{io.arena, io.eval, view.element, -1}, out);
    store_network<std::int32_t>(out.data() + length_at,
                                static_cast<std::int32_t>(out.size() - length_at - 4));
  }
}

Datum array_recv(std::string_view bytes, const IoContext& io) {
  ByteReader reader{bytes};
  std::int32_t ndim = 0;
  std::int32_t flags = 0;
  std::uint32_t element_oid = 0;
  reader.read_network(ndim);
  reader.read_network(flags);
  reader.read_network(element_oid);
  if (!reader.ok() || ndim < 0 || ndim > kMaxDimensions || flags < 0 || flags > 1) throw_bad_binary();
  const Oid element = element_of(io);
  if (Oid{element_oid} != element && io.type != kAnyArrayType) {
    throw SqlError{sqlstate::kDatatypeMismatch, "binary data has array element type " +
                                                    std::to_string(element_oid) + " instead of expected " +
                                                    std::to_string(element.value)};
  }
  int lengths[kMaxDimensions]{};
  int lower[kMaxDimensions]{};
  std::int64_t count = ndim > 0;
  for (int i = 0; i < ndim; ++i) {
    reader.read_network(lengths[i]);
    reader.read_network(lower[i]);
    if (!reader.ok() || lengths[i] < 0) throw_bad_binary();
    count *= lengths[i];
    if (count > kMaxArrayElements || count > static_cast<std::int64_t>(bytes.size())) throw_bad_binary();
  }
  if (count == 0) return build_array(io.arena, element, nullptr, nullptr, 0);
  const TypeInfo* type = find_type(element);
  if (!type || !type->receive) throw_bad_binary();
  Datum* values = io.arena.make_array<Datum>(static_cast<std::size_t>(count));
  bool* nulls = io.arena.make_array<bool>(static_cast<std::size_t>(count));
  std::size_t at = 12 + 8 * static_cast<std::size_t>(ndim);
  for (std::int64_t i = 0; i < count; ++i) {
    if (bytes.size() - at < 4) throw_bad_binary();
    const auto size = load_network<std::int32_t>(bytes.data() + at);
    at += 4;
    if (size == -1) {
      nulls[i] = true;
      continue;
    }
    if (size < 0 || static_cast<std::size_t>(size) > bytes.size() - at) throw_bad_binary();
    values[i] = type->receive(bytes.substr(at, static_cast<std::size_t>(size)),
                              IoContext{io.arena, io.eval, element, io.typmod});
    at += static_cast<std::size_t>(size);
  }
  if (at != bytes.size()) throw_bad_binary();
  return build_array(io.arena, element, ndim, lengths, lower, values, nulls);
}

Datum int2vector_in(std::string_view text, const IoContext& io) {
  return make_int2vector(io.arena, parse_vector<std::int16_t>(text, parse_int2));
}
void int2vector_out(Datum value, const IoContext& io, std::string& out) { append_vector(out, value, io); }
Datum int2vector_recv(std::string_view bytes, const IoContext& io) { return array_recv(bytes, io); }
void int2vector_send(Datum value, const IoContext& io, std::string& out) { array_send(value, io, out); }

Datum oidvector_in(std::string_view text, const IoContext& io) {
  return make_oidvector(io.arena, parse_vector<Oid>(text, [](std::string_view word) {
                          return Oid{parse_uint32(word, "oid")};
                        }));
}
void oidvector_out(Datum value, const IoContext& io, std::string& out) { append_vector(out, value, io); }
Datum oidvector_recv(std::string_view bytes, const IoContext& io) { return array_recv(bytes, io); }
void oidvector_send(Datum value, const IoContext& io, std::string& out) { array_send(value, io, out); }

}  // namespace pinwheel::sql::io
