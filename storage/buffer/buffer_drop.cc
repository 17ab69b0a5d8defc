// Forgetting pages of relations that are dropped or truncated.
#include <sched.h>

#include "base/clock.h"
#include "base/error.h"
#include "shm/lwlock.h"
#include "storage/buffer/buffer_pool_internal.h"
#include "storage/buffer/freelist.h"
#include "storage/buffer/mapping_table.h"

namespace pinwheel::storage {

using namespace buffer_state;

namespace {
/// Longest wait for writers of a page that is being dropped; beyond it somebody uses a relation without a
/// lock.
constexpr std::int64_t kMaxWaitMs = 60'000;
}  // namespace

void BufferPool::discard(BufferId buffer, const PageTag& tag) noexcept {
  BufferDescriptor& d = at(buffer);
  const std::uint32_t hash = MappingTable::hash(tag);
  const Deadline deadline = Deadline::after_ms(kMaxWaitMs);
  while (true) {
    {
      shm::ExclusiveGuard guard{mapping_->lock_of(hash)};
      std::uint64_t seen = d.state.load(std::memory_order_acquire);
      if ((seen & kTagValid) == 0 ||
          !d.tag.equals(AtomicPageTag::file_word(tag), AtomicPageTag::page_word(tag))) {
        return;
      }
      if ((seen & kPinMask) == 0 &&
          d.state.compare_exchange_strong(seen, kPinOne, std::memory_order_acq_rel)) {
        if ((seen & kValid) != 0) {
          d.version.store(d.version.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
          std::atomic_thread_fence(std::memory_order_release);
        }
        mapping_->remove(buffer, hash);
        d.tag.clear();
        guard.release();
        return free_victim(buffer);
      }
      if ((seen & kPinMask) == 0) continue;
    }
    // A checkpoint or the background writer writes it, or a sweep has claimed it: both end soon.
    if (deadline.passed()) DB_PANIC("a page that is being dropped stays pinned");
    sched_yield();
  }
}

void BufferPool::discard_page(const PageTag& tag) noexcept {
  const std::uint32_t hash = MappingTable::hash(tag);
  BufferId buffer;
  {
    shm::SharedGuard guard{mapping_->lock_of(hash)};
    buffer = mapping_->find_locked(tag, hash);
  }
  if (buffer != kInvalidBuffer) discard(buffer, tag);
}

template <class Matches>
void BufferPool::drop_matching(Matches matches) noexcept {
  for (std::size_t i = 0; i < frame_count_; ++i) {
    const BufferId buffer{static_cast<std::uint32_t>(i)};
    const BufferDescriptor& d = at(buffer);
    if ((d.state.load(std::memory_order_relaxed) & kTagValid) == 0) continue;
    const PageTag tag = d.tag.load();
    if (matches(tag)) discard(buffer, tag);
  }
}

void BufferPool::drop_pages(FileId file, Fork fork, PageNumber from) noexcept {
  std::uint32_t pages = UINT32_MAX;
  try {
    pages = files_.size(file, fork).value;
  } catch (const SqlError&) {
    // Unknown length: look at every frame.
  }
  // Few pages are looked up; many are found by one walk over the frames.
  if (pages <= from.value) return;
  if (pages != UINT32_MAX && pages - from.value < frame_count_ / 32) {
    for (std::uint32_t page = from.value; page < pages; ++page) discard_page({file, fork, PageNumber{page}});
    return;
  }
  drop_matching([&](const PageTag& tag) {
    return tag.file == file && tag.fork == fork && tag.page.value >= from.value;
  });
}

void BufferPool::drop_relation(FileId file) noexcept {
  for (const Fork fork : {Fork::kMain, Fork::kFreeSpace, Fork::kVisibility, Fork::kInit}) {
    drop_pages(file, fork, PageNumber{0});
  }
  io_.forget_file(file);
}

void BufferPool::drop_database(Oid database) noexcept {
  drop_matching([database](const PageTag& tag) { return tag.file.database == database; });
  io_.forget_database(database);
}

}  // namespace pinwheel::storage
