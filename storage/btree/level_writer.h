#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "storage/btree/btree_page.h"
#include "storage/buffer/buffer_ring.h"
#include "storage/storage.h"
#include "wal/record.h"

namespace pinwheel::storage::btree_detail {

/// Writes a new index from entries in order: pages are filled one after the other on each level, and a page
/// that is full gives the level above its downlink. Full pages go to the pool and the log a record's worth at
/// a time; nothing is latched in between.
class LevelWriter {
 public:
  LevelWriter(Storage& storage, const BTreeIndex& index, Xid xid);
  LevelWriter(const LevelWriter&) = delete;
  LevelWriter& operator=(const LevelWriter&) = delete;

  void add(IndexItem entry) { add_to_level(0, entry); }

  /// Hands all entries back, in any order, and begins anew with the same pages.
  template <class Take>
  void take_back(Take take) {
    write_pending();
    for (std::uint32_t i = 1; i < next_page_; ++i) take_from_page(PageNumber{i}, take);
    if (!levels_.empty()) take_from(levels_[0]->page(), take);
    levels_.clear();
    next_page_ = 1;
  }

  /// Writes the last page of each level, and the meta page.
  void finish();

 private:
  struct Level {
    PageNumber number;  // of the page being filled
    PageNumber previous;
    ItemBuffer low;  // key below everything on the page; length 0 = first of its level
    alignas(8) std::byte bytes[kPageSize];
    Page page() noexcept { return Page{bytes}; }
  };
  struct Pending {
    PageNumber number;
    std::byte bytes[kPageSize];
  };

  void add_to_level(std::size_t level, IndexItem item);
  /// Ends the page being filled on a level with `high_key` and begins the next one.
  void end_page(std::size_t level, IndexItem high_key);
  void begin_level(std::size_t level);
  void give_parent(std::size_t level);
  PageNumber allocate() noexcept { return PageNumber{next_page_++}; }
  void put(PageNumber number, ConstPage page);
  void write_pending();

  template <class Take>
  void take_from(ConstPage page, Take& take) {
    for (std::uint16_t slot = first_slot(special_of(page)); slot <= page.slot_count(); ++slot) {
      take(item_at(page, slot));
    }
  }
  template <class Take>
  void take_from_page(PageNumber number, Take& take) {
    if (!levels_.empty() && std::any_of(levels_.begin(), levels_.end(),
                                        [number](const auto& level) { return level->number == number; })) {
      return;  // not written yet
    }
    alignas(8) std::byte copy[kPageSize];
    copy_page(Page{copy}, storage_.pool.read_page({index_.file, Fork::kMain, number}, &ring_).page());
    if (is_leaf(special_of(ConstPage{copy}))) take_from(ConstPage{copy}, take);
  }

  Storage& storage_;
  const BTreeIndex& index_;
  Xid xid_;
  BufferRing ring_;
  std::uint32_t next_page_ = 1;
  std::uint32_t written_end_ = 1;  // pages up to here have been written, perhaps before a take_back()
  std::vector<std::unique_ptr<Level>> levels_;
  std::unique_ptr<std::array<Pending, wal::kMaxBlocks>> pending_;
  unsigned pending_count_ = 0;
};

}  // namespace pinwheel::storage::btree_detail
