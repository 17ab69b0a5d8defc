#pragma once

#include <cstdint>
#include <cstring>
#include <vector>

#include "storage/heap/heap.h"
#include "storage/heap/heap_wal.h"
#include "wal/builder.h"
#include "wal/log.h"

namespace pinwheel::storage::heap_detail {

inline wal::PageHole hole_of(ConstPage page) noexcept {
  return {page.header().lower, static_cast<std::uint16_t>(page.header().upper - page.header().lower)};
}

inline PageTag main_page(const HeapRelation& relation, PageNumber page) noexcept {
  return {relation.file, Fork::kMain, page};
}

inline WalTuple wal_tuple(const TupleHeader& header, std::size_t length) noexcept {
  return {static_cast<std::uint16_t>(length), header.infomask, header.infomask2, header.data_offset, 0};
}

/// Adds the page's block and puts `change`'s result on it: see WriteGuard::apply_logged.
inline Lsn insert_if_logged(const Storage& storage, Persistence persistence, const wal::RecordBuilder& record,
                            Xid xid) noexcept {
  return is_logged(persistence) ? storage.log.insert(record, xid) : kInvalidLsn;
}

/// The row's xmax as it will be: see compute_new_xmax.
struct NewXmax {
  Xid xmax;
  std::uint16_t infomask = 0;   // kTupleXmax... bits
  std::uint16_t infomask2 = 0;  // kTupleKeysUpdated or 0
  bool unchanged = false;       // we hold it already
};

/// What stands in a row's xmax, resolved. Reused between calls: no allocation in the steady state.
struct XmaxMembers {
  std::vector<MultixactMember> all;      // as stored
  std::vector<MultixactMember> running;  // others' that still count
  std::vector<MultixactMember> own;      // ours
};

/// Bits for xmax of a plain transaction.
std::uint16_t xmax_bits(RowLock strength, bool is_update) noexcept;
/// Strength that the bits of a plain xmax say.
RowLock strength_of(std::uint16_t infomask, std::uint16_t infomask2) noexcept;

/// Whether `context` may change or lock a version, and what else is in its xmax. Sets hint bits. The page is
/// latched exclusively.
ModifyOutcome judge(const HeapTupleView& tuple, RowLock strength, const WriteContext& context,
                    XmaxMembers& members);

/// The xmax that adds our change or lock to those still running. May make a multixact. Errors: clog's.
NewXmax compute_new_xmax(const WriteContext& context, RowLock strength, bool is_update,
                         const XmaxMembers& members);
/// The xmax of a new version: the lockers of the old one that still run.
NewXmax carried_xmax(const WriteContext& context, const XmaxMembers& members);

inline void set_xmax(TupleHeader& header, Xid xmax, std::uint16_t infomask,
                     std::uint16_t infomask2) noexcept {
  header.xmax = xmax.value;
  header.infomask = static_cast<std::uint16_t>((header.infomask & ~kTupleXmaxBits) | infomask);
  header.infomask2 = static_cast<std::uint16_t>((header.infomask2 & ~kTupleKeysUpdated) | infomask2);
}

inline void set_next(TupleHeader& header, TupleId next) noexcept {
  header.next_page = next.page.value;
  header.next_slot = next.slot;
}

/// Notes that a version of the page may become removable when `xid` is below the horizon.
inline void note_prunable(Page page, Xid xid) noexcept {
  PageHeader& header = page.header();
  if (header.prune_xid == 0 || xid.value < header.prune_xid) header.prune_xid = xid.value;
}

/// The tuple in `slot` of a latched page; not valid when there is none.
inline HeapTupleView tuple_at(ConstPage page, TupleId id) noexcept {
  if (id.slot == 0 || id.slot > page.slot_count()) return {};
  const LinePointer line = page.line(id.slot);
  if (!line.is_normal()) return {};
  return {page.item(line), line.length(), id};
}

/// A latched heap page together with the pin on its visibility map page when the page is flagged all-visible:
/// the map is never read while a heap page is latched.
WriteGuard latch_for_change(Storage& storage, const HeapRelation& relation, PageNumber page,
                            Pin& visibility_pin, BufferRing* ring = nullptr);
/// Clears flag and map bit if set; returns `flag` or 0 for the record. Within the change: the map page is
/// dirty before the record is inserted.
std::uint8_t clear_visible(const WriteGuard& guard, const Pin& visibility_pin, HeapRecordFlag flag) noexcept;

/// A page with room for `length` bytes, latched; `is_fresh`: made just now, to be initialised by the change.
struct Target {
  WriteGuard guard;
  bool is_fresh = false;
};
Target find_target(Storage& storage, const HeapRelation& relation, std::size_t length, InsertState& state,
                   const InsertOptions& options);

/// Slots of a page that pruning changes.
struct PrunePlan {
  std::vector<std::uint16_t> redirected;  // pairs
  std::vector<std::uint16_t> dead;
  std::vector<std::uint16_t> unused;
  Xid next_prune_xid{};
  std::uint32_t removed_tuples = 0;
  bool empty() const noexcept { return redirected.empty() && dead.empty() && unused.empty(); }
};
/// Carries a plan out; also in redo. Items are moved: nobody else may have the page pinned.
void apply_prune(Page page, std::span<const std::uint16_t> redirected, std::span<const std::uint16_t> dead,
                 std::span<const std::uint16_t> unused, Xid prune_xid) noexcept;
/// Makes dead line pointers unused; also in redo.
void apply_vacuum(Page page, std::span<const std::uint16_t> slots) noexcept;
/// Finds what can go on a page under a cleanup latch, carries it out and logs it. Returns versions removed.
std::uint32_t prune_page(Storage& storage, const HeapRelation& relation, WriteGuard& guard,
                         TransactionOracle& oracle, Xid horizon);

/// The updating member of a multixact; kInvalidXid when all only lock.
Xid multixact_updater(TransactionOracle& oracle, Xid multixact);

[[noreturn]] void throw_too_big(std::size_t size);

}  // namespace pinwheel::storage::heap_detail
