#include <catch2/catch.hpp>
#include <cstring>
#include <string>

#include "base/bytes.h"
#include "base/checksum.h"
#include "base/error.h"
#include "tests/wal/log_fixture.h"
#include "wal/control_file.h"

using namespace pinwheel;
using namespace pinwheel::wal;

namespace {

ControlData sample() {
  ControlData data;
  data.system_identifier = 0x0102030405060708;
  data.state = ClusterState::kInProduction;
  data.modified_us = 77;
  data.checkpoint = 0x1000040;
  data.checkpoint_copy.redo = 0x1000000;
  data.checkpoint_copy.next_xid = 750;
  data.checkpoint_copy.next_oid = 16384;
  data.checkpoint_copy.timeline = 1;
  return data;
}

using Sector = std::array<std::byte, kControlFileBytes>;

Sector encode(const ControlData& data) {
  Sector sector;
  encode_control_file(data, sector);
  return sector;
}

}  // namespace

TEST_CASE("the control file's fields stand where the format document says", "[wal][control][format]") {
  const Sector sector = encode(sample());
  CHECK(as_text({sector.data(), 8}) == "PWCONTL1");
  CHECK(load<std::uint32_t>(sector.data() + 8) == 1);
  CHECK(load<std::uint64_t>(sector.data() + 16) == 0x0102030405060708);
  CHECK(load<std::uint32_t>(sector.data() + 24) == 6);
  CHECK(load<std::uint32_t>(sector.data() + 28) == 8192);
  CHECK(load<std::uint64_t>(sector.data() + 32) == 77);
  CHECK(load<std::uint64_t>(sector.data() + 40) == 0x1000040);
  CHECK(load<std::uint64_t>(sector.data() + 48) == 0x1000000);
  CHECK(load<std::uint64_t>(sector.data() + 56) == 750);
  CHECK(load<std::uint32_t>(sector.data() + 112) == 16384);
  CHECK(load<std::uint32_t>(sector.data() + 168) == 16u << 20);
  CHECK(load<std::uint32_t>(sector.data() + 508) == crc32c(0, sector.data(), 508));
}

TEST_CASE("the control file is read back as it was written", "[wal][control]") {
  test::TemporaryDirectory directory;
  make_directory(directory.path() + "/global");
  ControlData data = sample();
  write_control_file(directory.path(), data);
  CHECK(data.modified_us != 77);
  CHECK(read_control_file(directory.path()) == data);
  data.state = ClusterState::kShutDown;
  write_control_file(directory.path(), data);
  CHECK(read_control_file(directory.path()).state == ClusterState::kShutDown);
}

TEST_CASE("a control file with any byte damaged is refused", "[wal][control][format]") {
  const Sector good = encode(sample());
  for (std::size_t at = 0; at < good.size(); ++at) {
    Sector bad = good;
    bad[at] ^= std::byte{0x40};
    try {
      decode_control_file(bad, "global/pg_control");
      FAIL_CHECK("byte " << at);
    } catch (const SqlError& error) {
      CHECK(error.state().view() == "XX001");
      CHECK(error.severity() == Severity::kFatal);
    }
  }
  CHECK_THROWS_AS(decode_control_file(std::span{good}.first(511), "x"), SqlError);
}

TEST_CASE("a control file of another format or page size is called incompatible", "[wal][control]") {
  ControlData data = sample();
  const bool version = GENERATE(true, false);
  if (version) {
    data.version = 99;
  } else {
    data.page_bytes = 4096;
  }
  try {
    decode_control_file(encode(data), "x");
    FAIL();
  } catch (const SqlError& error) {
    CHECK(error.message() == "database files are incompatible with server");
    CHECK(error.fields().detail.find(version ? "version 99" : "BLCKSZ 4096") != std::string::npos);
  }
}

TEST_CASE("a missing control file is an undefined file", "[wal][control]") {
  test::TemporaryDirectory directory;
  try {
    read_control_file(directory.path());
    FAIL();
  } catch (const SqlError& error) {
    CHECK(error.state().view() == "58P01");
  }
}
