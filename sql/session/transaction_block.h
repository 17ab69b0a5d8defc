#pragma once

#include <cstdint>
#include <string_view>

#include "sql/query/utility.h"

namespace pinwheel::sql {

struct SessionState;

/// Where a session stands between BEGIN and COMMIT: PostgreSQL's transaction-block machine over one
/// txn::Transaction.
///
///   state       transaction      meaning
///   kIdle       none             no statement runs
///   kImplicit   active           opened by a statement; ends with it (or at Sync, or with the query string)
///   kBlock      active           after BEGIN
///   kFailed     aborted, or at   after an error in a block: all but ROLLBACK and its kin is 25P02
///               a failed level
class TransactionBlock {
 public:
  enum class State : std::uint8_t { kIdle, kImplicit, kBlock, kFailed };

  explicit TransactionBlock(SessionState& session) : session_{session} {}

  State state() const noexcept { return state_; }
  bool in_block() const noexcept { return state_ == State::kBlock || state_ == State::kFailed; }
  bool failed() const noexcept { return state_ == State::kFailed; }
  /// 'I', 'T' or 'E'.
  char status() const noexcept;

  /// Opens an implicit transaction unless one is open.
  void ensure_transaction();
  /// Commits the implicit transaction, if it is one. May throw: then nothing was committed.
  void end_implicit();
  /// Aborts after an error. Does not throw.
  void on_error() noexcept;
  /// The session ends.
  void abort_all() noexcept;

  /// BEGIN, COMMIT, SAVEPOINT...; returns the command tag.
  std::string_view run(const TransactionUtility& utility);

  /// For commands that manage transactions themselves: commits and begins anew.
  void restart();

 private:
  void begin();
  void commit();
  void rollback();
  std::string_view run_begin(const TransactionUtility& utility);
  std::string_view run_commit(bool chain);
  std::string_view run_rollback(bool chain);
  void begin_chained();
  void apply_modes(const TransactionUtility& utility);
  void require_block(std::string_view what) const;

  SessionState& session_;
  State state_ = State::kIdle;
};

/// Sets transaction_isolation, transaction_read_only or transaction_deferrable of the running transaction, as
/// BEGIN's and SET TRANSACTION's modes do. Errors: 25001 when it is too late.
void set_transaction_mode(SessionState& session, const Option& mode);

}  // namespace pinwheel::sql
