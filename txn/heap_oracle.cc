#include "txn/heap_oracle.h"

namespace pinwheel::txn {

namespace {
using clog::MemberStatus;
using storage::RowLock;

// The four lock strengths have the same numbers in both; updates follow.
static_assert(static_cast<int>(RowLock::kKeyShare) == static_cast<int>(MemberStatus::kForKeyShare));
static_assert(static_cast<int>(RowLock::kShare) == static_cast<int>(MemberStatus::kForShare));
static_assert(static_cast<int>(RowLock::kNoKeyUpdate) == static_cast<int>(MemberStatus::kForNoKeyUpdate));
static_assert(static_cast<int>(RowLock::kUpdate) == static_cast<int>(MemberStatus::kForUpdate));

MemberStatus status_of(const storage::MultixactMember& member) noexcept {
  if (!member.is_update) return static_cast<MemberStatus>(member.strength);
  return member.strength == RowLock::kUpdate ? MemberStatus::kUpdate : MemberStatus::kNoKeyUpdate;
}

storage::MultixactMember member_of(const clog::MultiXactMember& member) noexcept {
  switch (member.status) {
    case MemberStatus::kNoKeyUpdate:
      return {member.xid, RowLock::kNoKeyUpdate, true};
    case MemberStatus::kUpdate:
      return {member.xid, RowLock::kUpdate, true};
    default:
      return {member.xid, static_cast<RowLock>(member.status), false};
  }
}
}  // namespace

storage::XidState HeapOracle::state(Xid xid) {
  if (own_ != nullptr && own_->is_own(xid)) return storage::XidState::kSelf;
  switch (manager_.state(xid)) {
    case TransactionManager::State::kRunning:
      return storage::XidState::kRunning;
    case TransactionManager::State::kCommitted:
      return storage::XidState::kCommitted;
    case TransactionManager::State::kAborted:
      break;
  }
  return storage::XidState::kAborted;
}

bool HeapOracle::is_durable(Xid xid) {
  bool durable;
  manager_.outcome(xid, durable);
  return durable;
}

void HeapOracle::multixact_members(Xid multixact, std::vector<storage::MultixactMember>& members) {
  std::vector<clog::MultiXactMember> stored;
  manager_.clog().multixacts.read(clog::MultiXactId{multixact.value}, stored);
  members.clear();
  for (const clog::MultiXactMember& member : stored) members.push_back(member_of(member));
}

Xid HeapOracle::make_multixact(std::span<const storage::MultixactMember> members) {
  std::vector<clog::MultiXactMember> stored;
  stored.reserve(members.size());
  for (const storage::MultixactMember& member : members) stored.push_back({member.xid, status_of(member)});
  const Xid xid = own_ != nullptr ? own_->top_xid() : kInvalidXid;
  return Xid{manager_.clog().multixacts.create(stored, xid).value};
}

}  // namespace pinwheel::txn
