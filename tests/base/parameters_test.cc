#include "base/parameters.h"

#include <catch2/catch.hpp>
#include <set>

#include "base/file.h"
#include "base/settings.h"
#include "tests/base/error_text.h"
#include "tests/base/parameters_markdown.h"

namespace pinwheel {
namespace {

/// `text` parsed for a parameter and shown again.
std::string shown(std::string_view name, std::string_view text) {
  const Parameter& row = parameter(*find_parameter(name));
  std::string text_value;
  return format_setting(row, parse_setting(row, text, text_value), true);
}

std::string refused(std::string_view name, std::string_view text) {
  return test::error_of([&] { shown(name, text); });
}

}  // namespace

TEST_CASE("names are found in any case and only whole", "[base][parameters]") {
  CHECK(find_parameter("DATESTYLE") == param::kDateStyle);
  CHECK(find_parameter("work_mem") == param::kWorkMem);
  CHECK_FALSE(find_parameter("work_me"));
  CHECK_FALSE(find_parameter("work_memo"));
  CHECK_FALSE(find_parameter(""));
  for (const Parameter& row : all_parameters()) CHECK(find_parameter(row.name) == row.id);
}

TEST_CASE("every row is sound: default in range, summary a sentence", "[base][parameters]") {
  for (const Parameter& row : all_parameters()) {
    INFO(row.name);
    CHECK(row.summary.ends_with('.'));
    if (row.kind == ParameterKind::kInt) {
      CHECK((row.min_int <= row.default_int && row.default_int <= row.max_int));
    }
    if (row.kind == ParameterKind::kReal) {
      CHECK((row.min_real <= row.default_real && row.default_real <= row.max_real));
    }
    if (row.kind == ParameterKind::kEnum) {
      CHECK_FALSE(row.options->empty());
    }
  }
}

// The right-hand sides were printed by stock PostgreSQL 15.
TEST_CASE("values are shown in the largest unit that fits", "[base][parameters]") {
  CHECK(shown("shared_buffers", "16384") == "128MB");
  CHECK(shown("shared_buffers", "1GB") == "1GB");
  CHECK(shown("shared_buffers", "1048584kB") == "1048584kB");
  CHECK(shown("work_mem", "4096") == "4MB");
  CHECK(shown("work_mem", "1500kB") == "1500kB");
  CHECK(shown("work_mem", "0.5GB") == "512MB");
  CHECK(shown("statement_timeout", "90s") == "90s");
  CHECK(shown("statement_timeout", "5min") == "5min");
  CHECK(shown("statement_timeout", "0") == "0");
  CHECK(shown("statement_timeout", "1500") == "1500ms");
  CHECK(shown("statement_timeout", "1d") == "1d");
  CHECK(shown("checkpoint_timeout", "300") == "5min");
  CHECK(shown("vacuum_cost_delay", "0.5") == "500us");
  CHECK(shown("vacuum_cost_delay", "2ms") == "2ms");
  CHECK(shown("log_min_duration_statement", "-1") == "-1");
  CHECK(shown("random_page_cost", "1.10") == "1.1");
  CHECK(shown("port", "0x1538") == "5432");
  CHECK(shown("unix_socket_permissions", "0777") == "0777");
  CHECK(shown("track_activity_query_size", "2kB") == "2kB");
  CHECK(shown("max_wal_size", "1024") == "1GB");
}

TEST_CASE("booleans and words are accepted as PostgreSQL accepts them", "[base][parameters]") {
  for (const char* yes : {"on", "TRUE", "t", "yes", "y", "1"}) CHECK(shown("enable_seqscan", yes) == "on");
  for (const char* no : {"off", "of", "false", "f", "n", "0"}) CHECK(shown("enable_seqscan", no) == "off");
  CHECK(refused("enable_seqscan", "o") == "22023 parameter \"enable_seqscan\" requires a Boolean value");
  CHECK(shown("synchronous_commit", "true") == "on");
  CHECK(shown("synchronous_commit", "LOCAL") == "local");
  CHECK(shown("client_min_messages", "debug") == "debug2");
  CHECK(shown("default_transaction_isolation", "repeatable read") == "repeatable read");
}

TEST_CASE("bad values are refused in PostgreSQL's words", "[base][parameters]") {
  CHECK(refused("work_mem", "abc") == "22023 invalid value for parameter \"work_mem\": \"abc\"");
  CHECK(refused("work_mem", "10XB") == "22023 invalid value for parameter \"work_mem\": \"10XB\"");
  CHECK(test::hint_of([] { shown("work_mem", "10XB"); }) ==
        "Valid units for this parameter are \"B\", \"kB\", \"MB\", \"GB\", and \"TB\".");
  CHECK(test::hint_of([] { shown("statement_timeout", "10XB"); }) ==
        "Valid units for this parameter are \"us\", \"ms\", \"s\", \"min\", \"h\", and \"d\".");
  CHECK(refused("work_mem", "1") ==
        "22023 1 kB is outside the valid range for parameter \"work_mem\" (64 .. 2147483647)");
  CHECK(refused("port", "99999") ==
        "22023 99999 is outside the valid range for parameter \"port\" (1 .. 65535)");
  CHECK(refused("seed", "2") == "22023 2 is outside the valid range for parameter \"seed\" (-1 .. 1)");
  CHECK(test::hint_of([] { shown("work_mem", "100TB"); }) == "Value exceeds integer range.");
  CHECK(refused("bytea_output", "x") == "22023 invalid value for parameter \"bytea_output\": \"x\"");
  CHECK(test::hint_of([] { shown("bytea_output", "x"); }) == "Available values: escape, hex.");
  CHECK(refused("port", "5min") == "22023 invalid value for parameter \"port\": \"5min\"");
  CHECK(refused("work_mem", "") == "22023 invalid value for parameter \"work_mem\": \"\"");
}

TEST_CASE("docs/parameters.md is what the table generates", "[base][parameters][docs]") {
  CHECK(read_file("docs/parameters.md") == parameters_markdown());
}

}  // namespace pinwheel
