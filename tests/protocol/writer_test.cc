#include "protocol/writer.h"

#include <catch2/catch.hpp>
#include <string>

#include "protocol/report.h"

using namespace pinwheel::protocol;
using namespace std::string_literals;

TEST_CASE("a message gets its length when it ends", "[protocol][writer]") {
  MessageWriter out;
  out.begin(Backend::kDataRow);
  out.int16(2);
  out.counted("ab");
  out.int32(-1);
  out.end();
  CHECK(out.pending() == "D\0\0\0\x10\0\2\0\0\0\2ab\xFF\xFF\xFF\xFF"s);
  out.clear();
  out.empty_message(Backend::kParseComplete);
  CHECK(out.pending() == "1\0\0\0\4"s);
}

TEST_CASE("the buffer grows past its first size without losing bytes", "[protocol][writer]") {
  MessageWriter out;
  const std::string large(100'000, 'x');
  out.begin(Backend::kCopyData);
  out.bytes(large);
  out.end();
  CHECK(out.size() == large.size() + 5);
  CHECK(out.pending().substr(5) == large);
  out.clear();
  out.shrink(4096);
  out.byte('y');
  CHECK(out.pending() == "y");
}

TEST_CASE("an error carries the fields it has and no others", "[protocol][report]") {
  MessageWriter out;
  write_error(out, pinwheel::SqlError{pinwheel::SqlState{"23505"}, "dup"}
                       .detail("Key (a)=(1) already exists.")
                       .constraint("t_pkey"));
  const std::string expected = "SERROR\0VERROR\0C23505\0Mdup\0DKey (a)=(1) already exists.\0nt_pkey\0\0"s;
  CHECK(out.pending().substr(5) == expected);
  out.clear();
  write_error(out, pinwheel::SqlError{pinwheel::SqlState{"42601"}, "bad"}.position(7).fatal());
  CHECK(out.pending().substr(5) == "SFATAL\0VFATAL\0C42601\0Mbad\0P7\0\0"s);
}
