// EXPLAIN: plans (and under ANALYZE runs) a query and prints the plan.

#include "sql/execute/explain.h"

#include <optional>

#include "base/clock.h"
#include "base/parameters.h"
#include "base/sqlstate.h"
#include "shm/usage_meter.h"
#include "sql/session/session_state.h"
#include "sql/types/type_oids.h"
#include "sql/types/varlena.h"

namespace pinwheel::sql {
namespace {

bool option_is_on(const Option& option) {
  if (option.kind == Option::Kind::kNone) return true;
  const auto value = parse_bool_word(option.text);
  if (!value) throw SqlError{sqlstate::kSyntaxError, std::string{option.name} + " requires a Boolean value"};
  return *value;
}

ExplainOptions explain_options(const ExplainUtility& utility) {
  ExplainOptions options;
  bool timing_given = false, summary_given = false;
  for (const Option& option : utility.options) {
    if (option.name == "analyze") {
      options.analyze = option_is_on(option);
    } else if (option.name == "verbose") {
      options.verbose = option_is_on(option);
    } else if (option.name == "costs") {
      options.costs = option_is_on(option);
    } else if (option.name == "buffers") {
      options.buffers = option_is_on(option);
    } else if (option.name == "timing") {
      options.timing = option_is_on(option);
      timing_given = true;
    } else if (option.name == "summary") {
      options.summary = option_is_on(option);
      summary_given = true;
    } else if (option.name == "format") {
      if (option.text == "text") {
        options.format = ExplainOptions::Format::kText;
      } else if (option.text == "json") {
        options.format = ExplainOptions::Format::kJson;
      } else if (option.text == "xml" || option.text == "yaml") {
        throw SqlError{sqlstate::kFeatureNotSupported,
                       "EXPLAIN format " + std::string{option.text} + " is not supported"};
      } else {
        throw SqlError{
            sqlstate::kInvalidParameterValue,
            "unrecognized value for EXPLAIN option \"format\": \"" + std::string{option.text} + "\""}
            .position(option.location + 1);
      }
    } else if (option.name == "wal" || option.name == "settings") {
      if (option_is_on(option)) {
        throw SqlError{sqlstate::kFeatureNotSupported,
                       "EXPLAIN option " + std::string{option.name} + " is not supported"};
      }
    } else {
      throw SqlError{sqlstate::kSyntaxError,
                     "unrecognized EXPLAIN option \"" + std::string{option.name} + "\""}
          .position(option.location + 1);
    }
  }
  if (timing_given && options.timing && !options.analyze) {
    throw SqlError{sqlstate::kInvalidParameterValue, "EXPLAIN option TIMING requires ANALYZE"};
  }
  if (!summary_given) options.summary = options.analyze;
  return options;
}

}  // namespace

void SessionState::explain(const ExplainUtility& utility, const ResultMode& mode) {
  ExplainOptions options = explain_options(utility);
  const Query* query = utility.query;
  if (query->command == CommandKind::kUtility && query->utility->kind == UtilityKind::kCreateTableAs) {
    query = static_cast<const CreateTableAsUtility*>(query->utility)->query;
    if (options.analyze)
      throw SqlError{sqlstate::kFeatureNotSupported, "EXPLAIN ANALYZE of CREATE TABLE AS is not supported"};
  }
  PlanRef plan;
  std::optional<shm::MeterScope> metered;
  if (options.buffers) metered.emplace();
  const std::int64_t planning_start = monotonic_ns();
  if (query->command == CommandKind::kUtility) {
    if (query->utility->kind != UtilityKind::kExecute) {
      throw SqlError{sqlstate::kFeatureNotSupported, "EXPLAIN of utility statements is not supported"};
    }
    PreparedStatement& statement =
        require_statement(static_cast<const ExecuteUtility*>(query->utility)->name);
    refresh_plan(statement);
    plan = statement.plan;
    if (options.analyze && !statement.parameter_types.empty()) {
      throw SqlError{sqlstate::kFeatureNotSupported,
                     "EXPLAIN ANALYZE of EXECUTE with parameters is not supported"};
    }
  } else {
    plan = make_plan(*query, {});
  }
  options.planning_ms = static_cast<double>(monotonic_ns() - planning_start) / 1e6;
  if (metered) options.planning_buffers = metered->meter().buffers();
  std::vector<std::string> lines;
  if (options.analyze) {
    txn::SnapshotHandle snapshot = transaction.take_snapshot();
    prepare_execution(snapshot.get());
    const std::int64_t start = monotonic_ns();
    DiscardReceiver nobody;
    ExecutorLease executor{plan->plan};
    executor->start(execution, options.timing ? Instrument::kTime : Instrument::kRows);
    executor->run(nobody);
    executor->finish();
    const double execution_ms = static_cast<double>(monotonic_ns() - start) / 1e6;
    lines = explain_plan(plan->plan, &*executor, execution_ms, options);
    if (!plan->plan.read_only) transaction.advance_command();
  } else {
    lines = explain_plan(plan->plan, nullptr, 0, options);
  }
  const std::vector<ResultColumn> columns = describe_utility(utility, statement_arena);
  if (mode.describe) client.row_description(columns, mode.formats);
  RowReceiver& receiver = client.rows(columns, mode.formats);
  Datum value;
  bool is_null = false;
  Slot slot;
  slot.values = &value;
  slot.nulls = &is_null;
  slot.count = slot.valid = 1;
  for (const std::string& line : lines) {
    value = make_text(statement_arena, line);
    receiver.row(slot);
  }
  client.command_complete("EXPLAIN");
}

}  // namespace pinwheel::sql
