#include "base/error.h"
#include "storage/btree/descent.h"
#include "storage/btree/search.h"
#include "storage/btree/visit_page.h"
#include "wal/log.h"

namespace pinwheel::storage {

using namespace btree_detail;

namespace {

/// What one leaf gave.
struct Found {
  enum class Kind : std::uint8_t { kDone, kNext, kChanged } kind = Kind::kChanged;
  PageNumber next = kNoPage;
  std::size_t count = 0;  // ids known so far, this leaf's included
};

/// Adds the ids of a leaf's entries that equal `key`; `count` known before, `out` may be too small for all.
template <class Reader>
Found collect(Reader& reader, const SearchKey& key, std::span<TupleId> out, std::size_t count) noexcept {
  const BTreeSpecial special = reader.special();
  Found found;
  found.next = PageNumber{special.next};
  found.count = count;
  if ((special.flags & (kBTreeMeta | kBTreeLeaf)) != kBTreeLeaf) return found;
  switch (step_on_page(reader, key, special)) {
    case PageStep::kChanged:
      return found;
    case PageStep::kRight:
      found.kind = Found::Kind::kNext;
      return found;
    case PageStep::kHere:
      break;
  }
  std::uint16_t slot = search_slots(reader, key, first_slot(special));
  if (slot == 0) return found;
  const std::uint16_t slots = reader.slot_count();
  for (; slot <= slots; ++slot) {
    int order;
    IndexItemHeader header;
    if (!reader.compare(key, slot, order) || !reader.header(slot, header)) return found;
    if (order != 0) break;
    if (reader.line(slot).is_dead()) continue;
    if (found.count < out.size()) out[found.count] = {PageNumber{header.page}, header.slot};
    ++found.count;
    if (found.count > out.size()) break;
  }
  found.kind = Found::Kind::kDone;
  if (slot > slots && !is_rightmost(special)) {
    int order;
    if (!reader.compare(key, 1, order)) {
      found.kind = Found::Kind::kChanged;
    } else if (order >= 0) {
      found.kind = Found::Kind::kNext;
    }
  }
  return found;
}

Found collect_page(const BTree& tree, PageNumber page, const SearchKey& key, std::span<TupleId> out,
                   std::size_t count) {
  return visit_page(tree, page, "has no way on in leaf",
                    [&](auto& reader) { return collect(reader, key, out, count); });
}

}  // namespace

std::size_t BTree::find_equal(const std::uint64_t* values, std::span<TupleId> out) const {
  static constexpr bool kNoNulls[kMaxIndexColumns] = {};
  const SearchKey key = full_key(*index_, values, kNoNulls);
  PageNumber page = descend(*this, key, 0, nullptr);
  std::size_t count = 0;
  while (page != kNoPage) {
    const Found found = collect_page(*this, page, key, out, count);
    count = found.count;
    if (found.kind == Found::Kind::kDone || count > out.size()) break;
    page = found.next;
  }
  return count;
}

std::uint32_t BTree::level() const { return read_root(*this).level; }

void create_empty_btree(Storage& storage, FileId file, Fork fork, Persistence persistence, Xid xid) {
  WriteGuard meta = storage.pool.extend(file, fork);
  DB_ASSERT(meta.number() == kMetaPage);
  meta.mark_dirty();
  init_meta_page(meta.page(), {});
  if (!is_logged(persistence) && fork != Fork::kInit) return;
  // An image: for the init fork it is what redo has to copy from. If the process dies before it is durable,
  // the file is an orphan.
  wal::RecordBuilder record{wal::RmgrId::kXlog, wal::XlogKind::kFullPageImage};
  const PageHeader& header = meta.header();
  record.block(0, meta.tag(), meta.page().data(), wal::kBlockForceImage,
               {header.lower, static_cast<std::uint16_t>(header.upper - header.lower)});
  set_lsn(meta, storage.log.insert(record, xid));
}

}  // namespace pinwheel::storage
