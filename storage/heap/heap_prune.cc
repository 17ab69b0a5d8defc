// Removing dead versions from one page: finding them, carrying it out (also in redo), and doing it on the
// way.
#include <algorithm>
#include <array>
#include <utility>

#include "storage/heap/heap_fetch.h"
#include "storage/heap/heap_internal.h"
#include "storage/heap/vacuum.h"

namespace pinwheel::storage {

VacuumState vacuum_state(const HeapTupleView& tuple, TransactionOracle& oracle, Xid horizon) {
  const std::uint16_t infomask = tuple.infomask();
  if ((infomask & kTupleXminAborted) != 0 || !is_valid(tuple.xmin())) return VacuumState::kDead;
  if ((infomask & kTupleXminCommitted) == 0) {
    switch (oracle.state(tuple.xmin())) {
      case XidState::kSelf:
      case XidState::kRunning:
        return VacuumState::kInsertInProgress;
      case XidState::kAborted:
        tuple.set_hint(kTupleXminAborted);
        return VacuumState::kDead;
      case XidState::kCommitted:
        if (oracle.is_durable(tuple.xmin())) tuple.set_hint(kTupleXminCommitted);
        break;
    }
  }
  Xid deleter = tuple.xmax();
  if (!is_valid(deleter) || (infomask & (kTupleXmaxInvalid | kTupleXmaxLockOnly)) != 0)
    return VacuumState::kLive;
  const bool is_multi = (infomask & kTupleXmaxIsMulti) != 0;
  if (is_multi) {
    deleter = heap_detail::multixact_updater(oracle, deleter);
    if (!is_valid(deleter)) return VacuumState::kLive;
  }
  if (is_multi || (infomask & kTupleXmaxCommitted) == 0) {
    switch (oracle.state(deleter)) {
      case XidState::kSelf:
      case XidState::kRunning:
        return VacuumState::kDeleteInProgress;
      case XidState::kAborted:
        if (!is_multi) tuple.set_hint(kTupleXmaxInvalid);
        return VacuumState::kLive;
      case XidState::kCommitted:
        if (!is_multi && oracle.is_durable(deleter)) tuple.set_hint(kTupleXmaxCommitted);
        break;
    }
  }
  return deleter < horizon ? VacuumState::kDead : VacuumState::kRecentlyDead;
}

namespace heap_detail {

bool is_surely_dead(const HeapTupleView& tuple, TransactionOracle& oracle, Xid horizon) noexcept {
  return vacuum_state(tuple, oracle, horizon) == VacuumState::kDead;
}

void apply_prune(Page page, std::span<const std::uint16_t> redirected, std::span<const std::uint16_t> dead,
                 std::span<const std::uint16_t> unused, Xid prune_xid) noexcept {
  for (std::size_t i = 0; i + 1 < redirected.size(); i += 2) {
    page.set_line(redirected[i], LinePointer::make(LineState::kRedirect, redirected[i + 1], 0));
  }
  for (const std::uint16_t slot : dead) page.set_line(slot, LinePointer::make(LineState::kDead, 0, 0));
  for (const std::uint16_t slot : unused) page.set_line(slot, LinePointer::make(LineState::kUnused, 0, 0));
  if (!unused.empty()) page.set_flag(kPageHasUnusedLines);
  page.compact();
  page.header().prune_xid = prune_xid.value;
  page.clear_flag(kPageFull);
}

void apply_vacuum(Page page, std::span<const std::uint16_t> slots) noexcept {
  for (const std::uint16_t slot : slots) page.set_line(slot, LinePointer::make(LineState::kUnused, 0, 0));
  page.set_flag(kPageHasUnusedLines);
  page.truncate_unused_lines();
}

namespace {

class Pruner {
 public:
  Pruner(ConstPage page, PageNumber number, TransactionOracle& oracle, Xid horizon)
      : page_{page}, number_{number}, oracle_{oracle}, horizon_{horizon} {}

  PrunePlan plan() {
    const std::uint16_t count = page_.slot_count();
    for (std::uint16_t slot = 1; slot <= count; ++slot) {
      reached_[slot] = false;
      if (page_.line(slot).is_normal()) judge(slot);
    }
    for (std::uint16_t slot = 1; slot <= count; ++slot) {
      const LinePointer line = page_.line(slot);
      if (line.is_redirect() || (line.is_normal() && !tuple(slot).is_heap_only())) prune_chain(slot);
    }
    for (std::uint16_t slot = 1; slot <= count; ++slot) {
      // A heap-only version that no chain reached comes from an update that aborted.
      if (page_.line(slot).is_normal() && tuple(slot).is_heap_only() && !reached_[slot] &&
          states_[slot] == VacuumState::kDead) {
        remove(slot);
      }
    }
    return std::move(plan_);
  }

 private:
  HeapTupleView tuple(std::uint16_t slot) const noexcept {
    const LinePointer line = page_.line(slot);
    return {page_.item(line), line.length(), {number_, slot}};
  }

