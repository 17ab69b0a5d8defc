#include "storage/heap/vacuum.h"

#include <sched.h>

#include <algorithm>

#include "storage/heap/heap_internal.h"

namespace pinwheel::storage {

using namespace heap_detail;

namespace {

/// What a page holds after pruning.
struct PageFacts {
  VacuumPageResult result;
  std::vector<std::uint16_t> dead;
  bool all_visible = true;  // could be flagged so
};

PageFacts survey(ConstPage page, PageNumber number, TransactionOracle& oracle, Xid horizon) {
  PageFacts facts;
  const std::uint16_t count = page.slot_count();
  for (std::uint16_t slot = 1; slot <= count; ++slot) {
    const LinePointer line = page.line(slot);
    if (line.is_unused()) continue;
    facts.result.has_tuples = true;
    if (line.is_dead()) {
      facts.dead.push_back(slot);
      facts.all_visible = false;
      continue;
    }
    if (!line.is_normal()) continue;
    const HeapTupleView tuple{page.item(line), line.length(), {number, slot}};
    switch (vacuum_state(tuple, oracle, horizon)) {
      case VacuumState::kLive:
        ++facts.result.live_tuples;
        if (!(tuple.xmin() < horizon)) facts.all_visible = false;
        break;
      case VacuumState::kRecentlyDead:
      case VacuumState::kDead:
        ++facts.result.recently_dead_tuples;
        facts.all_visible = false;
        break;
      case VacuumState::kInsertInProgress:
      case VacuumState::kDeleteInProgress:
        facts.all_visible = false;
        break;
    }
  }
  facts.result.free_bytes = page.free_space();
  return facts;
}

/// Sets flag and map bit together, logged as one. The heap page is latched; the map page's latch comes
/// second.
void set_all_visible(Storage& storage, const HeapRelation& relation, WriteGuard& guard, const Pin& map_pin) {
  WriteGuard map = map_pin.write();
  guard.mark_dirty();
  map.mark_dirty();
  guard.page().set_flag(kPageAllVisible);
  VisibilityMap::set(map, guard.number());
  if (!is_logged(relation.persistence)) return;
  const HeapVisibleRecord data{guard.number().value};
  wal::RecordBuilder record{wal::RmgrId::kHeap, HeapRecord::kVisible};
  record.data(data);
  record.block(0, map.tag(), map.page().data());
  record.block(1, guard.tag(), guard.page().data(), wal::kBlockDefault, hole_of(guard.page()));
  const Lsn lsn = storage.log.insert(record, kInvalidXid);
  map.page().set_lsn(lsn);
  guard.page().set_lsn(lsn);
}

void remove_dead_lines(Storage& storage, const HeapRelation& relation, WriteGuard& guard,
                       std::span<const std::uint16_t> slots) noexcept {
  guard.apply_logged([&](Page page) noexcept { apply_vacuum(page, slots); },
                     [&]() noexcept {
                       const HeapVacuumRecord data{static_cast<std::uint16_t>(slots.size()), 0};
                       wal::RecordBuilder record{wal::RmgrId::kHeap, HeapRecord::kVacuum};
                       record.data(data);
                       record.block(0, guard.tag(), guard.page().data(), wal::kBlockDefault,
                                    hole_of(guard.page()));
                       record.block_data(0, slots.data(), slots.size_bytes());
                       return insert_if_logged(storage, relation.persistence, record, kInvalidXid);
                     });
}

/// A cleanup latch if it comes within a short while.
WriteGuard cleanup_latch(const Pin& pin) {
  constexpr int kTries = 20;
  for (int i = 0; i < kTries; ++i) {
    WriteGuard guard = pin.try_cleanup();
    if (guard) return guard;
    sched_yield();
  }
  return {};
}

}  // namespace

VacuumPageResult vacuum_page(Heap& heap, PageNumber number, TransactionOracle& oracle, Xid horizon,
                             bool has_indexes, std::vector<TupleId>& dead, BufferRing* ring,
                             Pin& visibility_pin) {
  Storage& storage = heap.storage();
  const HeapRelation& relation = heap.relation();
  storage.visibility.pin(relation.file, number, visibility_pin, true);
  const Pin pin = storage.pool.pin(main_page(relation, number), ring);
  WriteGuard guard = cleanup_latch(pin);
  if (!guard) {
    const ReadGuard read = pin.read();
    return survey(read.page(), number, oracle, horizon).result;
  }
  if (guard.page().is_new()) {
    VacuumPageResult empty;
    empty.free_bytes = kPageSize - kPageHeaderSize - sizeof(LinePointer);
    guard.release();
    storage.free_space.record(relation.file, number, empty.free_bytes);
    return empty;
  }
  const std::uint32_t removed = prune_page(storage, relation, guard, oracle, horizon);
  PageFacts facts = survey(guard.page(), number, oracle, horizon);
  if (!facts.dead.empty() && !has_indexes) {
    remove_dead_lines(storage, relation, guard, facts.dead);
    facts = survey(guard.page(), number, oracle, horizon);
  }
  facts.result.removed_tuples = removed;
  facts.result.dead_lines = static_cast<std::uint32_t>(facts.dead.size());
  if (facts.all_visible && !guard.page().has_flag(kPageAllVisible)) {
    set_all_visible(storage, relation, guard, visibility_pin);
  }
  facts.result.all_visible = guard.page().has_flag(kPageAllVisible);
  guard.release();
  for (const std::uint16_t slot : facts.dead) dead.push_back({number, slot});
  storage.free_space.record(relation.file, number, facts.result.free_bytes);
  return facts.result;
}

std::size_t vacuum_remove_dead_lines(Heap& heap, PageNumber number, std::span<const TupleId> dead,
                                     TransactionOracle& oracle, Xid horizon, BufferRing* ring,
                                     Pin& visibility_pin) {
  Storage& storage = heap.storage();
  const HeapRelation& relation = heap.relation();
  storage.visibility.pin(relation.file, number, visibility_pin, true);
  std::vector<std::uint16_t> slots;
  WriteGuard guard = storage.pool.write_page(main_page(relation, number), ring);
  for (const TupleId& id : dead) {
    if (id.slot <= guard.page().slot_count() && guard.page().line(id.slot).is_dead())
      slots.push_back(id.slot);
  }
  if (!slots.empty()) remove_dead_lines(storage, relation, guard, slots);
  const PageFacts facts = survey(guard.page(), number, oracle, horizon);
  if (facts.all_visible && !guard.page().has_flag(kPageAllVisible)) {
    set_all_visible(storage, relation, guard, visibility_pin);
  }
  guard.release();
  storage.free_space.record(relation.file, number, facts.result.free_bytes);
  return facts.result.free_bytes;
}

PageNumber vacuum_truncation_point(Heap& heap, BufferRing* ring) {
  std::uint32_t pages = heap.page_count().value;
  while (pages > 0) {
    const ReadGuard guard =
        heap.storage().pool.read_page(main_page(heap.relation(), PageNumber{pages - 1}), ring);
    bool has_lines = false;
    for (std::uint16_t slot = 1; slot <= guard.page().slot_count(); ++slot) {
      has_lines |= !guard.page().line(slot).is_unused();
    }
    if (has_lines) break;
    --pages;
  }
  return PageNumber{pages};
}

}  // namespace pinwheel::storage
