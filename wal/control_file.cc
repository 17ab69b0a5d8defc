#include "wal/control_file.h"

#include <unistd.h>

#include <cstring>

#include "base/bytes.h"
#include "base/checksum.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/file.h"
#include "base/sqlstate.h"

namespace pinwheel::wal {
namespace {

std::string control_path(const std::string& data_directory) { return data_directory + "/global/pg_control"; }

SqlError incompatible(std::string detail) {
  return SqlError{sqlstate::kInvalidParameterValue, "database files are incompatible with server"}
      .detail(std::move(detail))
      .fatal();
}

SqlError damaged(const std::string& path, std::string detail) {
  return SqlError{sqlstate::kDataCorrupted, "incorrect checksum in control file"}
      .detail("File \"" + path + "\": " + std::move(detail))
      .fatal();
}

}  // namespace

std::string_view cluster_state_name(ClusterState state) noexcept {
  switch (state) {
    case ClusterState::kStartingUp:
      return "starting up";
    case ClusterState::kShutDown:
      return "shut down";
    case ClusterState::kShutDownInRecovery:
      return "shut down in recovery";
    case ClusterState::kShuttingDown:
      return "shutting down";
    case ClusterState::kInCrashRecovery:
      return "in crash recovery";
    case ClusterState::kInArchiveRecovery:
      return "in archive recovery";
    case ClusterState::kInProduction:
      return "in production";
  }
  return "unrecognized status code";
}

void encode_control_file(const ControlData& data, std::span<std::byte, kControlFileBytes> sector) noexcept {
  std::memset(sector.data(), 0, sector.size());
  store(sector.data(), data);
  store(sector.data() + kControlChecksumOffset, crc32c(0, sector.data(), kControlChecksumOffset));
}

ControlData decode_control_file(std::span<const std::byte> sector, const std::string& path) {
  if (sector.size() < kControlFileBytes) {
    throw damaged(path, "it has " + std::to_string(sector.size()) + " bytes instead of " +
                            std::to_string(kControlFileBytes) + ".");
  }
  const auto data = load<ControlData>(sector.data());
  // Before the checksum, so that another program's file is called that and not damaged.
  if (data.magic != ControlData::kMagic) throw damaged(path, "it is not a Pinwheel control file.");
  const auto stored = load<std::uint32_t>(sector.data() + kControlChecksumOffset);
  if (crc32c(0, sector.data(), kControlChecksumOffset) != stored) {
    throw damaged(path, "its checksum does not match its content.");
  }
  if (data.version != ControlData::kVersion) {
    throw incompatible("The database cluster was initialized with control file version " +
                       std::to_string(data.version) + ", but the server was compiled with version " +
                       std::to_string(ControlData::kVersion) + ".");
  }
  if (data.page_bytes != kPageSize) {
    throw incompatible("The database cluster was initialized with BLCKSZ " + std::to_string(data.page_bytes) +
                       ", but the server was compiled with BLCKSZ " + std::to_string(kPageSize) + ".");
  }
  return data;
}

ControlData read_control_file(const std::string& data_directory) {
  const std::string path = control_path(data_directory);
  const File file = File::open(path, OpenMode::kRead);
  std::byte sector[kControlFileBytes];
  const std::size_t size = file.read_at(0, sector);
  return decode_control_file({sector, size}, path);
}

void write_control_file(const std::string& data_directory, ControlData& data) {
  data.modified_us = wall_clock_us();
  std::byte sector[kControlFileBytes];
  encode_control_file(data, sector);
  const File file = File::open(control_path(data_directory), OpenMode::kCreate);
  file.write_at(0, sector);
  file.sync();
}

std::uint64_t make_system_identifier() noexcept {
  // As PostgreSQL does it: seconds above, microseconds and process id below; unique enough to tell clusters
  // apart.
  const auto unix_us = static_cast<std::uint64_t>(wall_clock_us() + kPostgresEpochUs);
  return ((unix_us / 1'000'000) << 32) | ((unix_us % 1'000'000) << 12) |
         (static_cast<std::uint64_t>(getpid()) & 0xFFF);
}

}  // namespace pinwheel::wal