  void judge(std::uint16_t slot) {
    const HeapTupleView view = tuple(slot);
    states_[slot] = vacuum_state(view, oracle_, horizon_);
    if (states_[slot] == VacuumState::kRecentlyDead || states_[slot] == VacuumState::kDeleteInProgress) {
      const Xid xmax =
          (view.infomask() & kTupleXmaxIsMulti) != 0 ? multixact_updater(oracle_, view.xmax()) : view.xmax();
      if (is_valid(xmax) && (!is_valid(plan_.next_prune_xid) || xmax < plan_.next_prune_xid)) {
        plan_.next_prune_xid = xmax;
      }
    }
  }

  void remove(std::uint16_t slot) {
    plan_.unused.push_back(slot);
    ++plan_.removed_tuples;
  }

  /// Everything up to the last dead version of the chain goes; the root stays as a redirect to what follows,
  /// or as a dead line pointer, since indexes point to it.
  void prune_chain(std::uint16_t root) {
    std::array<std::uint16_t, kMaxSlots + 1>& chain = chain_;
    std::size_t length = 0;
    std::size_t dead_until = 0;  // members before this index are dead
    Xid previous_xmax{};
    const bool from_redirect = page_.line(root).is_redirect();
    std::uint16_t slot = from_redirect ? page_.line(root).redirect_to() : root;
    while (slot != 0 && slot <= page_.slot_count() && page_.line(slot).is_normal() && length < kMaxSlots) {
      const HeapTupleView view = tuple(slot);
      if (is_valid(previous_xmax) && view.xmin() != previous_xmax) break;
      if ((length > 0 || from_redirect) && !view.is_heap_only()) break;
      reached_[slot] = true;
      chain[length++] = slot;
      if (states_[slot] == VacuumState::kDead) {
        dead_until = length;
      } else if (states_[slot] != VacuumState::kRecentlyDead) {
        break;
      }
      if (!view.is_hot_updated()) break;
      previous_xmax =
          (view.infomask() & kTupleXmaxIsMulti) != 0 ? multixact_updater(oracle_, view.xmax()) : view.xmax();
      slot = view.next().slot;
    }
    if (dead_until == 0) {
      if (from_redirect && length == 0) plan_.dead.push_back(root);
      return;
    }
    for (std::size_t i = from_redirect ? 0 : 1; i < dead_until; ++i) remove(chain[i]);
    if (!from_redirect) ++plan_.removed_tuples;
    if (dead_until < length) {
      plan_.redirected.push_back(root);
      plan_.redirected.push_back(chain[dead_until]);
    } else {
      plan_.dead.push_back(root);
    }
  }

  ConstPage page_;
  PageNumber number_;
  TransactionOracle& oracle_;
  Xid horizon_;
  PrunePlan plan_;
  std::array<VacuumState, kMaxSlots + 1> states_;  // set for normal lines
  std::array<bool, kMaxSlots + 1> reached_;        // likewise
  std::array<std::uint16_t, kMaxSlots + 1> chain_;
};

}  // namespace

std::uint32_t prune_page(Storage& storage, const HeapRelation& relation, WriteGuard& guard,
                         TransactionOracle& oracle, Xid horizon) {
  const PrunePlan plan = Pruner{guard.page(), guard.number(), oracle, horizon}.plan();
  if (plan.empty()) {
    // A hint only: not logged, not dirty.
    guard.page().header().prune_xid = plan.next_prune_xid.value;
    guard.page().clear_flag(kPageFull);
    return 0;
  }
  guard.apply_logged(
      [&](Page page) noexcept {
        apply_prune(page, plan.redirected, plan.dead, plan.unused, plan.next_prune_xid);
      },
      [&]() noexcept {
        const HeapPruneRecord data{
            plan.next_prune_xid.value, static_cast<std::uint16_t>(plan.redirected.size() / 2),
            static_cast<std::uint16_t>(plan.dead.size()), static_cast<std::uint16_t>(plan.unused.size()), 0};
        wal::RecordBuilder record{wal::RmgrId::kHeap, HeapRecord::kPrune};
        record.data(data);
        record.block(0, guard.tag(), guard.page().data(), wal::kBlockDefault, hole_of(guard.page()));
        for (const std::vector<std::uint16_t>* slots : {&plan.redirected, &plan.dead, &plan.unused}) {
          record.block_data(0, slots->data(), slots->size() * sizeof(std::uint16_t));
        }
        return insert_if_logged(storage, relation.persistence, record, kInvalidXid);
      });
  return plan.removed_tuples;
}

}  // namespace heap_detail

void Heap::prune_opportunistically(const Pin& pin, TransactionOracle& oracle) const {
  const ConstPage glance = pin.unlatched();
  const std::size_t wanted = std::max<std::size_t>(
      kPageSize * (100u - std::min<unsigned>(relation_.fill_factor, 100)) / 100, kPageSize / 10);
  if (!glance.has_flag(kPageFull) && glance.gap() >= wanted) return;
  const Xid horizon = oracle.removal_horizon();
  if (glance.prune_xid() >= horizon) return;
  WriteGuard guard = pin.try_cleanup();
  if (!guard) return;
  if (!guard.page().has_flag(kPageFull) && guard.page().gap() >= wanted) return;
  heap_detail::prune_page(storage_, relation_, guard, oracle, horizon);
}

}  // namespace pinwheel::storage
