#include <algorithm>

#include "storage/heap/heap_internal.h"

namespace pinwheel::storage {

using namespace heap_detail;

namespace {

ModifyOutcome outcome_of_missing(TupleId id) noexcept {
  ModifyOutcome outcome;
  outcome.result = ModifyResult::kInvisible;
  outcome.next = id;
  return outcome;
}

/// Common bytes at both ends of two tuples' parts from offset 36 on, so that a record need not repeat them.
struct Shared {
  std::uint16_t prefix = 0;
  std::uint16_t suffix = 0;
};
Shared shared_bytes(const std::byte* old_bytes, std::size_t old_size, const std::byte* new_bytes,
                    std::size_t new_size) noexcept {
  const std::size_t most = std::min(old_size, new_size);
  std::size_t prefix = 0;
  while (prefix < most && old_bytes[prefix] == new_bytes[prefix]) ++prefix;
  std::size_t suffix = 0;
  while (suffix < most - prefix && old_bytes[old_size - 1 - suffix] == new_bytes[new_size - 1 - suffix])
    ++suffix;
  return {static_cast<std::uint16_t>(prefix), static_cast<std::uint16_t>(suffix)};
}

}  // namespace

ModifyOutcome Heap::remove(TupleId id, const WriteContext& context) {
  Pin visibility_pin;
  XmaxMembers members;
  WriteGuard guard = latch_for_change(storage_, relation_, id.page, visibility_pin);
  const HeapTupleView tuple = tuple_at(guard.page(), id);
  if (!tuple.valid()) return outcome_of_missing(id);
  ModifyOutcome outcome = judge(tuple, RowLock::kUpdate, context, members);
  if (outcome.result != ModifyResult::kOk) return outcome;
  const NewXmax xmax = compute_new_xmax(context, RowLock::kUpdate, true, members);

  guard.mark_dirty();
  const Page page = guard.page();
  HeapDeleteRecord data{xmax.xmax.value, id.slot, xmax.infomask, xmax.infomask2, 0, 0};
  data.flags = clear_visible(guard, visibility_pin, kHeapClearsVisible);
  auto& header = *reinterpret_cast<TupleHeader*>(page.item(id.slot));
  set_xmax(header, xmax.xmax, xmax.infomask, xmax.infomask2);
  header.infomask2 &= static_cast<std::uint16_t>(~kTupleHotUpdated);
  header.cmax = context.command.value;
  set_next(header, id);
  note_prunable(page, context.xid);
  wal::RecordBuilder record{wal::RmgrId::kHeap, HeapRecord::kDelete};
  record.data(data);
  record.block(0, guard.tag(), page.data(), wal::kBlockDefault, hole_of(page));
  const Lsn lsn = insert_if_logged(storage_, relation_.persistence, record, context.xid);
  if (is_valid(lsn)) page.set_lsn(lsn);
  return outcome;
}

ModifyOutcome Heap::check_modifiable(TupleId id, RowLock strength, const WriteContext& context) {
  XmaxMembers members;
  const WriteGuard guard = storage_.pool.write_page(main_page(relation_, id.page));
  const HeapTupleView tuple = tuple_at(guard.page(), id);
  return tuple.valid() ? judge(tuple, strength, context, members) : outcome_of_missing(id);
}

ModifyOutcome Heap::lock_row(TupleId id, RowLock strength, const WriteContext& context) {
  XmaxMembers members;
  WriteGuard guard = storage_.pool.write_page(main_page(relation_, id.page));
  const HeapTupleView tuple = tuple_at(guard.page(), id);
  if (!tuple.valid()) return outcome_of_missing(id);
  ModifyOutcome outcome = judge(tuple, strength, context, members);
  if (outcome.result != ModifyResult::kOk) return outcome;
  const NewXmax xmax = compute_new_xmax(context, strength, false, members);
  if (xmax.unchanged) return outcome;

  guard.mark_dirty();
  const Page page = guard.page();
  auto& header = *reinterpret_cast<TupleHeader*>(page.item(id.slot));
  set_xmax(header, xmax.xmax, xmax.infomask, xmax.infomask2);
  if ((xmax.infomask & kTupleXmaxLockOnly) != 0) {
    // An updater that stood here has aborted: its version is none.
    header.infomask2 &= static_cast<std::uint16_t>(~kTupleHotUpdated);
    set_next(header, id);
  }
  const HeapLockRecord data{xmax.xmax.value, id.slot, xmax.infomask, xmax.infomask2, 0};
  wal::RecordBuilder record{wal::RmgrId::kHeap, HeapRecord::kLock};
  record.data(data);
  record.block(0, guard.tag(), page.data(), wal::kBlockDefault, hole_of(page));
  const Lsn lsn = insert_if_logged(storage_, relation_.persistence, record, context.xid);
  if (is_valid(lsn)) page.set_lsn(lsn);
  return outcome;
}

namespace {

/// The two latched pages of an update and all that the change needs; nothing in here fails.
struct UpdateChange {
  Storage& storage;
  const HeapRelation& relation;
  const WriteContext& context;
  TupleId old_id;
  WriteGuard& old_guard;
  Pin& old_visibility;
  WriteGuard* new_guard;  // null: the same page
  Pin* new_visibility;
  bool new_is_fresh;
  bool is_hot;
  NewXmax old_xmax;
  NewXmax carried;
  const FormedTuple& tuple;

