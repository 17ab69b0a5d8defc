#include "storage/btree/redo.h"

#include <fmt/format.h>

#include <array>
#include <cstring>
#include <optional>

#include "base/error.h"
#include "base/sqlstate.h"
#include "storage/btree/btree_wal.h"
#include "storage/btree/insert.h"
#include "storage/redo.h"
#include "wal/record.h"
#include "wal/rmgr.h"

namespace pinwheel::storage {

using namespace btree_detail;

namespace {

[[noreturn]] void throw_bad_record(const wal::RecordView& record, const char* what) {
  throw SqlError{sqlstate::kDataCorrupted,
                 fmt::format("B-tree WAL record at {:X}/{:X}: {}", record.start().value >> 32,
                             record.start().value & 0xFFFFFFFF, what)};
}

const wal::BlockView& block_of(const wal::RecordView& record, unsigned index) {
  const wal::BlockView* block = record.block(index);
  if (block == nullptr) throw_bad_record(record, "block is missing");
  return *block;
}

/// The page when it still needs the change; also brings back images.
std::optional<RedoPage> page_to_change(Storage& storage, const wal::RecordView& record, unsigned index) {
  RedoPage page = redo_block(storage, record, index, record.end());
  if (!page.needs_redo) return std::nullopt;
  return page;
}

/// Appends the items of a page made from scratch.
void append_packed(const wal::RecordView& record, Page page, std::span<const std::byte> packed) {
  while (!packed.empty()) {
    const std::uint64_t length = packed.size() < 8 ? 0 : load<std::uint64_t>(packed.data());
    const std::size_t size = 8 + align_item(length);
    if (length < kItemHeaderBytes || length > kMaxPivotSize || size > packed.size() ||
        page.gap() < item_cost(length)) {
      throw_bad_record(record, "items do not fit their page");
    }
    append_item(page, {packed.data() + 8, static_cast<std::uint16_t>(length)});
    packed = packed.subspan(size);
  }
}

void clear_incomplete(Storage& storage, const wal::RecordView& record, unsigned index, std::uint16_t flags) {
  if (record.block(index) == nullptr) return;
  if (auto child = page_to_change(storage, record, index)) {
    special_of(child->page()).flags &= static_cast<std::uint16_t>(~flags);
    child->finish(record.end());
  }
}

void redo_insert(Storage& storage, const wal::RecordView& record) {
  const auto data = record.data_as<BTreeInsertRecord>();
  clear_incomplete(storage, record, 1, kBTreeIncompleteSplit);
  auto page = page_to_change(storage, record, 0);
  if (!page) return;
  if (data.slot == 0 || data.slot > page->page().slot_count() + 1 ||
      !page->page().insert_item_at(data.slot, block_of(record, 0).data)) {
    throw_bad_record(record, "item does not fit its page");
  }
  page->finish(record.end());
}

/// The left half, made from the page as it was, like split_page makes it.
void redo_split_left(const wal::RecordView& record, Page page, const BTreeSplitRecord& data,
                     PageNumber right) {
  const std::span<const std::byte> bytes = block_of(record, 0).data;
  const std::size_t expected = data.high_key_length + (data.new_is_left != 0 ? data.new_length : 0u);
  if (bytes.size() != expected || data.high_key_length > kMaxPivotSize || data.new_length > kMaxPivotSize) {
    throw_bad_record(record, "split has wrong lengths");
  }
  ItemBuffer high_key, new_item;
  std::memcpy(high_key.bytes, bytes.data(), data.high_key_length);
  high_key.length = data.high_key_length;
  std::memcpy(new_item.bytes, bytes.data() + data.high_key_length, bytes.size() - data.high_key_length);
  new_item.length = static_cast<std::uint16_t>(bytes.size() - data.high_key_length);

  alignas(8) std::byte old_bytes[kPageSize];
  const Page old{old_bytes};
  copy_page(old, page);
  std::array<IndexItem, kMaxBTreeSlots + 1> items;
  const IndexItem added = new_item.item();
  const std::size_t count = list_items(old, data.new_index, data.new_is_left != 0 ? &added : nullptr, items);
  if (data.first_right > count) throw_bad_record(record, "split page has too few items");
  const BTreeSpecial special = special_of(ConstPage{old});
  const auto kept = static_cast<std::uint16_t>(special.flags & (kBTreeLeaf | kBTreeRoot));
  init_btree_page(page, special.level, static_cast<std::uint16_t>(kept | kBTreeIncompleteSplit),
                  PageNumber{special.previous}, right);
  std::size_t room = item_cost(high_key.length);
  for (std::size_t i = 0; i < data.first_right; ++i) room += item_cost(items[i].length());
  if (room > kBTreeCapacity) throw_bad_record(record, "split page's items do not fit");
  fill_left(page, {items.data(), data.first_right}, high_key.item());
}

void redo_split(Storage& storage, const wal::RecordView& record) {
  const auto data = record.data_as<BTreeSplitRecord>();
  const PageNumber left = block_of(record, 0).tag.page;
  const PageNumber right = block_of(record, 1).tag.page;
  const wal::BlockView* behind = record.block(2);
  clear_incomplete(storage, record, 3, kBTreeIncompleteSplit);
  if (auto page = page_to_change(storage, record, 1)) {
    init_btree_page(page->page(), data.level, 0, left, behind != nullptr ? behind->tag.page : kNoPage);
    append_packed(record, page->page(), block_of(record, 1).data);
    page->finish(record.end());
  }
  if (auto page = page_to_change(storage, record, 0)) {
    redo_split_left(record, page->page(), data, right);
    page->finish(record.end());
  }
  if (behind == nullptr) return;
  if (auto page = page_to_change(storage, record, 2)) {
    special_of(page->page()).previous = right.value;
    page->finish(record.end());
  }
}

void redo_delete(Storage& storage, const wal::RecordView& record) {
  const auto data = record.data_as<BTreeDeleteRecord>();
  auto page = page_to_change(storage, record, 0);
  if (!page) return;
  const std::span<const std::byte> bytes = block_of(record, 0).data;
  std::array<std::uint16_t, kMaxBTreeSlots> slots;
  if (data.count > slots.size() || bytes.size() != data.count * sizeof(std::uint16_t)) {
    throw_bad_record(record, "wrong number of slots");
  }
  std::memcpy(slots.data(), bytes.data(), bytes.size());
  if (data.count > 0 && slots[data.count - 1] > page->page().slot_count())
    throw_bad_record(record, "no such slot");
  page->page().remove_items_at({slots.data(), data.count});
  special_of(page->page()).flags &= static_cast<std::uint16_t>(~kBTreeHasDead);
  page->finish(record.end());
}

void redo_half_dead(Storage& storage, const wal::RecordView& record) {
  const auto data = record.data_as<BTreeHalfDeadRecord>();
  if (auto parent = page_to_change(storage, record, 1)) {
    if (data.slot == 0 || data.slot >= parent->page().slot_count())
      throw_bad_record(record, "no such downlink");
    remove_downlink(parent->page(), data.slot);
    parent->finish(record.end());
  }
  if (auto leaf = page_to_change(storage, record, 0)) {
    special_of(leaf->page()).flags |= kBTreeHalfDead;
    leaf->finish(record.end());
  }
}

void redo_unlink(Storage& storage, const wal::RecordView& record) {
  const auto data = record.data_as<BTreeUnlinkRecord>();
  if (record.block(1) != nullptr) {
    if (auto left = page_to_change(storage, record, 1)) {
      special_of(left->page()).next = data.next;
      left->finish(record.end());
    }
  }
  if (auto right = page_to_change(storage, record, 2)) {
    special_of(right->page()).previous = data.previous;
    right->finish(record.end());
  }
  if (auto page = page_to_change(storage, record, 0)) {
    init_deleted_page(page->page(), data.safe_xid, PageNumber{data.previous}, PageNumber{data.next});
    page->finish(record.end());
  }
}

void redo_new_root(Storage& storage, const wal::RecordView& record) {
  const auto data = record.data_as<BTreeNewRootRecord>();
  if (auto root = page_to_change(storage, record, 0)) {
    init_btree_page(root->page(), static_cast<std::uint16_t>(data.level), kBTreeRoot, kNoPage, kNoPage);
    append_packed(record, root->page(), block_of(record, 0).data);
    root->finish(record.end());
  }
  clear_incomplete(storage, record, 1, kBTreeIncompleteSplit | kBTreeRoot);
  if (auto meta = page_to_change(storage, record, 2)) {
    meta_of(meta->page()).root = data.root;
    meta_of(meta->page()).level = data.level;
    meta->finish(record.end());
  }
}

void redo_meta(Storage& storage, const wal::RecordView& record) {
  const auto data = record.data_as<BTreeMetaRecord>();
  if (auto meta = page_to_change(storage, record, 0)) {
    meta_of(meta->page()).deleted_pages = data.deleted_pages;
    meta->finish(record.end());
  }
}

void redo_recyclable(Storage& storage, const wal::RecordView& record) {
  if (auto page = page_to_change(storage, record, 0)) {
    special_of(page->page()).flags |= kBTreeRecyclable;
    page->finish(record.end());
  }
}

void redo_btree(wal::RedoContext& context, const wal::RecordView& record) {
  auto& storage = context.owner_as<Storage>();
  switch (static_cast<BTreeRecord>(record.kind())) {
    case BTreeRecord::kInsertLeaf:
    case BTreeRecord::kInsertUpper:
      return redo_insert(storage, record);
    case BTreeRecord::kSplit:
      return redo_split(storage, record);
    case BTreeRecord::kDelete:
      return redo_delete(storage, record);
    case BTreeRecord::kHalfDead:
      return redo_half_dead(storage, record);
    case BTreeRecord::kUnlink:
      return redo_unlink(storage, record);
    case BTreeRecord::kNewRoot:
      return redo_new_root(storage, record);
    case BTreeRecord::kMeta:
      return redo_meta(storage, record);
    case BTreeRecord::kRecyclable:
      return redo_recyclable(storage, record);
  }
  throw_bad_record(record, "unknown kind");
}

}  // namespace

wal::ResourceManager btree_resource_manager(Storage* storage) {
  return {wal::RmgrId::kBtree, "Btree", redo_btree, btree_describe, storage};
}

}  // namespace pinwheel::storage
