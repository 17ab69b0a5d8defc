#include "storage/btree/level_writer.h"

#include <algorithm>

#include "base/error.h"
#include "wal/builder.h"
#include "wal/log.h"

namespace pinwheel::storage::btree_detail {

namespace {
/// What a leaf's high key may need beyond the entry that it is made of.
constexpr std::size_t kIdRoom = kItemIdBytes + kItemAlign;
}  // namespace

LevelWriter::LevelWriter(Storage& storage, const BTreeIndex& index, Xid xid)
    : storage_{storage},
      index_{index},
      xid_{xid},
      ring_{BufferRing::Kind::kBulkWrite, storage.pool.frame_count()},
      pending_{std::make_unique_for_overwrite<std::array<Pending, wal::kMaxBlocks>>()} {}

void LevelWriter::begin_level(std::size_t level) {
  Level& l = *levels_.emplace_back(std::make_unique_for_overwrite<Level>());
  l.number = allocate();
  l.previous = kNoPage;
  l.low.length = 0;
  init_btree_page(l.page(), static_cast<std::uint16_t>(level), 0, kNoPage, kNoPage);
}

void LevelWriter::add_to_level(std::size_t level, IndexItem item) {
  if (level == levels_.size()) begin_level(level);
  Level& l = *levels_[level];
  const bool leaf = level == 0;
  const std::uint16_t count = l.page().slot_count();
  const std::size_t used = kBTreeCapacity - l.page().gap();
  const std::size_t target = kBTreeCapacity * (leaf ? index_.fill_factor : kInnerFillFactor) / 100;
  const std::size_t wanted = item_cost(item.length()) + (leaf ? kIdRoom : 0);
  if (count >= 2 && (l.page().gap() < wanted || used + wanted > target)) {
    ItemBuffer high_key;
    if (leaf) {
      make_separator(index_, item_at(l.page(), count), item, high_key);
    } else {
      copy_pivot(item, kNoPage, high_key);
    }
    if (item_cost(high_key.length) <= l.page().gap()) {
      end_page(level, high_key.item());
    } else {
      // No room for the high key: the last item moves on to the next page, and its place takes one made of
      // it.
      ItemBuffer moved;
      const IndexItem last = item_at(l.page(), count);
      std::memcpy(moved.bytes, last.bytes(), last.length());
      moved.length = last.length();
      if (leaf) {
        make_separator(index_, item_at(l.page(), static_cast<std::uint16_t>(count - 1)), last, high_key);
      } else {
        copy_pivot(last, kNoPage, high_key);
      }
      l.page().remove_item_at(count);
      end_page(level, high_key.item());
      add_to_level(level, moved.item());
    }
  }
  if (!leaf && l.page().slot_count() == 0) {
    ItemBuffer least;
    make_least_pivot(item.child(), least);
    append_item(l.page(), least.item());
    return;
  }
  DB_ASSERT(l.page().gap() >= item_cost(item.length()));
  append_item(l.page(), item);
}

void LevelWriter::end_page(std::size_t level, IndexItem high_key) {
  Level& l = *levels_[level];
  const bool fits = l.page().insert_item_at(1, high_key.span());
  DB_ASSERT(fits);
  const PageNumber next = allocate();
  special_of(l.page()).next = next.value;
  put(l.number, l.page());
  give_parent(level);
  std::memcpy(l.low.bytes, high_key.bytes(), high_key.length());
  l.low.length = high_key.length();
  l.previous = l.number;
  l.number = next;
  init_btree_page(l.page(), static_cast<std::uint16_t>(level), 0, l.previous, kNoPage);
}

/// Gives the level above the downlink to the page that was being filled.
void LevelWriter::give_parent(std::size_t level) {
  const Level& l = *levels_[level];
  ItemBuffer downlink;
  if (l.low.length == 0) {
    make_least_pivot(l.number, downlink);
  } else {
    copy_pivot(l.low.item(), l.number, downlink);
  }
  add_to_level(level + 1, downlink.item());
}

void LevelWriter::finish() {
  BTreeMeta meta;
  for (std::size_t level = 0; level < levels_.size(); ++level) {
    Level& l = *levels_[level];
    const bool is_root = level + 1 == levels_.size();
    if (is_root) {
      special_of(l.page()).flags |= kBTreeRoot;
      meta.root = l.number.value;
      meta.level = static_cast<std::uint32_t>(level);
    } else {
      give_parent(level);
    }
    put(l.number, l.page());
  }
  alignas(8) std::byte bytes[kPageSize];
  // A first attempt may have used more pages: they are free.
  for (; next_page_ < written_end_; ++next_page_) {
    init_deleted_page(Page{bytes}, 0, kNoPage, kNoPage);
    special_of(Page{bytes}).flags |= kBTreeRecyclable;
    put(PageNumber{next_page_}, ConstPage{bytes});
  }
  init_meta_page(Page{bytes}, meta);
  put(kMetaPage, ConstPage{bytes});
  write_pending();
}

void LevelWriter::put(PageNumber number, ConstPage page) {
  if (pending_count_ == pending_->size()) write_pending();
  Pending& pending = (*pending_)[pending_count_++];
  pending.number = number;
  copy_page(Page{pending.bytes}, page);
}

void LevelWriter::write_pending() {
  const unsigned count = std::exchange(pending_count_, 0u);
  if (count == 0) return;
  std::array<WriteGuard, wal::kMaxBlocks> guards;
  for (unsigned i = 0; i < count; ++i) {
    const PageNumber number = (*pending_)[i].number;
    storage_.files.ensure_size(index_.file, Fork::kMain, next(number));
    written_end_ = std::max(written_end_, number.value + 1);
  }
  // Pages of one level are latched with others in between, but nobody else sees the index yet.
  for (unsigned i = 0; i < count; ++i) {
    guards[i] =
        storage_.pool.write_page({index_.file, Fork::kMain, (*pending_)[i].number}, &ring_, ReadMode::kZero);
  }
  wal::RecordBuilder record{wal::RmgrId::kXlog, wal::XlogKind::kFullPageImage};
  for (unsigned i = 0; i < count; ++i) {
    guards[i].mark_dirty();
    copy_page(guards[i].page(), ConstPage{(*pending_)[i].bytes});
    const PageHeader& header = guards[i].header();
    record.block(i, guards[i].tag(), guards[i].page().data(), wal::kBlockForceImage,
                 {header.lower, static_cast<std::uint16_t>(header.upper - header.lower)});
  }
  if (!is_logged(index_.persistence)) return;
  const Lsn lsn = storage_.log.insert(record, xid_);
  for (unsigned i = 0; i < count; ++i) guards[i].page().set_lsn(lsn);
}

}  // namespace pinwheel::storage::btree_detail