  TupleId apply() noexcept {
    WriteGuard& target = new_guard != nullptr ? *new_guard : old_guard;
    old_guard.mark_dirty();
    if (new_guard != nullptr) new_guard->mark_dirty();
    const Page old_page = old_guard.page();
    const Page new_page = target.page();
    if (new_is_fresh) new_page.init(PageKind::kHeap);
    HeapUpdateRecord data{};
    data.flags = clear_visible(old_guard, old_visibility, kHeapClearsVisible);
    if (new_guard != nullptr) {
      data.flags |= clear_visible(*new_guard, *new_visibility, kHeapClearsVisibleNew);
      if (new_is_fresh) data.flags |= kHeapInitPage;
    }
    const std::uint16_t slot = new_page.find_slot(tuple.length, kMaxHeapSlots);
    const TupleId new_id{target.number(), slot};
    stamp_new(new_id);
    std::byte* to = new_page.place_item(slot, tuple.length);
    std::memcpy(to, tuple.bytes, tuple.length);

    auto& old_header = *reinterpret_cast<TupleHeader*>(old_page.item(old_id.slot));
    set_xmax(old_header, old_xmax.xmax, old_xmax.infomask, old_xmax.infomask2);
    old_header.infomask2 = static_cast<std::uint16_t>((old_header.infomask2 & ~kTupleHotUpdated) |
                                                      (is_hot ? kTupleHotUpdated : 0));
    old_header.cmax = context.command.value;
    set_next(old_header, new_id);
    note_prunable(old_page, context.xid);
    data.old_xmax = old_xmax.xmax.value;
    data.new_xmax = carried.xmax.value;
    data.old_slot = old_id.slot;
    data.new_slot = slot;
    data.old_infomask = old_xmax.infomask;
    data.old_infomask2 = old_xmax.infomask2;
    if (is_logged(relation.persistence)) log(data, new_id, old_page, new_page);
    return new_id;
  }

 private:
  void stamp_new(TupleId id) noexcept {
    TupleHeader& header = tuple.header();
    header.xmin = context.xid.value;
    header.xmax = carried.xmax.value;
    header.cmin = context.command.value;
    header.cmax = 0;
    header.infomask = static_cast<std::uint16_t>(
        (header.infomask & (kTupleHasNulls | kTupleHasVarWidth | kTupleHasExternal)) | kTupleUpdated |
        carried.infomask);
    header.infomask2 = static_cast<std::uint16_t>((header.infomask2 & kTupleAttributeMask) |
                                                  carried.infomask2 | (is_hot ? kTupleHeapOnly : 0));
    set_next(header, id);
  }

