#include "sql/commands/copy_lines.h"

#include <catch2/catch.hpp>

#include "base/error.h"
#include "tests/sql_commands/pieces.h"

namespace pinwheel::sql {
namespace {

using testing::Pieces;

struct Outcome {
  std::vector<std::string> lines;
  std::string error;  // message, if reading ended with one
  bool operator==(const Outcome&) const = default;
};

Outcome read_all(Pieces pieces, const CopyLines::Format& format) {
  CopyLines lines{format, pieces.source()};
  Outcome outcome;
  try {
    std::string_view line;
    while (lines.next(line)) outcome.lines.emplace_back(line);
  } catch (const SqlError& error) {
    outcome.error = error.message();
  }
  return outcome;
}

/// The same for the whole text at once, for single bytes, and for each pair of pieces.
void check(std::string_view text, const CopyLines::Format& format, const Outcome& expected) {
  CAPTURE(text);
  CHECK(read_all(Pieces::cut(text, {}), format) == expected);
  CHECK(read_all(Pieces::single_bytes(text), format) == expected);
  for (std::size_t place = 0; place <= text.size(); ++place) {
    CAPTURE(place);
    CHECK(read_all(Pieces::cut(text, {place}), format) == expected);
    if (place + 2 <= text.size()) CHECK(read_all(Pieces::cut(text, {place, place + 2}), format) == expected);
  }
}

constexpr CopyLines::Format kText{};
constexpr CopyLines::Format kCsv{.csv = true};

}  // namespace

TEST_CASE("lines are the same wherever the pieces are cut", "[sql_commands][copy]") {
  check("a\tb\nc\td\n", kText, {{"a\tb", "c\td"}, ""});
  check("a\n\n\nb", kText, {{"a", "", "", "b"}, ""});
  check("a\r\nb\r\n", kText, {{"a", "b"}, ""});
  check("a\rb\rc", kText, {{"a", "b", "c"}, ""});
  check("", kText, {{}, ""});
  check("\n", kText, {{""}, ""});
}

TEST_CASE("a backslash makes a line end data", "[sql_commands][copy]") {
  check("a\\\nb\nc\n", kText, {{"a\\\nb", "c"}, ""});
  check("a\\\\\nb\n", kText, {{"a\\\\", "b"}, ""});
  check("a\\\rb\nc\n", kText, {{"a\\\rb", "c"}, ""});
  check("ends with \\", kText, {{"ends with \\"}, ""});
}

TEST_CASE("the end marker ends the data, and only alone on its line", "[sql_commands][copy]") {
  check("a\n\\.\nb\n", kText, {{"a"}, ""});
  check("a\r\n\\.\r\nb\r\n", kText, {{"a"}, ""});
  check("a\\.\nb\n", kText, {{"a"}, ""});
  check("a\n\\.x\n", kText, {{"a"}, "end-of-copy marker corrupt"});
  check("a\n\\.", kText, {{"a"}, "end-of-copy marker corrupt"});
  check("a\n\\.\r", kText, {{"a"}, "end-of-copy marker does not match previous newline style"});
  check("a\r\n\\.\n", kText, {{"a"}, "end-of-copy marker does not match previous newline style"});
  check("\\.\n", kCsv, {{}, ""});
  check("a\n\\.x\nb\n", kCsv, {{"a", "\\.x", "b"}, ""});
  check("a\\.\nb\n", kCsv, {{"a\\.", "b"}, ""});
  check("\\\n", kCsv, {{"\\"}, ""});
}

TEST_CASE("line ends of two kinds are refused", "[sql_commands][copy]") {
  check("a\nb\rc\n", kText, {{"a"}, "literal carriage return found in data"});
  check("a\r\nb\n", kText, {{"a"}, "literal newline found in data"});
  check("a\r\nb\rc\r\n", kText, {{"a"}, "literal carriage return found in data"});
  check("a\rb\nc", kText, {{"a"}, "literal newline found in data"});
  check("a\nb\rc\n", kCsv, {{"a"}, "unquoted carriage return found in data"});
  check("a\r\nb\n", kCsv, {{"a"}, "unquoted newline found in data"});
}

TEST_CASE("line ends within CSV quotes are data", "[sql_commands][copy]") {
  check("1,\"a\nb\"\n2,c\n", kCsv, {{"1,\"a\nb\"", "2,c"}, ""});
  check("\"a\"\"\n\"\nb\n", kCsv, {{"\"a\"\"\n\"", "b"}, ""});
  const CopyLines::Format escaped{.csv = true, .quote = '"', .escape = '\\'};
  check("\"a\\\"\nb\"\nc\n", escaped, {{"\"a\\\"\nb\"", "c"}, ""});
  check("\"a\\\\\"\nb\n", escaped, {{"\"a\\\\\"", "b"}, ""});
  check("\"open\nrest", kCsv, {{"\"open\nrest"}, ""});
}

TEST_CASE("bytes that are not UTF-8 are refused, characters cut by a piece are not", "[sql_commands][copy]") {
  check("a\xC3\xA4\xE2\x82\xAC\n", kText, {{"a\xC3\xA4\xE2\x82\xAC"}, ""});
  check("ok\na\xFF\n", kText, {{"ok"}, "invalid byte sequence for encoding \"UTF8\": 0xff"});
  check(std::string_view{"a\0b\n", 4}, kText, {{}, "invalid byte sequence for encoding \"UTF8\": 0x00"});
}

TEST_CASE("lines are counted, those within quotes too", "[sql_commands][copy]") {
  Pieces pieces = Pieces::cut("a\n\"x\ny\"\nb\n", {4});
  CopyLines lines{kCsv, pieces.source()};
  std::string_view line;
  std::vector<std::uint64_t> numbers;
  while (lines.next(line)) numbers.push_back(lines.number());
  CHECK(numbers == std::vector<std::uint64_t>{1, 3, 4});
}

TEST_CASE("draining reads what follows the end marker", "[sql_commands][copy]") {
  Pieces pieces = Pieces::single_bytes("a\n\\.\nrest\nof it");
  CopyLines lines{kText, pieces.source()};
  std::string_view line;
  while (lines.next(line)) {
  }
  CHECK_FALSE(pieces.exhausted());
  lines.drain();
  CHECK(pieces.exhausted());
  CHECK_FALSE(lines.next(line));
}

}  // namespace pinwheel::sql
