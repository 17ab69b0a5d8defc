#pragma once

#include "storage/heap/heap.h"

namespace pinwheel::storage {

struct ChainResult {
  HeapTupleView tuple;    // valid() = found
  bool all_dead = false;  // nothing found, and no transaction will ever see anything of the chain
};

namespace heap_detail {
/// Steps to the first version of a HOT chain. 0 when the slot holds nothing.
inline std::uint16_t chain_start(ConstPage page, std::uint16_t slot) noexcept {
  if (slot == 0 || slot > page.slot_count()) return 0;
  const LinePointer line = page.line(slot);
  if (line.is_normal()) return slot;
  if (line.is_redirect()) return line.redirect_to();
  return 0;
}
/// The updating member of a multixact; kInvalidXid when all only lock.
Xid multixact_updater(TransactionOracle& oracle, Xid multixact);
/// True when the version is invisible to everyone for good.
bool is_surely_dead(const HeapTupleView& tuple, TransactionOracle& oracle, Xid horizon) noexcept;
}  // namespace heap_detail

/// Walks the HOT chain that starts at `root` on a latched page to the first version that `visible` accepts.
/// `visible(const HeapTupleView&) -> bool`. `oracle`: may be null; then all_dead is not computed.
template <class Predicate>
ChainResult search_hot_chain(ConstPage page, TupleId root, Predicate& visible, TransactionOracle* oracle) {
  ChainResult result;
  std::uint16_t slot = heap_detail::chain_start(page, root.slot);
  bool all_dead = oracle != nullptr;
  Xid horizon{};
  Xid previous_xmax{};
  bool first = slot != 0 && slot == root.slot;
  while (slot != 0 && slot <= page.slot_count()) {
    const LinePointer line = page.line(slot);
    if (!line.is_normal()) break;
    const HeapTupleView tuple{page.item(line), line.length(), {root.page, slot}};
    // The first version must not be a heap-only one: its chain was pruned and the slot reused.
    if (first && tuple.is_heap_only()) break;
    first = false;
    // A version that does not continue the one before belongs to another chain.
    if (is_valid(previous_xmax) && tuple.xmin() != previous_xmax) break;
    if (visible(tuple)) {
      result.tuple = tuple;
      return result;
    }
    if (all_dead) {
      if (!is_valid(horizon)) horizon = oracle->removal_horizon();
      all_dead = heap_detail::is_surely_dead(tuple, *oracle, horizon);
    }
    if (!tuple.is_hot_updated()) break;
    slot = tuple.next().slot;
    previous_xmax = tuple.xmax();
    if ((tuple.infomask() & kTupleXmaxIsMulti) != 0) {
      previous_xmax = oracle != nullptr ? heap_detail::multixact_updater(*oracle, tuple.xmax()) : kInvalidXid;
    }
  }
  result.all_dead = all_dead;
  return result;
}

/// Follows an index entry: the version of the row at `root` that `visible` accepts, in a page left pinned in
/// `pin` (kept when it is that page already). `oracle` allows pruning on the way and computes all_dead; may
/// be null.
template <class Predicate>
ChainResult fetch_visible(const Heap& heap, TupleId root, Predicate& visible, Pin& pin,
                          TransactionOracle* oracle) {
  const PageTag tag{heap.relation().file, Fork::kMain, root.page};
  ReadGuard guard;
  if (pin.holds(tag)) {
    if (oracle != nullptr) heap.prune_if_worthwhile(pin, *oracle);
    guard = pin.read();
    return search_hot_chain(guard.page(), root, visible, oracle);
  }
  // Pin and latch in one step; the pin is kept.
  guard = heap.storage().pool.read_page(tag);
  if (oracle != nullptr && is_valid(guard.page().prune_xid())) {
    pin = std::move(guard).keep_pin();
    heap.prune_if_worthwhile(pin, *oracle);
    guard = pin.read();
    return search_hot_chain(guard.page(), root, visible, oracle);
  }
  const ChainResult result = search_hot_chain(guard.page(), root, visible, oracle);
  pin = std::move(guard).keep_pin();
  return result;
}

}  // namespace pinwheel::storage
