#pragma once

#include "storage/btree/descent.h"

namespace pinwheel::storage::btree_detail {

/// Inserts an item on a page that is latched exclusively and where it belongs, at `slot`; splits the page
/// when it is full. `child`: on inner pages the left child whose split the item completes; its flag goes in
/// the same record, and both it and its guard stay latched until then. Releases everything.
void insert_on_page(const BTree& tree, WriteGuard page, std::uint16_t slot, IndexItem item, WriteGuard child,
                    TreePath& path, Xid xid);

/// Splits a full page around a new item (split.cc) and gives the parent its downlink.
void split_page(const BTree& tree, WriteGuard left, std::uint16_t slot, IndexItem item, WriteGuard child,
                TreePath& path, Xid xid);

/// After a split: gives the parent the downlink to `right`, which must stay latched until the parent is.
/// Makes a new root when `left` was the root.
void insert_downlink(const BTree& tree, WriteGuard left, WriteGuard right, TreePath& path, Xid xid);
/// Gives the right sibling of an incompletely split page its downlink. Releases the page.
void finish_split(const BTree& tree, WriteGuard page, TreePath& path, Xid xid);

/// The page of `level` + 1 with the downlink to `child`, latched exclusively, and the downlink's slot. Called
/// with the child latched. `child_high_key`: null for a rightmost child. Finishes splits it meets. Not owned
/// when there is no such downlink.
struct ParentPlace {
  WriteGuard page;
  std::uint16_t slot = 0;
};
ParentPlace find_parent(const BTree& tree, PageNumber child, std::uint32_t child_level,
                        const PivotKey* child_high_key, TreePath& path, Xid xid);

/// The leaf where the key belongs, latched exclusively, made if the index is empty. Finishes splits it meets.
WriteGuard latch_leaf_for_insert(const BTree& tree, const SearchKey& key, TreePath& path, Xid xid);
/// Steps right from a latched leaf until the key belongs there: the next page is latched before this one is
/// freed.
WriteGuard move_right(const BTree& tree, WriteGuard page, const SearchKey& key, TreePath& path, Xid xid);

/// Removes the items whose line pointers are marked dead; true when there were any.
bool remove_dead_items(const BTree& tree, WriteGuard& leaf, Xid xid);
/// Removes items of a leaf and logs it. `slots` rise.
void delete_items(const BTree& tree, WriteGuard& leaf, std::span<const std::uint16_t> slots,
                  Xid xid) noexcept;

/// A page to be initialised: one that vacuum handed out, or a new one at the end. Latched exclusively, marked
/// dirty. May be called while other pages are latched.
WriteGuard allocate_page(const BTree& tree, BufferRing* ring = nullptr);

/// Where to split: the first item that goes right, counted from 0 with the new item at `new_index` among
/// `items`. `items` has at least two.
std::uint16_t choose_split(const BTreeIndex& index, std::span<const IndexItem> items, std::uint16_t new_index,
                           bool is_leaf, bool is_rightmost, std::size_t right_high_key_length) noexcept;

/// Fills private pages with both halves of a split; redo does the left one the same way. Items as in
/// choose_split; their bytes must not lie in the pages that are filled.
void fill_left(Page to, std::span<const IndexItem> items, IndexItem high_key) noexcept;
void fill_right(Page to, std::span<const IndexItem> items, const IndexItem* high_key) noexcept;
/// The items of a page with a new one at `index`, high key left out.
std::size_t list_items(ConstPage page, std::uint16_t index, const IndexItem* new_item,
                       std::span<IndexItem> to) noexcept;

/// Items in the form that records carry a whole page in; `to` has room for two pages. Returns bytes used.
std::size_t pack_page_items(ConstPage page, std::span<std::byte> to) noexcept;

}  // namespace pinwheel::storage::btree_detail
