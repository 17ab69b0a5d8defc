#include <catch2/catch.hpp>
#include <fstream>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/arena.h"
#include "base/error.h"
#include "sql/functions/function.h"
#include "sql/types/time_zone.h"
#include "sql/types/type_info.h"

using namespace pinwheel;
using namespace pinwheel::sql;

namespace {

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts{""};
  int depth = 0;
  for (char c : text) {
    depth += (c == '(') - (c == ')');
    if (c == separator && (separator != ',' || depth == 0)) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

std::string unescape(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\' || i + 1 == text.size()) {
      out += text[i];
      continue;
    }
    const char c = text[++i];
    out += c == 't' ? '\t' : c == 'n' ? '\n' : c;
  }
  return out;
}

void apply_setting(EvalContext& eval, const std::string& name, const std::string& value) {
  const auto has = [&](std::string_view word) { return value.find(word) != std::string::npos; };
  if (name == "datestyle") {
    eval.date_style = has("SQL")        ? DateStyle::kSql
                      : has("Postgres") ? DateStyle::kPostgres
                      : has("German")   ? DateStyle::kGerman
                                        : DateStyle::kIso;
    eval.date_order = has("DMY") ? DateOrder::kDmy : has("YMD") ? DateOrder::kYmd : DateOrder::kMdy;
  } else if (name == "intervalstyle") {
    eval.interval_style = has("sql")        ? IntervalStyle::kSqlStandard
                          : has("verbose")  ? IntervalStyle::kPostgresVerbose
                          : has("iso_8601") ? IntervalStyle::kIso8601
                                            : IntervalStyle::kPostgres;
  } else if (name == "timezone") {
    eval.time_zone = TimeZone::find(value);
    REQUIRE(eval.time_zone != nullptr);
  } else if (name == "extra_float_digits") {
    eval.extra_float_digits = std::stoi(value);
  } else if (name == "bytea_output") {
    eval.bytea_output = has("escape") ? ByteaOutput::kEscape : ByteaOutput::kHex;
  } else {
    FAIL("unknown setting " << name);
  }
}

struct Answer {
  std::string kind;
  std::string value;
  std::string message;
  bool operator==(const Answer&) const = default;
};

bool is_polymorphic(Oid type) {
  return type == kAnyElementType || type == kAnyArrayType || type == kAnyCompatibleType ||
         type == kAnyCompatibleArrayType || type == kAnyType || type == kAnyNonArrayType;
}

/// The row of pg_proc that a call by these argument types means; a polymorphic row counts when nothing else
/// fits.
const ProcInfo* find_row(std::string_view name, const std::vector<Oid>& types) {
  const ProcInfo* loose = nullptr;
  for (const ProcInfo& row : builtin_procs()) {
    if (row.name != name || row.args.size() != types.size()) continue;
    bool exact = true;
    bool fits = true;
    for (std::size_t i = 0; i < types.size(); ++i) {
      exact &= row.args[i] == types[i];
      fits &= row.args[i] == types[i] || is_polymorphic(row.args[i]);
    }
    if (exact) return &row;
    if (fits) loose = &row;
  }
  return loose;
}

Oid resolve_result(const ProcInfo& row, const std::vector<Oid>& types) {
  if (!is_polymorphic(row.result)) return row.result;
  for (std::size_t i = 0; i < types.size(); ++i) {
    if (row.args[i] == row.result) return types[i];
  }
  for (std::size_t i = 0; i < types.size(); ++i) {
    const bool wants_array = row.result == kAnyArrayType || row.result == kAnyCompatibleArrayType;
    if (is_polymorphic(row.args[i]))
      return wants_array ? type_info(types[i]).array : type_info(types[i]).element;
  }
  return row.result;
}

class Player {
 public:
  EvalContext eval;

  Answer play(const std::string& text) {
    const std::vector<std::string> parts = split(text, '|');
    try {
      return parts[0].starts_with("in ") ? play_input(parts[0].substr(3), parts[1]) : play_call(parts);
    } catch (const SqlError& error) {
      return {"error", std::string{error.state().view()}, error.message()};
    }
  }

 private:
  Answer play_input(std::string_view spelling, std::string_view text) {
    int typmod;
    const Oid type = parse_builtin_type_name(spelling, &typmod);
    REQUIRE(type.value != 0);
    const Datum value = input_value(type_info(type), text, arena_, eval, typmod);
    return {"ok", output_value(type_info(type), value, arena_, eval), ""};
  }

  Answer play_call(const std::vector<std::string>& parts) {
    const std::size_t open = parts[0].find('(');
    const std::string name = parts[0].substr(0, open);
    std::vector<Oid> types;
    for (const std::string& spelling : split(parts[0].substr(open + 1, parts[0].size() - open - 2), ',')) {
      types.push_back(parse_builtin_type_name(spelling, nullptr));
    }
    const ProcInfo* row = find_row(name, types);
    if (!row) return {"missing", parts[0], ""};
    const FunctionPtr function = find_function(row->oid);
    if (!function) return {"missing", std::string{row->prosrc}, ""};
    std::vector<Datum> args(types.size());
    bool nulls[8] = {};
    bool any_null = false;
    for (std::size_t i = 0; i < types.size(); ++i) {
      nulls[i] = parts[i + 1] == "\\N";
      any_null |= nulls[i];
      if (!nulls[i]) args[i] = input_value(type_info(types[i]), parts[i + 1], arena_, eval);
    }
    if (row->strict && any_null) return {"null", "", ""};
    FunctionCall call;
    call.args = args.data();
    call.nulls = nulls;
    call.nargs = static_cast<int>(types.size());
    call.arena = &arena_;
    call.context = &eval;
    call.collation = kDefaultCollation;
    call.arg_types = types.data();
    call.procedure = row->oid;
    call.result_type = resolve_result(*row, types);
    const Datum result = function(call);
    if (call.result_null) return {"null", "", ""};
    return {"ok", output_value(type_info(call.result_type), result, arena_, eval), ""};
  }

  Arena arena_;
};

}  // namespace

TEST_CASE("functions and types give what stock PostgreSQL 15 recorded", "[sql][functions][types]") {
  std::ifstream file{"tests/sql_functions/cases.tsv"};
  REQUIRE(file);
  Player player;
  std::string line;
  int count = 0;
  while (std::getline(file, line)) {
    const std::vector<std::string> fields = split(line, '\t');
    REQUIRE(fields.size() == 4);
    const std::string text = unescape(fields[0]);
    ++count;
    if (fields[1] == "set") {
      const std::vector<std::string> setting = split(text.substr(4), '|');
      apply_setting(player.eval, setting[0], setting[1]);
      continue;
    }
    const Answer wanted{fields[1], unescape(fields[2]), unescape(fields[3])};
    const Answer got = player.play(text);
    INFO(text << "\n  stock: " << wanted.kind << " [" << wanted.value << "] " << wanted.message
              << "\n  ours:  " << got.kind << " [" << got.value << "] " << got.message);
    CHECK(got == wanted);
  }
  CHECK(count > 1000);
}
