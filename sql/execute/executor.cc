#include "sql/execute/executor.h"

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "base/sqlstate.h"
#include "sql/catalog/catalog.h"
#include "sql/execute/deferred_work.h"
#include "sql/execute/program.h"
#include "sql/execute/run_state.h"

namespace pinwheel::sql {

/// States kept per plan: more sessions than this running one plan at a time build theirs anew.
constexpr int kMaxIdleStates = 16;

struct ExecutorImpl {
  explicit ExecutorImpl(const CachedPlan& plan) : run{plan} {}
  RunState run;
  Node* root = nullptr;
  std::unique_ptr<NodeCounters[]> counters;
  bool active = false;
  // whom the privileges were last checked for, so that repeated executions need not ask again
  Oid checked_user;
  std::uint64_t checked_generation = 0;
  bool finished = false;
};

ExecutorState::ExecutorState(const CachedPlan& plan) : impl_{std::make_unique<ExecutorImpl>(plan)} {}
ExecutorState::~ExecutorState() = default;

namespace {

std::string_view command_name(CommandKind command) {
  switch (command) {
    case CommandKind::kInsert:
      return "INSERT";
    case CommandKind::kUpdate:
      return "UPDATE";
    case CommandKind::kDelete:
      return "DELETE";
    default:
      return "SELECT FOR UPDATE";
  }
}

void check_privileges(const CachedPlan& plan, ExecutorImpl& impl, ExecutionContext& context) {
  if (plan.privileges.empty()) return;
  const std::uint64_t generation = context.catalog.generation();
  if (impl.checked_user == context.eval.user && impl.checked_generation == generation) return;
  for (const PlanPrivilege& privilege : plan.privileges) {
    const Oid role = is_valid(privilege.as_user) ? privilege.as_user : context.eval.user;
    if (context.catalog.has_relation_privilege(role, *privilege.relation, privilege.wanted)) continue;
    const char kind = privilege.relation->kind;
    throw SqlError{sqlstate::kInsufficientPrivilege, std::string{"permission denied for "} +
                                                         (kind == 'v'   ? "view "
                                                          : kind == 'S' ? "sequence "
                                                                        : "table ") +
                                                         privilege.relation->name};
  }
  impl.checked_user = context.eval.user;
  impl.checked_generation = generation;
}

}  // namespace

void ExecutorState::start(ExecutionContext& context, Instrument instrument) {
  ExecutorImpl& impl = *impl_;
  const CachedPlan& plan = impl.run.plan;
  if (!plan.read_only && context.read_only_transaction) {
    throw SqlError{
        sqlstate::kReadOnlySqlTransaction,
        "cannot execute " + std::string{command_name(plan.command)} + " in a read-only transaction"};
  }
  check_privileges(plan, impl, context);
  impl.run.begin(context);
  impl.run.instrument = instrument;
  if (instrument != Instrument::kNone) {
    impl.counters = std::make_unique<NodeCounters[]>(static_cast<std::size_t>(plan.node_count) + 1);
    impl.run.counters = impl.counters.get();
    impl.run.meter = shm::current_session.meter;
  } else {
    impl.run.counters = nullptr;
    impl.run.meter = nullptr;
  }
  impl.active = true;
  impl.finished = false;
  if (impl.root == nullptr) impl.root = make_node(plan.root, impl.run);
  rewind_node(*impl.root);
}

bool ExecutorState::run(RowReceiver& receiver, std::uint64_t limit) {
  ExecutorImpl& impl = *impl_;
  if (impl.finished) return true;
  const CachedPlan& plan = impl.run.plan;
  const int columns = static_cast<int>(plan.columns.size());
  const bool counts_rows = plan.command == CommandKind::kSelect;
  std::uint64_t sent = 0;
  while (Slot* row = pull(*impl.root)) {
    if (row->valid < columns) deform_slot(*row, columns);
    const int width = row->count;
    row->count = columns;
    receiver.row(*row);
    row->count = width;
    if (counts_rows) ++impl.run.processed;
    if (limit != 0 && ++sent == limit) return false;
  }
  // data-modifying CTEs run to their end even when nobody asked for their rows
  for (std::size_t i = 0; i < plan.subplans.size(); ++i) {
    if (plan.subplans[i].modifies) complete_cte(impl.run, static_cast<int>(i));
  }
  impl.finished = true;
  return true;
}

void ExecutorState::finish() {
  ExecutorImpl& impl = *impl_;
  run_statement_checks(impl.run);
  impl.run.close_nodes();
  impl.run.report_activity();
  impl.active = false;
}

void ExecutorState::abandon() noexcept {
  ExecutorImpl& impl = *impl_;
  if (!impl.active) return;
  impl.run.close_nodes();
  impl.run.report_activity();
  impl.active = false;
}

std::uint64_t ExecutorState::processed() const noexcept { return impl_->run.processed; }
const CachedPlan& ExecutorState::plan() const noexcept { return impl_->run.plan; }
const NodeCounters* ExecutorState::counters() const noexcept { return impl_->counters.get(); }

ExecutorLease::ExecutorLease(CachedPlan& plan) : plan_{&plan}, state_{plan.idle_states} {
  if (state_ != nullptr) {
    plan.idle_states = state_->next_idle_;
    --plan.idle_count;
  } else {
    state_ = new ExecutorState{plan};
  }
}

ExecutorLease::~ExecutorLease() {
  if (state_ == nullptr) return;
  // What an error left half done is not trusted for reuse.
  const bool clean = !state_->impl_->active;
  state_->abandon();
  if (!clean || plan_->idle_count >= kMaxIdleStates) {
    delete state_;
    return;
  }
  state_->next_idle_ = plan_->idle_states;
  plan_->idle_states = state_;
  ++plan_->idle_count;
}

std::uint64_t execute_plan(CachedPlan& plan, ExecutionContext& context, RowReceiver& receiver) {
  ExecutorLease executor{plan};
  executor->start(context);
  executor->run(receiver);
  executor->finish();
  return executor->processed();
}

}  // namespace pinwheel::sql
