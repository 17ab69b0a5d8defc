#pragma once

#include <array>
#include <cstdint>

#include "storage/btree/btree.h"
#include "storage/btree/btree_page.h"
#include "storage/btree/search_key.h"
#include "wal/builder.h"

/// Parts of the B-tree that only this folder uses.
namespace pinwheel::storage::btree_detail {

/// Inner pages that a search went through, by level: where to look for parents. Hints: pages may have split
/// since.
struct TreePath {
  std::array<PageNumber, kMaxBTreeLevels> pages{};  // kNoPage = not known
};

inline PageTag tag_of(const BTree& tree, PageNumber page) noexcept {
  return {tree.index().file, Fork::kMain, page};
}

/// Walks from the root to a page of `level` where the key belongs, or left of it: latch it and step right.
/// kNoPage when the tree has no such level (an empty index). Latches at most one page at a time, and none
/// that is in the pool and holds still.
PageNumber descend(const BTree& tree, const SearchKey& key, std::uint32_t level, TreePath* path);

/// The page as the meta page has it. kNoPage when the index is empty.
struct RootInfo {
  PageNumber page = kNoPage;
  std::uint32_t level = 0;
};
RootInfo read_root(const BTree& tree);

/// Latches `page` and steps right until the key belongs there. For reading.
ReadGuard latch_for_read(const BTree& tree, PageNumber page, const SearchKey& key);

/// An exact key for entry `id` with all key columns (has_id), or for all entries with them.
SearchKey full_key(const BTreeIndex& index, const std::uint64_t* values, const bool* nulls) noexcept;

/// The key of a pivot, unpacked into arrays that it refers to.
struct PivotKey {
  PivotKey(const BTreeIndex& index, IndexItem pivot) noexcept;
  PivotKey(const PivotKey&) = delete;
  PivotKey& operator=(const PivotKey&) = delete;
  ItemBuffer copy;
  std::array<std::uint64_t, kMaxIndexColumns> values;
  std::array<bool, kMaxIndexColumns> nulls;
  SearchKey key;
};
/// Leads to the rightmost, or leftmost, page of each level.
SearchKey edge_key(const BTreeIndex& index, bool rightmost) noexcept;

/// Errors: XX002 `index "x" ...`.
[[noreturn]] void throw_corrupted(const BTree& tree, PageNumber page, const char* what);
/// Refuses pages that are no B-tree pages in use. Errors: XX002.
void check_btree_page(const BTree& tree, ConstPage page, PageNumber number);

/// Appends a record of a permanent index; kInvalidLsn for others.
Lsn log_btree(const BTree& tree, const wal::RecordBuilder& record, Xid xid) noexcept;
/// A page as a record's block: the free space is left out of its image.
void add_block(wal::RecordBuilder& record, unsigned index, const WriteGuard& guard,
               wal::BlockFlags flags = wal::kBlockDefault) noexcept;
inline void set_lsn(WriteGuard& guard, Lsn lsn) noexcept {
  if (is_valid(lsn) && guard.owns()) guard.page().set_lsn(lsn);
}

}  // namespace pinwheel::storage::btree_detail
