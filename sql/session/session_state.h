#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "base/arena.h"
#include "sql/analyze/analyzer.h"
#include "sql/catalog/catalog.h"
#include "sql/commands/command_context.h"
#include "sql/execute/execution_context.h"
#include "sql/parse/parser.h"
#include "sql/parse/tokenizer.h"
#include "sql/session/services.h"
#include "sql/session/session.h"
#include "sql/session/statement.h"
#include "sql/session/transaction_block.h"
#include "sql/statistics/activity_log.h"
#include "txn/transaction.h"

namespace pinwheel::sql {

class SessionHooks;
class SessionCatalog;
class SessionFunctions;

/// How results go out.
struct ResultMode {
  Formats formats;
  bool describe = true;  ///< send RowDescription first: the simple protocol
};

/// A role that the session acts for or has acted for.
struct KnownRole {
  Oid oid;
  bool superuser = false;
};

/// Everything of one connection's SQL side. Private to sql/session; only its session's fiber touches it.
///
/// Statement flow (statement_runner.cc): parse, then for each statement: ensure a transaction, analyze, lock,
/// plan or find the plan, take a snapshot, run, end the implicit transaction.
struct SessionState {
  SessionState(SessionServices& services_given, SessionIdentity identity_given, shm::Parker& parker_given,
               Client& client_given);
  ~SessionState();
  SessionState(const SessionState&) = delete;
  SessionState& operator=(const SessionState&) = delete;

  SessionServices& services;
  SessionIdentity identity;
  shm::Parker& parker;
  Client& client;
  shm::SessionSlot& slot;

  ArenaBudget budget;
  SessionSettings settings;
  EvalContext eval;
  txn::Transaction transaction;
  Catalog catalog;
  std::unique_ptr<SessionCatalog> helpers;      ///< what analysis and functions ask of the catalogs
  std::unique_ptr<SessionFunctions> functions;  ///< what functions ask of their session; eval.catalog
  std::unique_ptr<SessionHooks> hooks;
  ExecutionContext execution;
  std::unique_ptr<TransactionActivity> activity;  ///< null when nobody counts
  TransactionBlock block{*this};
  bool superuser = false;  ///< the current user's
  std::map<std::string, KnownRole, std::less<>> known_roles;
  bool is_idle = true;
  bool statement_timer_armed = false;
  bool measuring = false;            ///< a StatementMeter is at work
  std::uint64_t utility_rows = 0;    ///< of the utility that ran last
  std::int64_t state_since_us = 0;   ///< when the session became active or idle
  std::int64_t connected_at_us = 0;  ///< 0: not counted as a session
  bool was_in_transaction = false;   ///< at that time, when idle

  /// Memory of the statement that runs; reset when the next one starts.
  Arena statement_arena{&budget};
  LiftedStatement lifted;
  std::string key_buffer;
  std::string key_prefix;  ///< what besides the text decides a plan: database, role, search_path

  std::map<std::string, std::unique_ptr<PreparedStatement>, std::less<>> statements;
  std::map<std::string, std::unique_ptr<Portal>, std::less<>> portals;

  // ---- statement_runner.cc ----
  void start_message(std::string_view text, bool new_statement_time);
  void run_statement(const RawStatement& raw, std::string_view whole_text, bool several);
  /// Locks what the plan needs and checks that it still holds; null when it must be made anew.
  bool plan_holds(const SharedPlan& plan);
  PlanRef make_plan(const Query& query, std::span<const Oid> parameter_types);
  /// Names a plan for pg_stat_statements; literals in `text` are replaced unless it is `normalized` already.
  static void name_statement(SharedPlan& shared, std::string_view text, bool normalized);
  void plan_into(SharedPlan& shared, const Query& query, std::span<const Oid> parameter_types,
                 bool is_cursor);
  /// Sets what an execution takes from its statement; before each start() and each run() that goes on.
  void prepare_execution(const txn::Snapshot* snapshot, const Datum* parameters = nullptr,
                         const bool* nulls = nullptr, int count = 0);
  void run_plan(const PlanRef& plan, const Datum* parameters, const bool* nulls, int count,
                const ResultMode& mode);
  /// Plan of `lifted`; null when its text is at fault.
  PlanRef make_lifted_plan();
  bool run_lifted(std::string_view text);
  void require_not_failed(bool allowed) const;
  void set_key(std::string_view text, std::span<const Oid> types);
  bool may_share_plans() const;

  // ---- session.cc ----
  /// Adds the time since the last change of state to the database's statistics. `now_us`: wall clock.
  void count_state_time(std::int64_t now_us, bool becomes_idle);

  // ---- utilities.cc ----
  void run_utility(const Utility& utility, std::string_view text, bool several, const ResultMode& mode);
  void run_utility_of_kind(const Utility& utility, std::string_view text, bool several,
                           const ResultMode& mode);
  std::vector<ResultColumn> describe_utility(const Utility& utility, Arena& arena);
  std::uint64_t run_query(const Query& query, RowReceiver& receiver, std::span<const Oid> types = {});

  // ---- portals.cc ----
  PreparedStatement& require_statement(std::string_view name);
  Portal& require_portal(std::string_view name);
  std::unique_ptr<PreparedStatement> prepare(std::string_view name, std::string_view text,
                                             std::span<const Oid> types, bool from_sql);
  void refresh_plan(PreparedStatement& statement);
  Portal& add_portal(std::string_view name, bool allow_replace);
  void close_portals_for_commit();
  void close_all_portals() noexcept;
  void close_failed_portals() noexcept;

  // ---- cursors.cc ----
  void declare_cursor(const DeclareCursorUtility& utility);
  void fetch(const FetchUtility& utility, const ResultMode& mode);
  void close_cursor(const CloseUtility& utility);
  void fill_cursor(Portal& portal, std::int64_t wanted_rows);

  // ---- explain.cc ----
  void explain(const ExplainUtility& utility, const ResultMode& mode);

  AnalyzeContext analyze_context(Arena& arena);
  /// Applies search_path for the current user.
  void take_search_path();
  SetAuthority authority() const { return {superuser}; }
};

/// "SELECT 5", "INSERT 0 1"... into `buffer`.
std::string_view plan_tag(CommandKind command, std::uint64_t processed, std::string& buffer);

}  // namespace pinwheel::sql
