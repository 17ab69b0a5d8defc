#include "storage/btree/check.h"

#include <fmt/format.h>

#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "base/error.h"
#include "shm/interrupts.h"
#include "storage/btree/compare.h"
#include "storage/btree/descent.h"

namespace pinwheel::storage {

using namespace btree_detail;

namespace {

/// Whether all columns of an item lie within it, so that they may be compared.
bool is_sound(const BTreeIndex& index, IndexItem item, bool must_be_pivot) noexcept {
  if (item.length() < kItemHeaderBytes || item.is_pivot() != must_be_pivot) return false;
  std::size_t end = item.length();
  std::size_t count = index.layout.attribute_count();
  if (must_be_pivot) {
    count = item.attribute_count();
    if (count > index.keys.size() || (item.has_id() && count != index.keys.size())) return false;
    if (item.has_id()) {
      if (end < kItemHeaderBytes + kItemIdBytes) return false;
      end -= kItemIdBytes;
    }
  }
  std::size_t at = kItemHeaderBytes + (item.has_nulls() ? 8 : 0);
  if (at > end) return false;
  const std::size_t base = at;
  for (std::size_t i = 0; i < count; ++i) {
    if (item.is_null(static_cast<unsigned>(i))) continue;
    const AttributeLayout& attribute = index.layout.attribute(i);
    const auto aligned = [&] {
      return base + ((at - base + attribute.align - 1) & ~std::size_t(attribute.align - 1));
    };
    if (attribute.length > 0) {
      at = aligned() + static_cast<std::size_t>(attribute.length);
    } else if (attribute.length == -1) {
      // A short header is odd; the padding before a long one is zero.
      if (at >= end) return false;
      if ((static_cast<std::uint8_t>(item.bytes()[at]) & 1) == 0) at = aligned();
      if (at + 1 > end) return false;
      const bool is_short = (static_cast<std::uint8_t>(item.bytes()[at]) & 1) != 0;
      if (!is_short && at + 4 > end) return false;
      if (varlena_is_external(item.bytes() + at)) return false;
      const std::size_t size = varlena_size(item.bytes() + at);
      if (size < (is_short ? 1u : 4u) || size > end) return false;
      at += size;
    } else {
      at = aligned();
      if (at >= end) return false;
      const void* zero = std::memchr(item.bytes() + at, 0, end - at);
      if (zero == nullptr) return false;
      at = static_cast<std::size_t>(static_cast<const std::byte*>(zero) - item.bytes()) + 1;
    }
    if (at > end) return false;
  }
  return true;
}

/// The key of any item, unpacked.
struct ItemKey {
  ItemKey(const BTreeIndex& index, IndexItem item) noexcept {
    const std::size_t count = item.is_pivot() ? item.attribute_count() : index.keys.size();
    unpack_item(index, item, count, values, nulls);
    key = full_key(index, values, nulls);
    key.column_count = static_cast<std::uint16_t>(count);
    key.is_pivot = item.is_pivot();
    key.has_id = !item.is_pivot() || item.has_id();
    if (key.has_id) key.id = item.id();
  }
  ItemKey(const ItemKey&) = delete;
  ItemKey& operator=(const ItemKey&) = delete;
  std::uint64_t values[kMaxIndexColumns];
  bool nulls[kMaxIndexColumns];
  SearchKey key;
};

/// Key bytes of a pivot, its link left out: what a parent's downlink and a left neighbour's high key share.
using PivotBytes = std::vector<std::byte>;
PivotBytes bytes_of(IndexItem pivot) {
  return {pivot.bytes() + sizeof(std::uint32_t), pivot.bytes() + pivot.length()};
}

struct Downlink {
  PageNumber child;
  bool has_low = false;  // false: the first of its level
  PivotBytes low;        // what its left neighbour's high key must be
};

class Checker {
 public:
  Checker(const BTree& tree, BTreeCheckVisitor& visitor) : tree_{tree}, visitor_{visitor} {}

