#include <catch2/catch.hpp>
#include <fstream>
#include <sstream>

#include "base/error.h"
#include "sql/analyze/expression_source.h"
#include "sql/deparse/deparse.h"
#include "tests/sql_analyze/catalog_double.h"

using namespace pinwheel;
using namespace pinwheel::sql;

namespace {

std::string read_file(const std::string& name) {
  std::ifstream in{std::string{SOURCE_ROOT} + "/tests/sql_analyze/" + name};
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

std::string unescape(const std::string& text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\') {
      out += text[i];
      continue;
    }
    const char c = text[++i];
    out += c == 't' ? '\t' : c == 'n' ? '\n' : c;
  }
  return out;
}

/// What stock made of one statement.
struct Expected {
  std::string statement, state, message, position, detail, hint, columns, definition, pretty, create;
};

std::vector<Expected> read_expected(const std::string& file = "expected.tsv") {
  std::istringstream in{read_file(file)};
  std::vector<Expected> all;
  std::string line;
  while (std::getline(in, line)) {
    std::vector<std::string> fields;
    std::string part;
    std::istringstream parts{line};
    while (std::getline(parts, part, '\t')) fields.push_back(unescape(part));
    fields.resize(10);
    all.push_back({fields[0], fields[1], fields[2], fields[3], fields[4], fields[5], fields[6], fields[7],
                   fields[8], fields[9]});
  }
  return all;
}

CatalogDouble& catalog() {
  static CatalogDouble* made = [] {
    auto* fresh = new CatalogDouble{std::string{SOURCE_ROOT} + "/sql/catalog/data"};
    fresh->run_script(read_file("schema.sql"));
    return fresh;
  }();
  return *made;
}

/// What we make of it, in the same fields.
Expected actual(const std::string& statement) {
  Expected out;
  out.statement = statement;
  Arena arena;
  try {
    const ParsedText parsed = parse(statement);
    const std::size_t dollar = statement.find('$');
    const bool wants_parameters =
        dollar + 1 < statement.size() && statement[dollar + 1] >= '0' && statement[dollar + 1] <= '9';
    const AnalyzedStatement analyzed =
        analyze({arena, catalog(), catalog().eval()}, parsed.statements()[0], parsed.text(), {},
                wants_parameters ? ParameterMode::kNone : ParameterMode::kInfer);
    for (const QueryColumn& column : result_columns(*analyzed.query, arena)) {
      if (!out.columns.empty()) out.columns += ',';
      out.columns += std::string{column.name} + ":" +
                     (column.type.type < kFirstNormalOid ? std::to_string(column.type.type.value) : "row");
    }
  } catch (const SqlError& error) {
    out.state = error.state().view();
    out.message = error.message();
    if (error.fields().position > 0) out.position = std::to_string(error.fields().position);
    out.detail = error.fields().detail;
    out.hint = error.fields().hint;
  }
  return out;
}

}  // namespace

TEST_CASE("statements are accepted and refused as stock does", "[sql_analyze][statements]") {
  for (const Expected& expected : read_expected()) {
    const Expected got = actual(expected.statement);
    INFO(expected.statement);
    CHECK(got.state == expected.state);
    CHECK(got.message == expected.message);
    CHECK(got.position == expected.position);
    CHECK(got.detail == expected.detail);
    CHECK(got.hint == expected.hint);
    CHECK(got.columns == expected.columns);
  }
}

TEST_CASE("psql's own queries are accepted", "[sql_analyze][psql]") {
  for (const Expected& expected : read_expected("psql_expected.tsv")) {
    if (!expected.state.empty()) continue;
    const Expected got = actual(expected.statement);
    // Names within regclass literals are looked up by hooks that the double has not.
    if (got.state == "42P01" && expected.statement.find("regclass") != std::string::npos) continue;
    INFO(expected.statement);
    CHECK(got.message == "");
    CHECK(got.columns == expected.columns);
  }
}

TEST_CASE("view definitions read as stock's", "[sql_analyze][deparse]") {
  for (const Expected& expected : read_expected()) {
    if (expected.definition.empty()) continue;
    INFO(expected.statement);
    Arena arena;
    const ParsedText parsed = parse(expected.create + expected.statement);
    const AnalyzedStatement analyzed =
        analyze({arena, catalog(), catalog().eval()}, parsed.statements()[0], parsed.text());
    const auto* view = static_cast<const CreateViewUtility*>(analyzed.query->utility);
    DeparseOptions options;
    CHECK(deparse_query(*view->query, catalog(), catalog().eval(), options) + ";" == expected.definition);
    options.pretty = true;
    CHECK(deparse_query(*view->query, catalog(), catalog().eval(), options) + ";" == expected.pretty);
  }
}

TEST_CASE("a deparsed query analyzes to the same text again", "[sql_analyze][deparse]") {
  for (const Expected& expected : read_expected()) {
    if (expected.definition.empty()) continue;
    INFO(expected.statement);
    Arena arena;
    const AnalyzeContext context{arena, catalog(), catalog().eval()};
    DeparseOptions options;
    options.qualify_all = true;
    const ParsedText parsed = parse(expected.statement);
    const AnalyzedStatement analyzed = analyze(context, parsed.statements()[0], parsed.text());
    const std::string once = deparse_query(*analyzed.query, catalog(), catalog().eval(), options);
    std::string twice;
    try {
      twice = deparse_query(*analyze_select_text(context, once), catalog(), catalog().eval(), options);
    } catch (const SqlError& error) {
      twice = error.message();
    }
    CHECK(twice == once);
  }
}

TEST_CASE("parameters take their types from what stands around them", "[sql_analyze][parameters]") {
  Arena arena;
  const ParsedText parsed = parse("SELECT b FROM t WHERE a = $1 AND c > $2 AND b = $3 LIMIT $4");
  const AnalyzedStatement analyzed = analyze({arena, catalog(), catalog().eval()}, parsed.statements()[0],
                                             parsed.text(), {}, ParameterMode::kInfer);
  REQUIRE(analyzed.parameter_types.size() == 4);
  CHECK(analyzed.parameter_types[0].value == 23);
  CHECK(analyzed.parameter_types[1].value == 1700);
  CHECK(analyzed.parameter_types[2].value == 25);
  CHECK(analyzed.parameter_types[3].value == 20);
}

TEST_CASE("an expression of a table is analyzed from its text", "[sql_analyze][expression_source]") {
  Arena arena;
  const AnalyzeContext context{arena, catalog(), catalog().eval()};
  const ViewedRelation* table = catalog().find_relation("", "t", 1);
  const Expr* check = analyze_expression(context, "a > 0 and b <> ''", table, SourceUse::kCheck);
  CHECK(deparse_expression(check, table, catalog(), catalog().eval()) == "((a > 0) AND (b <> ''::text))");
  const Expr* value = analyze_column_value(context, "1", nullptr, SourceUse::kColumnDefault, "c",
                                           {Oid{1700}, ((10 << 16) | 2) + 4, {}});
  CHECK(deparse_expression(value, nullptr, catalog(), catalog().eval()) == "1");
  CHECK_THROWS_AS(analyze_expression(context, "count(*) > 0", table, SourceUse::kCheck), SqlError);
}
