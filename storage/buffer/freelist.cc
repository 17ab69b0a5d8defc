#include "storage/buffer/freelist.h"

#include <algorithm>

#include "shm/process.h"
#include "shm/statistics.h"

namespace pinwheel::storage {

namespace {
constexpr std::string_view kPartitionsRegion = "Buffer Freelist";
constexpr std::string_view kFreelistControlRegion = "Buffer Freelist Control";
}  // namespace

struct Freelist::Shared {
  /// 1 = the refiller was woken and has not looked yet. Set by takers, cleared by the refiller.
  alignas(kCacheLine) std::atomic<std::uint32_t> requested{0};
};

void Freelist::declare(shm::RegionBuilder& builder, std::size_t frames, std::size_t partitions) {
  const std::size_t lists = std::clamp<std::size_t>(partitions, 1, frames);
  // At first all frames are free: frame i is on list i % lists, chained by BufferPool::declare.
  builder.add_region(kPartitionsRegion, lists * sizeof(Partition), kCacheLine,
                     [frames, lists](std::byte* at) {
                       for (std::size_t i = 0; i < lists; ++i) {
                         auto* partition = ::new (at + i * sizeof(Partition)) Partition;
                         partition->head.store(i + 1, std::memory_order_relaxed);
                         partition->count.store(static_cast<std::uint32_t>((frames - i + lists - 1) / lists),
                                                std::memory_order_relaxed);
                       }
                     });
  builder.add_array<Shared>(kFreelistControlRegion, 1);
}

Freelist::Freelist(const shm::Segment& segment, BufferDescriptor* descriptors, std::size_t low_mark,
                   std::size_t high_mark, bool refill)
    : shared_{segment.as<Shared>(kFreelistControlRegion)},
      partitions_{segment.as<Partition>(kPartitionsRegion),
                  segment.size_of(kPartitionsRegion) / sizeof(Partition)},
      descriptors_{descriptors},
      low_mark_{low_mark},
      high_mark_{high_mark},
      refill_{refill} {}

std::size_t Freelist::home() const noexcept {
  return partitions_.size() == 1 ? 0 : shm::self().index.value % partitions_.size();
}

BufferId Freelist::pop() noexcept {
  const std::size_t first = home();
  BufferId taken = kInvalidBuffer;
  for (std::size_t i = 0; i < partitions_.size() && taken == kInvalidBuffer; ++i) {
    Partition& partition = partitions_[(first + i) % partitions_.size()];
    std::uint64_t head = partition.head.load(std::memory_order_acquire);
    while (static_cast<std::uint32_t>(head) != 0) {
      const std::uint32_t top = static_cast<std::uint32_t>(head) - 1;
      const std::uint64_t rest = descriptors_[top].next_free.load(std::memory_order_relaxed);
      const std::uint64_t changes = (head >> 32) + 1;
      if (partition.head.compare_exchange_weak(head, changes << 32 | rest, std::memory_order_acquire)) {
        partition.count.fetch_sub(1, std::memory_order_relaxed);
        taken = BufferId{top};
        break;
      }
    }
  }
  if (taken == kInvalidBuffer) shm::count(shm::Counter::kFreelistEmpty);
  if (refill_ && waker_ != nullptr && count() < low_mark_ &&
      shared_->requested.load(std::memory_order_relaxed) == 0 &&
      shared_->requested.exchange(1, std::memory_order_acq_rel) == 0) {
    shm::count(shm::Counter::kBgwriterWakeups);
    waker_(waker_context_);
  }
  return taken;
}

void Freelist::push(BufferId buffer) noexcept {
  Partition& partition = partitions_[partitions_.size() == 1 ? 0 : buffer.value % partitions_.size()];
  std::uint64_t head = partition.head.load(std::memory_order_relaxed);
  std::uint64_t wanted;
  do {
    descriptors_[buffer.value].next_free.store(static_cast<std::uint32_t>(head), std::memory_order_relaxed);
    wanted = ((head >> 32) + 1) << 32 | (buffer.value + 1);
  } while (!partition.head.compare_exchange_weak(head, wanted, std::memory_order_release));
  partition.count.fetch_add(1, std::memory_order_relaxed);
}

std::size_t Freelist::count() const noexcept {
  std::int64_t sum = 0;
  for (const Partition& partition : partitions_) {
    sum += static_cast<std::int32_t>(partition.count.load(std::memory_order_relaxed));
  }
  return sum < 0 ? 0 : static_cast<std::size_t>(sum);
}

bool Freelist::take_request() noexcept {
  return shared_->requested.exchange(0, std::memory_order_acq_rel) != 0;
}

}  // namespace pinwheel::storage
