#include "storage/btree/unique.h"

#include <atomic>

#include "storage/btree/search.h"

namespace pinwheel::storage {

using namespace btree_detail;

namespace btree_detail {

bool must_be_unique(const BTreeIndex& index, const bool* nulls) noexcept {
  if (index.nulls_not_distinct) return true;
  for (std::size_t i = 0; i < index.keys.size(); ++i) {
    if (nulls[i]) return false;
  }
  return true;
}

void mark_item_dead(ConstPage page, std::uint16_t slot) noexcept {
  auto* bytes = const_cast<std::byte*>(page.data());
  auto* line = reinterpret_cast<std::uint32_t*>(bytes + kPageHeaderSize) + (slot - 1);
  // kNormal (1) to kDead (3) is one more bit, so that others may mark their items at the same time.
  constexpr std::uint32_t kBit = 2u << 15;
  static_assert((LinePointer::make(LineState::kNormal, 0, 0).word | kBit) ==
                LinePointer::make(LineState::kDead, 0, 0).word);
  std::atomic_ref<std::uint32_t>{*line}.fetch_or(kBit, std::memory_order_relaxed);
  auto* special = reinterpret_cast<BTreeSpecial*>(bytes + kBTreeSpecialOffset);
  or_hint_bits(&special->flags, kBTreeHasDead);
}

namespace {

/// One page of the walk: true when it has the answer in `outcome`, or ends the walk. `next`: where to go on.
bool check_page_entries(ConstPage page, const SearchKey& key, UniqueVisitor& visitor, TupleId own,
                        InsertOutcome& outcome, PageNumber& next) {
  LatchedReader reader{page};
  const BTreeSpecial special = reader.special();
  next = PageNumber{special.next};
  if (is_ignorable(special)) return false;
  const std::uint16_t count = page.slot_count();
  for (std::uint16_t slot = search_slots(reader, key, first_slot(special)); slot <= count; ++slot) {
    const IndexItem item = item_at(page, slot);
    if (compare_key(key, item) != 0) return true;
    if (page.line(slot).is_dead() || item.id() == own) continue;
    const UniqueCandidate candidate = visitor.examine(item.id());
    switch (candidate.fate) {
      case UniqueCandidate::Fate::kNoConflict:
        continue;
      case UniqueCandidate::Fate::kDead:
        mark_item_dead(page, slot);
        continue;
      case UniqueCandidate::Fate::kLive:
        outcome = {InsertResult::kDuplicate, item.id(), {}, false};
        return true;
      case UniqueCandidate::Fate::kRunning:
        outcome = {InsertResult::kMustWait, item.id(), candidate.blocker, false};
        return true;
    }
  }
  // Equal entries may go on beyond the page only if its high key is equal, too.
  return is_rightmost(special) || compare_key(key, item_at(page, 1)) < 0;
}

template <class Guard>
InsertOutcome check_from(const BTree& tree, const Guard& leaf, const SearchKey& key, UniqueVisitor& visitor,
                         TupleId own) {
  InsertOutcome outcome;
  PageNumber next;
  if (check_page_entries(leaf.page(), key, visitor, own, outcome, next)) return outcome;
  while (next != kNoPage) {
    const ReadGuard right = tree.storage().pool.read_page(tag_of(tree, next));
    check_btree_page(tree, right.page(), next);
    if (check_page_entries(right.page(), key, visitor, own, outcome, next)) break;
  }
  return outcome;
}

}  // namespace

InsertOutcome check_equal_entries(const BTree& tree, const WriteGuard& leaf, const SearchKey& key,
                                  UniqueVisitor& visitor, TupleId own) {
  return check_from(tree, leaf, key, visitor, own);
}
InsertOutcome check_equal_entries(const BTree& tree, const ReadGuard& leaf, const SearchKey& key,
                                  UniqueVisitor& visitor, TupleId own) {
  return check_from(tree, leaf, key, visitor, own);
}

}  // namespace btree_detail

InsertOutcome BTree::check_unique(const std::uint64_t* values, const bool* nulls, UniqueVisitor& visitor,
                                  TupleId own) {
  if (!must_be_unique(*index_, nulls)) return {};
  const SearchKey key = full_key(*index_, values, nulls);
  const PageNumber page = descend(*this, key, 0, nullptr);
  if (page == kNoPage) return {};
  const ReadGuard leaf = latch_for_read(*this, page, key);
  return check_equal_entries(*this, leaf, key, visitor, own);
}

}  // namespace pinwheel::storage
