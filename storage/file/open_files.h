#pragma once

#include <atomic>
#include <cstdint>
#include <list>
#include <string>
#include <unordered_map>

#include "base/file.h"
#include "base/ids.h"

namespace pinwheel::storage {

/// Names one segment file.
struct SegmentId {
  FileId file;
  Fork fork{};
  std::uint32_t segment = 0;
  bool operator==(const SegmentId&) const = default;
};

/// Descriptors of segment files that this process keeps open, least recently used closed first. Private to
/// the process. Files that another process unlinked are closed when `drop_generation` has moved.
class OpenFiles {
 public:
  struct Opened {
    File file;
    /// Cycle of SyncRequests in which this process last asked for a sync of the file.
    std::uint64_t sync_cycle = 0;
  };

  OpenFiles(std::string directory, std::size_t limit, std::atomic<std::uint64_t>& drop_generation)
      : directory_{std::move(directory)}, limit_{limit}, drop_generation_{drop_generation} {}

  /// Opens if need be. Null when there is no such file and `create` is false; `*created` tells that it was
  /// made. The pointer is good until the next call.
  Opened* get(const SegmentId& id, bool create = false, bool* created = nullptr);
  void close(const SegmentId& id) noexcept;
  void close_all() noexcept;
  /// Told after an unlink: other processes will look.
  void note_drop() noexcept { drop_generation_.fetch_add(1, std::memory_order_acq_rel); }
  std::string path(const SegmentId& id) const;

 private:
  struct Hash {
    std::size_t operator()(const SegmentId& id) const noexcept {
      const std::uint64_t word =
          static_cast<std::uint64_t>(id.file.database.value) << 32 | id.file.relation.value;
      return (word ^ (static_cast<std::uint64_t>(id.segment) << 8 | static_cast<std::uint64_t>(id.fork))) *
                 0x9E3779B97F4A7C15ull >>
             16;
    }
  };
  struct Node {
    SegmentId id;
    Opened opened;
  };
  void close_dropped() noexcept;

  std::string directory_;
  std::size_t limit_;
  std::atomic<std::uint64_t>& drop_generation_;
  std::uint64_t seen_generation_ = 0;
  std::list<Node> nodes_;  // most recently used first
  std::unordered_map<SegmentId, std::list<Node>::iterator, Hash> by_id_;
};

}  // namespace pinwheel::storage
