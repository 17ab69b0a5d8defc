#include "storage/buffer/buffer_pool.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "base/sqlstate.h"
#include "shm/interrupts.h"
#include "shm/lwlock.h"
#include "storage/buffer/buffer_pool_internal.h"
#include "storage/buffer/freelist.h"
#include "storage/buffer/mapping_table.h"

namespace pinwheel::storage {

using namespace buffer_state;

namespace {
constexpr std::string_view kDescriptorsRegion = "Buffer Descriptors";
constexpr std::string_view kFramesRegion = "Buffer Blocks";
/// Files whose pages' requests are counted one by one.
constexpr std::size_t kCountedFiles = 16'384;

std::size_t mark(double share, std::size_t of) noexcept {
  return std::max<std::size_t>(1, static_cast<std::size_t>(share * static_cast<double>(of)));
}
}  // namespace

void BufferPool::declare(shm::RegionBuilder& builder, const BufferPoolOptions& options) {
  const std::size_t frames = options.frames;
  builder.add_region(kFramesRegion, frames * kPageSize, 4096);
  MappingTable::declare(builder, frames, options.mapping_partitions);
  Freelist::declare(builder, frames, options.freelist_partitions);
  declare_replacement(builder, options.replacement, frames);
  if (options.double_write_areas > 0) DoubleWrite::declare(builder, options.double_write_areas);
  RelationIo::declare(builder, kCountedFiles);
  const std::size_t partitions = std::clamp<std::size_t>(options.freelist_partitions, 1, frames);
  builder.add_region(
      kDescriptorsRegion, frames * sizeof(BufferDescriptor), kCacheLine, [frames, partitions](std::byte* at) {
        auto* descriptors = reinterpret_cast<BufferDescriptor*>(at);
        for (std::size_t i = 0; i < frames; ++i) {
          ::new (&descriptors[i]) BufferDescriptor;
          descriptors[i].version.store(1, std::memory_order_relaxed);  // odd: not valid
          // The freelist's region starts with heads that match these chains.
          const std::size_t next = i + partitions;
          descriptors[i].next_free.store(next < frames ? static_cast<std::uint32_t>(next + 1) : 0,
                                         std::memory_order_relaxed);
        }
      });
}

BufferPool::BufferPool(const shm::Segment& segment, const BufferPoolOptions& options, RelationFiles& files,
                       wal::Log& log)
    : descriptors_{segment.as<BufferDescriptor>(kDescriptorsRegion)},
      frames_{segment.find(kFramesRegion)},
      frame_count_{options.frames},
      options_{options},
      files_{files},
      log_{log},
      mapping_{std::make_unique<MappingTable>(segment, descriptors_)},
      policy_{make_replacement(options.replacement, {segment, descriptors_, frame_count_})},
      clean_{std::make_unique<Clean>()},
      double_write_{options.double_write_areas > 0 ? std::make_unique<DoubleWrite>(segment, files, log)
                                                   : nullptr},
      write_copy_{std::make_unique<std::byte[]>(kPageSize)},
      io_{segment} {
  const std::size_t high = mark(options.freelist_high_watermark, frame_count_);
  const std::size_t low = mark(options.freelist_low_watermark, high);
  freelist_ = std::make_unique<Freelist>(segment, descriptors_, low, high, options.freelist_refill);
}

BufferPool::~BufferPool() = default;

void BufferPool::set_refill_waker(void (*waker)(void*), void* context) noexcept {
  freelist_->set_waker(waker, context);
}
std::size_t BufferPool::free_frames() const noexcept { return freelist_->count(); }

// ---- pages ----

namespace {
/// `seen` with one more use, up to the limit.
std::uint64_t used_once_more(std::uint64_t seen) noexcept {
  return (seen & kUsageMask) < kUsageMax ? seen + kUsageOne : seen;
}
}  // namespace

inline void BufferPool::count_hit(const PageTag& tag, const BufferRing* ring) noexcept {
  shm::count(shm::Counter::kBufferHits);
  io_.count_hit(AtomicPageTag::file_word(tag));
  count_in_ring(ring, shm::RingEvent::kHit);
}

ReadGuard BufferPool::read_page(const PageTag& tag, BufferRing* ring, ReadMode mode) {
  const std::uint32_t hash = MappingTable::hash(tag);
  const BufferId hint = mapping_->find(tag, hash);
  if (hint != kInvalidBuffer) [[likely]] {
    BufferDescriptor& d = at(hint);
    std::uint64_t seen = d.state.load(std::memory_order_relaxed);
    while ((seen & (kTagValid | kValid | kExclusive)) == (kTagValid | kValid)) {
      const std::uint64_t wanted = (ring == nullptr ? used_once_more(seen) : seen) + kPinOne + kSharedOne;
      if (!d.state.compare_exchange_weak(seen, wanted, std::memory_order_acquire)) continue;
      shm::note_acquire(shm::LockLevel::kBufferContent, &d);
      if (d.tag.equals(AtomicPageTag::file_word(tag), AtomicPageTag::page_word(tag))) [[likely]] {
        count_hit(tag, ring);
        shm::process_stats->lwlocks[shm::index_of(shm::Tranche::kBufferContent)].acquired.add(1);
        return ReadGuard{this, hint, frame(hint)};
      }
      unlatch_shared(hint, kPinOne);
      break;
    }
  }
  const BufferId buffer = pin_frame(tag, ring, mode);
  latch_shared(buffer);
  return ReadGuard{this, buffer, frame(buffer)};
}

WriteGuard BufferPool::write_page(const PageTag& tag, BufferRing* ring, ReadMode mode) {
  const BufferId buffer = pin_frame(tag, ring, mode);
  latch_exclusive(buffer);
  return WriteGuard{this, buffer, frame(buffer)};
}

Pin BufferPool::pin(const PageTag& tag, BufferRing* ring, ReadMode mode) {
  const BufferId buffer = pin_frame(tag, ring, mode);
  return Pin{this, buffer, frame(buffer)};
}

OptimisticRead BufferPool::optimistic_read(const PageTag& tag) noexcept {
  OptimisticRead read;
  const BufferId hint = mapping_->find(tag, MappingTable::hash(tag));
  if (hint == kInvalidBuffer) return read;
  BufferDescriptor& d = at(hint);
  const std::uint64_t version = d.version.load(std::memory_order_acquire);
  if ((version & 1) != 0) return read;
  // Read after the version: a frame that got another page since has another version, too.
  if (!d.tag.equals(AtomicPageTag::file_word(tag), AtomicPageTag::page_word(tag))) return read;
  std::uint64_t seen = d.state.load(std::memory_order_relaxed);
  if ((seen & kUsageMask) == 0) {
    // Keeps hot pages that are only read this way in the pool: one write per turn of the clock.
    d.state.compare_exchange_strong(seen, seen + kUsageOne, std::memory_order_relaxed);
  }
  shm::count(shm::Counter::kBufferHits);
  io_.count_hit(AtomicPageTag::file_word(tag));
  read.bytes_ = frame(hint);
  read.version_word_ = &d.version;
  read.version_ = version;
  return read;
}

bool BufferPool::try_pin(BufferId buffer, const PageTag& tag) noexcept {
  BufferDescriptor& d = at(buffer);
  std::uint64_t seen = d.state.load(std::memory_order_relaxed);
  do {
    if ((seen & kTagValid) == 0) return false;
  } while (!d.state.compare_exchange_weak(seen, used_once_more(seen) + kPinOne, std::memory_order_acquire));
  if (d.tag.equals(AtomicPageTag::file_word(tag), AtomicPageTag::page_word(tag))) [[likely]]
    return true;
  unpin(buffer);
  return false;
}

BufferId BufferPool::pin_cached(const PageTag& tag, std::uint32_t hash) noexcept {
  const BufferId hint = mapping_->find(tag, hash);
  return hint != kInvalidBuffer && try_pin(hint, tag) ? hint : kInvalidBuffer;
}

BufferId BufferPool::pin_frame(const PageTag& tag, BufferRing* ring, ReadMode mode) {
  const std::uint32_t hash = MappingTable::hash(tag);
  BufferId buffer = pin_cached(tag, hash);
  bool found = buffer != kInvalidBuffer;
  if (!found) buffer = install(tag, hash, ring, found);
  if ((at(buffer).state.load(std::memory_order_acquire) & kValid) != 0) [[likely]] {
    count_hit(tag, ring);
    return buffer;
  }
  load(buffer, tag, ring, mode);
  return buffer;
}

BufferId BufferPool::install(const PageTag& tag, std::uint32_t hash, BufferRing* ring, bool& found) {
  {
    // The walk without a latch may have missed a page that is there.
    shm::SharedGuard guard{mapping_->lock_of(hash)};
    const BufferId existing = mapping_->find_locked(tag, hash);
    if (existing != kInvalidBuffer && try_pin(existing, tag)) {
      found = true;
      return existing;
    }
  }
  shm::count(shm::Counter::kBufferAllocations);
  const BufferId victim = take_victim(ring);
  BufferDescriptor& d = at(victim);
  shm::ExclusiveGuard guard{mapping_->lock_of(hash)};
  const BufferId existing = mapping_->find_locked(tag, hash);
  if (existing != kInvalidBuffer && try_pin(existing, tag)) {
    guard.release();
    free_victim(victim);
    found = true;
    return existing;
  }
  d.tag.store(tag);
  // Nobody else touches the state of a frame that is in no table.
  d.state.store(kPinOne | kUsageOne | kTagValid, std::memory_order_release);
  mapping_->insert(victim, hash);
  guard.release();
  policy_->page_installed(victim, hash);
  return victim;
}

void BufferPool::load(BufferId buffer, const PageTag& tag, const BufferRing* ring, ReadMode mode) {
  if (!start_io(buffer, true)) return;  // somebody else has read it meanwhile
  const PageBytes bytes{frame(buffer), kPageSize};
  try {
    if (mode == ReadMode::kZero) {
      std::memset(bytes.data(), 0, kPageSize);
    } else {
      bool inside;
      {
        shm::WaitEventScope waiting{shm::WaitEvent::kDataFileRead};
        const IoTimer timer{timed_, shm::Counter::kReadNs, shm::SessionCounter::kReadNs};
        inside = files_.read(tag, bytes);
      }
      shm::count(shm::Counter::kBufferReads);
      io_.count_read(AtomicPageTag::file_word(tag));
      count_in_ring(ring, shm::RingEvent::kRead);
      verify_read(tag, bytes, inside, mode, options_.data_checksums);
    }
  } catch (...) {
    end_io(buffer, kIoError, 0);
    unpin(buffer);
    throw;
  }
  end_io(buffer, kValid, kIoError);
}

void verify_read(const PageTag& tag, PageBytes bytes, bool inside, ReadMode mode, bool checksums) {
  if (!inside && mode != ReadMode::kZeroOnError) {
    throw SqlError{sqlstate::kDataCorrupted,
                   fmt::format("could not read block {} in file \"{}\": read only 0 of {} bytes",
                               tag.page.value, relation_name(tag.file, tag.fork), kPageSize)};
  }
  const PageError error = check_page(bytes, tag.page, checksums);
  if (error == PageError::kNone) return;
  if (mode == ReadMode::kZeroOnError) {
    std::memset(bytes.data(), 0, kPageSize);
    return;
  }
  throw SqlError{sqlstate::kDataCorrupted, fmt::format("invalid page in block {} of relation {}",
                                                       tag.page.value, relation_name(tag.file, tag.fork))};
}

WriteGuard BufferPool::extend(FileId file, Fork fork, BufferRing* ring) {
  shm::count(shm::Counter::kBufferExtends);
  count_in_ring(ring, shm::RingEvent::kExtend);
  while (true) {
    PageTag tag{file, fork, PageNumber{0}};
    {
      const IoTimer timer{timed_, shm::Counter::kExtendNs, shm::SessionCounter::kWriteNs};
      tag.page = files_.extend(file, fork);
    }
    WriteGuard guard = write_page(tag, ring, ReadMode::kZero);
    // Somebody who goes by the new length may have found the empty page before us, and filled it.
    if (!guard.page().is_new()) continue;
    guard.mark_dirty();
    return guard;
  }
}

void BufferPool::prefetch(const PageTag& tag) noexcept {
  if (!is_cached(tag)) files_.prefetch(tag);
}

bool BufferPool::is_cached(const PageTag& tag) noexcept {
  return mapping_->find(tag, MappingTable::hash(tag)) != kInvalidBuffer;
}

void BufferPool::pin_again(BufferId buffer) noexcept {
  at(buffer).state.fetch_add(kPinOne, std::memory_order_relaxed);
}

void BufferPool::unpin(BufferId buffer) noexcept {
  at(buffer).state.fetch_sub(kPinOne, std::memory_order_release);
}

// ---- guards ----

template <LatchMode Mode>
PageTag PageGuard<Mode>::tag() const noexcept {
  return pool_->at(buffer_).tag.load();
}

template <LatchMode Mode>
void PageGuard<Mode>::mark_dirty() noexcept requires(Mode == LatchMode::kExclusive) {
  pool_->set_dirty(buffer_);
}

template <LatchMode Mode>
bool PageGuard<Mode>::is_only_pinner(unsigned own_pins) const noexcept {
  return (pool_->at(buffer_).state.load(std::memory_order_acquire) & kPinMask) == own_pins;
}

template <LatchMode Mode>
void PageGuard<Mode>::release() noexcept {
  if (pool_ == nullptr) return;
  BufferPool* pool = std::exchange(pool_, nullptr);
  if constexpr (Mode == LatchMode::kExclusive) {
    pool->unlatch_exclusive(buffer_, kPinOne);
  } else {
    pool->unlatch_shared(buffer_, kPinOne);
  }
}

template <LatchMode Mode>
Pin PageGuard<Mode>::keep_pin() && noexcept {
  BufferPool* pool = std::exchange(pool_, nullptr);
  if constexpr (Mode == LatchMode::kExclusive) {
    pool->unlatch_exclusive(buffer_, 0);
  } else {
    pool->unlatch_shared(buffer_, 0);
  }
  return Pin{pool, buffer_, bytes_};
}

template <LatchMode Mode>
WriteGuard PageGuard<Mode>::relatch_exclusive() && noexcept requires(Mode == LatchMode::kShared) {
  BufferPool* pool = std::exchange(pool_, nullptr);
  pool->unlatch_shared(buffer_, 0);
  pool->latch_exclusive(buffer_);
  return WriteGuard{pool, buffer_, bytes_};
}

template class PageGuard<LatchMode::kShared>;
template class PageGuard<LatchMode::kExclusive>;

PageTag Pin::tag() const noexcept { return pool_->at(buffer_).tag.load(); }

ReadGuard Pin::read() const noexcept {
  pool_->latch_shared(buffer_, kPinOne);
  return ReadGuard{pool_, buffer_, bytes_};
}

WriteGuard Pin::write() const noexcept {
  pool_->latch_exclusive(buffer_, kPinOne);
  return WriteGuard{pool_, buffer_, bytes_};
}

WriteGuard Pin::try_write() const noexcept {
  if (!pool_->try_latch_exclusive(buffer_)) return {};
  pool_->pin_again(buffer_);
  return WriteGuard{pool_, buffer_, bytes_};
}

WriteGuard Pin::try_cleanup(unsigned own_pins) const noexcept {
  WriteGuard guard = try_write();
  if (guard && !guard.is_only_pinner(own_pins + 1)) guard.release();
  return guard;
}

Pin Pin::clone() const noexcept {
  pool_->pin_again(buffer_);
  return Pin{pool_, buffer_, bytes_};
}

void Pin::release() noexcept {
  if (pool_ != nullptr) std::exchange(pool_, nullptr)->unpin(buffer_);
}

}  // namespace pinwheel::storage
