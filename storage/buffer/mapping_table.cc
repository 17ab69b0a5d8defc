#include "storage/buffer/mapping_table.h"

#include <algorithm>
#include <bit>

#include "base/error.h"

namespace pinwheel::storage {

namespace {
constexpr std::string_view kBucketsRegion = "Buffer Mapping";
constexpr std::string_view kLocksRegion = "Buffer Mapping Locks";
}  // namespace

void MappingTable::declare(shm::RegionBuilder& builder, std::size_t frames, std::size_t partitions) {
  const std::size_t buckets = std::bit_ceil(std::max<std::size_t>(frames, 64));
  builder.add_region(kBucketsRegion, buckets * sizeof(std::atomic<std::uint32_t>));
  const std::size_t locks = std::min(std::bit_ceil(std::max<std::size_t>(partitions, 1)), buckets);
  builder.add_region(kLocksRegion, locks * sizeof(shm::PaddedLwLock), kCacheLine, [locks](std::byte* at) {
    for (std::size_t i = 0; i < locks; ++i) {
      ::new (at + i * sizeof(shm::PaddedLwLock)) shm::PaddedLwLock(shm::Tranche::kBufferMapping);
    }
  });
}

MappingTable::MappingTable(const shm::Segment& segment, BufferDescriptor* descriptors)
    : buckets_{segment.as<std::atomic<std::uint32_t>>(kBucketsRegion)},
      bucket_mask_{static_cast<std::uint32_t>(
          segment.size_of(kBucketsRegion) / sizeof(std::atomic<std::uint32_t>) - 1)},
      locks_{segment.as<shm::PaddedLwLock>(kLocksRegion),
             segment.size_of(kLocksRegion) / sizeof(shm::PaddedLwLock)},
      descriptors_{descriptors} {
  DB_ASSERT(std::has_single_bit(bucket_mask_ + std::size_t{1}));
  DB_ASSERT(std::has_single_bit(locks_.size()));
}

BufferId MappingTable::find_locked(const PageTag& tag, std::uint32_t hash) const noexcept {
  const std::uint64_t file = AtomicPageTag::file_word(tag);
  const std::uint64_t page = AtomicPageTag::page_word(tag);
  std::uint32_t at = buckets_[hash & bucket_mask_].load(std::memory_order_relaxed);
  while (at != 0) {
    const BufferDescriptor& d = descriptors_[at - 1];
    if (d.tag.equals(file, page)) return BufferId{at - 1};
    at = d.next.load(std::memory_order_relaxed);
  }
  return kInvalidBuffer;
}

void MappingTable::insert(BufferId buffer, std::uint32_t hash) noexcept {
  std::atomic<std::uint32_t>& head = buckets_[hash & bucket_mask_];
  descriptors_[buffer.value].next.store(head.load(std::memory_order_relaxed), std::memory_order_release);
  head.store(buffer.value + 1, std::memory_order_release);
}

void MappingTable::remove(BufferId buffer, std::uint32_t hash) noexcept {
  std::atomic<std::uint32_t>* link = &buckets_[hash & bucket_mask_];
  while (true) {
    const std::uint32_t at = link->load(std::memory_order_relaxed);
    DB_ASSERT(at != 0);
    if (at == buffer.value + 1) break;
    link = &descriptors_[at - 1].next;
  }
  // The removed frame keeps its `next`: a walker that stands on it goes on.
  link->store(descriptors_[buffer.value].next.load(std::memory_order_relaxed), std::memory_order_release);
}

}  // namespace pinwheel::storage
