#include "protocol/startup.h"

#include <catch2/catch.hpp>
#include <string>

#include "base/error.h"

using namespace pinwheel::protocol;
using namespace std::string_literals;

namespace {

const std::string kVersion3 = "\0\3\0\0"s;

}  // namespace

TEST_CASE("user, database and settings are taken from a start-up packet", "[protocol][startup]") {
  const auto packet = parse_startup(kVersion3 + "user\0ann\0database\0shop\0application_name\0test\0\0"s);
  CHECK(packet.kind == StartupKind::kSession);
  CHECK(packet.user == "ann");
  CHECK(packet.database == "shop");
  REQUIRE(packet.settings.size() == 1);
  CHECK(packet.settings[0] == std::pair{"application_name"s, "test"s});
}

TEST_CASE("the database defaults to the user's name", "[protocol][startup]") {
  CHECK(parse_startup(kVersion3 + "user\0ann\0\0"s).database == "ann");
}

TEST_CASE("options are split at unescaped space and become settings", "[protocol][startup]") {
  const auto packet = parse_startup(
      kVersion3 + "user\0u\0options\0-c work_mem=1MB --statement-timeout=5s -csearch_path=a\\ b\0\0"s);
  REQUIRE(packet.settings.size() == 3);
  CHECK(packet.settings[0] == std::pair{"work_mem"s, "1MB"s});
  CHECK(packet.settings[1] == std::pair{"statement_timeout"s, "5s"s});
  CHECK(packet.settings[2] == std::pair{"search_path"s, "a b"s});
  CHECK_THROWS_AS(parse_startup(kVersion3 + "user\0u\0options\0--nonsense\0\0"s), pinwheel::SqlError);
}

TEST_CASE("requests for encryption and cancels are told apart", "[protocol][startup]") {
  CHECK(parse_startup("\x04\xD2\x16\x2F"s).kind == StartupKind::kSslRequest);
  CHECK(parse_startup("\x04\xD2\x16\x30"s).kind == StartupKind::kGssEncRequest);
  const auto cancel = parse_startup("\x04\xD2\x16\x2E\0\0\0\7\0\0\1\0"s);
  CHECK(cancel.kind == StartupKind::kCancel);
  CHECK(cancel.cancel_pid == 7);
  CHECK(cancel.cancel_secret == 256);
}

TEST_CASE("bad start-up packets end the session with PostgreSQL's SQLSTATEs", "[protocol][startup]") {
  const auto state_of = [](const std::string& payload) {
    try {
      parse_startup(payload);
      return "none"s;
    } catch (const pinwheel::SqlError& error) {
      CHECK(error.severity() == pinwheel::Severity::kFatal);
      return std::string{error.state().view()};
    }
  };
  CHECK(state_of("\0\2\0\0"s) == "0A000");
  CHECK(state_of(kVersion3 + "database\0d\0\0"s) == "28000");
  CHECK(state_of(kVersion3 + "user\0u\0"s) == "08P01");
  CHECK(state_of(kVersion3 + "user\0u\0\0more"s) == "08P01");
}

TEST_CASE("a newer minor version and unknown extensions are kept for negotiation", "[protocol][startup]") {
  const auto packet = parse_startup("\0\3\0\2user\0u\0_pq_.thing\0"s + "1\0\0"s);
  CHECK(packet.minor_version == 2);
  REQUIRE(packet.unknown_extensions.size() == 1);
  CHECK(packet.unknown_extensions[0] == "_pq_.thing");
}
