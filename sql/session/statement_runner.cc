// How a statement runs: from its text, or from the statement cache, to rows and a command tag.

#include <charconv>

#include "base/clock.h"
#include "base/parameters.h"
#include "base/sqlstate.h"
#include "shm/interrupts.h"
#include "sql/catalog/builtin.h"
#include "sql/session/planner_settings.h"
#include "sql/session/session_catalog.h"
#include "sql/session/session_state.h"
#include "sql/session/statement_meter.h"
#include "sql/types/type_info.h"
#include "sql/types/type_oids.h"
#include "txn/lock_tag.h"

namespace pinwheel::sql {
namespace {

/// Shared catalogs are locked outside any database. Only they have small oids.
Oid lock_database(const CachedPlan& plan, Oid relation, Oid database) {
  if (relation >= kFirstNormalOid) return database;
  for (const RelationRef& entry : plan.relations) {
    if (entry->oid == relation) return entry->shared ? kInvalidOid : database;
  }
  return database;
}

/// False for errors of a statement's circumstances, which came while it waited for a lock or for memory:
/// cancelled, timed out, deadlocked, terminated. They count, whatever text was being analyzed.
bool is_fault_of_text(const SqlError& error) {
  const SqlState state = error.state();  // the view below looks into it
  const std::string_view code_class = state.view().substr(0, 2);
  return error.severity() == Severity::kError && code_class != "08" && code_class != "40" &&
         code_class != "53" && code_class != "55" && code_class != "57" && code_class != "58";
}

Datum integer_literal(const LiftedLiteral& literal, bool& parsed) {
  std::int64_t value = 0;
  const char* end = literal.text.data() + literal.text.size();
  parsed = std::from_chars(literal.text.data(), end, value).ptr == end;
  return Datum::from_int64(value);
}

}  // namespace

std::string_view plan_tag(CommandKind command, std::uint64_t processed, std::string& buffer) {
  switch (command) {
    case CommandKind::kInsert:
      buffer = "INSERT 0 ";
      break;
    case CommandKind::kUpdate:
      buffer = "UPDATE ";
      break;
    case CommandKind::kDelete:
      buffer = "DELETE ";
      break;
    default:
      buffer = "SELECT ";
      break;
  }
  char digits[20];
  buffer.append(digits, std::to_chars(digits, digits + sizeof digits, processed).ptr);
  return buffer;
}

void SessionState::start_message(std::string_view text, bool new_statement_time) {
  if (new_statement_time) {
    eval.statement_timestamp = wall_clock_us();
    if (const std::int64_t timeout_ms = settings.get_int(param::kStatementTimeout); timeout_ms > 0) {
      services.server.set_timer_statement(Deadline::after_ms(timeout_ms));
      statement_timer_armed = true;
    }
  }
  if (is_idle) {
    is_idle = false;
    count_state_time(eval.statement_timestamp, /*becomes_idle=*/false);
    if (block.in_block()) services.server.set_timer_idle_in_transaction(Deadline::never());
  }
  if (!settings.get_bool(param::kTrackActivities)) return;
  shm::ActivityWriter activity{slot};
  activity->state = shm::ActivityState::kActive;
  activity->query_start_us = eval.statement_timestamp;
  activity->state_change_us = eval.statement_timestamp;
  if (!text.empty()) activity.set_query(text);
}

void SessionState::require_not_failed(bool allowed) const {
  if (block.failed() && !allowed) {
    throw SqlError{sqlstate::kInFailedSqlTransaction,
                   "current transaction is aborted, commands ignored until end of transaction block"};
  }
}

AnalyzeContext SessionState::analyze_context(Arena& arena) { return {arena, helpers->analyzer_view(), eval}; }

bool SessionState::may_share_plans() const {
  return !catalog.has_changes() && catalog.temporary_schema() == kInvalidOid;
}

void SessionState::set_key(std::string_view text, std::span<const Oid> types) {
  key_buffer.assign(key_prefix);
  key_buffer.append(text);
  for (const Oid type : types) {
    key_buffer += '\0';
    key_buffer.append(reinterpret_cast<const char*>(&type.value), sizeof type.value);
  }
}

bool SessionState::plan_holds(const SharedPlan& shared) {
  const CachedPlan& plan = shared.plan;
  for (std::size_t i = 0; i < plan.locks.size(); ++i) {
    const PlanLock& lock = plan.locks[i];
    const Oid database = lock_database(plan, lock.relation, eval.database);
    transaction.locks().lock_relation(database, lock.relation, static_cast<txn::LockMode>(lock.mode));
  }
  catalog.accept_invalidations();
  const std::uint64_t generation = catalog.generation();
  if (shared.checked_generation == generation) return true;
  for (std::size_t i = 0; i < plan.relations.size(); ++i) {
    if (catalog.relation_version(plan.relations[i]->oid) != plan.relations[i]->version) return false;
  }
  shared.checked_generation = generation;
  return true;
}

void SessionState::plan_into(SharedPlan& shared, const Query& query, std::span<const Oid> parameter_types,
                             bool is_cursor) {
  const PlannerInput input{catalog,  helpers->analyzer_view(), eval, planner_settings(settings), {}, {},
                           is_cursor};
  plan_query(query, parameter_types, input, shared.plan);
  shared.checked_generation = shared.plan.catalog_generation;
}

void SessionState::name_statement(SharedPlan& shared, std::string_view text, bool normalized) {
  shared.statement_text = normalized ? std::string{text} : normalized_text(text);
  shared.statement_id = sql::statement_id(shared.statement_text);
}

PlanRef SessionState::make_plan(const Query& query, std::span<const Oid> parameter_types) {
  auto* shared = new SharedPlan;
  PlanRef plan{shared};
  plan_into(*shared, query, parameter_types, /*is_cursor=*/false);
  return plan;
}

void SessionState::prepare_execution(const txn::Snapshot* snapshot, const Datum* parameters,
                                     const bool* nulls, int count) {
  execution.snapshot = snapshot;
  execution.parameters = parameters;
  execution.parameter_nulls = nulls;
  execution.parameter_count = count;
  execution.repeatable_read = txn::keeps_snapshot(transaction.options().isolation);
  execution.read_only_transaction = transaction.options().read_only;
  execution.work_mem_bytes = settings.get_int(param::kWorkMem) * 1024;
}

void SessionState::run_plan(const PlanRef& plan, const Datum* parameters, const bool* nulls, int count,
                            const ResultMode& mode) {
  CachedPlan& cached = plan->plan;
  StatementMeter meter{*this, plan->statement_id};
  txn::SnapshotHandle snapshot = transaction.take_snapshot();
  prepare_execution(snapshot.get(), parameters, nulls, count);
  DiscardReceiver nobody;
  RowReceiver* receiver = &nobody;
  if (cached.returns_rows) {
    if (mode.describe) client.row_description(cached.columns, mode.formats);
    receiver = &client.rows(cached.columns, mode.formats);
  }
  std::uint64_t processed = 0;
  {
    ExecutorLease executor{cached};
    executor->start(execution);
    executor->run(*receiver);
    executor->finish();
    processed = executor->processed();
  }
  if (!cached.read_only) transaction.advance_command();
  meter.finish(*plan, processed);
  client.command_complete(plan_tag(cached.command, processed, key_buffer));
}

PlanRef SessionState::make_lifted_plan() {
  auto shared = std::make_unique<SharedPlan>();
  try {
    const ParsedText parsed = sql::parse(lifted.text);
    if (parsed.statements().size() != 1) return {};
    std::vector<Oid> types;
    for (const LiftedLiteral& literal : lifted.literals) types.push_back(literal.type);
    const AnalyzedStatement analyzed = analyze(analyze_context(shared->plan.arena), parsed.statements()[0],
                                               parsed.text(), types, ParameterMode::kInfer);
    if (analyzed.query->command == CommandKind::kUtility) return {};
    plan_into(*shared, *analyzed.query, analyzed.parameter_types, /*is_cursor=*/false);
    name_statement(*shared, lifted.text, /*normalized=*/true);
  } catch (const SqlError& error) {
    if (!is_fault_of_text(error)) throw;
    return {};  // the plain path words the error, with positions in the text as the user wrote it
  }
  return PlanRef{shared.release()};
}

bool SessionState::run_lifted(std::string_view text) {
  if (!may_share_plans() || !lift_literals(text, lifted)) return false;
  set_key(lifted.key, {});
  PlanRef plan = services.plans.find(key_buffer);
  require_not_failed(false);
  block.ensure_transaction();
  catalog.accept_invalidations();
  if (!plan || !plan_holds(*plan)) {
    plan = make_lifted_plan();
    if (!plan) return false;
    set_key(lifted.key, {});
    services.plans.insert(key_buffer, plan);
  }
  const auto types = plan->plan.parameter_types;
  if (types.size() != lifted.literals.size()) return false;
  Datum* values = statement_arena.make_array<Datum>(types.size());
  bool* nulls = statement_arena.make_array<bool>(types.size());
  for (std::size_t i = 0; i < types.size(); ++i) {
    const LiftedLiteral& literal = lifted.literals[i];
    bool parsed_integer = false;
    if (types[i] == kInt4Type || types[i] == kInt8Type) values[i] = integer_literal(literal, parsed_integer);
    if (parsed_integer) continue;
    const TypeInfo* type = find_type(types[i]);
    if (type == nullptr) return false;
    try {
      values[i] = input_value(*type, literal.text, statement_arena, eval);
    } catch (SqlError& error) {
      error.fields().position = character_position(text, literal.offset);
      throw;
    }
  }
  run_plan(plan, values, nulls, static_cast<int>(types.size()), {});
  return true;
}

void SessionState::run_statement(const RawStatement& raw, std::string_view whole_text, bool several) {
  require_not_failed(raw.allowed_in_failed_transaction);
  if (!block.failed()) block.ensure_transaction();
  if (raw.kind == RawKind::kUtility) {
    if (transaction.active()) catalog.accept_invalidations();
    const AnalyzedStatement analyzed = analyze(analyze_context(statement_arena), raw, whole_text);
    return run_utility(*analyzed.query->utility, analyzed.text, several, {});
  }
  catalog.accept_invalidations();
  const bool share = may_share_plans();
  if (share) {
    set_key(raw.text, {});
    if (PlanRef plan = services.plans.find(key_buffer); plan && plan_holds(*plan)) {
      return run_plan(plan, nullptr, nullptr, 0, {});
    }
  }
  auto shared = std::make_unique<SharedPlan>();
  const AnalyzedStatement analyzed = analyze(analyze_context(shared->plan.arena), raw, whole_text);
  catalog.accept_invalidations();
  plan_into(*shared, *analyzed.query, {}, /*is_cursor=*/false);
  name_statement(*shared, raw.text, /*normalized=*/false);
  const PlanRef plan{shared.release()};
  if (share) {
    set_key(raw.text, {});
    services.plans.insert(key_buffer, plan);
  }
  run_plan(plan, nullptr, nullptr, 0, {});
}

std::uint64_t SessionState::run_query(const Query& query, RowReceiver& receiver, std::span<const Oid> types) {
  const PlanRef plan = make_plan(query, types);
  transaction.advance_command();
  txn::SnapshotHandle snapshot = transaction.take_snapshot();
  const txn::Snapshot* outer = execution.snapshot;
  prepare_execution(snapshot.get());
  std::uint64_t processed = 0;
  {
    ExecutorLease executor{plan->plan};
    executor->start(execution);
    executor->run(receiver);
    executor->finish();
    processed = executor->processed();
  }
  execution.snapshot = outer;
  if (!plan->plan.read_only) transaction.advance_command();
  return processed;
}

}  // namespace pinwheel::sql
