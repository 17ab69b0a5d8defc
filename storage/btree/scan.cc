#include "storage/btree/scan.h"

#include "shm/interrupts.h"
#include "storage/btree/descent.h"
#include "storage/btree/scan_bounds.h"
#include "storage/btree/search.h"
#include "storage/btree/unique.h"

namespace pinwheel::storage {

using namespace btree_detail;

/// What was copied from one leaf, and how to go on.
struct BTreeScan::Batch {
  const BTree* tree = nullptr;
  BTreeScanOptions options;
  ScanBounds bounds;
  bool started = false;
  bool is_open = false;

  PageNumber page = kNoPage;  // where the ids come from
  PageNumber next = kNoPage;  // in the scan's direction, as the page had it; kNoPage = the range ends here
  /// The frame and its version when the page was read: unchanged, its slots are where they were.
  BufferId buffer = kInvalidBuffer;
  std::uint64_t version = 0;
  std::uint16_t killed_count = 0;
  Pin visibility_pin;

  std::array<TupleId, kMaxBTreeSlots> ids;
  std::array<std::uint16_t, kMaxBTreeSlots> slots;
  std::array<std::uint16_t, kMaxBTreeSlots> killed;
  std::array<bool, kMaxBTreeSlots> visible;
  /// Copies of the entries (want_values): offset into `bytes`.
  std::array<std::uint16_t, kMaxBTreeSlots> offsets;
  std::array<std::uint16_t, kMaxBTreeSlots> lengths;
  alignas(8) std::array<std::byte, kPageSize> bytes;