  BTreeCheckResult run() {
    const std::uint32_t pages = tree_.page_count().value;
    if (pages == 0) {
      damage(fmt::format("index \"{}\" has no meta page", tree_.index().name));
      return result_;
    }
    seen_.assign(pages, false);
    seen_[0] = true;
    RootInfo root;
    try {
      root = read_root(tree_);
    } catch (const SqlError& error) {
      damage(error.message());
      return result_;
    }
    if (root.page != kNoPage) check_levels(root);
    if (result_.problems == 0) check_unseen();
    return result_;
  }

 private:
  void damage(const std::string& text) {
    ++result_.problems;
    visitor_.damage(text);
  }
  void damage_at(PageNumber page, const std::string& what) {
    damage(fmt::format("index \"{}\": block {}: {}", tree_.index().name, page.value, what));
  }

  bool load(PageNumber number) {
    if (number.value >= seen_.size()) {
      damage_at(number, "is beyond the end of the index");
      return false;
    }
    try {
      const ReadGuard guard = tree_.storage().pool.read_page(tag_of(tree_, number));
      copy_page(Page{bytes_}, guard.page());
    } catch (const SqlError& error) {
      damage(error.message());
      return false;
    }
    if (const ConstPage page{bytes_}; page.is_new() || page.header().special != kBTreeSpecialOffset ||
                                      check_header(page.bytes()) != PageError::kNone) {
      damage_at(number, "is no sound B-tree page");
      return false;
    }
    return true;
  }

  void check_levels(const RootInfo& root) {
    result_.levels = root.level + 1;
    downlinks_.push_back({root.page, false, {}});
    for (std::uint32_t level = root.level;; --level) {
      if (!check_level(level, level == root.level) || level == 0) return;
    }
  }

  /// Half-dead pages may stand left of the first page with a downlink.
  PageNumber first_of_level(PageNumber linked) {
    PageNumber number = linked;
    for (std::size_t steps = 0; steps < seen_.size() && load(number); ++steps) {
      const PageNumber previous{special_of(ConstPage{bytes_}).previous};
      if (previous == kNoPage || !load(previous) ||
          (special_of(ConstPage{bytes_}).flags & kBTreeHalfDead) == 0)
        break;
      number = previous;
    }
    return number;
  }

  /// All pages of a level, from left to right; collects the next level's downlinks. False: no way to go on.
  bool check_level(std::uint32_t level, bool is_top) {
    std::vector<Downlink> below;
    PageNumber number = first_of_level(downlinks_.front().child);
    PageNumber previous = kNoPage;
    std::size_t expected = 0;
    bool previous_was_incomplete = false;
    high_key_.reset();
    while (number != kNoPage) {
      shm::check_interrupts();
      if (!load(number)) return false;
      if (seen_[number.value]) {
        damage_at(number, "is linked to twice");
        return false;
      }
      seen_[number.value] = true;
      const ConstPage page{bytes_};
      const BTreeSpecial special = special_of(page);
      if (special.level != level || (special.flags & (kBTreeDeleted | kBTreeMeta)) != 0 ||
          is_leaf(special) != (level == 0)) {
        damage_at(number, fmt::format("is no page of level {}", level));
        return false;
      }
      if (special.previous != previous.value) {
        damage_at(number, fmt::format("left link is {} instead of {}", special.previous, previous.value));
      }
      if ((special.flags & kBTreeRoot) != 0 && !(is_top && expected == 0))
        damage_at(number, "has the flag of a root");
      if ((special.flags & kBTreeHalfDead) == 0) {
        // The right half of an unfinished split is the only page without a downlink.
        const bool linked = expected < downlinks_.size() && downlinks_[expected].child == number;
        if (linked) {
          check_low(number, downlinks_[expected++]);
        } else if (!previous_was_incomplete) {
          damage_at(number, "has no downlink");
        }
        if (!check_items(number, page, special, below)) return false;
        previous_was_incomplete = is_incomplete(special);
      } else if (page.slot_count() >= first_slot(special)) {
        damage_at(number, "is half-dead but has entries");
      }
      ++(level == 0 ? result_.leaves : result_.inner_pages);
      previous = number;
      number = PageNumber{special.next};
    }
    if (expected != downlinks_.size()) {
      damage_at(downlinks_[expected].child, fmt::format("has a downlink but is not on level {}", level));
    }
    downlinks_ = std::move(below);
    return level == 0 || !downlinks_.empty();
  }

