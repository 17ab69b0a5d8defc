// Utility statements that belong to the session itself; the others go to sql/commands.

#include <charconv>

#include "base/config_file.h"
#include "base/parameters.h"
#include "base/sqlstate.h"
#include "sql/analyze/expression_source.h"
#include "sql/catalog/builtin.h"
#include "sql/commands/command_context.h"
#include "sql/session/expression_runner.h"
#include "sql/session/functions/session_functions.h"
#include "sql/session/session_catalog.h"
#include "sql/session/session_state.h"
#include "sql/session/statement_meter.h"
#include "sql/types/type_info.h"
#include "sql/types/type_oids.h"
#include "sql/types/varlena.h"

namespace pinwheel::sql {
namespace {

ResultColumn text_column(std::string_view name, Arena& arena) {
  ResultColumn column;
  column.name = arena.copy(name);
  column.type = kTextType;
  return column;
}

/// Joins SET's values as the parameter wants its text: lists with ", ", names quoted where needed.
std::string joined_values(const SetUtility& set) {
  const auto id = find_parameter(set.name);
  const bool quoted = id && parameter(*id).has(parameter_flag::kListQuoted);
  std::string text;
  for (std::size_t i = 0; i < set.values.size(); ++i) {
    if (i > 0) text += ", ";
    if (quoted && set.values.size() > 0) {
      bool plain = !set.values[i].empty();
      for (const char c : set.values[i])
        plain = plain && ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_');
      if (plain) {
        text += set.values[i];
      } else {
        text += '"';
        for (const char c : set.values[i]) {
          if (c == '"') text += '"';
          text += c;
        }
        text += '"';
      }
    } else {
      text += set.values[i];
    }
  }
  return text;
}

std::string_view run_set(SessionState& session, const SetUtility& set) {
  const SetScope scope = set.local ? SetScope::kLocal : SetScope::kSession;
  if (set.local && !session.block.in_block()) {
    session.client.notice(
        NoticeLevel::kWarning,
        SqlError{sqlstate::kNoActiveSqlTransaction, "SET LOCAL can only be used in transaction blocks"});
  }
  switch (set.command) {
    case SetCommand::kValue:
      session.settings.set(set.name, joined_values(set), scope, session.authority());
      return "SET";
    case SetCommand::kDefault:
      session.settings.reset(set.name, scope, session.authority());
      return "SET";
    case SetCommand::kReset:
      session.settings.reset(set.name, scope, session.authority());
      return "RESET";
    case SetCommand::kResetAll:
      session.settings.reset_all();
      session.functions->sequences().forget();
      return "RESET";
    case SetCommand::kTransactionModes:
      if (!session.block.in_block()) {
        session.client.notice(NoticeLevel::kWarning,
                              SqlError{sqlstate::kNoActiveSqlTransaction,
                                       "SET TRANSACTION can only be used in transaction blocks"});
      }
      for (const Option& mode : set.modes) set_transaction_mode(session, mode);
      return "SET";
    case SetCommand::kSessionModes:
      for (const Option& mode : set.modes) {
        session.settings.set("default_" + std::string{mode.name}, mode.text, SetScope::kSession,
                             session.authority());
      }
      return "SET";
    case SetCommand::kSnapshot:
      throw SqlError{sqlstate::kFeatureNotSupported, "SET TRANSACTION SNAPSHOT is not supported"};
    case SetCommand::kCurrent:
      throw SqlError{sqlstate::kFeatureNotSupported, "SET ... FROM CURRENT is not supported here"};
  }
  return "SET";
}

void run_show(SessionState& session, const ShowUtility& show, const ResultMode& mode) {
  Arena& arena = session.statement_arena;
  const std::vector<ResultColumn> columns = session.describe_utility(show, arena);
  if (mode.describe) session.client.row_description(columns, mode.formats);
  RowReceiver& receiver = session.client.rows(columns, mode.formats);
  Datum values[3];
  bool nulls[3] = {};
  Slot slot;
  slot.values = values;
  slot.nulls = nulls;
  slot.count = slot.valid = static_cast<int>(columns.size());
  if (show.name == "all") {
    for (const SettingRow& row : session.settings.list(session.authority())) {
      values[0] = make_text(arena, row.name);
      values[1] = make_text(arena, session.settings.show(row.name, session.authority()));
      values[2] = make_text(arena, row.short_description);
      receiver.row(slot);
    }
  } else {
    values[0] = make_text(arena, session.settings.show(show.name, session.authority()));
    receiver.row(slot);
  }
  session.client.command_complete("SHOW");
}

std::string_view run_discard(SessionState& session, const DiscardUtility& discard) {
  switch (discard.target) {
    case DiscardTarget::kPlans:
      session.services.plans.clear();
      return "DISCARD PLANS";
    case DiscardTarget::kSequences:
      session.functions->sequences().forget();
      return "DISCARD SEQUENCES";
    case DiscardTarget::kTemp:
      return "DISCARD TEMP";
    case DiscardTarget::kAll:
      break;
  }
  session.close_all_portals();
  session.statements.clear();
  session.settings.reset_all();
  session.transaction.locks().release_session_advisory();
  return "DISCARD ALL";
}

void alter_system(SessionState& session, const AlterSystemUtility& alter) {
  if (!session.superuser) {
    throw SqlError{sqlstate::kInsufficientPrivilege,
                   "permission denied to set parameter \"" + std::string{alter.set->name} + "\""};
  }
  const SetUtility& set = *alter.set;
  if (set.command == SetCommand::kResetAll) {
    alter_auto_config(session.services.data_directory, "", nullptr);
    return;
  }
  const auto id = find_parameter(set.name);
  if (!id && set.name.find('.') == std::string_view::npos) {
    throw SqlError{sqlstate::kUndefinedObject,
                   "unrecognized configuration parameter \"" + std::string{set.name} + "\""};
  }
  if (id && (parameter(*id).context == ParameterContext::kInternal ||
             parameter(*id).has(parameter_flag::kNotInFile))) {
    throw SqlError{sqlstate::kCantChangeRuntimeParam,
                   "parameter \"" + std::string{set.name} + "\" cannot be changed"};
  }
  if (set.command == SetCommand::kValue) {
    const std::string value = joined_values(set);
    if (id) {
      std::string text;
      static_cast<void>(parse_setting(parameter(*id), value, text));
    }
    alter_auto_config(session.services.data_directory, set.name, &value);
  } else {
    alter_auto_config(session.services.data_directory, set.name, nullptr);
  }
}

void run_lock(SessionState& session, const LockUtility& lock) {
  if (!session.block.in_block()) {
    throw SqlError{sqlstate::kNoActiveSqlTransaction, "LOCK TABLE can only be used in transaction blocks"};
  }
  for (const QualifiedName& name : lock.tables) {
    const RelationRef relation = session.catalog.find_relation(name.schema, name.name);
    if (!relation) session.catalog.throw_no_relation(name.schema, name.name);
    if (!relation->is_table() && relation->kind != 'v') {
      throw SqlError{sqlstate::kWrongObjectType, "cannot lock relation \"" + relation->name + "\""};
    }
    const bool may_write =
        session.catalog.has_relation_privilege(session.eval.user, *relation, kUpdatePrivilege) ||
        session.catalog.has_relation_privilege(session.eval.user, *relation, kDeletePrivilege) ||
        session.catalog.has_relation_privilege(session.eval.user, *relation, kTruncatePrivilege);
    if (!may_write) {
      const bool reading = lock.mode == static_cast<int>(txn::LockMode::kAccessShare);
      session.catalog.check_relation_privilege(*relation, reading ? kSelectPrivilege : kUpdatePrivilege);
    }
    const Oid database = relation->shared ? kInvalidOid : session.eval.database;
    const auto got = session.transaction.locks().lock_relation(
        database, relation->oid, static_cast<txn::LockMode>(lock.mode),
        lock.nowait ? txn::LockWait::kTry : txn::LockWait::kBlock);
    if (got == txn::LockResult::kNotAvailable) {
      throw SqlError{sqlstate::kLockNotAvailable,
                     "could not obtain lock on relation \"" + relation->name + "\""};
    }
  }
}

std::string_view deallocate(SessionState& session, const DeallocateUtility& utility) {
  if (utility.name.empty()) {
    session.close_all_portals();
    session.statements.clear();
    return "DEALLOCATE ALL";
  }
  session.require_statement(utility.name);
  std::erase_if(session.portals, [&](const auto& item) {
    return item.second->statement != nullptr && item.second->statement->name == utility.name;
  });
  session.statements.erase(session.statements.find(utility.name));
  return "DEALLOCATE";
}

void run_prepare(SessionState& session, const PrepareUtility& utility) {
  if (session.statements.contains(utility.name)) {
    throw SqlError{sqlstate::kDuplicatePstatement,
                   "prepared statement \"" + std::string{utility.name} + "\" already exists"};
  }
  std::vector<Oid> types;
  const AnalyzeContext context = session.analyze_context(session.statement_arena);
  for (const TypeName& type : utility.parameter_types) types.push_back(resolve_type_name(context, type).type);
  auto statement = session.prepare(utility.name, utility.text, types, /*from_sql=*/true);
  session.statements.emplace(std::string{utility.name}, std::move(statement));
}

void run_execute(SessionState& session, const ExecuteUtility& utility, const ResultMode& mode) {
  PreparedStatement& statement = session.require_statement(utility.name);
  if (utility.parameters.size() != statement.parameter_types.size()) {
    throw SqlError{sqlstate::kSyntaxError,
                   "wrong number of parameters for prepared statement \"" + statement.name + "\""}
        .detail("Expected " + std::to_string(statement.parameter_types.size()) + " parameters but got " +
                std::to_string(utility.parameters.size()) + ".");
  }
  if (statement.is_utility) {
    const AnalyzedStatement analyzed = analyze(session.analyze_context(session.statement_arena),
                                               statement.parsed->statements()[0], statement.parsed->text());
    return session.run_utility(*analyzed.query->utility, analyzed.text, false, mode);
  }
  session.refresh_plan(statement);
  const std::size_t count = utility.parameters.size();
  Datum* values = session.statement_arena.make_array<Datum>(count);
  bool* nulls = session.statement_arena.make_array<bool>(count);
  for (std::size_t i = 0; i < count; ++i) {
    evaluate_parameter(session, utility.parameters[i], statement.parameter_types[i], static_cast<int>(i + 1),
                       values[i], nulls[i]);
  }
  session.run_plan(statement.plan, values, nulls, static_cast<int>(count), mode);
}

/// The number that a command tag ends with ("COPY 5"), else 0.
std::uint64_t rows_of_tag(std::string_view tag) {
  const std::size_t space = tag.rfind(' ');
  std::uint64_t rows = 0;
  if (space != std::string_view::npos) std::from_chars(tag.data() + space + 1, tag.data() + tag.size(), rows);
  return rows;
}

}  // namespace

std::vector<ResultColumn> SessionState::describe_utility(const Utility& utility, Arena& arena) {
  switch (utility.kind) {
    case UtilityKind::kShow: {
      const auto& show = static_cast<const ShowUtility&>(utility);
      if (show.name == "all")
        return {text_column("name", arena), text_column("setting", arena), text_column("description", arena)};
      const auto id = find_parameter(show.name);
      return {text_column(id ? parameter(*id).name : show.name, arena)};
    }
    case UtilityKind::kExplain:
      return {text_column("QUERY PLAN", arena)};
    case UtilityKind::kExecute: {
      const auto at = statements.find(static_cast<const ExecuteUtility&>(utility).name);
      if (at == statements.end()) return {};
      if (!at->second->plan) return at->second->utility_columns;
      const auto columns = at->second->plan->plan.columns;
      return {columns.begin(), columns.end()};
    }
    case UtilityKind::kFetch: {
      const auto& fetch_command = static_cast<const FetchUtility&>(utility);
      const auto at = portals.find(fetch_command.cursor);
      if (fetch_command.move || at == portals.end()) return {};
      if (at->second->plan)
        return {at->second->plan->plan.columns.begin(), at->second->plan->plan.columns.end()};
      if (at->second->rows != nullptr)
        return {at->second->rows->columns().begin(), at->second->rows->columns().end()};
      return {};
    }
    default:
      return {};
  }
}

void SessionState::run_utility(const Utility& utility, std::string_view text, bool several,
                               const ResultMode& mode) {
  // EXECUTE counts as the statement that it runs; PREPARE and DEALLOCATE run none.
  if (utility.kind == UtilityKind::kExecute || utility.kind == UtilityKind::kPrepare ||
      utility.kind == UtilityKind::kDeallocate) {
    return run_utility_of_kind(utility, text, several, mode);
  }
  // The text may be the prepared statement's that DISCARD or DEALLOCATE ALL removes.
  const std::string kept{text};
  StatementMeter meter{*this, statement_id(kept)};
  utility_rows = 0;
  run_utility_of_kind(utility, kept, several, mode);
  meter.finish(kept, utility_rows);
}

void SessionState::run_utility_of_kind(const Utility& utility, std::string_view text, bool several,
                                       const ResultMode& mode) {
  std::string_view tag;
  switch (utility.kind) {
    case UtilityKind::kTransaction: {
      tag = block.run(static_cast<const TransactionUtility&>(utility));
      break;
    }
    case UtilityKind::kSet:
      tag = run_set(*this, static_cast<const SetUtility&>(utility));
      break;
    case UtilityKind::kShow:
      return run_show(*this, static_cast<const ShowUtility&>(utility), mode);
    case UtilityKind::kPrepare:
      run_prepare(*this, static_cast<const PrepareUtility&>(utility));
      tag = "PREPARE";
      break;
    case UtilityKind::kExecute:
      return run_execute(*this, static_cast<const ExecuteUtility&>(utility), mode);
    case UtilityKind::kDeallocate:
      tag = deallocate(*this, static_cast<const DeallocateUtility&>(utility));
      break;
    case UtilityKind::kDeclareCursor:
      declare_cursor(static_cast<const DeclareCursorUtility&>(utility));
      tag = "DECLARE CURSOR";
      break;
    case UtilityKind::kFetch:
      return fetch(static_cast<const FetchUtility&>(utility), mode);
    case UtilityKind::kClose:
      close_cursor(static_cast<const CloseUtility&>(utility));
      tag = static_cast<const CloseUtility&>(utility).cursor.empty() ? "CLOSE CURSOR ALL" : "CLOSE CURSOR";
      break;
    case UtilityKind::kExplain:
      return explain(static_cast<const ExplainUtility&>(utility), mode);
    case UtilityKind::kDiscard:
      if (static_cast<const DiscardUtility&>(utility).target == DiscardTarget::kAll &&
          (block.in_block() || several)) {
        throw SqlError{sqlstate::kActiveSqlTransaction, "DISCARD ALL cannot run inside a transaction block"};
      }
      tag = run_discard(*this, static_cast<const DiscardUtility&>(utility));
      break;
    case UtilityKind::kLock:
      run_lock(*this, static_cast<const LockUtility&>(utility));
      tag = "LOCK TABLE";
      break;
    case UtilityKind::kCheckpoint:
      if (!superuser) {
        throw SqlError{sqlstate::kInsufficientPrivilege,
                       "must be superuser or have privileges of pg_checkpoint to do CHECKPOINT"};
      }
      services.server.checkpoint(parker);
      tag = "CHECKPOINT";
      break;
    case UtilityKind::kAlterSystem:
      if (block.in_block() || several) {
        throw SqlError{sqlstate::kActiveSqlTransaction, "ALTER SYSTEM cannot run inside a transaction block"};
      }
      alter_system(*this, static_cast<const AlterSystemUtility&>(utility));
      tag = "ALTER SYSTEM";
      break;
    case UtilityKind::kConstraintsSet:
      tag = "SET CONSTRAINTS";
      if (!static_cast<const ConstraintsSetUtility&>(utility).constraints.empty()) {
        throw SqlError{sqlstate::kFeatureNotSupported,
                       "SET CONSTRAINTS of single constraints is not supported"};
      }
      break;
    default: {
      std::string_view alone_name;
      if (must_run_alone(utility, alone_name) && (block.in_block() || several)) {
        throw SqlError{sqlstate::kActiveSqlTransaction,
                       std::string{alone_name} + " cannot run inside a transaction block"};
      }
      if (transaction.options().read_only && !allowed_in_read_only_transaction(utility)) {
        throw SqlError{sqlstate::kReadOnlySqlTransaction,
                       "cannot execute " + std::string{command_tag(utility)} + " in a read-only transaction"};
      }
      txn::SnapshotHandle snapshot = transaction.take_snapshot();
      prepare_execution(snapshot.get());
      const AnalyzeContext analyze_context_here = analyze_context(statement_arena);
      CommandContext context{
          catalog,
          execution,
          analyze_context_here,
          statement_arena,
          settings,
          superuser,
          client,
          text,
          services.data_directory,
          [this](const Query& query, RowReceiver& receiver) { return run_query(query, receiver); },
          [this, &snapshot] {
            snapshot.release();
            block.restart();
            snapshot = transaction.take_snapshot();
            prepare_execution(snapshot.get());
          }};
      const std::string done = run_command(context, utility);
      if (transaction.active()) transaction.advance_command();
      utility_rows = rows_of_tag(done);
      client.command_complete(done);
      return;
    }
  }
  client.command_complete(tag);
}

}  // namespace pinwheel::sql
