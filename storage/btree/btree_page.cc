#include "storage/btree/btree_page.h"

#include "base/error.h"
#include "storage/btree/compare.h"

namespace pinwheel::storage {

void init_btree_page(Page page, std::uint16_t level, std::uint16_t flags, PageNumber previous,
                     PageNumber next) noexcept {
  page.init(PageKind::kBtree, sizeof(BTreeSpecial));
  BTreeSpecial& special = special_of(page);
  special.previous = previous.value;
  special.next = next.value;
  special.level = level;
  special.flags = static_cast<std::uint16_t>(flags | (level == 0 ? kBTreeLeaf : 0));
}

void init_meta_page(Page page, const BTreeMeta& meta) noexcept {
  page.init(PageKind::kBtree, sizeof(BTreeSpecial));
  special_of(page).flags = kBTreeMeta;
  std::memcpy(page.place_item(1, sizeof meta), &meta, sizeof meta);
}

void init_deleted_page(Page page, std::uint64_t safe_xid, PageNumber previous, PageNumber next) noexcept {
  init_btree_page(page, 0, kBTreeDeleted, previous, next);
  page.header().prune_xid = safe_xid;
}

void remove_downlink(Page page, std::uint16_t slot) noexcept {
  const auto next = static_cast<std::uint16_t>(slot + 1);
  store(page.item(slot), item_at(page, next).child().value);
  page.remove_item_at(next);
}

void append_item(Page page, IndexItem item) noexcept {
  const auto slot = static_cast<std::uint16_t>(page.slot_count() + 1);
  std::memcpy(page.place_item(slot, item.length()), item.bytes(), item.length());
}

int compare_entries(const BTreeIndex& index, IndexItem a, IndexItem b) noexcept {
  const std::size_t count = index.keys.size();
  std::uint64_t a_values[kMaxIndexColumns], b_values[kMaxIndexColumns];
  bool a_nulls[kMaxIndexColumns], b_nulls[kMaxIndexColumns];
  unpack_item(index, a, count, a_values, a_nulls);
  unpack_item(index, b, count, b_values, b_nulls);
  for (std::size_t i = 0; i < count; ++i) {
    const int order = compare_column(index.keys[i], a_values[i], a_nulls[i], b_values[i], b_nulls[i]);
    if (order != 0) return order;
  }
  return compare_ids(a.id(), b.id());
}

}  // namespace pinwheel::storage