  std::uint32_t collect(const ReadGuard& guard, std::uint16_t first, std::uint16_t last);
  void copy_entry(std::uint32_t at, IndexItem item, std::size_t& used);
  void mark_killed() noexcept;
};

BTreeScan::BTreeScan() = default;
BTreeScan::~BTreeScan() { close(); }
BTreeScan::BTreeScan(BTreeScan&&) noexcept = default;
BTreeScan& BTreeScan::operator=(BTreeScan&&) noexcept = default;

void BTreeScan::open(const BTree& tree, std::span<const BTreeScanKey> keys, const BTreeScanOptions& options) {
  close();
  if (batch_ == nullptr) batch_ = std::make_unique_for_overwrite<Batch>();
  Batch& batch = *batch_;
  batch.tree = &tree;
  batch.options = options;
  batch.bounds.set(tree.index(), keys);
  batch.started = false;
  batch.is_open = true;
  batch.next = kNoPage;
  batch.killed_count = 0;
  ids_ = batch.ids.data();
  index_ = count_ = 0;
}

void BTreeScan::close() noexcept {
  if (batch_ == nullptr || !batch_->is_open) return;
  batch_->mark_killed();
  batch_->visibility_pin.release();
  batch_->is_open = false;
  index_ = count_ = 0;
}

bool BTreeScan::all_visible() const noexcept { return batch_->visible[index_ - 1]; }

void BTreeScan::values(std::uint64_t* values, bool* nulls) const noexcept {
  const std::uint32_t at = index_ - 1;
  const IndexItem item{batch_->bytes.data() + batch_->offsets[at], batch_->lengths[at]};
  const BTreeIndex& index = batch_->tree->index();
  unpack_item(index, item, index.layout.attribute_count(), values, nulls);
}

void BTreeScan::kill_current() noexcept {
  if (batch_->killed_count < kMaxBTreeSlots) {
    batch_->killed[batch_->killed_count++] = static_cast<std::uint16_t>(index_ - 1);
  }
}

void BTreeScan::Batch::mark_killed() noexcept {
  if (killed_count == 0) return;
  const std::uint16_t count = std::exchange(killed_count, std::uint16_t{0});
  BufferPool& pool = tree->storage().pool;
  const PageTag tag = tag_of(*tree, page);
  // Only if the page is where it was and nobody has changed it: else a slot, or even a row's id, may have
  // been given to another entry since. A hint that is lost costs a visit to the heap.
  if (!pool.is_cached(tag)) return;
  try {
    const ReadGuard guard = pool.read_page(tag);
    if (guard.buffer() != buffer ||
        pool.descriptor(buffer).version.load(std::memory_order_relaxed) != version)
      return;
    for (std::uint16_t i = 0; i < count; ++i) mark_item_dead(guard.page(), slots[killed[i]]);
  } catch (const std::exception&) {
    // The page left the pool and cannot be read now: who needs it will say so.
  }
}

void BTreeScan::Batch::copy_entry(std::uint32_t at, IndexItem item, std::size_t& used) {
  offsets[at] = static_cast<std::uint16_t>(used);
  lengths[at] = item.length();
  std::memcpy(bytes.data() + used, item.bytes(), item.length());
  used += align_item(item.length());
}

/// Copies what matches in slots [first, last] of a latched leaf, in the scan's direction.
std::uint32_t BTreeScan::Batch::collect(const ReadGuard& guard, std::uint16_t first, std::uint16_t last) {
  const ConstPage view = guard.page();
  page = guard.number();
  buffer = guard.buffer();
  version = tree->storage().pool.descriptor(buffer).version.load(std::memory_order_relaxed);
  std::uint32_t count = 0;
  std::size_t used = 0;
  const int total = last - first + 1;
  for (int i = 0; i < total; ++i) {
    const auto slot = static_cast<std::uint16_t>(options.backward ? last - i : first + i);
    if (view.line(slot).is_dead()) continue;
    const IndexItem item = item_at(view, slot);
    if (bounds.has_filters() && !bounds.passes_filters(item)) continue;
    ids[count] = item.id();
    slots[count] = slot;
    if (options.want_values) copy_entry(count, item, used);
    if (options.note_all_visible) {
      visible[count] =
          count > 0 && ids[count].page == ids[count - 1].page
              ? visible[count - 1]
              : tree->storage().visibility.is_all_visible(options.heap, ids[count].page, visibility_pin);
    }
    ++count;
  }
  return count;
}

bool BTreeScan::next_page(TupleId& id) {
  if (batch_ == nullptr || !batch_->is_open) return false;
  Batch& batch = *batch_;
  batch.mark_killed();
  index_ = count_ = 0;
  if (!batch.started) {
    batch.started = true;
    if (batch.bounds.is_empty() || !load_first()) return false;
  }
  while (count_ == 0) {
    if (batch.next == kNoPage) return false;
    shm::check_interrupts();
    if (!(batch.options.backward ? load_backward(batch.next) : load_forward(batch.next))) return false;
  }
  id = entry(index_++);
  return true;
}

bool BTreeScan::load_first() {
  Batch& batch = *batch_;
  const BTree& tree = *batch.tree;
  const bool backward = batch.options.backward;
  const SearchKey& key = backward ? batch.bounds.high() : batch.bounds.low();
  const PageNumber number = descend(tree, key, 0, nullptr);
  if (number == kNoPage) return false;
  const ReadGuard leaf = latch_for_read(tree, number, key);
  LatchedReader reader{leaf.page()};
  const BTreeSpecial special = reader.special();
  const std::uint16_t first = first_slot(special);
  const std::uint16_t count = reader.slot_count();
  const std::uint16_t begin = search_slots(reader, batch.bounds.low(), first);
  const std::uint16_t end = search_slots(reader, batch.bounds.high(), first);
  if (backward) {
    batch.next = begin == first ? PageNumber{special.previous} : kNoPage;
  } else {
    batch.next = end > count ? PageNumber{special.next} : kNoPage;
  }
  batch.page = leaf.number();
  count_ = begin < end ? batch.collect(leaf, begin, static_cast<std::uint16_t>(end - 1)) : 0;
  return true;
}

bool BTreeScan::load_forward(PageNumber number) {
  Batch& batch = *batch_;
  const BTree& tree = *batch.tree;
  const ReadGuard leaf = tree.storage().pool.read_page(tag_of(tree, number));
  check_btree_page(tree, leaf.page(), number);
  LatchedReader reader{leaf.page()};
  const BTreeSpecial special = reader.special();
  batch.next = PageNumber{special.next};
  batch.page = number;
  if (is_ignorable(special)) return true;
  const std::uint16_t first = first_slot(special);
  const std::uint16_t count = reader.slot_count();
  const std::uint16_t end = search_slots(reader, batch.bounds.high(), first);
  if (end <= count) batch.next = kNoPage;
  if (first < end) count_ = batch.collect(leaf, first, static_cast<std::uint16_t>(end - 1));
  return true;
}

namespace {

/// The page left of `page`, whose left link was `previous` when it was read; latched. Splits move what we
/// look for to the right of `previous`; deletions make `page` itself, or `previous`, unusable: then the
/// nearest living page on the right tells the way anew. Not owned when nothing is left of it.
ReadGuard latch_left(const BTree& tree, PageNumber page, PageNumber previous) {
  BufferPool& pool = tree.storage().pool;
  constexpr int kSteps = 4;
  constexpr int kTries = 1000;
  for (int attempt = 0; previous != kNoPage; ++attempt) {
    if (attempt == kTries) throw_corrupted(tree, page, "has no way left from block");
    PageNumber at = previous;
    for (int step = 0; step < kSteps && at != kNoPage; ++step) {
      ReadGuard guard = pool.read_page(tag_of(tree, at));
      check_btree_page(tree, guard.page(), at);
      const BTreeSpecial special = special_of(guard.page());
      if ((special.flags & kBTreeDeleted) == 0 && special.next == page.value) return guard;
      at = PageNumber{special.next};
    }
    while (true) {
      const ReadGuard guard = pool.read_page(tag_of(tree, page));
      check_btree_page(tree, guard.page(), page);
      const BTreeSpecial special = special_of(guard.page());
      if ((special.flags & kBTreeDeleted) == 0) {
        previous = PageNumber{special.previous};
        break;
      }
      if (special.next == 0) throw_corrupted(tree, page, "ends with a deleted page, block");
      page = PageNumber{special.next};
    }
  }
  return {};
}

}  // namespace

bool BTreeScan::load_backward(PageNumber number) {
  Batch& batch = *batch_;
  const BTree& tree = *batch.tree;
  const ReadGuard leaf = latch_left(tree, batch.page, number);
  batch.next = kNoPage;
  if (!leaf.owns()) return false;
  LatchedReader reader{leaf.page()};
  const BTreeSpecial special = reader.special();
  batch.next = PageNumber{special.previous};
  batch.page = leaf.number();
  if (is_ignorable(special)) return true;
  const std::uint16_t first = first_slot(special);
  const std::uint16_t count = reader.slot_count();
  const std::uint16_t begin = search_slots(reader, batch.bounds.low(), first);
  if (begin != first) batch.next = kNoPage;
  if (begin <= count) count_ = batch.collect(leaf, begin, count);
  return true;
}

}  // namespace pinwheel::storage
