#pragma once

#include <cstdint>
#include <optional>
#include <type_traits>
#include <utility>

#include "base/ids.h"
#include "shm/lwlock.h"
#include "storage/page/page.h"

namespace pinwheel::storage {

class BufferPool;
using shm::LatchMode;

/// A pin and a content latch on one page, released together.
///
/// Only BufferPool and Pin make one. While it lives the page stays in its frame and its bytes are stable
/// (kShared; but for hint bits) or ours alone (kExclusive). Latch level: kBufferContent (docs/lock_order.md).
template <LatchMode Mode>
class [[nodiscard]] PageGuard {
 public:
  using PageType = std::conditional_t<Mode == LatchMode::kExclusive, Page, ConstPage>;

  PageGuard() noexcept = default;
  PageGuard(PageGuard&& other) noexcept
      : pool_{std::exchange(other.pool_, nullptr)}, buffer_{other.buffer_}, bytes_{other.bytes_} {}
  /// `guard = pool.read_page(child)` latches the child before it frees the parent.
  PageGuard& operator=(PageGuard&& other) noexcept {
    if (this != &other) {
      release();
      pool_ = std::exchange(other.pool_, nullptr);
      buffer_ = other.buffer_;
      bytes_ = other.bytes_;
    }
    return *this;
  }
  ~PageGuard() { release(); }

  bool owns() const noexcept { return pool_ != nullptr; }
  explicit operator bool() const noexcept { return owns(); }
  BufferId buffer() const noexcept { return buffer_; }
  PageTag tag() const noexcept;
  PageNumber number() const noexcept { return tag().page; }
  PageType page() const noexcept { return PageType{bytes_}; }
  const PageHeader& header() const noexcept { return ConstPage{bytes_}.header(); }

  /// Says that the bytes will change, so that the page is written some day. Before the change and before its
  /// WAL record is inserted: a checkpoint that starts in between then sees the page dirty and waits for our
  /// latch.
  void mark_dirty() noexcept requires(Mode == LatchMode::kExclusive);

  /// Runs `change(Page)` on the page and logs it: `insert_record()` appends the WAL record and returns its
  /// end LSN (kInvalidLsn for an unlogged relation, which keeps the page's LSN at 0). Neither may fail: check
  /// space beforehand. If the process dies in between, the change is lost with the segment: nothing was
  /// promised yet.
  template <class Change, class InsertRecord>
  Lsn apply_logged(Change change, InsertRecord insert_record) noexcept
      requires(Mode == LatchMode::kExclusive) {
    mark_dirty();
    change(page());
    const Lsn lsn = insert_record();
    if (is_valid(lsn)) page().set_lsn(lsn);
    return lsn;
  }

  /// True when nobody else has the page pinned, so that items may be moved: pointers into the page are only
  /// followed under a pin. `own_pins`: pins of the caller on this page, this guard's included.
  bool is_only_pinner(unsigned own_pins = 1) const noexcept;

  /// Gives up the latch and keeps the pin.
  class Pin keep_pin() && noexcept;
  /// Gives up the latch, keeps the pin and takes the other latch: the page may have changed in between.
  PageGuard<LatchMode::kExclusive> relatch_exclusive() && noexcept requires(Mode == LatchMode::kShared);

  /// Idempotent. Latch and pin go in one step.
  void release() noexcept;

 private:
  friend class BufferPool;
  friend class Pin;
  template <LatchMode>
  friend class PageGuard;
  PageGuard(BufferPool* pool, BufferId buffer, std::byte* bytes) noexcept
      : pool_{pool}, buffer_{buffer}, bytes_{bytes} {}

  BufferPool* pool_ = nullptr;
  BufferId buffer_ = kInvalidBuffer;
  std::byte* bytes_ = nullptr;
};
using ReadGuard = PageGuard<LatchMode::kShared>;
using WriteGuard = PageGuard<LatchMode::kExclusive>;

/// A pin alone: the page stays in its frame, and items seen under a latch stay where they are (only prune and
/// compact move items, and they ask is_only_pinner). May be held across a park.
class [[nodiscard]] Pin {
 public:
  Pin() noexcept = default;
  Pin(Pin&& other) noexcept
      : pool_{std::exchange(other.pool_, nullptr)}, buffer_{other.buffer_}, bytes_{other.bytes_} {}
  Pin& operator=(Pin&& other) noexcept {
    if (this != &other) {
      release();
      pool_ = std::exchange(other.pool_, nullptr);
      buffer_ = other.buffer_;
      bytes_ = other.bytes_;
    }
    return *this;
  }
  ~Pin() { release(); }

  bool owns() const noexcept { return pool_ != nullptr; }
  explicit operator bool() const noexcept { return owns(); }
  BufferId buffer() const noexcept { return buffer_; }
  PageTag tag() const noexcept;
  PageNumber number() const noexcept { return tag().page; }
  bool holds(const PageTag& tag) const noexcept { return owns() && this->tag() == tag; }
  /// Bytes without a latch: only for items found under an earlier latch, or for reads that are hints.
  ConstPage unlatched() const noexcept { return ConstPage{bytes_}; }
  /// The frame's bytes, for hint bits under this pin.
  std::byte* frame() const noexcept { return bytes_; }

  /// Each guard has a pin of its own beside this one.
  ReadGuard read() const noexcept;
  WriteGuard write() const noexcept;
  /// No guard when somebody has the latch.
  WriteGuard try_write() const noexcept;
  /// An exclusive guard, if it can be had at once and nobody but this Pin and the guard has the page pinned.
  /// `own_pins`: pins of the caller on the page besides the guard's (this one included).
  WriteGuard try_cleanup(unsigned own_pins = 1) const noexcept;
  /// A second pin on the same page.
  Pin clone() const noexcept;

  void release() noexcept;

 private:
  friend class BufferPool;
  template <LatchMode>
  friend class PageGuard;
  Pin(BufferPool* pool, BufferId buffer, std::byte* bytes) noexcept
      : pool_{pool}, buffer_{buffer}, bytes_{bytes} {}

  BufferPool* pool_ = nullptr;
  BufferId buffer_ = kInvalidBuffer;
  std::byte* bytes_ = nullptr;
};

/// A look at a page that writes no shared memory: neither pin nor latch. Every byte read may be garbage until
/// validate() says otherwise: check each offset before use, copy what you need, validate, then trust. Frames
/// are never unmapped, so reading garbage is harmless. Hint bits may change under it.
class OptimisticRead {
 public:
  OptimisticRead() noexcept = default;
  explicit operator bool() const noexcept { return bytes_ != nullptr; }
  ConstPage page() const noexcept { return ConstPage{bytes_}; }
  /// True when everything read since it was made was one stable state of the page.
  bool validate() const noexcept {
    std::atomic_thread_fence(std::memory_order_acquire);
    return version_word_->load(std::memory_order_relaxed) == version_;
  }

 private:
  friend class BufferPool;
  const std::byte* bytes_ = nullptr;
  const std::atomic<std::uint64_t>* version_word_ = nullptr;
  std::uint64_t version_ = 0;
};

}  // namespace pinwheel::storage
