#include "sql/session/transaction_block.h"

#include <string>

#include "base/error.h"
#include "base/parameters.h"
#include "base/sqlstate.h"
#include "sql/session/session_state.h"

namespace pinwheel::sql {

char TransactionBlock::status() const noexcept {
  switch (state_) {
    case State::kIdle:
    case State::kImplicit:
      return 'I';
    case State::kBlock:
      return 'T';
    case State::kFailed:
      return 'E';
  }
  return 'I';
}

void TransactionBlock::begin() {
  const SessionSettings& settings = session_.settings;
  txn::TransactionOptions options;
  options.isolation = settings.get_enum<IsolationSetting>(param::kDefaultTransactionIsolation);
  options.read_only = settings.get_bool(param::kDefaultTransactionReadOnly);
  options.deferrable = settings.get_bool(param::kDefaultTransactionDeferrable);
  session_.transaction.begin(options);
  session_.settings.begin_nest();
  session_.eval.transaction_timestamp = session_.eval.statement_timestamp;
}

void TransactionBlock::ensure_transaction() {
  if (state_ != State::kIdle) return;
  begin();
  state_ = State::kImplicit;
}

void TransactionBlock::commit() {
  session_.close_portals_for_commit();
  txn::CommitOptions options;
  options.durable =
      session_.settings.get_enum<SynchronousCommit>(param::kSynchronousCommit) != SynchronousCommit::kOff;
  options.alone_in_process = session_.services.server.alone_in_process();
  session_.transaction.commit(options);
  session_.settings.end_nest(/*commit=*/true);
  state_ = State::kIdle;
}

void TransactionBlock::rollback() {
  session_.close_all_portals();
  session_.transaction.abort();
  while (session_.settings.nest_level() > 0) session_.settings.end_nest(/*commit=*/false);
  state_ = State::kIdle;
}

void TransactionBlock::end_implicit() {
  if (state_ == State::kImplicit) commit();
}

void TransactionBlock::on_error() noexcept {
  switch (state_) {
    case State::kIdle:
    case State::kFailed:
      return;
    case State::kImplicit:
      rollback();
      return;
    case State::kBlock:
      session_.close_failed_portals();
      if (session_.transaction.nest_level() > 1) {
        session_.transaction.fail_subtransaction();
      } else {
        session_.close_all_portals();
        session_.transaction.abort();
        while (session_.settings.nest_level() > 0) session_.settings.end_nest(/*commit=*/false);
      }
      state_ = State::kFailed;
      return;
  }
}

void TransactionBlock::abort_all() noexcept {
  if (state_ != State::kIdle) rollback();
}

void TransactionBlock::restart() {
  commit();
  begin();
  state_ = State::kImplicit;
}

void TransactionBlock::require_block(std::string_view what) const {
  if (state_ != State::kBlock && state_ != State::kFailed) {
    throw SqlError{sqlstate::kNoActiveSqlTransaction,
                   std::string{what} + " can only be used in transaction blocks"};
  }
}

std::string_view TransactionBlock::run(const TransactionUtility& utility) {
  switch (utility.command) {
    case TransactionCommand::kBegin:
    case TransactionCommand::kStart:
      return run_begin(utility);
    case TransactionCommand::kCommit:
      return run_commit(utility.chain);
    case TransactionCommand::kRollback:
      return run_rollback(utility.chain);
    case TransactionCommand::kSavepoint:
      require_block("SAVEPOINT");
      session_.transaction.define_savepoint(utility.savepoint);
      return "SAVEPOINT";
    case TransactionCommand::kRelease:
      require_block("RELEASE SAVEPOINT");
      session_.transaction.release_savepoint(utility.savepoint);
      return "RELEASE";
    case TransactionCommand::kRollbackTo:
      require_block("ROLLBACK TO SAVEPOINT");
      if (!session_.transaction.active()) {
        throw SqlError{sqlstate::kSavepointException,
                       "savepoint \"" + std::string{utility.savepoint} + "\" does not exist"};
      }
      session_.transaction.rollback_to_savepoint(utility.savepoint);
      state_ = State::kBlock;
      return "ROLLBACK";
    case TransactionCommand::kPrepare:
    case TransactionCommand::kCommitPrepared:
    case TransactionCommand::kRollbackPrepared:
      throw SqlError{sqlstate::kObjectNotInPrerequisiteState, "prepared transactions are disabled"}.hint(
          "Set max_prepared_transactions to a nonzero value.");
  }
  return {};
}

std::string_view TransactionBlock::run_begin(const TransactionUtility& utility) {
  const std::string_view tag = utility.command == TransactionCommand::kBegin ? "BEGIN" : "START TRANSACTION";
  if (state_ == State::kBlock || state_ == State::kFailed) {
    session_.client.notice(NoticeLevel::kWarning, SqlError{sqlstate::kActiveSqlTransaction,
                                                           "there is already a transaction in progress"});
  } else {
    ensure_transaction();
    state_ = State::kBlock;
  }
  for (const Option& mode : utility.modes) set_transaction_mode(session_, mode);
  return tag;
}

void TransactionBlock::begin_chained() {
  const txn::TransactionOptions same = session_.transaction.options();
  begin();
  session_.transaction.set_isolation(same.isolation);
  session_.transaction.set_read_only(same.read_only);
  session_.transaction.set_deferrable(same.deferrable);
  state_ = State::kBlock;
}

namespace {

void warn_no_transaction(SessionState& session) {
  session.client.notice(NoticeLevel::kWarning,
                        SqlError{sqlstate::kNoActiveSqlTransaction, "there is no transaction in progress"});
}

void refuse_chain_outside_block(bool chain, std::string_view what) {
  if (chain) {
    throw SqlError{sqlstate::kNoActiveSqlTransaction,
                   std::string{what} + " AND CHAIN can only be used in transaction blocks"};
  }
}

}  // namespace

std::string_view TransactionBlock::run_commit(bool chain) {
  if (state_ == State::kFailed) {
    rollback();
    if (chain) begin_chained();
    return "ROLLBACK";
  }
  if (state_ != State::kBlock) {
    refuse_chain_outside_block(chain, "COMMIT");
    warn_no_transaction(session_);
  }
  if (state_ != State::kIdle) commit();
  if (chain) begin_chained();
  return "COMMIT";
}

std::string_view TransactionBlock::run_rollback(bool chain) {
  if (!in_block()) {
    refuse_chain_outside_block(chain, "ROLLBACK");
    warn_no_transaction(session_);
  }
  if (state_ != State::kIdle) rollback();
  if (chain) begin_chained();
  return "ROLLBACK";
}

void set_transaction_mode(SessionState& session, const Option& mode) {
  session.settings.set(mode.name, mode.text, SetScope::kLocal, SetAuthority{session.superuser});
}

}  // namespace pinwheel::sql
