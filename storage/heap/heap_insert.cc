#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/error.h"
#include "base/sqlstate.h"
#include "storage/heap/heap_internal.h"

namespace pinwheel::storage {

namespace heap_detail {

void throw_too_big(std::size_t size) {
  throw SqlError{sqlstate::kProgramLimitExceeded,
                 fmt::format("row is too big: size {}, maximum size {}", size, kMaxTupleSize)};
}

WriteGuard latch_for_change(Storage& storage, const HeapRelation& relation, PageNumber page,
                            Pin& visibility_pin, BufferRing* ring) {
  const PageTag tag = main_page(relation, page);
  WriteGuard guard = storage.pool.write_page(tag, ring);
  while (guard.page().has_flag(kPageAllVisible)) {
    if (visibility_pin.holds(VisibilityMap::tag_for(relation.file, page))) break;
    // Reading the map may need a disk read: not while the heap page is latched.
    guard.release();
    storage.visibility.pin(relation.file, page, visibility_pin, true);
    guard = storage.pool.write_page(tag, ring);
  }
  return guard;
}

std::uint8_t clear_visible(const WriteGuard& guard, const Pin& visibility_pin, HeapRecordFlag flag) noexcept {
  if (!guard.page().has_flag(kPageAllVisible)) return 0;
  guard.page().clear_flag(kPageAllVisible);
  VisibilityMap::clear(visibility_pin, guard.number());
  return flag;
}

namespace {

/// Pages that the free-space map may offer in vain before the relation is extended.
constexpr int kMaxTargetAttempts = 16;

/// Bytes a page must have for an insert of `length`: the fill factor counts unless the page is empty.
bool has_room(Page page, std::size_t length, std::size_t reserved) noexcept {
  if (page.find_slot(length, kMaxHeapSlots) == 0) return false;
  return page.slot_count() == 0 || page.free_space() >= align_item(length) + reserved;
}

}  // namespace

Target find_target(Storage& storage, const HeapRelation& relation, std::size_t length, InsertState& state,
                   const InsertOptions& options) {
  const std::size_t reserved = kPageSize * (100u - std::min<unsigned>(relation.fill_factor, 100)) / 100;
  const std::size_t wanted = align_item(length) + reserved + sizeof(LinePointer);
  PageNumber page = state.target;
  if (!is_valid(page) && !options.skip_free_space) {
    page = storage.free_space.find(relation.file, wanted, state.spread_hint);
    if (!is_valid(page)) {
      // Nothing recorded: the last page may still have room.
      const PageNumber pages = storage.files.size(relation.file, Fork::kMain);
      if (pages.value > 0) page = PageNumber{pages.value - 1};
    }
  }
  int attempts = 0;
  while (is_valid(page)) {
    WriteGuard guard;
    const bool pinned =
        state.pin.owns() && state.pin.number() == page && state.pin.holds(main_page(relation, page));
    if (pinned && !state.pin.unlatched().has_flag(kPageAllVisible)) {
      guard = state.pin.write();
      if (guard.page().has_flag(kPageAllVisible)) guard.release();
    }
    if (!guard) guard = latch_for_change(storage, relation, page, state.visibility_pin, state.ring);
    if (guard.page().is_new()) {
      state.target = page;
      return {std::move(guard), true};
    }
    if (has_room(guard.page(), length, reserved)) {
      state.target = page;
      return {std::move(guard), false};
    }
    // A page whose line pointers are used up takes nothing, however many bytes are free: the map must say so,
    // or it would send us here for ever. The bound is for maps that are wrong in ways we did not think of.
    const bool has_slot = guard.page().find_slot(length, kMaxHeapSlots) != 0;
    const std::size_t free = has_slot ? guard.page().free_space() : 0;
    guard.release();
    state.pin.release();
    page = options.skip_free_space || ++attempts == kMaxTargetAttempts
               ? kInvalidPage
               : storage.free_space.record_and_find(relation.file, page, free, wanted, state.spread_hint);
  }
  WriteGuard guard = storage.pool.extend(relation.file, Fork::kMain, state.ring);
  state.target = guard.number();
  return {std::move(guard), true};
}

}  // namespace heap_detail

namespace {

using namespace heap_detail;

void stamp(const FormedTuple& tuple, const WriteContext& context, const InsertOptions& options) noexcept {
  TupleHeader& header = tuple.header();
  header.xmin = options.frozen ? kFrozenXid.value : context.xid.value;
  header.xmax = 0;
  header.cmin = context.command.value;
  header.cmax = 0;
  header.infomask = static_cast<std::uint16_t>(
      (header.infomask & (kTupleHasNulls | kTupleHasVarWidth | kTupleHasExternal)) | kTupleXmaxInvalid |
      (options.frozen ? kTupleXminCommitted : 0));
  header.infomask2 &= kTupleAttributeMask;
}

void put(Page page, std::uint16_t slot, const FormedTuple& tuple, PageNumber number) noexcept {
  std::byte* to = page.place_item(slot, tuple.length);
  set_next(tuple.header(), {number, slot});
  std::memcpy(to, tuple.bytes, tuple.length);
}

void keep_bulk_pin(InsertState& state, WriteGuard&& guard) noexcept {
  if (state.ring != nullptr) {
    state.pin = std::move(guard).keep_pin();
  } else {
    guard.release();
  }
}

}  // namespace

TupleId Heap::insert(const FormedTuple& tuple, const WriteContext& context, InsertState& state,
                     const InsertOptions& options) {
  if (tuple.length > kMaxTupleSize) throw_too_big(tuple.length);
  stamp(tuple, context, options);
  Target target = find_target(storage_, relation_, tuple.length, state, options);
  WriteGuard& guard = target.guard;
  const PageNumber number = guard.number();
  guard.mark_dirty();
  const Page page = guard.page();
  if (target.is_fresh) page.init(PageKind::kHeap);
  const std::uint16_t slot = page.find_slot(tuple.length, kMaxHeapSlots);
  DB_ASSERT(slot != 0);
  HeapInsertRecord data{slot, 0, 0};
  data.flags =
      static_cast<std::uint8_t>(clear_visible(guard, state.visibility_pin, kHeapClearsVisible) |
                                (target.is_fresh ? kHeapInitPage : 0) | (options.frozen ? kHeapFrozen : 0));
  put(page, slot, tuple, number);
  if (is_logged(relation_.persistence) && !options.skip_wal) {
    const WalTuple head = wal_tuple(tuple.header(), tuple.length);
    wal::RecordBuilder record{wal::RmgrId::kHeap, HeapRecord::kInsert};
    record.data(data);
    record.block(0, main_page(relation_, number), page.data(),
                 target.is_fresh ? wal::kBlockWillInit : wal::kBlockDefault, hole_of(page));
    record.block_data(0, &head, sizeof head);
    record.block_data(0, tuple.bytes + kTupleHeaderBytes, tuple.length - kTupleHeaderBytes);
    page.set_lsn(storage_.log.insert(record, context.xid));
  }
  keep_bulk_pin(state, std::move(guard));
  return {number, slot};
}

void Heap::multi_insert(std::span<const FormedTuple> tuples, const WriteContext& context, InsertState& state,
                        const InsertOptions& options, TupleId* ids) {
  for (const FormedTuple& tuple : tuples) {
    if (tuple.length > kMaxTupleSize) throw_too_big(tuple.length);
    stamp(tuple, context, options);
  }
  const std::size_t reserved = kPageSize * (100u - std::min<unsigned>(relation_.fill_factor, 100)) / 100;
  std::array<std::byte, kPageSize + 1024> logged;
  std::size_t done = 0;
  while (done < tuples.size()) {
    Target target = find_target(storage_, relation_, tuples[done].length, state, options);
    WriteGuard& guard = target.guard;
    const PageNumber number = guard.number();
    guard.mark_dirty();
    const Page page = guard.page();
    if (target.is_fresh) page.init(PageKind::kHeap);
    HeapMultiInsertRecord data{0, 0, 0};
    data.flags =
        static_cast<std::uint8_t>(clear_visible(guard, state.visibility_pin, kHeapClearsVisible) |
                                  (target.is_fresh ? kHeapInitPage : 0) | (options.frozen ? kHeapFrozen : 0));
    std::size_t log_size = 0;
    while (done < tuples.size()) {
      const FormedTuple& tuple = tuples[done];
      const std::uint16_t slot = page.find_slot(tuple.length, kMaxHeapSlots);
      const bool fits =
          slot != 0 && (data.count == 0 || page.free_space() >= align_item(tuple.length) + reserved);
      if (!fits) break;
      put(page, slot, tuple, number);
      ids[done++] = {number, slot};
      ++data.count;
      const WalTuple head = wal_tuple(tuple.header(), tuple.length);
      store(logged.data() + log_size, slot);
      std::memcpy(logged.data() + log_size + 2, &head, sizeof head);
      std::memcpy(logged.data() + log_size + 2 + sizeof head, tuple.bytes + kTupleHeaderBytes,
                  tuple.length - kTupleHeaderBytes);
      log_size += 2 + sizeof head + tuple.length - kTupleHeaderBytes;
    }
    DB_ASSERT(data.count != 0);
    if (is_logged(relation_.persistence) && !options.skip_wal) {
      wal::RecordBuilder record{wal::RmgrId::kHeap, HeapRecord::kMultiInsert};
      record.data(data);
      record.block(0, main_page(relation_, number), page.data(),
                   target.is_fresh ? wal::kBlockWillInit : wal::kBlockDefault, hole_of(page));
      record.block_data(0, logged.data(), log_size);
      page.set_lsn(storage_.log.insert(record, context.xid));
    }
    keep_bulk_pin(state, std::move(guard));
  }
}

void Heap::overwrite(TupleId id, const FormedTuple& tuple) {
  Pin visibility_pin;
  WriteGuard guard = storage_.pool.write_page(main_page(relation_, id.page));
  const HeapTupleView old = tuple_at(guard.page(), id);
  if (!old.valid() || old.length() != tuple.length ||
      old.header().data_offset != tuple.header().data_offset) {
    throw SqlError{sqlstate::kInternalError, "wrong tuple length"};
  }
  const Page page = guard.page();
  guard.apply_logged(
      [&](Page changed) noexcept {
        std::memcpy(changed.item(id.slot) + kTupleHeaderBytes, tuple.bytes + kTupleHeaderBytes,
                    tuple.length - kTupleHeaderBytes);
      },
      [&]() noexcept {
        const HeapSlotRecord data{id.slot, 0};
        wal::RecordBuilder record{wal::RmgrId::kHeap, HeapRecord::kOverwrite};
        record.data(data);
        record.block(0, guard.tag(), page.data(), wal::kBlockDefault, hole_of(page));
        record.block_data(0, tuple.bytes + kTupleHeaderBytes, tuple.length - kTupleHeaderBytes);
        return insert_if_logged(storage_, relation_.persistence, record, kInvalidXid);
      });
}

void Heap::abort_speculative(TupleId id, const WriteContext& context) {
  WriteGuard guard = storage_.pool.write_page(main_page(relation_, id.page));
  const HeapTupleView tuple = tuple_at(guard.page(), id);
  DB_ASSERT(tuple.valid() && tuple.xmin() == context.xid);
  const Page page = guard.page();
  guard.apply_logged(
      [&](Page changed) noexcept {
        auto& header = *reinterpret_cast<TupleHeader*>(changed.item(id.slot));
        header.xmin = kInvalidXid.value;
        header.infomask |= kTupleXminAborted;
        note_prunable(changed, context.xid);
      },
      [&]() noexcept {
        const HeapSlotRecord data{id.slot, 0};
        wal::RecordBuilder record{wal::RmgrId::kHeap, HeapRecord::kAbortSpeculative};
        record.data(data);
        record.block(0, guard.tag(), page.data(), wal::kBlockDefault, hole_of(page));
        return insert_if_logged(storage_, relation_.persistence, record, context.xid);
      });
}

HeapTupleView Heap::fetch_version(TupleId id, Pin& pin) const {
  const PageTag tag = main_page(relation_, id.page);
  if (!pin.holds(tag)) {
    if (id.page.value >= page_count().value) {
      pin.release();
      return {};
    }
    pin = storage_.pool.pin(tag);
  }
  const ReadGuard guard = pin.read();
  const HeapTupleView tuple = tuple_at(guard.page(), id);
  if (!tuple.valid()) pin.release();
  return tuple;
}

}  // namespace pinwheel::storage
