#include <algorithm>
#include <cstdlib>

#include "base/error.h"
#include "storage/btree/insert.h"

namespace pinwheel::storage::btree_detail {

std::uint16_t choose_split(const BTreeIndex& index, std::span<const IndexItem> items, std::uint16_t new_index,
                           bool is_leaf, bool is_rightmost, std::size_t right_high_key_cost) noexcept {
  DB_ASSERT(items.size() >= 2);
  std::size_t total = 0;
  for (const IndexItem& item : items) total += item_cost(item.length());

  // Ascending insertions at the end of a level leave full pages behind; others split in the middle.
  const bool ascending = is_rightmost && (!is_leaf || new_index + 1u == items.size());
  const std::size_t share = !ascending ? 50 : (is_leaf ? index.fill_factor : kInnerFillFactor);
  const std::size_t wanted_left = std::min(total, (ascending ? kBTreeCapacity : total) * share / 100);

  // Half a page of freedom would cost space; a sixteenth is enough to find short separators.
  const std::size_t tolerance = ascending ? 0 : kBTreeCapacity / 16;
  std::size_t best_distance = ~std::size_t{0};
  unsigned best_columns = ~0u;
  std::uint16_t best = 0;
  std::size_t left = 0;
  for (std::size_t i = 1; i < items.size(); ++i) {
    left += item_cost(items[i - 1].length());
    // The longest that the high key can be: a leaf's may need an id.
    const std::size_t high_key = item_cost(items[i].length() + (is_leaf ? kItemIdBytes + 8 : 0));
    // The first downlink of an inner page loses its key.
    const std::size_t first_right = item_cost(is_leaf ? items[i].length() : kItemHeaderBytes);
    const std::size_t right = total - left - item_cost(items[i].length()) + first_right + right_high_key_cost;
    if (left + high_key > kBTreeCapacity || right > kBTreeCapacity) continue;
    const std::size_t distance = left > wanted_left ? left - wanted_left : wanted_left - left;
    const bool near = distance <= tolerance;
    const unsigned columns = !is_leaf ? static_cast<unsigned>(items[i].length())
                                      : (near ? separator_columns(index, items[i - 1], items[i]) : ~0u);
    // Near the wanted place the shortest separator wins, elsewhere the nearest place.
    const bool better = near && best_distance <= tolerance
                            ? columns < best_columns || (columns == best_columns && distance < best_distance)
                            : distance < best_distance;
    if (better) {
      best = static_cast<std::uint16_t>(i);
      best_distance = distance;
      best_columns = columns;
    }
  }
  DB_ASSERT(best != 0);
  return best;
}

}  // namespace pinwheel::storage::btree_detail
