#pragma once

#include "storage/btree/insert.h"

namespace pinwheel::storage::btree_detail {

enum class DeleteResult : std::uint8_t {
  kKept,  // the page cannot go (now)
  kDeleted,
};

/// Takes an empty leaf out of the tree: first its downlink, giving its key space to the right sibling, then
/// its sibling links. A leaf that an earlier attempt left half-dead only needs the second step. Latches the
/// leaf, its parent and its siblings; nothing is latched by the caller. `safe_xid`: the next xid to be given
/// out.
///
/// Kept are: the last page of a level, the last child of a parent, the root, pages with entries, and pages
/// next to an unfinished split.
DeleteResult delete_leaf(const BTree& tree, PageNumber leaf, Xid safe_xid);

}  // namespace pinwheel::storage::btree_detail
