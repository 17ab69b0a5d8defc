#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/ids.h"
#include "storage/heap/tuple.h"

namespace pinwheel::storage {

enum class XidState : std::uint8_t {
  kRunning,  // another transaction's, not ended
  kCommitted,
  kAborted,  // or crashed
  kSelf,     // ours: this transaction or a subtransaction of it that was not rolled back
};

struct MultixactMember {
  Xid xid;
  RowLock strength;
  bool is_update;  // it changed the row (delete or update), not only locked it
};

/// What heap changes, pruning and vacuum ask about transactions; txn answers. Scans do not use it: they take
/// a predicate. Called under page latches: must not park, and may only take latches above kBufferContent.
class TransactionOracle {
 public:
  virtual ~TransactionOracle() = default;

  /// Bootstrap and frozen xids are committed.
  virtual XidState state(Xid xid) = 0;
  /// True when the commit record of a committed xid is on disk, so that a hint bit may say so.
  virtual bool is_durable(Xid xid) = 0;
  /// Replaces `members` by those of a multixact.
  virtual void multixact_members(Xid multixact, std::vector<MultixactMember>& members) = 0;
  /// A multixact of these members (WAL-logged). Errors: those of clog.
  virtual Xid make_multixact(std::span<const MultixactMember> members) = 0;
  /// Versions deleted by a transaction that ended before this xid are visible to nobody, now or later.
  virtual Xid removal_horizon() = 0;
};

}  // namespace pinwheel::storage