  void check_low(PageNumber number, const Downlink& downlink) {
    const bool has_low = high_key_.has_value();
    if (downlink.has_low != has_low || (has_low && bytes_of(high_key_->item()) != downlink.low)) {
      damage_at(number, "its left neighbour's high key is not its downlink's key");
    }
  }

  /// Items against each other, the high key and the left neighbour's. Leaves the high key in high_key_.
  bool check_items(PageNumber number, ConstPage page, const BTreeSpecial& special,
                   std::vector<Downlink>& below) {
    const BTreeIndex& index = tree_.index();
    const bool leaf = is_leaf(special);
    const std::uint16_t first = first_slot(special);
    const std::uint16_t count = page.slot_count();
    for (std::uint16_t slot = 1; slot <= count; ++slot) {
      if (!is_sound(index, item_at(page, slot), !leaf || slot < first)) {
        damage_at(number, fmt::format("item {} is damaged", slot));
        return false;
      }
    }
    if (first > 1 && count == 0) {
      damage_at(number, "has no high key");
      return false;
    }
    if (!leaf && count < first) {
      damage_at(number, "is an inner page without downlinks");
      return false;
    }
    for (std::uint16_t slot = first; slot <= count; ++slot) {
      const IndexItem item = item_at(page, slot);
      const bool is_least = !leaf && slot == first;
      if (!leaf) {
        Downlink downlink{item.child(), true, {}};
        if (!is_least) {
          downlink.low = bytes_of(item);
        } else if (high_key_.has_value()) {
          downlink.low = bytes_of(high_key_->item());
        } else {
          downlink.has_low = false;
        }
        below.push_back(std::move(downlink));
        if (is_least) continue;
      }
      const ItemKey key{index, item};
      const auto before = static_cast<std::uint16_t>(slot - 1);
      if (slot > first + (leaf ? 0 : 1) && compare_key(key.key, item_at(page, before)) <= 0) {
        damage_at(number, fmt::format("items {} and {} are out of order", before, slot));
      }
      if (high_key_.has_value() && compare_key(key.key, high_key_->item()) <= 0) {
        damage_at(number, fmt::format("item {} belongs to a page further left", slot));
      }
      if (first > 1 && compare_key(key.key, item_at(page, 1)) > 0) {
        damage_at(number, fmt::format("item {} is beyond the page's high key", slot));
      }
      if (leaf) report_entry(item);
    }
    if (first > 1) {
      copy_pivot(item_at(page, 1), kNoPage, high_key_.emplace());
    } else {
      high_key_.reset();
    }
    return true;
  }

  void report_entry(IndexItem item) {
    ++result_.entries;
    std::uint64_t values[kMaxIndexColumns];
    bool nulls[kMaxIndexColumns];
    unpack_item(tree_.index(), item, tree_.index().layout.attribute_count(), values, nulls);
    visitor_.entry(item.id(), values, nulls);
  }

  /// What the levels did not lead to must be out of the tree.
  void check_unseen() {
    for (std::uint32_t i = 1; i < seen_.size(); ++i) {
      if (seen_[i]) continue;
      const PageNumber number{i};
      shm::check_interrupts();
      try {
        const ReadGuard guard = tree_.storage().pool.read_page(tag_of(tree_, number));
        if (guard.page().is_new()) {
          ++result_.unused_pages;
        } else if ((special_of(guard.page()).flags & kBTreeDeleted) != 0) {
          ++result_.deleted_pages;
        } else {
          damage_at(number, "is in use but cannot be reached");
        }
      } catch (const SqlError& error) {
        damage(error.message());
      }
    }
  }

  const BTree& tree_;
  BTreeCheckVisitor& visitor_;
  BTreeCheckResult result_;
  std::vector<bool> seen_;
  std::vector<Downlink> downlinks_;
  std::optional<ItemBuffer> high_key_;  // of the last living page
  alignas(8) std::byte bytes_[kPageSize];
};

}  // namespace

BTreeCheckResult verify_btree(const BTree& tree, BTreeCheckVisitor& visitor) {
  return Checker{tree, visitor}.run();
}

}  // namespace pinwheel::storage
