#include <catch2/catch.hpp>
#include <cstring>
#include <string>
#include <vector>

#include "base/arena.h"
#include "base/error.h"
#include "sql/types/array.h"
#include "sql/types/compare.h"
#include "sql/types/io_errors.h"
#include "sql/types/row_value.h"
#include "sql/types/type_info.h"
#include "sql/types/utf8.h"
#include "sql/types/varlena.h"

using namespace pinwheel;
using namespace pinwheel::sql;

namespace {
std::string bytes(Datum v, std::size_t size) { return {v.as_chars(), size}; }
}  // namespace

TEST_CASE("short and long values have the documented headers", "[sql][types][format]") {
  Arena arena;
  CHECK(bytes(make_text(arena, "ab"), 3) == std::string{"\x07"} + "ab");
  CHECK(bytes(make_text(arena, ""), 1) == "\x03");
  CHECK(var_total(make_text(arena, std::string(126, 'x'))) == 127);
  const Datum longer = make_text(arena, std::string(127, 'x'));
  CHECK(bytes(longer, 4) == std::string("\x0C\x02\0\0", 4));  // (127 + 4) << 2
  CHECK(var_view(longer).size() == 127);
}

TEST_CASE("compressed values come back whole and damaged ones are refused", "[sql][types][format]") {
  Arena arena;
  const std::string text(5000, 'z');
  const Datum packed = compress_var(arena, make_text(arena, text));
  REQUIRE(packed.bits != 0);
  CHECK(needs_detoast(packed));
  CHECK(var_raw_size(packed) == 5000);
  CHECK(var_view(detoast(packed, arena, nullptr)) == text);
  auto* damaged = const_cast<std::uint8_t*>(packed.as_pointer());
  damaged[4] ^= 1;  // the raw size
  CHECK_THROWS_AS(detoast(packed, arena, nullptr), SqlError);
}

TEST_CASE("an external pointer is twenty bytes and is fetched through the hook", "[sql][types][format]") {
  struct Fake : Detoaster {
    void fetch(const ExternalPointer& pointer, std::uint8_t* to) override {
      std::memset(to, 'q', pointer.stored_size);
    }
  } fake;
  std::uint8_t stored[kExternalTotal];
  ExternalPointer pointer{};
  pointer.toast_relation = Oid{77};
  pointer.raw_size = pointer.stored_size = 3000;
  write_external(stored, pointer);
  const Datum v = Datum::from_pointer(stored);
  CHECK(stored[0] == 1);
  CHECK(var_total(v) == 20);
  Arena arena;
  CHECK(var_view(detoast(v, arena, &fake)) == std::string(3000, 'q'));
}

TEST_CASE("every type's binary form reads back equal", "[sql][types][wire]") {
  Arena arena;
  EvalContext eval;
  const std::pair<std::string_view, std::string_view> cases[] = {
      {"bool", "t"},
      {"int2", "-5"},
      {"int4", "70000"},
      {"int8", "-9000000000"},
      {"oid", "4000000000"},
      {"float4", "1.5"},
      {"float8", "-2.25e+100"},
      {"numeric", "12345678901234567890.001200"},
      {"numeric", "-0.00012"},
      {"numeric", "NaN"},
      {"numeric", "0.00"},
      {"numeric", "100000000"},
      {"text", "häß"},
      {"bytea", "\\x00ff"},
      {"date", "2020-02-29"},
      {"time", "12:34:56.789"},
      {"timetz", "12:34:56+02"},
      {"timestamp", "1999-12-31 23:59:59.5"},
      {"timestamptz", "1999-12-31 23:59:59.5+00"},
      {"interval", "1 year 2 days 03:04:05"},
      {"uuid", "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"},
      {"name", "abc"},
      {"char", "x"},
      {"bpchar", "ab "},
      {"varchar", "ab"},
      {"_int4", "{1,NULL,3}"},
      {"_text", "{{a,b},{\"\",NULL}}"},
      {"tid", "(5,6)"},
      {"xid", "77"},
      {"pg_lsn", "1/2"},
      {"bit", "10101"},
      {"varbit", ""},
      {"json", "[1]"},
      {"int2vector", "1 2"},
      {"oidvector", "23 25"}};
  for (const auto& [name, text] : cases) {
    INFO(name << " " << text);
    const TypeInfo* type = find_type(name);
    REQUIRE(type != nullptr);
    const IoContext io{arena, eval, type->oid, -1};
    std::string wire;
    type->send(type->input(text, io), io, wire);
    std::string shown;
    type->output(type->receive(wire, io), io, shown);
    CHECK(shown == text);
    if ((type->length != -1 || type->category == 'A') && name != "name") {
      if (!wire.empty()) CHECK_THROWS_AS(type->receive(wire.substr(0, wire.size() - 1), io), SqlError);
    }
  }
}

