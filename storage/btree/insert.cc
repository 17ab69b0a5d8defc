#include "storage/btree/insert.h"

#include <array>

#include "base/error.h"
#include "storage/btree/btree_wal.h"
#include "storage/btree/search.h"
#include "storage/btree/unique.h"

namespace pinwheel::storage {

using namespace btree_detail;

namespace btree_detail {

namespace {

/// Makes the first page of an empty index, under the meta page's latch: others wait there and find it.
void make_first_root(const BTree& tree, Xid xid) {
  WriteGuard meta = tree.storage().pool.write_page(tag_of(tree, kMetaPage));
  check_btree_page(tree, meta.page(), kMetaPage);
  if (meta_of(ConstPage{meta.page()}).root != 0) return;
  WriteGuard root = allocate_page(tree);
  const PageNumber number = root.number();
  meta.mark_dirty();
  init_btree_page(root.page(), 0, kBTreeRoot, kNoPage, kNoPage);
  meta_of(meta.page()).root = number.value;
  meta_of(meta.page()).level = 0;
  const BTreeNewRootRecord data{number.value, 0};
  wal::RecordBuilder record{wal::RmgrId::kBtree, BTreeRecord::kNewRoot};
  record.data(data);
  add_block(record, 0, root, wal::kBlockWillInit);
  add_block(record, 2, meta);
  const Lsn lsn = log_btree(tree, record, xid);
  set_lsn(root, lsn);
  set_lsn(meta, lsn);
}

/// The remembered rightmost leaf, if the entry surely belongs there and fits: right of its first entry, so
/// that no equal one is further left. No wait: others may fill it at the same time.
WriteGuard try_rightmost(const BTree& tree, const SearchKey& key, std::size_t length) {
  const PageNumber number = tree.hints().rightmost_leaf;
  if (!is_valid(number)) return {};
  const Pin pin = tree.storage().pool.pin(tag_of(tree, number));
  WriteGuard leaf = pin.try_write();
  if (leaf.owns()) {
    const ConstPage page = leaf.page();
    if (!page.is_new() && page.header().special == kBTreeSpecialOffset) {
      const BTreeSpecial special = special_of(page);
      if (is_leaf(special) && is_rightmost(special) && !is_ignorable(special) && page.slot_count() > 0 &&
          page.gap() >= item_cost(length) && compare_key(key, item_at(page, 1)) > 0) {
        return leaf;
      }
    }
  }
  tree.hints().rightmost_leaf = kInvalidPage;
  return {};
}

}  // namespace

WriteGuard move_right(const BTree& tree, WriteGuard page, const SearchKey& key, TreePath& path, Xid xid) {
  while (true) {
    LatchedReader reader{page.page()};
    const BTreeSpecial special = reader.special();
    const PageStep step = step_on_page(reader, key, special);
    if (step == PageStep::kHere) return page;
    if (step == PageStep::kChanged) throw_corrupted(tree, page.number(), "ends with a deleted page, block");
    const PageNumber next{special.next};
    WriteGuard right = tree.storage().pool.write_page(tag_of(tree, next));
    check_btree_page(tree, right.page(), next);
    while (is_incomplete(special_of(ConstPage{right.page()}))) {
      finish_split(tree, std::move(right), path, xid);
      right = tree.storage().pool.write_page(tag_of(tree, next));
    }
    page = std::move(right);
  }
}

WriteGuard latch_leaf_for_insert(const BTree& tree, const SearchKey& key, TreePath& path, Xid xid) {
  while (true) {
    const PageNumber number = descend(tree, key, 0, &path);
    if (number == kNoPage) {
      make_first_root(tree, xid);
      continue;
    }
    WriteGuard leaf = tree.storage().pool.write_page(tag_of(tree, number));
    check_btree_page(tree, leaf.page(), number);
    if (!is_leaf(special_of(ConstPage{leaf.page()}))) {
      // The page was a root that is none any more, or the tree changed greatly since.
      tree.hints().root = kInvalidPage;
      continue;
    }
    if (is_incomplete(special_of(ConstPage{leaf.page()}))) {
      finish_split(tree, std::move(leaf), path, xid);
      continue;
    }
    return move_right(tree, std::move(leaf), key, path, xid);
  }
}

void delete_items(const BTree& tree, WriteGuard& leaf, std::span<const std::uint16_t> slots,
                  Xid xid) noexcept {
  leaf.mark_dirty();
  leaf.page().remove_items_at(slots);
  special_of(leaf.page()).flags &= static_cast<std::uint16_t>(~kBTreeHasDead);
  const BTreeDeleteRecord data{static_cast<std::uint16_t>(slots.size()), 0};
  wal::RecordBuilder record{wal::RmgrId::kBtree, BTreeRecord::kDelete};
  record.data(data);
  add_block(record, 0, leaf);
  record.block_data(0, slots.data(), slots.size_bytes());
  set_lsn(leaf, log_btree(tree, record, xid));
}

bool remove_dead_items(const BTree& tree, WriteGuard& leaf, Xid xid) {
  const ConstPage page = leaf.page();
  const BTreeSpecial special = special_of(page);
  if ((special.flags & kBTreeHasDead) == 0) return false;
  std::array<std::uint16_t, kMaxBTreeSlots> dead;
  std::size_t count = 0;
  const std::uint16_t slots = page.slot_count();
  for (std::uint16_t slot = first_slot(special); slot <= slots; ++slot) {
    if (page.line(slot).is_dead()) dead[count++] = slot;
  }
  if (count == 0) return false;
  delete_items(tree, leaf, {dead.data(), count}, xid);
  return true;
}

void insert_on_page(const BTree& tree, WriteGuard page, std::uint16_t slot, IndexItem item, WriteGuard child,
                    TreePath& path, Xid xid) {
  if (page.page().gap() < item_cost(item.length())) {
    split_page(tree, std::move(page), slot, item, std::move(child), path, xid);
    return;
  }
  const bool leaf = is_leaf(special_of(ConstPage{page.page()}));
  const BTreeInsertRecord data{slot, 0};
  wal::RecordBuilder record{wal::RmgrId::kBtree, leaf ? BTreeRecord::kInsertLeaf : BTreeRecord::kInsertUpper};
  page.mark_dirty();
  if (child.owns()) child.mark_dirty();
  page.page().insert_item_at(slot, item.span());
  if (child.owns()) special_of(child.page()).flags &= static_cast<std::uint16_t>(~kBTreeIncompleteSplit);
  record.data(data);
  add_block(record, 0, page);
  record.block_data(0, item.span());
  if (child.owns()) add_block(record, 1, child);
  const Lsn lsn = log_btree(tree, record, xid);
  set_lsn(page, lsn);
  set_lsn(child, lsn);
}

ParentPlace find_parent(const BTree& tree, PageNumber child, std::uint32_t child_level,
                        const PivotKey* child_high_key, TreePath& path, Xid xid) {
  const std::uint32_t level = child_level + 1;
  const SearchKey edge = edge_key(tree.index(), true);
  const SearchKey& key = child_high_key != nullptr ? child_high_key->key : edge;
  PageNumber number = path.pages[level];
  // What the path remembers is tried first, then the tree is searched.
  for (int attempt = number == kNoPage ? 1 : 0; attempt < 2; ++attempt) {
    if (attempt == 1) {
      // The remembered root may be the very page that we hold latched: one that was the root until somebody
      // split it. The meta page names a root above it, and from there no page below `level` is read.
      tree.hints().root = kInvalidPage;
      number = descend(tree, key, level, &path);
      if (number == kNoPage) return {};
    }
    while (number != kNoPage) {
      WriteGuard page = tree.storage().pool.write_page(tag_of(tree, number));
      check_btree_page(tree, page.page(), number);
      const BTreeSpecial special = special_of(ConstPage{page.page()});
      if (special.level != level || (special.flags & (kBTreeDeleted | kBTreeMeta)) != 0) break;
      if (is_incomplete(special)) {
        finish_split(tree, std::move(page), path, xid);
        continue;
      }
      const ConstPage view = page.page();
      for (std::uint16_t slot = first_slot(special); slot <= view.slot_count(); ++slot) {
        if (item_at(view, slot).child() == child) {
          path.pages[level] = number;
          return {std::move(page), slot};
        }
      }
      number = PageNumber{special.next};
    }
  }
  return {};
}

}  // namespace btree_detail

InsertOutcome BTree::insert(const std::uint64_t* values, const bool* nulls, TupleId id, Xid xid,
                            UniqueCheck check, UniqueVisitor* visitor) {
  ItemBuffer item;
  form_entry_checked(*index_, values, nulls, id, item);
  SearchKey key = full_key(*index_, values, nulls);
  key.id = id;
  const bool checks = check != UniqueCheck::kNone && index_->unique && must_be_unique(*index_, nulls);
  InsertOutcome outcome;
  TreePath path;
  key.has_id = !checks;
  WriteGuard leaf = try_rightmost(*this, key, item.length);
  if (!leaf.owns()) leaf = latch_leaf_for_insert(*this, key, path, xid);
  if (checks) {
    const InsertOutcome found = check_equal_entries(*this, leaf, key, *visitor, {});
    if (found.result != InsertResult::kInserted) {
      if (check == UniqueCheck::kImmediate) return found;
      outcome.recheck = true;
    }
    key.has_id = true;
    leaf = move_right(*this, std::move(leaf), key, path, xid);
  }
  if (leaf.page().gap() < item_cost(item.length)) remove_dead_items(*this, leaf, xid);
  const BTreeSpecial special = special_of(ConstPage{leaf.page()});
  LatchedReader reader{leaf.page()};
  const std::uint16_t slot = search_slots(reader, key, first_slot(special));
  if (is_rightmost(special)) hints_.rightmost_leaf = special.previous == 0 ? kInvalidPage : leaf.number();
  insert_on_page(*this, std::move(leaf), slot, item.item(), {}, path, xid);
  return outcome;
}

}  // namespace pinwheel::storage
