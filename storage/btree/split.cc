#include <array>
#include <cstring>

#include "base/error.h"
#include "base/failpoints.h"
#include "shm/statistics.h"
#include "storage/btree/btree_wal.h"
#include "storage/btree/insert.h"

namespace pinwheel::storage::btree_detail {

namespace {

/// A private page, on the stack.
struct PrivatePage {
  alignas(8) std::byte bytes[kPageSize];
  Page page() noexcept { return Page{bytes}; }
};

/// A vacuumed page may be reused only when it says itself that it may: the map is a hint.
bool is_reusable(ConstPage page) noexcept {
  if (page.is_new()) return true;
  if (page.header().special != kBTreeSpecialOffset) return false;
  constexpr std::uint16_t kBoth = kBTreeDeleted | kBTreeRecyclable;
  return (special_of(page).flags & kBoth) == kBoth;
}

}  // namespace

WriteGuard allocate_page(const BTree& tree, BufferRing* ring) {
  Storage& storage = tree.storage();
  const FileId file = tree.index().file;
  while (true) {
    const PageNumber free = storage.free_space.find(file, kPageSize / 2);
    if (!is_valid(free) || free == kMetaPage) break;
    storage.free_space.record(file, free, 0);
    const Pin pin = storage.pool.pin({file, Fork::kMain, free}, ring);
    // Whoever has it latched has just taken it, or will let it go: another page is as good.
    WriteGuard guard = pin.try_write();
    if (!guard.owns() || !is_reusable(guard.page())) continue;
    guard.mark_dirty();
    return guard;
  }
  return storage.pool.extend(file, Fork::kMain, ring);
}

std::size_t list_items(ConstPage page, std::uint16_t index, const IndexItem* new_item,
                       std::span<IndexItem> to) noexcept {
  std::size_t count = 0;
  const std::uint16_t slots = page.slot_count();
  for (std::uint16_t slot = first_slot(special_of(page)); slot <= slots; ++slot) {
    if (new_item != nullptr && count == index) to[count++] = *new_item;
    to[count++] = item_at(page, slot);
  }
  if (new_item != nullptr && count == index) to[count++] = *new_item;
  return count;
}

void fill_left(Page to, std::span<const IndexItem> items, IndexItem high_key) noexcept {
  append_item(to, high_key);
  for (const IndexItem& item : items) append_item(to, item);
}

void fill_right(Page to, std::span<const IndexItem> items, const IndexItem* high_key) noexcept {
  if (high_key != nullptr) append_item(to, *high_key);
  std::size_t first = 0;
  if (special_of(ConstPage{to}).level > 0) {
    // The first downlink of a page needs no key: the left page's high key has it.
    ItemBuffer least;
    make_least_pivot(items[0].child(), least);
    append_item(to, least.item());
    first = 1;
  }
  for (std::size_t i = first; i < items.size(); ++i) append_item(to, items[i]);
}

std::size_t pack_page_items(ConstPage page, std::span<std::byte> to) noexcept {
  std::size_t used = 0;
  const std::uint16_t slots = page.slot_count();
  for (std::uint16_t slot = 1; slot <= slots; ++slot) {
    const IndexItem item = item_at(page, slot);
    const std::size_t size = align_item(item.length());
    store(to.data() + used, std::uint64_t{item.length()});
    std::memset(to.data() + used + 8 + item.length(), 0, size - item.length());
    std::memcpy(to.data() + used + 8, item.bytes(), item.length());
    used += 8 + size;
  }
  return used;
}

void split_page(const BTree& tree, WriteGuard left, std::uint16_t slot, IndexItem item, WriteGuard child,
                TreePath& path, Xid xid) {
  const BTreeIndex& index = tree.index();
  const ConstPage old = left.page();
  const BTreeSpecial special = special_of(old);
  const bool leaf = is_leaf(special);
  const bool rightmost = is_rightmost(special);
  const auto new_index = static_cast<std::uint16_t>(slot - first_slot(special));

  std::array<IndexItem, kMaxBTreeSlots + 1> list;
  const std::size_t count = list_items(old, new_index, &item, list);
  const std::span<const IndexItem> items{list.data(), count};
  const IndexItem old_high_key = rightmost ? IndexItem{} : item_at(old, 1);
  const std::uint16_t first_right = choose_split(index, items, new_index, leaf, rightmost,
                                                 rightmost ? 0 : item_cost(old_high_key.length()));

  ItemBuffer high_key;
  if (leaf) {
    make_separator(index, items[first_right - 1], items[first_right], high_key);
  } else {
    copy_pivot(items[first_right], kNoPage, high_key);
  }

  // Everything that may fail comes first: pages to write to, in the order left, right, the one behind.
  WriteGuard right = allocate_page(tree);
  WriteGuard behind;
  if (!rightmost) {
    behind = tree.storage().pool.write_page(tag_of(tree, PageNumber{special.next}));
    if (special_of(ConstPage{behind.page()}).previous != left.number().value) {
      throw_corrupted(tree, PageNumber{special.next}, "has a wrong left link in block");
    }
  }
  PrivatePage new_left, new_right;
  const auto kept = static_cast<std::uint16_t>(special.flags & (kBTreeLeaf | kBTreeRoot));
  init_btree_page(new_left.page(), special.level, static_cast<std::uint16_t>(kept | kBTreeIncompleteSplit),
                  PageNumber{special.previous}, right.number());
  init_btree_page(new_right.page(), special.level, 0, left.number(), PageNumber{special.next});
  fill_left(new_left.page(), items.first(first_right), high_key.item());
  fill_right(new_right.page(), items.subspan(first_right), rightmost ? nullptr : &old_high_key);
  const bool new_is_left = new_index < first_right;
  std::array<std::byte, 2 * kPageSize> packed;
  const std::size_t packed_size = pack_page_items(new_right.page(), packed);

  left.mark_dirty();
  right.mark_dirty();
  if (behind.owns()) behind.mark_dirty();
  if (child.owns()) child.mark_dirty();
  // The items that are logged lie in `old`, which is overwritten now: copy what the record needs.
  ItemBuffer new_item;
  std::memcpy(new_item.bytes, item.bytes(), item.length());
  new_item.length = item.length();
  const Lsn old_lsn = old.lsn();
  copy_page(left.page(), new_left.page());
  // The log decides by the page's LSN whether it needs an image.
  left.page().set_lsn(old_lsn);
  copy_page(right.page(), new_right.page());
  if (behind.owns()) special_of(behind.page()).previous = right.number().value;
  if (child.owns()) special_of(child.page()).flags &= static_cast<std::uint16_t>(~kBTreeIncompleteSplit);
  // If the process dies before the record is durable, nothing has happened; after it, the right page has no
  // downlink yet, and the flag makes the next insertion that comes by give it one.
  const BTreeSplitRecord data{special.level,   first_right,     new_index,
                              high_key.length, new_item.length, static_cast<std::uint16_t>(new_is_left)};
  wal::RecordBuilder record{wal::RmgrId::kBtree, BTreeRecord::kSplit};
  record.data(data);
  add_block(record, 0, left);
  record.block_data(0, high_key.span());
  if (new_is_left) record.block_data(0, new_item.span());
  add_block(record, 1, right, wal::kBlockWillInit);
  record.block_data(1, packed.data(), packed_size);
  if (behind.owns()) add_block(record, 2, behind);
  if (child.owns()) add_block(record, 3, child);
  const Lsn lsn = log_btree(tree, record, xid);
  set_lsn(left, lsn);
  set_lsn(right, lsn);
  set_lsn(behind, lsn);
  set_lsn(child, lsn);
  behind.release();
  child.release();
  if (leaf && rightmost) tree.hints().rightmost_leaf = right.number();
  failpoint::hit("btree-split-done");
  insert_downlink(tree, std::move(left), std::move(right), path, xid);
}

namespace {

void make_new_root(const BTree& tree, WriteGuard left, WriteGuard right, Xid xid) {
  WriteGuard root = allocate_page(tree);
  WriteGuard meta = tree.storage().pool.write_page(tag_of(tree, kMetaPage));
  const PageNumber number = root.number();
  const auto level = static_cast<std::uint16_t>(special_of(ConstPage{left.page()}).level + 1);
  DB_ASSERT(level < kMaxBTreeLevels);
  ItemBuffer first, second;
  make_least_pivot(left.number(), first);
  copy_pivot(item_at(left.page(), 1), right.number(), second);

  left.mark_dirty();
  meta.mark_dirty();
  init_btree_page(root.page(), level, kBTreeRoot, kNoPage, kNoPage);
  append_item(root.page(), first.item());
  append_item(root.page(), second.item());
  special_of(left.page()).flags &= static_cast<std::uint16_t>(~(kBTreeIncompleteSplit | kBTreeRoot));
  meta_of(meta.page()).root = number.value;
  meta_of(meta.page()).level = level;
  const BTreeNewRootRecord data{number.value, level};
  wal::RecordBuilder record{wal::RmgrId::kBtree, BTreeRecord::kNewRoot};
  record.data(data);
  std::array<std::byte, 2 * kMaxPivotSize> packed;
  const std::size_t packed_size = pack_page_items(root.page(), packed);
  add_block(record, 0, root, wal::kBlockWillInit);
  record.block_data(0, packed.data(), packed_size);
  add_block(record, 1, left);
  add_block(record, 2, meta);
  const Lsn lsn = log_btree(tree, record, xid);
  set_lsn(root, lsn);
  set_lsn(left, lsn);
  set_lsn(meta, lsn);
  tree.hints().root = number;
}

}  // namespace

void insert_downlink(const BTree& tree, WriteGuard left, WriteGuard right, TreePath& path, Xid xid) {
  const BTreeSpecial special = special_of(ConstPage{left.page()});
  if ((special.flags & kBTreeRoot) != 0) {
    make_new_root(tree, std::move(left), std::move(right), xid);
    return;
  }
  const PivotKey high_key{tree.index(), item_at(left.page(), 1)};
  ItemBuffer downlink;
  copy_pivot(high_key.copy.item(), right.number(), downlink);
  ParentPlace parent = find_parent(tree, left.number(), special.level, &high_key, path, xid);
  if (!parent.page.owns()) throw_corrupted(tree, left.number(), "has no parent for block");
  // A split of the right page needs its downlink's place, for which it must now wait.
  right.release();
  insert_on_page(tree, std::move(parent.page), static_cast<std::uint16_t>(parent.slot + 1), downlink.item(),
                 std::move(left), path, xid);
}

void finish_split(const BTree& tree, WriteGuard page, TreePath& path, Xid xid) {
  const PageNumber next{special_of(ConstPage{page.page()}).next};
  WriteGuard right = tree.storage().pool.write_page(tag_of(tree, next));
  insert_downlink(tree, std::move(page), std::move(right), path, xid);
}

}  // namespace pinwheel::storage::btree_detail
