#pragma once

#include "storage/btree/descent.h"

namespace pinwheel::storage::btree_detail {

/// False when a null makes the key distinct from all others.
bool must_be_unique(const BTreeIndex& index, const bool* nulls) noexcept;

/// Looks at every entry equal to `key` (no id), from a latched leaf where the key belongs, on to the right:
/// kInserted when none is in the way. Entries dead to everyone are marked so. The leaf stays latched all the
/// time, which keeps others from inserting the key; pages to its right are latched shared, one at a time.
InsertOutcome check_equal_entries(const BTree& tree, const WriteGuard& leaf, const SearchKey& key,
                                  UniqueVisitor& visitor, TupleId own);
InsertOutcome check_equal_entries(const BTree& tree, const ReadGuard& leaf, const SearchKey& key,
                                  UniqueVisitor& visitor, TupleId own);

/// Marks an item as dead to everyone: a hint under any latch, neither logged nor written for its own sake.
void mark_item_dead(ConstPage page, std::uint16_t slot) noexcept;

}  // namespace pinwheel::storage::btree_detail
