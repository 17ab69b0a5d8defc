#include "sql/commands/copy_reader.h"

#include <catch2/catch.hpp>
#include <optional>
#include <random>

#include "base/error.h"
#include "tests/sql_commands/pieces.h"

namespace pinwheel::sql {
namespace {

using testing::Pieces;
using Field = std::optional<std::string>;
using Row = std::vector<Field>;

std::vector<Row> read_all(Pieces pieces, const CopyOptions& options,
                          const std::vector<bool>* not_null = nullptr,
                          const std::vector<bool>* null = nullptr) {
  CopyReader reader{options, pieces.source()};
  std::vector<CopyField> fields;
  std::vector<Row> rows;
  while (reader.next(fields, not_null, null)) {
    Row& row = rows.emplace_back();
    for (const CopyField& field : fields) {
      row.push_back(field.is_null ? std::nullopt : Field{std::string{field.text}});
    }
  }
  return rows;
}

std::vector<Row> read_text(std::string_view text, const CopyOptions& options = {}) {
  return read_all(Pieces::cut(text, {}), options);
}

CopyOptions csv_options() {
  CopyOptions options;
  options.format = CopyFormat::kCsv;
  options.delimiter = ',';
  options.null_text.clear();
  return options;
}

/// The message with which reading fails.
std::string failure(std::string_view text, const CopyOptions& options) {
  try {
    read_text(text, options);
  } catch (const SqlError& error) {
    return error.message();
  }
  return {};
}

std::string write_text(const std::vector<Row>& rows) {
  std::string out;
  for (const Row& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (i > 0) out += '\t';
      if (!row[i]) {
        out += "\\N";
        continue;
      }
      for (const char c : *row[i]) {
        switch (c) {
          case '\n':
            out += "\\n";
            break;
          case '\r':
            out += "\\r";
            break;
          case '\t':
            out += "\\t";
            break;
          case '\\':
            out += "\\\\";
            break;
          default:
            out += c;
        }
      }
    }
    out += '\n';
  }
  return out;
}

std::string write_csv(const std::vector<Row>& rows) {
  std::string out;
  for (const Row& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (i > 0) out += ',';
      if (!row[i]) continue;
      out += '"';
      for (const char c : *row[i]) {
        if (c == '"') out += '"';
        out += c;
      }
      out += '"';
    }
    out += '\n';
  }
  return out;
}

}  // namespace

TEST_CASE("text fields are split and their escapes replaced", "[sql_commands][copy]") {
  CHECK(read_text("1\ttwo\t\n") == std::vector<Row>{{"1", "two", ""}});
  CHECK(read_text("\\N\ta\\tb\\\\c\n") == std::vector<Row>{{std::nullopt, "a\tb\\c"}});
  CHECK(read_text("\\b\\f\\n\\r\\t\\v\n") == std::vector<Row>{{"\b\f\n\r\t\v"}});
  CHECK(read_text("\\101\\x42\\x4g\\q\n") == std::vector<Row>{{"AB\x04gq"}});
  CHECK(read_text("a\\\tb\tc\n") == std::vector<Row>{{"a\tb", "c"}});
  CHECK(read_text("a\\\nb\n") == std::vector<Row>{{"a\nb"}});
  CHECK(read_text("\\\\N\n") == std::vector<Row>{{"\\N"}});
  CHECK(read_text("\\xzz\n") == std::vector<Row>{{"xzz"}});
}

TEST_CASE("escapes by number must make characters", "[sql_commands][copy]") {
  CHECK(read_text("\\303\\244\n") == std::vector<Row>{{"\xC3\xA4"}});
  CHECK(failure("\\303\n", {}) == "invalid byte sequence for encoding \"UTF8\": 0xc3");
  CHECK(failure("\\0\n", {}) == "invalid byte sequence for encoding \"UTF8\": 0x00");
}

TEST_CASE("CSV fields are split, unquoted ones may be null", "[sql_commands][copy]") {
  const CopyOptions options = csv_options();
  CHECK(read_text("1,,\"\"\n", options) == std::vector<Row>{{"1", std::nullopt, ""}});
  CHECK(read_text("\"a \"\"b\"\"\",c,\n", options) == std::vector<Row>{{"a \"b\"", "c", std::nullopt}});
  CHECK(read_text("a\"b,c\"d,e\n", options) == std::vector<Row>{{"ab,cd", "e"}});
  CHECK(read_text("\"x\ny\"\n", options) == std::vector<Row>{{"x\ny"}});
  CHECK(failure("a,\"b\n", options) == "unterminated CSV quoted field");
}

TEST_CASE("FORCE_NULL and FORCE_NOT_NULL overrule quotes", "[sql_commands][copy]") {
  const std::vector<bool> first{true, false};
  CHECK(read_all(Pieces::cut(",\n", {}), csv_options(), &first) == std::vector<Row>{{"", std::nullopt}});
  CHECK(read_all(Pieces::cut("\"\",\"\"\n", {}), csv_options(), nullptr, &first) ==
        std::vector<Row>{{std::nullopt, ""}});
}

TEST_CASE("random rows come back from text and CSV in random pieces", "[sql_commands][copy]") {
  const auto seed = std::random_device{}();
  CAPTURE(seed);
  std::mt19937 random{seed};
  constexpr std::string_view kAlphabet[] = {"a",  "b",  ",", "\t",  "\n",       "\r",
                                            "\\", "\"", ".", "\\.", "\xC3\xA4", "N"};
  for (int round = 0; round < 200; ++round) {
    std::vector<Row> rows(random() % 6);
    for (Row& row : rows) {
      row.resize(2 + random() % 3);
      for (Field& field : row) {
        if (random() % 5 == 0) continue;
        field.emplace();
        for (std::size_t i = random() % 8; i > 0; --i) *field += kAlphabet[random() % std::size(kAlphabet)];
      }
    }
    for (const bool csv : {false, true}) {
      const std::string text = csv ? write_csv(rows) : write_text(rows);
      std::vector<std::size_t> places;
      for (std::size_t place = random() % 9; place < text.size(); place += random() % 9)
        places.push_back(place);
      CHECK(read_all(Pieces::cut(text, places), csv ? csv_options() : CopyOptions{}) == rows);
    }
  }
}

}  // namespace pinwheel::sql
