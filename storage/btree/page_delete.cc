#include "storage/btree/page_delete.h"

#include <optional>

#include "base/failpoints.h"
#include "storage/btree/btree_wal.h"

namespace pinwheel::storage::btree_detail {

namespace {

bool is_empty_leaf(ConstPage page, const BTreeSpecial& special) noexcept {
  return is_leaf(special) && page.slot_count() < first_slot(special);
}

/// Step one. True: the leaf is half-dead, and still latched in `leaf`.
bool mark_half_dead(const BTree& tree, WriteGuard& leaf) {
  const ConstPage page = leaf.page();
  const BTreeSpecial special = special_of(page);
  if (!is_empty_leaf(page, special) || is_rightmost(special) || is_incomplete(special) ||
      (special.flags & (kBTreeRoot | kBTreeDeleted)) != 0) {
    return false;
  }
  const PivotKey high_key{tree.index(), item_at(page, 1)};
  TreePath path;
  ParentPlace parent = find_parent(tree, leaf.number(), 0, &high_key, path, kInvalidXid);
  // No downlink: the split that made the leaf is not finished.
  if (!parent.page.owns()) return false;
  const ConstPage view = parent.page.page();
  // The next child takes over the key space, so it must hang under the same parent; and a right sibling
  // without a downlink is none of its children.
  if (parent.slot >= view.slot_count() ||
      item_at(view, static_cast<std::uint16_t>(parent.slot + 1)).child().value != special.next) {
    return false;
  }
  leaf.mark_dirty();
  parent.page.mark_dirty();
  remove_downlink(parent.page.page(), parent.slot);
  special_of(leaf.page()).flags |= kBTreeHalfDead;
  // If the process dies after this record, the leaf stays half-dead: searches pass over it, and the next
  // vacuum comes by and unlinks it.
  const BTreeHalfDeadRecord data{parent.slot, 0};
  wal::RecordBuilder record{wal::RmgrId::kBtree, BTreeRecord::kHalfDead};
  record.data(data);
  add_block(record, 0, leaf);
  add_block(record, 1, parent.page);
  const Lsn lsn = log_btree(tree, record, kInvalidXid);
  set_lsn(leaf, lsn);
  set_lsn(parent.page, lsn);
  return true;
}

/// The page whose right link is `leaf`, latched. Not owned when there is none; nullopt when it cannot be
/// found now.
std::optional<WriteGuard> latch_left_sibling(const BTree& tree, PageNumber leaf, PageNumber previous) {
  constexpr int kSteps = 100;
  PageNumber at = previous;
  if (at == kNoPage) return WriteGuard{};
  for (int step = 0; step < kSteps && at != kNoPage; ++step) {
    WriteGuard guard = tree.storage().pool.write_page(tag_of(tree, at));
    check_btree_page(tree, guard.page(), at);
    const BTreeSpecial special = special_of(ConstPage{guard.page()});
    if (special.next == leaf.value && (special.flags & kBTreeDeleted) == 0) return guard;
    at = PageNumber{special.next};
  }
  return std::nullopt;
}

/// Step two.
DeleteResult unlink_half_dead(const BTree& tree, PageNumber number, PageNumber previous, Xid safe_xid) {
  BufferPool& pool = tree.storage().pool;
  // Left to right: the left sibling may have split since its number was read.
  std::optional<WriteGuard> left = latch_left_sibling(tree, number, previous);
  if (!left.has_value()) return DeleteResult::kKept;
  WriteGuard leaf = pool.write_page(tag_of(tree, number));
  const BTreeSpecial special = special_of(ConstPage{leaf.page()});
  if ((special.flags & (kBTreeHalfDead | kBTreeDeleted)) != kBTreeHalfDead ||
      (left->owns() ? left->number().value : 0) != special.previous) {
    return DeleteResult::kKept;
  }
  WriteGuard right = pool.write_page(tag_of(tree, PageNumber{special.next}));
  if (special_of(ConstPage{right.page()}).previous != number.value) {
    throw_corrupted(tree, PageNumber{special.next}, "has a wrong left link in block");
  }
  leaf.mark_dirty();
  right.mark_dirty();
  if (left->owns()) {
    left->mark_dirty();
    special_of(left->page()).next = special.next;
  }
  special_of(right.page()).previous = special.previous;
  const Lsn old_lsn = leaf.page().lsn();
  init_deleted_page(leaf.page(), safe_xid.value, PageNumber{special.previous}, PageNumber{special.next});
  leaf.page().set_lsn(old_lsn);
  const BTreeUnlinkRecord data{safe_xid.value, special.previous, special.next};
  wal::RecordBuilder record{wal::RmgrId::kBtree, BTreeRecord::kUnlink};
  record.data(data);
  add_block(record, 0, leaf, wal::kBlockWillInit);
  if (left->owns()) add_block(record, 1, *left);
  add_block(record, 2, right);
  const Lsn lsn = log_btree(tree, record, kInvalidXid);
  set_lsn(leaf, lsn);
  set_lsn(*left, lsn);
  set_lsn(right, lsn);
  return DeleteResult::kDeleted;
}

}  // namespace

DeleteResult delete_leaf(const BTree& tree, PageNumber number, Xid safe_xid) {
  PageNumber previous;
  {
    WriteGuard leaf = tree.storage().pool.write_page(tag_of(tree, number));
    const BTreeSpecial special = special_of(ConstPage{leaf.page()});
    previous = PageNumber{special.previous};
    if ((special.flags & kBTreeHalfDead) == 0 && !mark_half_dead(tree, leaf)) return DeleteResult::kKept;
  }
  failpoint::hit("btree-half-dead");
  return unlink_half_dead(tree, number, previous, safe_xid);
}

}  // namespace pinwheel::storage::btree_detail
