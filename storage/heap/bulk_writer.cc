#include "storage/heap/bulk_writer.h"

#include <algorithm>

#include "base/error.h"
#include "base/log.h"
#include "storage/heap/heap_internal.h"
#include "storage/redo.h"

namespace pinwheel::storage {
namespace {

/// Written with one call: 256 kB.
constexpr std::uint32_t kPagesInMemory = 32;
/// Write-back is asked for in pieces of this size, so that the sync at the end finds little to do.
constexpr std::uint32_t kWritebackPages = 512;
constexpr std::uint16_t kShapeBits = kTupleHasNulls | kTupleHasVarWidth | kTupleHasExternal;

}  // namespace

HeapBulkWriter::HeapBulkWriter(Storage& storage, const HeapRelation& relation, const Options& options)
    : storage_{storage},
      relation_{relation},
      options_{options},
      reserved_{kPageSize * (100u - std::min<unsigned>(relation.fill_factor, 100)) / 100},
      memory_{std::make_unique_for_overwrite<std::byte[]>(kPagesInMemory * kPageSize)},
      first_{storage.files.size(relation.file, Fork::kMain)} {}

HeapBulkWriter::~HeapBulkWriter() {
  // Given up, perhaps by a savepoint whose transaction goes on: what is in the file must be whole after a
  // crash.
  if (finished_ || written_ == 0 || !is_logged(relation_.persistence)) return;
  try {
    storage_.files.sync_now(relation_.file, Fork::kMain);
  } catch (const SqlError& error) {
    log_text(LogLevel::kWarning, error.what());
  }
}

Page HeapBulkWriter::page(std::uint32_t index) const noexcept {
  return Page{memory_.get() + std::size_t{index} * kPageSize};
}

void HeapBulkWriter::begin_page() noexcept {
  const Page fresh = page(current_);
  std::memset(fresh.data(), 0, kPageSize);
  fresh.init(PageKind::kHeap);
  if (options_.frozen) fresh.set_flag(kPageAllVisible);
  page_open_ = true;
}

void HeapBulkWriter::add(const FormedTuple& tuple) {
  if (tuple.length > kMaxTupleSize) heap_detail::throw_too_big(tuple.length);
  if (!page_open_) begin_page();
  const bool fits = page(current_).slot_count() == 0 ||
                    (page(current_).slot_count() < kMaxHeapSlots &&
                     page(current_).free_space() >= align_item(tuple.length) + reserved_);
  if (!fits) {
    page_open_ = false;
    if (++current_ == kPagesInMemory) write_pages(kPagesInMemory);
    begin_page();
  }
  const Page target = page(current_);
  const auto slot = static_cast<std::uint16_t>(target.slot_count() + 1);
  TupleHeader& header = tuple.header();
  if (options_.keep_versions) {
    header.infomask2 &= static_cast<std::uint16_t>(~(kTupleHeapOnly | kTupleHotUpdated));
    if ((header.infomask & kTupleXmaxInvalid) == 0 && header.xmax != 0) {
      heap_detail::note_prunable(target, Xid{header.xmax});
    }
  } else {
    header.xmin = options_.frozen ? kFrozenXid.value : options_.xid.value;
    header.xmax = 0;
    header.cmin = options_.command.value;
    header.cmax = 0;
    header.infomask = static_cast<std::uint16_t>((header.infomask & kShapeBits) | kTupleXmaxInvalid |
                                                 (options_.frozen ? kTupleXminCommitted : 0));
    header.infomask2 &= kTupleAttributeMask;
  }
  heap_detail::set_next(header, {PageNumber{first_.value + written_ + current_}, slot});
  std::memcpy(target.place_item(slot, tuple.length), tuple.bytes, tuple.length);
}

void HeapBulkWriter::write_pages(std::uint32_t count) {
  const PageNumber begin = storage_.files.extend(relation_.file, Fork::kMain, count);
  // Another writer would have put rows where our tuples say they are.
  DB_ASSERT(begin.value == first_.value + written_);
  std::uint32_t done = 0;
  while (done < count) {
    const std::uint32_t number = begin.value + done;
    const std::uint32_t left_in_segment = kPagesPerSegment - number % kPagesPerSegment;
    const std::uint32_t now = std::min(count - done, left_in_segment);
    for (std::uint32_t i = done; i < done + now; ++i) {
      set_checksum(page(i).bytes(), PageNumber{begin.value + i});
    }
    storage_.files.write_many({relation_.file, Fork::kMain, PageNumber{number}}, page(done).data(), now);
    done += now;
  }
  written_ += count;
  current_ = 0;
  if (is_logged(relation_.persistence) && written_ % kWritebackPages == 0) {
    const std::uint32_t from = first_.value + written_ - kWritebackPages;
    const std::uint32_t in_segment = kPagesPerSegment - from % kPagesPerSegment;
    storage_.files.start_writeback({relation_.file, Fork::kMain, PageNumber{from}},
                                   std::min(kWritebackPages, in_segment));
  }
}

void HeapBulkWriter::finish() {
  finished_ = true;
  if (page_open_) {
    page_open_ = false;
    write_pages(current_ + 1);
  } else if (current_ > 0) {
    write_pages(current_);
  }
  if (written_ == 0) return;
  if (is_logged(relation_.persistence)) storage_.files.sync_now(relation_.file, Fork::kMain);
  if (options_.frozen) set_visible();
}

void HeapBulkWriter::set_visible() {
  Pin pin;
  std::uint32_t number = first_.value;
  const std::uint32_t end = first_.value + written_;
  while (number < end) {
    const PageTag tag = VisibilityMap::tag_for(relation_.file, PageNumber{number});
    storage_.visibility.pin(relation_.file, PageNumber{number}, pin, true);
    WriteGuard map = pin.write();
    map.mark_dirty();
    for (; number < end && VisibilityMap::tag_for(relation_.file, PageNumber{number}) == tag; ++number) {
      VisibilityMap::set(map, PageNumber{number});
    }
  }
  pin.release();
  // A bit without its page is harmless: before the commit nobody looks, and the pages are on disk already.
  if (is_logged(relation_.persistence)) {
    log_new_pages(storage_, relation_.file, Fork::kVisibility,
                  storage_.files.size(relation_.file, Fork::kVisibility));
  }
}

}  // namespace pinwheel::storage
