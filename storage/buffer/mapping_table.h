#pragma once

#include <atomic>
#include <cstdint>
#include <span>

#include "base/ids.h"
#include "shm/lwlock.h"
#include "shm/segment.h"
#include "storage/buffer/descriptor.h"

namespace pinwheel::storage {

/// Which frame holds a page: a hash table in shared memory whose chains run through the descriptors, so that
/// nothing is allocated. A plain handle.
///
/// Lookups take no latch. A walker may see a chain while it changes, follow a frame that moved to another
/// chain, or read a torn tag; so a hit is only a hint until the frame is pinned and its tag compared again,
/// and a miss is only certain under the partition's lock. Steps are bounded, so a walker that is carried
/// along by moving frames gives up.
class MappingTable {
 public:
  static void declare(shm::RegionBuilder& builder, std::size_t frames, std::size_t partitions);
  MappingTable(const shm::Segment& segment, BufferDescriptor* descriptors);

  static std::uint32_t hash(const PageTag& tag) noexcept {
    std::uint64_t h = AtomicPageTag::file_word(tag) * 0x9E3779B97F4A7C15ull;
    h = (h ^ (h >> 32) ^ AtomicPageTag::page_word(tag)) * 0xD6E8FEB86659FD93ull;
    return static_cast<std::uint32_t>(h >> 32);
  }

  /// A frame that seems to hold `tag`, or kInvalidBuffer. No latch, see above.
  BufferId find(const PageTag& tag, std::uint32_t hash) const noexcept {
    const std::uint64_t file = AtomicPageTag::file_word(tag);
    const std::uint64_t page = AtomicPageTag::page_word(tag);
    std::uint32_t at = buckets_[hash & bucket_mask_].load(std::memory_order_acquire);
    for (int steps = 0; at != 0 && steps < kMaxSteps; ++steps) {
      const BufferDescriptor& d = descriptors_[at - 1];
      if (d.tag.equals(file, page)) return BufferId{at - 1};
      at = d.next.load(std::memory_order_acquire);
    }
    return kInvalidBuffer;
  }
  /// The same for sure: the partition's lock is held. No bound on steps.
  BufferId find_locked(const PageTag& tag, std::uint32_t hash) const noexcept;

  shm::LwLock& lock_of(std::uint32_t hash) const noexcept { return locks_[hash & (locks_.size() - 1)]; }
  /// Partition lock held exclusively; the descriptor's tag is set, and not yet in the table.
  void insert(BufferId buffer, std::uint32_t hash) noexcept;
  /// Partition lock held exclusively.
  void remove(BufferId buffer, std::uint32_t hash) noexcept;

 private:
  static constexpr int kMaxSteps = 64;

  std::atomic<std::uint32_t>* buckets_;  // BufferId + 1 of a chain's first frame; 0 = empty
  std::uint32_t bucket_mask_;
  std::span<shm::PaddedLwLock> locks_;
  BufferDescriptor* descriptors_;
};

}  // namespace pinwheel::storage
