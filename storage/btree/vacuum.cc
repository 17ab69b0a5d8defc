#include "storage/btree/vacuum.h"

#include "shm/interrupts.h"
#include "storage/btree/btree_wal.h"
#include "storage/btree/page_delete.h"

namespace pinwheel::storage {

using namespace btree_detail;

namespace {

/// Slots of a leaf whose rows are dead.
std::size_t find_dead(ConstPage page, const BTreeVacuumOptions& options, std::uint16_t* slots) {
  if (options.is_dead == nullptr) return 0;
  std::size_t count = 0;
  const std::uint16_t last = page.slot_count();
  for (std::uint16_t slot = first_slot(special_of(page)); slot <= last; ++slot) {
    if (options.is_dead(options.context, item_at(page, slot).id())) slots[count++] = slot;
  }
  return count;
}

/// One leaf: removes what is dead; returns the next leaf and whether this one can go.
struct LeafVisit {
  PageNumber next = kNoPage;
  bool is_deletable = false;
};

LeafVisit visit_leaf(const BTree& tree, PageNumber number, const BTreeVacuumOptions& options,
                     BTreeVacuumResult& result) {
  std::array<std::uint16_t, kMaxBTreeSlots> dead;
  ReadGuard shared = tree.storage().pool.read_page(tag_of(tree, number), options.ring);
  check_btree_page(tree, shared.page(), number);
  BTreeSpecial special = special_of(shared.page());
  std::size_t left = 0;
  const auto count_entries = [&](ConstPage page) {
    special = special_of(page);
    left = page.slot_count() + 1u - first_slot(special);
  };
  if ((special.flags & kBTreeDeleted) != 0) return {PageNumber{special.next}, false};
  count_entries(shared.page());
  if (find_dead(shared.page(), options, dead.data()) != 0) {
    // Entries that a split moves to the right in between are met there; those inserted in between are not
    // dead.
    WriteGuard leaf = std::move(shared).relatch_exclusive();
    const std::size_t count = find_dead(leaf.page(), options, dead.data());
    if (count != 0) {
      delete_items(tree, leaf, {dead.data(), count}, kInvalidXid);
      result.entries_removed += count;
    }
    count_entries(leaf.page());
  }
  result.entries_left += left;
  return {PageNumber{special.next}, left == 0};
}

/// Looks at every page of the file for deleted ones that no scan can reach any more, and for ones that a
/// crash left unused; tells the free-space map. Returns how many must wait for a later vacuum.
std::uint32_t recycle_pages(const BTree& tree, const BTreeVacuumOptions& options, BTreeVacuumResult& result) {
  Storage& storage = tree.storage();
  const FileId file = tree.index().file;
  std::uint32_t waiting = 0;
  const PageNumber end = tree.page_count();
  for (PageNumber number{1}; number < end; number = next(number)) {
    shm::check_interrupts();
    bool is_free = false;
    {
      ReadGuard shared = storage.pool.read_page(tag_of(tree, number), options.ring);
      const ConstPage page = shared.page();
      if (page.is_new()) {
        is_free = true;
      } else if (const std::uint16_t flags = special_of(page).flags; (flags & kBTreeDeleted) != 0) {
        is_free = (flags & kBTreeRecyclable) != 0;
        if (!is_free && page.prune_xid() < options.horizon) {
          WriteGuard guard = std::move(shared).relatch_exclusive();
          guard.mark_dirty();
          special_of(guard.page()).flags |= kBTreeRecyclable;
          wal::RecordBuilder record{wal::RmgrId::kBtree, BTreeRecord::kRecyclable};
          add_block(record, 0, guard);
          set_lsn(guard, log_btree(tree, record, kInvalidXid));
          is_free = true;
        } else if (!is_free) {
          ++waiting;
        }
      }
    }
    if (!is_free) continue;
    storage.free_space.record(file, number, kPageSize - 1);
    ++result.pages_free;
  }
  return waiting;
}

void remember_deleted(const BTree& tree, std::uint32_t deleted) {
  WriteGuard meta = tree.storage().pool.write_page(tag_of(tree, kMetaPage));
  if (meta_of(ConstPage{meta.page()}).deleted_pages == deleted) return;
  meta.mark_dirty();
  meta_of(meta.page()).deleted_pages = deleted;
  const BTreeMetaRecord data{deleted, 0};
  wal::RecordBuilder record{wal::RmgrId::kBtree, BTreeRecord::kMeta};
  record.data(data);
  add_block(record, 0, meta);
  set_lsn(meta, log_btree(tree, record, kInvalidXid));
}

/// The first leaf. Half-dead ones at the left end have no downlink: they are found by left links.
PageNumber leftmost_leaf(const BTree& tree) {
  PageNumber number = descend(tree, edge_key(tree.index(), false), 0, nullptr);
  while (number != kNoPage) {
    const ReadGuard guard = tree.storage().pool.read_page(tag_of(tree, number));
    check_btree_page(tree, guard.page(), number);
    const PageNumber previous{special_of(guard.page()).previous};
    if (previous == kNoPage) break;
    number = previous;
  }
  return number;
}

std::uint32_t deleted_before(const BTree& tree) {
  const ReadGuard meta = tree.storage().pool.read_page(tag_of(tree, kMetaPage));
  check_btree_page(tree, meta.page(), kMetaPage);
  return meta_of(meta.page()).deleted_pages;
}

}  // namespace

BTreeVacuumResult vacuum_btree(const BTree& tree, const BTreeVacuumOptions& options) {
  BTreeVacuumResult result;
  const std::uint32_t earlier = deleted_before(tree);
  PageNumber number = leftmost_leaf(tree);
  while (number != kNoPage) {
    shm::check_interrupts();
    const LeafVisit visit = visit_leaf(tree, number, options, result);
    if (visit.is_deletable && delete_leaf(tree, number, options.next_xid) == DeleteResult::kDeleted) {
      ++result.pages_deleted;
    }
    number = visit.next;
  }
  // Pages deleted now have to wait, those of earlier vacuums may be ready.
  if (earlier + result.pages_deleted > 0) {
    const std::uint32_t waiting = recycle_pages(tree, options, result);
    remember_deleted(tree, waiting);
  }
  result.pages = tree.page_count().value;
  return result;
}

}  // namespace pinwheel::storage
