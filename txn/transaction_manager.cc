#include "txn/transaction_manager.h"

#include "wal/log.h"

namespace pinwheel::txn {

void TransactionManager::declare(shm::RegionBuilder& builder, std::size_t session_capacity,
                                 const TransactionManagerOptions& options) {
  RunningSet::declare(builder, session_capacity);
  if (options.snapshot_method == SnapshotMethod::kCsn) {
    CommitSequence::declare(builder, options.commit_sequence);
  }
}

TransactionManager::TransactionManager(const shm::Segment& segment, const TransactionManagerOptions& options,
                                       wal::Log& log, clog::Clog& clog, const shm::ProcessTable& processes,
                                       const shm::SessionTable& sessions)
    : options_{options},
      log_{log},
      clog_{clog},
      sequence_{options.snapshot_method == SnapshotMethod::kCsn
                    ? std::make_unique<CommitSequence>(segment, options.commit_sequence)
                    : nullptr},
      running_{segment, processes, sessions, clog, sequence_.get()},
      outcomes_{options.outcome_cache_size} {}

bool TransactionManager::is_complete_unlisted(const Snapshot& snapshot, Xid xid, Snapshot::Answer answer) {
  if (answer == Snapshot::Answer::kAskSequence) return sequence_->is_complete(xid, snapshot.csn);
  // Some running transaction has more subtransactions than its slot held: is this one of them?
  const Xid top = clog_.subtransactions.top(xid, snapshot.xmin);
  return top == xid || snapshot.find(top) != Snapshot::Answer::kRunning;
}

TransactionManager::State TransactionManager::state(Xid xid) {
  // Before the status: a committer sets its status first and leaves the running set after.
  if (is_normal(xid) && outcomes_.find(xid) == nullptr && running_.is_running(xid)) return State::kRunning;
  bool ignored;
  return outcome(xid, ignored);
}

TransactionManager::State TransactionManager::outcome(Xid xid, bool& durable) {
  durable = true;
  OutcomeCache::Entry* known = outcomes_.find(xid);
  if (known == nullptr) {
    Lsn commit_lsn;
    const clog::XidStatus status = clog_.status.status(xid, commit_lsn);
    // kInProgress is not remembered: a caller that was wrong about "not running" must be able to look again.
    if (status != clog::XidStatus::kCommitted && status != clog::XidStatus::kAborted) return State::kAborted;
    known = &outcomes_.remember({xid, commit_lsn, status == clog::XidStatus::kCommitted});
  }
  if (!known->committed) return State::kAborted;
  if (is_valid(known->commit_lsn)) {
    durable = log_.is_durable(known->commit_lsn);
    if (durable) known->commit_lsn = kInvalidLsn;
  }
  return State::kCommitted;
}

}  // namespace pinwheel::txn