TEST_CASE("equal values hash equal whatever their form", "[sql][types][hash]") {
  Arena arena;
  EvalContext eval;
  const CompareContext context{kDefaultCollation, &arena, nullptr};
  const auto hash = [&](std::string_view type, std::string_view text) {
    const TypeInfo& info = *find_type(type);
    return find_hash(info.oid)(input_value(info, text, arena, eval), context);
  };
  CHECK(hash("numeric", "1.0") == hash("numeric", "1.000"));
  CHECK(hash("numeric", "0") == hash("numeric", "0.00"));
  CHECK(hash("numeric", "100000000000000000000.0") == hash("numeric", "1e20"));
  CHECK(hash("numeric", "12.000000000000000000000000") == hash("numeric", "12"));
  CHECK(hash("int2", "-7") == hash("int8", "-7"));
  CHECK(hash("int4", "12") == hash("int8", "12"));
  CHECK(hash("bpchar", "ab  ") == hash("bpchar", "ab"));
  CHECK(hash("text", "ab") == hash("varchar", "ab"));
  CHECK(hash("float8", "0") == hash("float8", "-0"));
  CHECK(hash("float4", "1.5") == hash("float8", "1.5"));
  CHECK(hash("interval", "1 mon") == hash("interval", "30 days"));
  CHECK(hash("_int4", "{1,2}") == hash("_int4", "{1,2}"));
}

TEST_CASE("orders are those of the btree classes", "[sql][types][compare]") {
  Arena arena;
  EvalContext eval;
  const CompareContext context{kDefaultCollation, &arena, nullptr};
  const auto ordered = [&](std::string_view type, std::vector<std::string> ascending) {
    const TypeInfo& info = *find_type(type);
    for (std::size_t i = 0; i < ascending.size(); ++i) {
      for (std::size_t j = 0; j < ascending.size(); ++j) {
        const Datum a = input_value(info, ascending[i], arena, eval);
        const Datum b = input_value(info, ascending[j], arena, eval);
        INFO(type << ": " << ascending[i] << " against " << ascending[j]);
        const int c = find_compare(info.oid)(a, b, context);
        CHECK((c < 0 ? -1 : c > 0) == (i < j ? -1 : i > j));
        CHECK(find_equal(info.oid)(a, b, context) == (i == j));
        std::uint64_t x, y;
        if (abbreviated_key(info.oid, a, context, &x) && abbreviated_key(info.oid, b, context, &y)) {
          CHECK((x < y ? -1 : x > y) == (i < j ? -1 : i > j));
        } else {
          abbreviated_key(info.oid, b, context, &y);
          if (x != y) CHECK((x < y) == (i < j));
        }
      }
    }
  };
  ordered("int4", {"-2147483648", "-1", "0", "2147483647"});
  ordered("oid", {"0", "2147483648", "4294967295"});
  ordered("bool", {"f", "t"});
  ordered("float8", {"-Infinity", "-1", "0", "1e-300", "1", "Infinity", "NaN"});
  ordered("numeric", {"-Infinity", "-1e40", "-1", "-0.5", "0", "0.1", "1e40", "Infinity", "NaN"});
  ordered("text", {"", "A", "Z", "a", "aa", "ab", "ä"});
  ordered("date", {"-infinity", "4713-01-01 BC", "1999-12-31", "2000-01-01", "infinity"});
  ordered("timetz", {"10:00+02", "10:00+01", "10:00+00", "10:00-05"});
  ordered("interval", {"-1 day", "0", "23:59:59", "1 day 1 sec", "1 mon", "1 year"});
  ordered("uuid", {"00000000-0000-0000-0000-000000000000", "00000000-0000-0000-0000-000000000001",
                   "ff000000-0000-0000-0000-000000000000"});
  ordered("_int4", {"{}", "{1}", "{1,2}", "{1,NULL}", "{2}"});
  ordered("tid", {"(0,1)", "(0,2)", "(1,0)"});
  ordered("name", {"", "a", "b"});
}

TEST_CASE("UTF-8 is checked as PostgreSQL checks it", "[sql][types][utf8]") {
  CHECK_NOTHROW(check_utf8("plain and häßlich \xF0\x9F\x98\x80"));
  for (std::string bad :
       {std::string{"\xC0\x80"}, std::string{"a\xE4"}, std::string{"\xED\xA0\x80"}, std::string{"a\0b", 3},
        std::string{"\xF5\x80\x80\x80"}, std::string{"0123456789\x80"}}) {
    CHECK_THROWS_AS(check_utf8(bad), SqlError);
  }
}

TEST_CASE("rows as values are read back field by field", "[sql][types][format]") {
  Arena arena;
  EvalContext eval;
  const Oid types[] = {kInt4Type, kTextType, kTextType};
  const Datum values[] = {Datum::from_int32(-3), make_text(arena, "a,b"), Datum{}};
  const bool nulls[] = {false, false, true};
  const Datum row = make_row(arena, kRecordType, types, values, nulls);
  CHECK(output_value(type_info(kRecordType), row, arena, eval) == "(-3,\"a,b\",)");
}
