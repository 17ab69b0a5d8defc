// Who may change a row: judging a version's xmin and xmax, and composing the next xmax.
#include <algorithm>

#include "storage/heap/heap_internal.h"

namespace pinwheel::storage::heap_detail {

std::uint16_t xmax_bits(RowLock strength, bool is_update) noexcept {
  if (is_update) return kTupleXmaxExclusive;
  switch (strength) {
    case RowLock::kKeyShare:
      return kTupleXmaxLockOnly | kTupleXmaxKeyShare;
    case RowLock::kShare:
      return kTupleXmaxLockOnly | kTupleXmaxKeyShare | kTupleXmaxExclusive;
    default:
      return kTupleXmaxLockOnly | kTupleXmaxExclusive;
  }
}

RowLock strength_of(std::uint16_t infomask, std::uint16_t infomask2) noexcept {
  const bool keys = (infomask2 & kTupleKeysUpdated) != 0;
  if ((infomask & kTupleXmaxLockOnly) == 0) return keys ? RowLock::kUpdate : RowLock::kNoKeyUpdate;
  switch (infomask & kTupleXmaxStrength) {
    case kTupleXmaxKeyShare:
      return RowLock::kKeyShare;
    case kTupleXmaxStrength:
      return RowLock::kShare;
    default:
      return keys ? RowLock::kUpdate : RowLock::kNoKeyUpdate;
  }
}

Xid multixact_updater(TransactionOracle& oracle, Xid multixact) {
  std::vector<MultixactMember> members;
  oracle.multixact_members(multixact, members);
  for (const MultixactMember& member : members) {
    if (member.is_update) return member.xid;
  }
  return kInvalidXid;
}

namespace {

/// Whether xmin's insertion counts for a change by `context`.
bool insertion_counts(const HeapTupleView& tuple, const WriteContext& context) {
  const std::uint16_t infomask = tuple.infomask();
  if ((infomask & kTupleXminAborted) != 0) return false;
  if ((infomask & kTupleXminCommitted) != 0) return true;
  switch (context.oracle.state(tuple.xmin())) {
    case XidState::kSelf:
      return tuple.header().cmin < context.command.value;
    case XidState::kRunning:
      return false;
    case XidState::kCommitted:
      if (context.oracle.is_durable(tuple.xmin())) tuple.set_hint(kTupleXminCommitted);
      return true;
    case XidState::kAborted:
      tuple.set_hint(kTupleXminAborted);
      return false;
  }
  return false;
}

void collect_members(const HeapTupleView& tuple, TransactionOracle& oracle, XmaxMembers& members) {
  const std::uint16_t infomask = tuple.infomask();
  if ((infomask & kTupleXmaxIsMulti) != 0) {
    oracle.multixact_members(tuple.xmax(), members.all);
    return;
  }
  members.all.push_back(
      {tuple.xmax(), strength_of(infomask, tuple.header().infomask2), (infomask & kTupleXmaxLockOnly) == 0});
}

}  // namespace

ModifyOutcome judge(const HeapTupleView& tuple, RowLock strength, const WriteContext& context,
                    XmaxMembers& members) {
  members.all.clear();
  members.running.clear();
  members.own.clear();
  ModifyOutcome outcome;
  outcome.next = tuple.id();
  if (!insertion_counts(tuple, context)) {
    outcome.result = ModifyResult::kInvisible;
    return outcome;
  }
  if (!is_valid(tuple.xmax()) || (tuple.infomask() & kTupleXmaxInvalid) != 0) return outcome;
  collect_members(tuple, context.oracle, members);
  const bool is_plain = (tuple.infomask() & kTupleXmaxIsMulti) == 0;
  Xid blocker{};
  for (const MultixactMember& member : members.all) {
    switch (context.oracle.state(member.xid)) {
      case XidState::kSelf:
        if (member.is_update) {
          outcome.xmax = member.xid;
          outcome.command = CommandId{tuple.header().cmax};
          outcome.result = tuple.header().cmax >= context.command.value ? ModifyResult::kSelfModified
                                                                        : ModifyResult::kInvisible;
          outcome.next = tuple.next();
          return outcome;
        }
        members.own.push_back(member);
        break;
      case XidState::kRunning:
        if (row_locks_conflict(member.strength, strength) && !is_valid(blocker)) blocker = member.xid;
        members.running.push_back(member);
        break;
      case XidState::kCommitted:
        if (!member.is_update) break;
        if (is_plain && context.oracle.is_durable(member.xid)) tuple.set_hint(kTupleXmaxCommitted);
        outcome.xmax = member.xid;
        outcome.next = tuple.next();
        outcome.result = tuple.has_next() ? ModifyResult::kUpdated : ModifyResult::kDeleted;
        return outcome;
      case XidState::kAborted:
        if (is_plain) tuple.set_hint(kTupleXmaxInvalid);
        break;
    }
  }
  if (is_valid(blocker)) {
    outcome.result = ModifyResult::kBeingModified;
    outcome.blocker = blocker;
  }
  return outcome;
}

namespace {

NewXmax plain_xmax(const MultixactMember& member) noexcept {
  NewXmax result;
  result.xmax = member.xid;
  result.infomask = xmax_bits(member.strength, member.is_update);
  if (member.strength == RowLock::kUpdate) result.infomask2 = kTupleKeysUpdated;
  return result;
}

NewXmax multi_xmax(TransactionOracle& oracle, std::span<const MultixactMember> members) {
  NewXmax result;
  bool has_update = false;
  RowLock strongest = RowLock::kKeyShare;
  for (const MultixactMember& member : members) {
    has_update |= member.is_update;
    strongest = std::max(strongest, member.strength);
  }
  result.xmax = oracle.make_multixact(members);
  result.infomask = static_cast<std::uint16_t>(kTupleXmaxIsMulti | xmax_bits(strongest, has_update));
  if (strongest == RowLock::kUpdate) result.infomask2 = kTupleKeysUpdated;
  return result;
}

NewXmax from_members(TransactionOracle& oracle, std::span<const MultixactMember> members) {
  return members.size() == 1 ? plain_xmax(members[0]) : multi_xmax(oracle, members);
}

}  // namespace

NewXmax compute_new_xmax(const WriteContext& context, RowLock strength, bool is_update,
                         const XmaxMembers& members) {
  MultixactMember mine{context.xid, strength, is_update};
  if (members.running.empty() && members.own.empty()) return plain_xmax(mine);
  std::vector<MultixactMember> next{members.running};
  for (const MultixactMember& own : members.own) {
    if (!is_update && own.strength >= strength) {
      NewXmax unchanged;
      unchanged.unchanged = true;
      return unchanged;
    }
    if (own.xid == mine.xid) {
      mine.strength = std::max(mine.strength, own.strength);
    } else {
      // Taken by a parent transaction: it must outlive a rollback of ours.
      next.push_back(own);
    }
  }
  next.push_back(mine);
  return from_members(context.oracle, next);
}

NewXmax carried_xmax(const WriteContext& context, const XmaxMembers& members) {
  std::vector<MultixactMember> lockers;
  for (const MultixactMember& member : members.running) {
    if (!member.is_update) lockers.push_back(member);
  }
  for (const MultixactMember& own : members.own) {
    if (own.xid != context.xid) lockers.push_back(own);
  }
  NewXmax result;
  if (lockers.empty()) {
    result.infomask = kTupleXmaxInvalid;
    return result;
  }
  return from_members(context.oracle, lockers);
}

}  // namespace pinwheel::storage::heap_detail
