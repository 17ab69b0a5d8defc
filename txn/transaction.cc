#include "txn/transaction.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/clock.h"
#include "base/error.h"
#include "base/failpoints.h"
#include "base/sqlstate.h"
#include "wal/log.h"

namespace pinwheel::txn {

Transaction::Transaction(TransactionManager& manager, LockManager& locks, shm::SessionIndex session,
                         shm::Parker& parker)
    : manager_{manager},
      session_{session},
      parker_{parker},
      locks_{locks, session, parker},
      snapshots_{manager.running(), session, manager.options().snapshot_method} {
  manager_.running().open_slot(session);
}

Transaction::~Transaction() { DB_ASSERT(!active()); }

// ---- Life ----

void Transaction::begin(const TransactionOptions& options) {
  DB_ASSERT(!active());
  options_ = options;
  start_time_us_ = options.start_time_us != 0 ? options.start_time_us : wall_clock_us();
  command_ = CommandId{0};
  command_used_ = false;
  first_snapshot_taken_ = false;
  level_ = 1;
  if (levels_.empty()) levels_.emplace_back();
  levels_[0] = {};
  locks_.begin_level(1);
  manager_.running().set_virtual_xid(session_, ++local_id_);
}

void Transaction::commit(const CommitOptions& options) {
  DB_ASSERT(active());
  while (level_ > 1) commit_subtransaction();
  for (TransactionHooks* hooks : hooks_) hooks->before_commit(*this);
  payload_.clear();
  for (TransactionHooks* hooks : hooks_) {
    const std::span<const std::byte> bytes = hooks->commit_payload();
    payload_.insert(payload_.end(), bytes.begin(), bytes.end());
  }
  collect_files(/*at_commit=*/true, /*from_level=*/1);
  if (!ending_files_.empty() || !payload_.empty()) assign_xid();
  failpoint::hit("before_commit_record");

  if (is_valid(top_xid_)) {
    RunningSet& running = manager_.running();
    wal::Log& log = manager_.log();
    // From here to end_commit() a checkpoint waits for us: its redo point may lie after our record, and then
    // its flush of the commit log must hold our status.
    running.begin_commit(session_);
    const Lsn end = insert_end_record(EndKind::kCommit, top_xid_, subxids_);
    // Files cannot be brought back: their removal waits for the disk even when the client does not.
    const bool durable = options.durable || !ending_files_.empty();
    if (durable) {
      log.wait_durable(end, session_, parker_,
                       options.alone_in_process ? wal::FlushBy::kSelfIfIdle : wal::FlushBy::kFlusher);
    }
    failpoint::hit("after_commit_record");
    // Dying before the record is durable loses the transaction, and nobody was told. Dying after it keeps
    // it: redo sets the status.
    manager_.clog().status.set(top_xid_, subxids_, clog::XidStatus::kCommitted, durable ? kInvalidLsn : end);
    running.end_commit(session_);
    running.finish_commit(session_, top_xid_, subxids_);
  }
  manager_.running().set_virtual_xid(session_, 0);
  shm::count(shm::Counter::kCommits);
  for (TransactionHooks* hooks : hooks_) hooks->after_commit();
  drop_collected_files();
  locks_.release_all();
  reset();
}

void Transaction::abort() noexcept {
  if (!active()) return;
  // Innermost first, so that every level's owner can undo its part; the xids go together below.
  for (int level = level_; level > 1; --level) {
    if (level_at(level).failed) continue;
    for (auto hooks = hooks_.rbegin(); hooks != hooks_.rend(); ++hooks) (*hooks)->abort_subtransaction(level);
  }
  payload_.clear();
  collect_files(/*at_commit=*/false, /*from_level=*/1);
  if (is_valid(top_xid_)) {
    // Not waited for: without the record recovery comes to the same end.
    insert_end_record(EndKind::kAbort, top_xid_, subxids_);
    manager_.clog().status.set(top_xid_, subxids_, clog::XidStatus::kAborted, kInvalidLsn);
    manager_.running().finish(session_);
  }
  manager_.running().set_virtual_xid(session_, 0);
  shm::count(shm::Counter::kRollbacks);
  for (auto hooks = hooks_.rbegin(); hooks != hooks_.rend(); ++hooks) (*hooks)->after_abort();
  drop_collected_files();
  locks_.release_all();
  reset();
}

void Transaction::reset() noexcept {
  kept_snapshot_.release();
  top_xid_ = kInvalidXid;
  subxids_.clear();
  files_.clear();
  ending_files_.clear();
  level_ = 0;
}

Lsn Transaction::insert_end_record(EndKind kind, Xid xid, std::span<const Xid> subxids) noexcept {
  static_assert(sizeof(Xid) == 8 && sizeof(FileId) == 8);
  const EndRecord header{.time_us = wall_clock_us(),
                         .subxid_count = static_cast<std::uint32_t>(subxids.size()),
                         .file_count = static_cast<std::uint32_t>(ending_files_.size()),
                         .payload_bytes = static_cast<std::uint32_t>(payload_.size()),
                         .reserved = 0};
  wal::RecordBuilder record{wal::RmgrId::kTransaction, kind};
  record.data(header);
  if (!subxids.empty()) record.data(subxids.data(), subxids.size_bytes());
  if (!ending_files_.empty()) record.data(ending_files_.data(), ending_files_.size() * sizeof(FileId));
  if (!payload_.empty()) record.data(payload_.data(), payload_.size());
  return manager_.log().insert(record, xid);
}

// ---- Ids and commands ----

Xid Transaction::assign_xid() {
  DB_ASSERT(active());
  if (is_valid(level_at(level_).xid)) [[likely]]
    return level_at(level_).xid;
  RunningSet& running = manager_.running();
  // Parents before children, so that a parent's xid is always the lower one.
  for (int level = 1; level <= level_; ++level) {
    Level& at = level_at(level);
    if (is_valid(at.xid)) continue;
    DB_ASSERT(!at.failed);
    if (level == 1) {
      at.xid = top_xid_ = running.start_xid(session_);
      continue;
    }
    subxids_.reserve(subxids_.size() + 1);
    at.xid = running.start_subxid(session_, level_at(level - 1).xid);
    at.first_subxid = static_cast<std::uint32_t>(subxids_.size());
    subxids_.push_back(at.xid);
  }
  return level_at(level_).xid;
}

bool Transaction::is_own_subxid(Xid xid) const noexcept {
  return std::binary_search(subxids_.begin(), subxids_.end(), xid);
}

void Transaction::advance_command() {
  if (!command_used_) return;
  if (command_.value == 0xFFFFFFFEu) {
    throw SqlError{sqlstate::kProgramLimitExceeded, "cannot have more than 2^32-2 commands in a transaction"};
  }
  ++command_.value;
  command_used_ = false;
}

// ---- Snapshots ----

SnapshotHandle Transaction::take_snapshot() {
  DB_ASSERT(active());
  first_snapshot_taken_ = true;
  if (!keeps_snapshot(options_.isolation)) return snapshots_.take(command_);
  if (!kept_snapshot_) kept_snapshot_ = snapshots_.take(command_);
  return kept_snapshot_.share(command_);
}

SnapshotHandle Transaction::take_latest_snapshot() {
  DB_ASSERT(active());
  return snapshots_.take(command_);
}

// ---- Savepoints ----

void Transaction::push_level(std::string_view name) {
  DB_ASSERT(active());
  if (static_cast<std::size_t>(level_) == levels_.size()) levels_.emplace_back();
  ++level_;
  Level& at = level_at(level_);
  at.xid = kInvalidXid;
  at.name = name;
  at.first_subxid = 0;
  at.failed = false;
  locks_.begin_level(level_);
  for (TransactionHooks* hooks : hooks_) hooks->begin_subtransaction(level_);
}

void Transaction::begin_subtransaction() { push_level({}); }

void Transaction::commit_subtransaction() {
  DB_ASSERT(level_ > 1 && !level_at(level_).failed);
  for (TransactionHooks* hooks : hooks_) hooks->commit_subtransaction(level_);
  for (PendingFile& file : files_) file.level = std::min(file.level, level_ - 1);
  locks_.merge_level(level_);
  // Its xid stays in subxids_: it shares the fate of the parent.
  --level_;
  locks_.begin_level(level_);
}

void Transaction::abort_subtransaction() noexcept {
  DB_ASSERT(level_ > 1);
  if (!level_at(level_).failed) undo_innermost();
  --level_;
  locks_.begin_level(level_);
}

void Transaction::fail_subtransaction() noexcept {
  DB_ASSERT(level_ > 1);
  Level& at = level_at(level_);
  if (at.failed) return;
  undo_innermost();
  at.failed = true;
  at.xid = kInvalidXid;
}

void Transaction::undo_innermost() noexcept {
  Level& at = level_at(level_);
  payload_.clear();
  collect_files(/*at_commit=*/false, level_);
  if (is_valid(at.xid)) {
    const std::span<const Xid> below = std::span{subxids_}.subspan(at.first_subxid + 1);
    insert_end_record(EndKind::kAbort, at.xid, below);
    manager_.clog().status.set(at.xid, below, clog::XidStatus::kAborted, kInvalidLsn);
    manager_.running().drop_subxids(session_, at.first_subxid);
    subxids_.resize(at.first_subxid);
  }
  for (auto hooks = hooks_.rbegin(); hooks != hooks_.rend(); ++hooks) (*hooks)->abort_subtransaction(level_);
  drop_collected_files();
  std::erase_if(files_, [this](const PendingFile& file) { return file.level >= level_; });
  locks_.release_level(level_);
}

int Transaction::find_savepoint(std::string_view name) const {
  for (int level = level_; level > 1; --level) {
    if (levels_[static_cast<std::size_t>(level - 1)].name == name) return level;
  }
  return 0;
}

bool Transaction::has_savepoint(std::string_view name) const noexcept { return find_savepoint(name) != 0; }

void Transaction::define_savepoint(std::string_view name) { push_level(name); }

void Transaction::release_savepoint(std::string_view name) {
  const int target = find_savepoint(name);
  if (target == 0) {
    throw SqlError{sqlstate::kSEInvalidSpecification, fmt::format("savepoint \"{}\" does not exist", name)};
  }
  while (level_ >= target) commit_subtransaction();
}

void Transaction::rollback_to_savepoint(std::string_view name) {
  const int target = find_savepoint(name);
  if (target == 0) {
    throw SqlError{sqlstate::kSEInvalidSpecification, fmt::format("savepoint \"{}\" does not exist", name)};
  }
  while (level_ >= target) abort_subtransaction();
  push_level(std::string{name});
}

// ---- Files ----

void Transaction::drop_file_at_commit(FileId file) {
  DB_ASSERT(active());
  files_.push_back({file, /*at_commit=*/true, level_});
}

void Transaction::drop_file_at_abort(FileId file) {
  DB_ASSERT(active());
  // The record that names the file must bear an xid, or recovery would not know whose it was.
  assign_xid();
  files_.push_back({file, /*at_commit=*/false, level_});
}

void Transaction::collect_files(bool at_commit, int from_level) noexcept {
  ending_files_.clear();
  for (const PendingFile& pending : files_) {
    if (pending.at_commit == at_commit && pending.level >= from_level) ending_files_.push_back(pending.file);
  }
}

void Transaction::drop_collected_files() noexcept {
  if (!ending_files_.empty() && manager_.file_dropper() != nullptr) {
    manager_.file_dropper()->drop_files(ending_files_);
  }
  ending_files_.clear();
}

}  // namespace pinwheel::txn
