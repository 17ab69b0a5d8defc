#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

#include "base/ids.h"
#include "shm/lwlock.h"
#include "shm/segment.h"

namespace pinwheel::storage {

/// A segment file that was written since its last sync; fork kDirectoryFork stands for the directory of the
/// database, in which a file was made.
struct SyncRequest {
  std::uint64_t file = 0;  // database << 32 | relation
  std::uint32_t segment = 0;
  std::uint32_t fork = 0;
  bool operator==(const SyncRequest&) const = default;
  bool operator<(const SyncRequest& other) const noexcept {
    return file != other.file   ? file < other.file
           : fork != other.fork ? fork < other.fork
                                : segment < other.segment;
  }
};
inline constexpr std::uint32_t kDirectoryFork = 255;

/// Which files the next checkpoint must sync: a set in shared memory, filled by whoever writes a page, taken
/// by the checkpointer.
///
/// Why no write escapes: a checkpoint first raises the cycle, then takes the set, then syncs. A writer
/// writes, then reads the cycle, and asks again unless it has asked in this cycle. If it read the old cycle,
/// its request of that cycle is in the set that is taken later, and the sync comes after its write; if it
/// read the new one, it asks for the next checkpoint. If a process dies with requests in the set, the whole
/// segment goes, and recovery writes and syncs everything since the redo point.
class SyncRequests {
 public:
  static void declare(shm::RegionBuilder& builder, std::size_t entries);
  explicit SyncRequests(const shm::Segment& segment);

  std::uint64_t cycle() const noexcept;
  /// False when the set is full: the caller syncs by itself. Latch: kSyncRequests.
  bool add(const SyncRequest& request) noexcept;
  /// Starts a new cycle and takes everything, sorted.
  std::vector<SyncRequest> take();

 private:
  struct Shared;
  struct Slot {
    SyncRequest request;
    std::uint32_t used = 0;
    std::uint32_t reserved = 0;
  };
  Shared* shared_;
  std::span<Slot> slots_;
};

}  // namespace pinwheel::storage
