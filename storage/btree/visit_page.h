#pragma once

#include "storage/btree/descent.h"
#include "storage/btree/search.h"
#include "storage/storage.h"

namespace pinwheel::storage::btree_detail {

/// Tries without a latch before one is taken.
inline constexpr int kOptimisticTries = 4;

/// Looks at a page without writing anything shared if it holds still, else under a shared latch.
///
/// `look(reader)` returns a struct with a `kind`, Kind::kChanged when what it read makes no sense: while
/// reading without a latch that means to look again. Errors: XX002 with `complaint` when it makes no sense
/// under a latch either.
template <class Look>
auto visit_page(const BTree& tree, PageNumber page, const char* complaint, Look look) {
  BufferPool& pool = tree.storage().pool;
  const PageTag tag = tag_of(tree, page);
  for (int i = 0; i < kOptimisticTries; ++i) {
    const OptimisticRead read = pool.optimistic_read(tag);
    if (!read) break;
    OptimisticReader reader{read};
    const auto seen = look(reader);
    if (seen.kind != decltype(seen)::Kind::kChanged && read.validate()) [[likely]]
      return seen;
  }
  const ReadGuard guard = pool.read_page(tag);
  check_btree_page(tree, guard.page(), page);
  LatchedReader reader{guard.page()};
  const auto seen = look(reader);
  if (seen.kind == decltype(seen)::Kind::kChanged) throw_corrupted(tree, page, complaint);
  return seen;
}

}  // namespace pinwheel::storage::btree_detail
