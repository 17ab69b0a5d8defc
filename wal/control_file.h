#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include "base/ids.h"
#include "wal/checkpoint.h"

namespace pinwheel::wal {

/// On disk: never renumber. Order as in PostgreSQL.
enum class ClusterState : std::uint32_t {
  kStartingUp = 0,
  kShutDown = 1,
  kShutDownInRecovery = 2,
  kShuttingDown = 3,
  kInCrashRecovery = 4,
  kInArchiveRecovery = 5,
  kInProduction = 6,
};
/// "shut down", "in production"... as pg_controldata words them.
std::string_view cluster_state_name(ClusterState state) noexcept;

/// Content of DIR/global/pg_control: what start-up must know before it can read anything else. One 512-byte
/// sector, so that a write is all or nothing; docs/formats/control_file.md is its layout.
struct ControlData {
  static constexpr std::uint64_t kMagic = 0x314C544E4F435750;  // "PWCONTL1"
  static constexpr std::uint32_t kVersion = 1;

  std::uint64_t magic = kMagic;
  std::uint32_t version = kVersion;
  std::uint32_t catalog_version = 0;
  std::uint64_t system_identifier = 0;
  ClusterState state = ClusterState::kStartingUp;
  std::uint32_t page_bytes = kPageSize;
  std::int64_t modified_us = 0;        // set by write_control_file
  std::uint64_t checkpoint = 0;        // LSN of the last checkpoint record
  CheckpointData checkpoint_copy{};    // its content
  std::uint64_t min_recovery_lsn = 0;  // recovery must reach it before the data is consistent
  std::uint32_t segment_bytes = 16u << 20;
  std::uint32_t data_checksums = 1;  // 0 = off
  std::uint32_t relation_segment_pages = 131072;
  std::uint32_t max_connections = 0;
  std::uint64_t unlogged_lsn = 1000;
  char encoding[16] = {'U', 'T', 'F', '8'};
  char locale[32] = {};

  bool operator==(const ControlData&) const = default;
};
static_assert(std::has_unique_object_representations_v<ControlData>, "no padding on disk");

inline constexpr std::size_t kControlFileBytes = 512;
/// The checksum (CRC-32C of what precedes it) stands in the sector's last four bytes.
inline constexpr std::size_t kControlChecksumOffset = kControlFileBytes - 4;
static_assert(sizeof(ControlData) <= kControlChecksumOffset);

/// Reads and verifies it. Errors: 58P01 when absent; FATAL XX001 when damaged; FATAL 22023 (incompatible,
/// with what differs in the detail) when made by another format version or page size.
ControlData read_control_file(const std::string& data_directory);
/// Replaces its content in place and syncs; `data.modified_us` is set. Concurrent writers take turns: only
/// the startup process and the checkpointer write it, one after the other. If the process dies in here the
/// sector has either its old or its new content.
void write_control_file(const std::string& data_directory, ControlData& data);

/// The pure codec under both.
void encode_control_file(const ControlData& data, std::span<std::byte, kControlFileBytes> sector) noexcept;
ControlData decode_control_file(std::span<const std::byte> sector, const std::string& path);

/// Microsecond clock and process id mixed: differs between clusters.
std::uint64_t make_system_identifier() noexcept;

}  // namespace pinwheel::wal