  void log(HeapUpdateRecord& data, TupleId new_id, Page old_page, Page new_page) noexcept {
    const std::byte* bytes = tuple.bytes + kTupleHeaderBytes;
    const std::size_t size = tuple.length - kTupleHeaderBytes;
    const LinePointer old_line = old_page.line(old_id.slot);
    if (new_guard == nullptr) {
      const Shared shared = shared_bytes(old_page.item(old_line) + kTupleHeaderBytes,
                                         old_line.length() - kTupleHeaderBytes, bytes, size);
      data.prefix = shared.prefix;
      data.suffix = shared.suffix;
    }
    const WalTuple head = wal_tuple(tuple.header(), tuple.length);
    wal::RecordBuilder record{wal::RmgrId::kHeap, is_hot ? HeapRecord::kHotUpdate : HeapRecord::kUpdate};
    record.data(data);
    record.block(0, main_page(relation, new_id.page), new_page.data(),
                 new_is_fresh ? wal::kBlockWillInit : wal::kBlockDefault, hole_of(new_page));
    record.block_data(0, &head, sizeof head);
    record.block_data(0, bytes + data.prefix, size - data.prefix - data.suffix);
    if (new_guard != nullptr) {
      record.block(1, main_page(relation, old_id.page), old_page.data(), wal::kBlockDefault,
                   hole_of(old_page));
    }
    const Lsn lsn = storage.log.insert(record, context.xid);
    new_page.set_lsn(lsn);
    old_page.set_lsn(lsn);
  }
};

}  // namespace

UpdateOutcome Heap::update(TupleId id, const FormedTuple& tuple, const WriteContext& context,
                           const UpdateOptions& options, InsertState& state) {
  if (tuple.length > kMaxTupleSize) throw_too_big(tuple.length);
  const RowLock strength = options.key_columns_changed ? RowLock::kUpdate : RowLock::kNoKeyUpdate;
  Pin old_visibility;
  XmaxMembers members;
  Target target;
  UpdateOutcome outcome;
  WriteGuard guard = latch_for_change(storage_, relation_, id.page, old_visibility);
  while (true) {
    const HeapTupleView old = tuple_at(guard.page(), id);
    static_cast<ModifyOutcome&>(outcome) =
        old.valid() ? judge(old, strength, context, members) : outcome_of_missing(id);
    if (outcome.result != ModifyResult::kOk) return outcome;
    if (target.guard || guard.page().find_slot(tuple.length, kMaxHeapSlots) != 0) break;

    // The new version goes to another page. Two pages are latched lower number first, so ours is given up and
    // judged again afterwards: meanwhile others may change the row.
    guard.page().set_flag(kPageFull);
    guard.release();
    target = find_target(storage_, relation_, tuple.length, state, {});
    const PageNumber chosen = target.guard.number();
    if (chosen == id.page) {
      // Somebody made room on the old page.
      target.guard.release();
      guard = latch_for_change(storage_, relation_, id.page, old_visibility);
      continue;
    }
    if (chosen.value < id.page.value) {
      guard = storage_.pool.write_page(main_page(relation_, id.page));
      if (guard.page().has_flag(kPageAllVisible) &&
          !old_visibility.holds(VisibilityMap::tag_for(relation_.file, id.page))) {
        target.guard.release();
        guard.release();
        guard = latch_for_change(storage_, relation_, id.page, old_visibility);
      }
      continue;
    }
    target.guard.release();
    guard = latch_for_change(storage_, relation_, id.page, old_visibility);
    WriteGuard second = storage_.pool.write_page(main_page(relation_, chosen));
    target.is_fresh = second.page().is_new();
    const bool usable =
        target.is_fresh || (second.page().find_slot(tuple.length, kMaxHeapSlots) != 0 &&
                            (!second.page().has_flag(kPageAllVisible) ||
                             state.visibility_pin.holds(VisibilityMap::tag_for(relation_.file, chosen))));
    if (usable) target.guard = std::move(second);
  }

  UpdateChange change{storage_,
                      relation_,
                      context,
                      id,
                      guard,
                      old_visibility,
                      target.guard ? &target.guard : nullptr,
                      &state.visibility_pin,
                      target.guard && target.is_fresh,
                      !target.guard && options.indexed_columns_unchanged,
                      compute_new_xmax(context, strength, true, members),
                      carried_xmax(context, members),
                      tuple};
  outcome.new_id = change.apply();
  outcome.is_hot = change.is_hot;
  return outcome;
}

}  // namespace pinwheel::storage
