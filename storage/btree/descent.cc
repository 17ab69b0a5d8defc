#include "storage/btree/descent.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/sqlstate.h"
#include "storage/btree/search.h"
#include "storage/btree/visit_page.h"
#include "wal/log.h"

namespace pinwheel::storage::btree_detail {

namespace {

/// Tries without a latch before one is taken.
constexpr int kOptimisticTries = 4;
/// Restarts from the root before the index is called damaged.
constexpr int kMaxRestarts = 100;

/// What reading one inner page led to.
struct Move {
  enum class Kind : std::uint8_t { kChild, kRight, kArrived, kChanged, kWrongPage } kind = Kind::kChanged;
  PageNumber page = kNoPage;
  std::uint32_t level = 0;  // of the page that was read
};

/// `expected`: level the page must have; unknown for a remembered root, which must have its flag.
constexpr std::uint32_t kUnknownLevel = ~0u;

template <class Reader>
Move read_inner(Reader& reader, const SearchKey& key, std::uint32_t target, std::uint32_t expected) noexcept {
  const BTreeSpecial special = reader.special();
  Move move;
  move.level = special.level;
  if (expected == kUnknownLevel) {
    if ((special.flags & (kBTreeRoot | kBTreeDeleted | kBTreeMeta)) != kBTreeRoot)
      move.kind = Move::Kind::kWrongPage;
  } else if (special.level != expected || (special.flags & kBTreeMeta) != 0) {
    move.kind = Move::Kind::kWrongPage;
  }
  if (move.kind == Move::Kind::kWrongPage) return move;
  if (special.level < target) {
    move.kind = Move::Kind::kWrongPage;
    return move;
  }
  switch (step_on_page(reader, key, special)) {
    case PageStep::kChanged:
      return move;
    case PageStep::kRight:
      move.kind = Move::Kind::kRight;
      move.page = PageNumber{special.next};
      return move;
    case PageStep::kHere:
      break;
  }
  if (special.level == target) {
    move.kind = Move::Kind::kArrived;
    return move;
  }
  const std::uint16_t slot = search_downlink(reader, key, special);
  IndexItemHeader downlink;
  if (slot == 0 || !reader.header(slot, downlink)) return move;
  move.kind = Move::Kind::kChild;
  move.page = PageNumber{downlink.page};
  return move;
}

Move read_page_once(const BTree& tree, PageNumber page, const SearchKey& key, std::uint32_t target,
                    std::uint32_t expected) {
  return visit_page(tree, page, "has no way on in page",
                    [&](auto& reader) { return read_inner(reader, key, target, expected); });
}

}  // namespace

void throw_corrupted(const BTree& tree, PageNumber page, const char* what) {
  throw SqlError{sqlstate::kIndexCorrupted,
                 fmt::format("index \"{}\" {} {}", tree.index().name, what, page.value)}
      .hint("Please REINDEX it.");
}

void check_btree_page(const BTree& tree, ConstPage page, PageNumber number) {
  if (page.is_new()) throw_corrupted(tree, number, "contains unexpected zero page at block");
  const PageHeader& header = page.header();
  if (header.kind != static_cast<std::uint8_t>(PageKind::kBtree) || header.special != kBTreeSpecialOffset) {
    throw_corrupted(tree, number, "contains corrupted page at block");
  }
}

RootInfo read_root(const BTree& tree) {
  BufferPool& pool = tree.storage().pool;
  const PageTag tag = tag_of(tree, kMetaPage);
  const OptimisticRead read = pool.optimistic_read(tag);
  if (read) {
    const BTreeMeta meta = meta_of(read.page());
    if (read.validate() && meta.magic == BTreeMeta::kMagic && meta.version == BTreeMeta::kVersion)
        [[likely]] {
      return {PageNumber{meta.root}, meta.level};
    }
  }
  const ReadGuard guard = pool.read_page(tag);
  check_btree_page(tree, guard.page(), kMetaPage);
  const BTreeMeta meta = meta_of(guard.page());
  if (meta.magic != BTreeMeta::kMagic || (special_of(guard.page()).flags & kBTreeMeta) == 0) {
    throw SqlError{sqlstate::kIndexCorrupted, fmt::format("index \"{}\" is not a btree", tree.index().name)};
  }
  if (meta.version != BTreeMeta::kVersion) {
    throw SqlError{sqlstate::kIndexCorrupted,
                   fmt::format("version mismatch in index \"{}\": file version {}, current version {}",
                               tree.index().name, meta.version, BTreeMeta::kVersion)};
  }
  return {PageNumber{meta.root}, meta.level};
}

PageNumber descend(const BTree& tree, const SearchKey& key, std::uint32_t target, TreePath* path) {
  for (int restart = 0; restart < kMaxRestarts; ++restart) {
    PageNumber page = tree.hints().root;
    std::uint32_t expected = kUnknownLevel;
    if (!is_valid(page)) {
      const RootInfo root = read_root(tree);
      if (root.page == kNoPage || root.level < target) return kNoPage;
      page = tree.hints().root = root.page;
    }
    while (true) {
      const Move move = read_page_once(tree, page, key, target, expected);
      if (move.kind == Move::Kind::kArrived) return page;
      if (move.kind == Move::Kind::kWrongPage) break;
      if (path != nullptr && move.level < kMaxBTreeLevels) path->pages[move.level] = page;
      page = move.page;
      if (page == kNoPage) break;
      if (move.kind == Move::Kind::kRight) {
        // A remembered root that split is left by its right link; only its first page has the flag.
        expected = move.level;
        continue;
      }
      // The caller latches leaves (or whatever level it wants) itself.
      if (move.level == target + 1) return page;
      expected = move.level - 1;
    }
    tree.hints().root = kInvalidPage;
  }
  throw_corrupted(tree, tree.hints().root, "has no path from its root, page");
}

ReadGuard latch_for_read(const BTree& tree, PageNumber page, const SearchKey& key) {
  BufferPool& pool = tree.storage().pool;
  while (true) {
    ReadGuard guard = pool.read_page(tag_of(tree, page));
    check_btree_page(tree, guard.page(), page);
    LatchedReader reader{guard.page()};
    const BTreeSpecial special = reader.special();
    switch (step_on_page(reader, key, special)) {
      case PageStep::kHere:
        return guard;
      case PageStep::kRight:
        page = PageNumber{special.next};
        continue;
      case PageStep::kChanged:
        throw_corrupted(tree, page, "ends with a deleted page or has no high key, at block");
    }
  }
}

SearchKey full_key(const BTreeIndex& index, const std::uint64_t* values, const bool* nulls) noexcept {
  SearchKey key;
  key.index = &index;
  key.columns = index.keys.data();
  key.values = values;
  key.nulls = nulls;
  key.column_count = static_cast<std::uint16_t>(index.keys.size());
  if (values != nullptr) key.prepare();
  return key;
}

PivotKey::PivotKey(const BTreeIndex& index, IndexItem pivot) noexcept {
  copy_pivot(pivot, kNoPage, copy);
  const IndexItem item = copy.item();
  const unsigned count = item.attribute_count();
  unpack_item(index, item, count, values.data(), nulls.data());
  key = full_key(index, values.data(), nulls.data());
  key.column_count = static_cast<std::uint16_t>(count);
  key.prepare();
  key.is_pivot = true;
  key.has_id = item.has_id();
  if (key.has_id) key.id = item.id();
}

SearchKey edge_key(const BTreeIndex& index, bool rightmost) noexcept {
  SearchKey key = full_key(index, nullptr, nullptr);
  key.column_count = 0;
  key.after = rightmost;
  return key;
}

Lsn log_btree(const BTree& tree, const wal::RecordBuilder& record, Xid xid) noexcept {
  if (!is_logged(tree.index().persistence)) return kInvalidLsn;
  return tree.storage().log.insert(record, xid);
}

void add_block(wal::RecordBuilder& record, unsigned index, const WriteGuard& guard,
               wal::BlockFlags flags) noexcept {
  const PageHeader& header = guard.header();
  record.block(index, guard.tag(), guard.page().data(), flags,
               {header.lower, static_cast<std::uint16_t>(header.upper - header.lower)});
}

}  // namespace pinwheel::storage::btree_detail
