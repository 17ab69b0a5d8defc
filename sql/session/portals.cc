// Prepared statements and portals: the extended protocol, PREPARE and EXECUTE.

#include "base/clock.h"
#include "base/parameters.h"
#include "base/sqlstate.h"
#include "sql/catalog/builtin.h"
#include "sql/session/planner_settings.h"
#include "sql/session/session_catalog.h"
#include "sql/session/session_state.h"
#include "sql/session/statement_meter.h"
#include "sql/types/type_info.h"
#include "sql/types/type_oids.h"
#include "sql/types/utf8.h"

namespace pinwheel::sql {

PreparedStatement& SessionState::require_statement(std::string_view name) {
  const auto at = statements.find(name);
  if (at != statements.end()) return *at->second;
  if (name.empty()) {
    throw SqlError{sqlstate::kInvalidSqlStatementName, "unnamed prepared statement does not exist"};
  }
  throw SqlError{sqlstate::kInvalidSqlStatementName,
                 "prepared statement \"" + std::string{name} + "\" does not exist"};
}

Portal& SessionState::require_portal(std::string_view name) {
  const auto at = portals.find(name);
  if (at != portals.end()) return *at->second;
  throw SqlError{sqlstate::kInvalidCursorName, "portal \"" + std::string{name} + "\" does not exist"};
}

std::unique_ptr<PreparedStatement> SessionState::prepare(std::string_view name, std::string_view text,
                                                         std::span<const Oid> types, bool from_sql) {
  auto statement = std::make_unique<PreparedStatement>();
  statement->name = name;
  statement->text = text;
  statement->from_sql = from_sql;
  statement->prepared_at_us = wall_clock_us();
  statement->parameter_types.assign(types.begin(), types.end());
  // A text that some session of this process has prepared before needs no parser.
  const bool share = may_share_plans() && !block.failed();
  if (share) {
    set_key(text, types);
    statement->plan_key = key_buffer;
    block.ensure_transaction();
    catalog.accept_invalidations();
    if (PlanRef plan = services.plans.find(key_buffer); plan && plan_holds(*plan)) {
      statement->parameter_types.assign(plan->plan.parameter_types.begin(), plan->plan.parameter_types.end());
      statement->plan = std::move(plan);
      return statement;
    }
  }
  auto parsed = std::make_unique<ParsedText>(sql::parse(text));
  if (parsed->statements().empty()) {
    statement->is_empty = true;
    return statement;
  }
  if (parsed->statements().size() > 1) {
    throw SqlError{sqlstate::kSyntaxError, "cannot insert multiple commands into a prepared statement"};
  }
  const RawStatement& raw = parsed->statements()[0];
  statement->allowed_in_failed_transaction = raw.allowed_in_failed_transaction;
  require_not_failed(raw.allowed_in_failed_transaction);
  if (raw.kind == RawKind::kUtility) {
    statement->is_utility = true;
    if (!block.failed()) {
      block.ensure_transaction();
      statement->column_arena = std::make_unique<Arena>();
      const AnalyzedStatement analyzed =
          analyze(analyze_context(*statement->column_arena), raw, parsed->text());
      statement->utility_columns = describe_utility(*analyzed.query->utility, *statement->column_arena);
    }
    statement->parsed = std::move(parsed);
    return statement;
  }
  block.ensure_transaction();
  catalog.accept_invalidations();
  auto shared = std::make_unique<SharedPlan>();
  const AnalyzedStatement analyzed =
      analyze(analyze_context(shared->plan.arena), raw, parsed->text(), types, ParameterMode::kInfer);
  plan_into(*shared, *analyzed.query, analyzed.parameter_types, /*is_cursor=*/false);
  name_statement(*shared, raw.text, /*normalized=*/false);
  statement->parameter_types.assign(analyzed.parameter_types.begin(), analyzed.parameter_types.end());
  statement->plan = PlanRef{shared.release()};
  if (share) services.plans.insert(statement->plan_key, statement->plan);
  return statement;
}

void SessionState::refresh_plan(PreparedStatement& statement) {
  if (!statement.plan) return;
  catalog.accept_invalidations();
  if (plan_holds(*statement.plan)) return;
  const std::vector<ResultColumn> old_columns{statement.plan->plan.columns.begin(),
                                              statement.plan->plan.columns.end()};
  const PlanRef keep_names = statement.plan;
  auto fresh = prepare(statement.name, statement.text, statement.parameter_types, statement.from_sql);
  const auto columns = fresh->plan ? fresh->plan->plan.columns : std::span<ResultColumn>{};
  bool same = columns.size() == old_columns.size();
  for (std::size_t i = 0; same && i < columns.size(); ++i) {
    same = columns[i].type == old_columns[i].type && columns[i].name == old_columns[i].name;
  }
  if (!same) throw SqlError{sqlstate::kFeatureNotSupported, "cached plan must not change result type"};
  statement.plan = fresh->plan;
  statement.plan_key = fresh->plan_key;
}

Portal& SessionState::add_portal(std::string_view name, bool allow_replace) {
  const auto at = portals.find(name);
  if (at != portals.end()) {
    if (!name.empty() && !allow_replace) {
      throw SqlError{sqlstate::kDuplicateCursor, "cursor \"" + std::string{name} + "\" already exists"};
    }
    portals.erase(at);
  }
  auto portal = std::make_unique<Portal>();
  portal->name = name;
  portal->created_at_us = eval.statement_timestamp;
  portal->nest_level = transaction.nest_level();
  return *portals.emplace(std::string{name}, std::move(portal)).first->second;
}

void SessionState::close_portals_for_commit() {
  // Held cursors read what is left of their rows while their snapshot still stands.
  for (auto& [name, portal] : portals) {
    if (portal->hold && !portal->failed && portal->plan) {
      fill_cursor(*portal, INT64_MAX);
      portal->executor.reset();
      portal->snapshot.release();
      portal->plan = PlanRef{};
    }
  }
  std::erase_if(portals,
                [](const auto& item) { return !(item.second->hold && item.second->rows != nullptr); });
}

void SessionState::close_all_portals() noexcept {
  std::erase_if(portals, [](const auto& item) {
    const bool kept = item.second->hold && item.second->rows != nullptr && !item.second->plan;
    return !kept;
  });
}

void SessionState::close_failed_portals() noexcept {
  const int level = transaction.nest_level();
  std::erase_if(
      portals, [level](const auto& item) { return item.second->failed || item.second->nest_level >= level; });
}

// ---- the extended protocol ----

void Session::parse(std::string_view name, std::string_view text, std::span<const Oid> parameter_types) {
  SessionState& session = *state_;
  session.start_message(text, /*new_statement_time=*/session.block.state() == TransactionBlock::State::kIdle);
  session.statement_arena.reset();
  if (!name.empty() && session.statements.contains(name)) {
    throw SqlError{sqlstate::kDuplicatePstatement,
                   "prepared statement \"" + std::string{name} + "\" already exists"};
  }
  auto statement = session.prepare(name, text, parameter_types, /*from_sql=*/false);
  const auto at = session.statements.find(name);
  if (at != session.statements.end()) {
    std::erase_if(session.portals,
                  [&](const auto& item) { return item.second->statement == at->second.get(); });
    at->second = std::move(statement);
  } else {
    session.statements.emplace(std::string{name}, std::move(statement));
  }
}

namespace {

Datum bind_value(SessionState& session, Portal& portal, Oid type_oid, std::int16_t format,
                 const BindValue& value, std::size_t number) {
  const TypeInfo* type = find_type(type_oid);
  if (format == 0) {
    check_utf8(value.bytes);
    if (type == nullptr)
      return session.eval.catalog->input_user_type(type_oid, value.bytes, -1, portal.arena);
    return input_value(*type, value.bytes, portal.arena, session.eval);
  }
  if (type == nullptr || type->receive == nullptr) {
    throw SqlError{sqlstate::kUndefinedFunction,
                   "no binary input function available for type of parameter " + std::to_string(number)};
  }
  return type->receive(value.bytes, IoContext{portal.arena, session.eval, type_oid, -1});
}

}  // namespace

void Session::bind(std::string_view portal_name, std::string_view statement_name, Formats parameter_formats,
                   std::span<const BindValue> values, Formats result_formats) {
  SessionState& session = *state_;
  PreparedStatement& statement = session.require_statement(statement_name);
  session.start_message(statement.text,
                        /*new_statement_time=*/session.block.state() == TransactionBlock::State::kIdle);
  session.require_not_failed(statement.allowed_in_failed_transaction || statement.is_empty);
  if (values.size() != statement.parameter_types.size()) {
    throw SqlError{sqlstate::kProtocolViolation, "bind message supplies " + std::to_string(values.size()) +
                                                     " parameters, but prepared statement \"" +
                                                     std::string{statement_name} + "\" requires " +
                                                     std::to_string(statement.parameter_types.size())};
  }
  if (!session.block.failed()) session.block.ensure_transaction();
  if (statement.plan) session.refresh_plan(statement);
  Portal& portal = session.add_portal(portal_name, /*allow_replace=*/false);
  portal.text = statement.text;
  portal.statement = &statement;
  portal.plan = statement.plan;
  portal.parameter_count = static_cast<int>(values.size());
  portal.parameters = portal.arena.make_array<Datum>(values.size());
  portal.parameter_nulls = portal.arena.make_array<bool>(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    portal.parameter_nulls[i] = values[i].is_null;
    if (values[i].is_null) continue;
    const std::int16_t format = parameter_formats.empty()
                                    ? std::int16_t{0}
                                    : parameter_formats[parameter_formats.size() == 1 ? 0 : i];
    portal.parameters[i] =
        bind_value(session, portal, statement.parameter_types[i], format, values[i], i + 1);
  }
  const std::size_t columns =
      portal.plan ? portal.plan->plan.columns.size() : statement.utility_columns.size();
  if (result_formats.size() > 1 && result_formats.size() != columns) {
    throw SqlError{sqlstate::kProtocolViolation, "bind message has " + std::to_string(result_formats.size()) +
                                                     " result formats but query has " +
                                                     std::to_string(columns) + " columns"};
  }
  portal.result_formats.assign(result_formats.begin(), result_formats.end());
}

void Session::describe_statement(std::string_view name) {
  SessionState& session = *state_;
  PreparedStatement& statement = session.require_statement(name);
  session.require_not_failed(true);
  session.client.parameter_description(statement.parameter_types);
  if (statement.plan && statement.plan->plan.returns_rows) {
    session.client.row_description(statement.plan->plan.columns, {});
  } else if (!statement.utility_columns.empty()) {
    session.client.row_description(statement.utility_columns, {});
  } else {
    session.client.no_data();
  }
}

void Session::describe_portal(std::string_view name) {
  SessionState& session = *state_;
  Portal& portal = session.require_portal(name);
  if (portal.plan && portal.plan->plan.returns_rows) {
    session.client.row_description(portal.plan->plan.columns, portal.result_formats);
  } else if (portal.rows != nullptr) {
    session.client.row_description(portal.rows->columns(), portal.result_formats);
  } else if (portal.statement != nullptr && !portal.statement->utility_columns.empty()) {
    session.client.row_description(portal.statement->utility_columns, portal.result_formats);
  } else {
    session.client.no_data();
  }
}

namespace {

/// Runs (on) a portal over a plan. The executor stays with the portal between calls with a row limit.
void execute_plan_portal(SessionState& session, Portal& portal, std::int32_t max_rows) {
  CachedPlan& plan = portal.plan->plan;
  ExecutionContext& execution = session.execution;
  StatementMeter meter{session, portal.plan->statement_id};
  if (!portal.started) {
    portal.snapshot = session.transaction.take_snapshot();
  }
  session.prepare_execution(portal.snapshot.get(), portal.parameters, portal.parameter_nulls,
                            portal.parameter_count);
  if (!portal.started) {
    portal.failed = true;  // until it has returned
    portal.executor.emplace(plan);
    (*portal.executor)->start(execution);
    portal.started = true;
  }
  portal.failed = true;
  DiscardReceiver nobody;
  RowReceiver& receiver = plan.returns_rows ? session.client.rows(plan.columns, portal.result_formats)
                                            : static_cast<RowReceiver&>(nobody);
  const std::uint64_t before = (*portal.executor)->processed();
  const bool finished =
      (*portal.executor)->run(receiver, max_rows > 0 ? static_cast<std::uint64_t>(max_rows) : 0);
  portal.failed = false;
  const std::uint64_t processed = (*portal.executor)->processed();
  if (!finished) {
    meter.suspend(portal.use);
    session.client.portal_suspended();
    return;
  }
  (*portal.executor)->finish();
  portal.executor.reset();
  portal.snapshot.release();
  portal.done = true;
  if (!plan.read_only) session.transaction.advance_command();
  meter.finish(*portal.plan, processed, &portal.use);
  const std::uint64_t count =
      plan.command == CommandKind::kSelect && max_rows > 0 ? processed - before : processed;
  session.client.command_complete(plan_tag(plan.command, count, session.key_buffer));
}

}  // namespace

void Session::execute(std::string_view portal_name, std::int32_t max_rows) {
  SessionState& session = *state_;
  Portal& portal = session.require_portal(portal_name);
  session.start_message(portal.text, /*new_statement_time=*/false);
  PreparedStatement* statement = portal.statement;
  if (statement != nullptr && statement->is_empty) {
    session.client.empty_query();
    return;
  }
  session.require_not_failed(statement != nullptr && statement->allowed_in_failed_transaction);
  if (portal.plan) {
    session.block.ensure_transaction();
    if (portal.done) {
      session.client.command_complete(plan_tag(portal.plan->plan.command, 0, session.key_buffer));
      return;
    }
    return execute_plan_portal(session, portal, max_rows);
  }
  if (statement == nullptr)
    throw SqlError{sqlstate::kInvalidCursorState, "portal \"" + portal.name + "\" cannot be run"};
  if (portal.done) {
    throw SqlError{sqlstate::kObjectNotInPrerequisiteState, "portal \"" + portal.name + "\" cannot be run"};
  }
  portal.done = true;
  if (!session.block.failed()) {
    session.block.ensure_transaction();
    session.catalog.accept_invalidations();
  }
  session.statement_arena.reset();
  const std::vector<std::int16_t> formats = portal.result_formats;  // a COMMIT closes the portal
  const AnalyzedStatement analyzed = analyze(session.analyze_context(session.statement_arena),
                                             statement->parsed->statements()[0], statement->parsed->text());
  session.run_utility(*analyzed.query->utility, analyzed.text, /*several=*/false,
                      {formats, /*describe=*/false});
}

void Session::close_statement(std::string_view name) {
  SessionState& session = *state_;
  const auto at = session.statements.find(name);
  if (at == session.statements.end()) return;
  std::erase_if(session.portals, [&](const auto& item) {
    return item.second->statement == at->second.get() && !item.second->plan;
  });
  for (auto& [portal_name, portal] : session.portals) {
    if (portal->statement == at->second.get()) portal->statement = nullptr;
  }
  session.statements.erase(at);
}

void Session::close_portal(std::string_view name) {
  const auto at = state_->portals.find(name);
  if (at != state_->portals.end()) state_->portals.erase(at);
}

void Session::sync() {
  SessionState& session = *state_;
  session.block.end_implicit();
}

}  // namespace pinwheel::sql
