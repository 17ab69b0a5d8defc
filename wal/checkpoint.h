#pragma once

#include <cstdint>
#include <type_traits>

#include "base/ids.h"

namespace pinwheel::wal {

/// What a checkpoint record and the control file say about a checkpoint (docs/formats/control_file.md). The
/// checkpointer fills all but `redo`.
struct CheckpointData {
  std::uint64_t redo;        // LSN where replay starts
  std::uint64_t next_xid;    // not yet assigned when the checkpoint began
  std::uint64_t oldest_xid;  // CLOG before it may be gone
  std::uint64_t next_multixact;
  std::uint64_t oldest_multixact;
  std::uint64_t next_multixact_member;
  std::uint64_t oldest_active_xid;  // 0 when none was running
  std::int64_t time_us;             // wall clock, microseconds since 2000-01-01
  std::uint32_t next_oid;
  std::uint32_t timeline;  // 1
  std::uint32_t full_page_writes;
  std::uint32_t oldest_xid_database;
  std::uint64_t reserved[4];

  bool operator==(const CheckpointData&) const = default;
};
static_assert(sizeof(CheckpointData) == 112);
static_assert(std::has_unique_object_representations_v<CheckpointData>, "no padding on disk");

}  // namespace pinwheel::wal
