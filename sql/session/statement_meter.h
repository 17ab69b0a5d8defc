#pragma once

#include <optional>
#include <string_view>

#include "shm/usage_meter.h"
#include "sql/session/plan_cache.h"
#include "sql/statistics/statement_statistics.h"

namespace pinwheel::sql {

struct SessionState;

/// Measures one execution of a statement for pg_stat_statements, from its making to finish(); an execution
/// that an error ends is not counted. Does nothing when statements are not counted, and inside another meter:
/// only what clients send counts. Lives on the session's stack.
class StatementMeter {
 public:
  /// `query_id`: the statement's, shown in pg_stat_activity meanwhile.
  StatementMeter(SessionState& session, std::uint64_t query_id) noexcept;
  ~StatementMeter();
  StatementMeter(const StatementMeter&) = delete;
  StatementMeter& operator=(const StatementMeter&) = delete;

  /// The plan has run to its end and made (or changed) `rows` rows. `before`: what earlier parts of the same
  /// execution came to (a portal that was suspended).
  void finish(const SharedPlan& plan, std::uint64_t rows, const StatementUse* before = nullptr);
  /// The same for a statement without a plan.
  void finish(std::string_view text, std::uint64_t rows);
  /// The execution is suspended: adds what it came to so far.
  void suspend(StatementUse& sum);

 private:
  StatementUse use() const noexcept;
  void log(StatementTicket& ticket, std::string_view text, StatementUse use);

  SessionState& session_;
  StatementLog* log_ = nullptr;  // null: not measured
  std::uint64_t query_id_ = 0;
  std::int64_t started_ns_ = 0;
  std::optional<shm::MeterScope> scope_;
  shm::BufferUsage buffers_before_;
  shm::LogUsage log_before_;
};

/// Identifies a statement by its text with literals as $n; never 0.
std::uint64_t statement_id(std::string_view normalized_text) noexcept;

}  // namespace pinwheel::sql
