#pragma once

#include <array>
#include <memory>
#include <utility>

#include "shm/interrupts.h"
#include "storage/heap/heap.h"

namespace pinwheel::storage {

/// Reads all visible tuples of a relation, a page at a time: each page is latched once, to find what
/// `Predicate` accepts; the tuples are then handed out under the pin alone.
///
/// `Predicate`: bool operator()(const HeapTupleView&). It must accept every tuple of a page flagged
/// kPageAllVisible unless `trust_all_visible` is false (SERIALIZABLE, dirty and historic snapshots).
/// A tuple handed out is valid until the next call of next() or the scan's end. check_interrupts() once per
/// page.
template <class Predicate>
class HeapScan {
 public:
  /// Scans pages [first, end), end = the length now when not given. `oracle` (may be null) lets the scan
  /// prune.
  HeapScan(Heap& heap, Predicate predicate, TransactionOracle* oracle = nullptr,
           PageNumber first = PageNumber{0}, PageNumber end = kInvalidPage, bool trust_all_visible = true)
      : heap_{heap},
        predicate_{std::move(predicate)},
        oracle_{oracle},
        next_page_{first},
        end_{is_valid(end) ? end : heap.page_count()},
        trust_all_visible_{trust_all_visible} {
    const std::size_t frames = heap.storage().pool.frame_count();
    if (end_.value > first.value && end_.value - first.value > frames / 4) {
      ring_ = std::make_unique<BufferRing>(BufferRing::Kind::kBulkRead, frames);
    }
  }

  /// The next tuple; not valid() at the end.
  HeapTupleView next() {
    while (index_ >= count_) {
      if (!load_page()) return {};
    }
    const std::uint16_t slot = slots_[index_++];
    const ConstPage page = pin_.unlatched();
    const LinePointer line = page.line(slot);
    return {page.item(line), line.length(), {page_, slot}};
  }

  /// The page that the last tuple is on; stays pinned until next() leaves it.
  const Pin& pin() const noexcept { return pin_; }
  Predicate& predicate() noexcept { return predicate_; }
  /// Pages to go, for progress and for scans in pieces.
  PageNumber next_page() const noexcept { return next_page_; }

 private:
  bool load_page() {
    if (next_page_.value >= end_.value) {
      pin_.release();
      return false;
    }
    shm::check_interrupts();
    page_ = next_page_;
    next_page_ = pinwheel::next(next_page_);
    BufferPool& pool = heap_.storage().pool;
    if (ring_ != nullptr && page_.value % kPrefetchPages == 0) {
      for (std::uint32_t i = kPrefetchPages; i < 2 * kPrefetchPages && page_.value + i < end_.value; ++i) {
        pool.prefetch({heap_.relation().file, Fork::kMain, PageNumber{page_.value + i}});
      }
    }
    pin_ = pool.pin({heap_.relation().file, Fork::kMain, page_}, ring_.get());
    if (oracle_ != nullptr) heap_.prune_if_worthwhile(pin_, *oracle_);
    collect();
    return true;
  }

  void collect() {
    ReadGuard guard = pin_.read();
    const ConstPage page = guard.page();
    const bool all_visible = trust_all_visible_ && page.has_flag(kPageAllVisible);
    const std::uint16_t slots = page.slot_count();
    index_ = 0;
    count_ = 0;
    for (std::uint16_t slot = 1; slot <= slots; ++slot) {
      const LinePointer line = page.line(slot);
      if (!line.is_normal()) continue;
      if (!all_visible && !predicate_(HeapTupleView{page.item(line), line.length(), {page_, slot}})) continue;
      slots_[count_++] = slot;
    }
  }

  static constexpr std::uint32_t kPrefetchPages = 16;

  Heap& heap_;
  Predicate predicate_;
  TransactionOracle* oracle_;
  PageNumber next_page_;
  PageNumber end_;
  PageNumber page_ = kInvalidPage;
  bool trust_all_visible_;
  std::unique_ptr<BufferRing> ring_;  // large relations only
  Pin pin_;
  std::uint16_t index_ = 0;
  std::uint16_t count_ = 0;
  std::array<std::uint16_t, kMaxSlots> slots_;
};

}  // namespace pinwheel::storage
