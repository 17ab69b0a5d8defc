// DECLARE, FETCH, MOVE and CLOSE. A cursor keeps the rows it has fetched in a RowStore, so that it may go
// back.

#include <algorithm>
#include <limits>

#include "base/sqlstate.h"
#include "sql/session/planner_settings.h"
#include "sql/session/session_state.h"

namespace pinwheel::sql {

void SessionState::declare_cursor(const DeclareCursorUtility& utility) {
  if (!utility.hold && !block.in_block()) {
    throw SqlError{sqlstate::kNoActiveSqlTransaction,
                   "DECLARE CURSOR can only be used in transaction blocks"};
  }
  if (portals.contains(utility.name)) {
    throw SqlError{sqlstate::kDuplicateCursor, "cursor \"" + std::string{utility.name} + "\" already exists"};
  }
  // The statement was analyzed into its own arena, which ends before the cursor does: analyze it again for
  // the plan.
  const ParsedText parsed = sql::parse(utility.query_text);
  auto shared = std::make_unique<SharedPlan>();
  const AnalyzedStatement analyzed =
      analyze(analyze_context(shared->plan.arena), parsed.statements()[0], parsed.text());
  const auto& declared = static_cast<const DeclareCursorUtility&>(*analyzed.query->utility);
  plan_into(*shared, *declared.query, {}, /*is_cursor=*/true);
  Portal& portal = add_portal(utility.name, /*allow_replace=*/false);
  portal.plan = PlanRef{shared.release()};
  portal.text = utility.query_text;
  portal.is_cursor = true;
  portal.hold = utility.hold;
  portal.scroll = utility.scroll || !utility.no_scroll;
  portal.binary = utility.binary;
  portal.snapshot = transaction.take_snapshot();
  portal.rows = std::make_unique<RowStore>(portal.plan->plan.columns, &budget);
}

void SessionState::fill_cursor(Portal& portal, std::int64_t wanted_rows) {
  if (portal.done || !portal.plan) return;
  if (portal.rows == nullptr) portal.rows = std::make_unique<RowStore>(portal.plan->plan.columns, &budget);
  prepare_execution(portal.snapshot.get(), portal.parameters, portal.parameter_nulls, portal.parameter_count);
  portal.failed = true;  // until it has returned
  if (!portal.started) {
    portal.executor.emplace(portal.plan->plan);
    (*portal.executor)->start(execution);
    portal.started = true;
  }
  const auto have = static_cast<std::int64_t>(portal.rows->size());
  if (wanted_rows > have) {
    const std::uint64_t limit = wanted_rows == INT64_MAX ? 0 : static_cast<std::uint64_t>(wanted_rows - have);
    if ((*portal.executor)->run(*portal.rows, limit)) {
      (*portal.executor)->finish();
      portal.executor.reset();
      portal.done = true;
    }
  }
  portal.failed = false;
}

namespace {

/// The rows a FETCH covers, in order: positions from `first` by `step`, `count` of them; and where the cursor
/// stands then.
struct FetchRange {
  std::int64_t first = 0;
  std::int64_t step = 1;
  std::int64_t count = 0;
  std::int64_t end_position = 0;
};

std::int64_t saturating_add(std::int64_t a, std::int64_t b) {
  std::int64_t sum;
  if (__builtin_add_overflow(a, b, &sum)) return b > 0 ? INT64_MAX : INT64_MIN;
  return sum;
}

FetchRange single(std::int64_t position, std::int64_t total) {
  if (position < 1) return {0, 1, 0, 0};
  if (position > total) return {0, 1, 0, total + 1};
  return {position, 1, 1, position};
}

}  // namespace

void SessionState::fetch(const FetchUtility& utility, const ResultMode& mode) {
  const auto at = portals.find(utility.cursor);
  if (at == portals.end()) {
    throw SqlError{sqlstate::kInvalidCursorName,
                   "cursor \"" + std::string{utility.cursor} + "\" does not exist"};
  }
  Portal& portal = *at->second;
  FetchDirection direction = utility.direction;
  std::int64_t count = utility.count;
  if (direction == FetchDirection::kForward && count < 0) {
    direction = FetchDirection::kBackward;
    count = count == INT64_MIN ? INT64_MAX : -count;
  } else if (direction == FetchDirection::kBackward && count < 0) {
    direction = FetchDirection::kForward;
    count = count == INT64_MIN ? INT64_MAX : -count;
  }
  const std::int64_t position = portal.position;
  // Read ahead as far as the command can reach.
  std::int64_t reach = position;
  if (direction == FetchDirection::kForward) reach = saturating_add(position, count == 0 ? 0 : count);
  if (direction == FetchDirection::kAbsolute) reach = count < 0 ? INT64_MAX : count;
  if (direction == FetchDirection::kRelative) reach = saturating_add(position, count);
  fill_cursor(portal, reach);
  const auto total = static_cast<std::int64_t>(portal.rows->size());

  FetchRange range;
  const bool backward = direction == FetchDirection::kBackward ||
                        (direction != FetchDirection::kForward &&
                         (count < 0 || (direction == FetchDirection::kAbsolute && count < position)));
  if (backward && !portal.scroll) {
    throw SqlError{sqlstate::kObjectNotInPrerequisiteState, "cursor can only scan forward"}.hint(
        "Declare it with SCROLL option to enable backward scan.");
  }
  switch (direction) {
    case FetchDirection::kForward:
      if (count == 0) {
        range = single(position, total);
      } else {
        range.first = position + 1;
        range.count = std::clamp<std::int64_t>(std::min(count, total - position), 0, total);
        range.end_position = range.count < count ? total + 1 : position + range.count;
        if (position > total) range.end_position = position;
      }
      break;
    case FetchDirection::kBackward: {
      if (count == 0) {
        range = single(position, total);
        break;
      }
      const std::int64_t from = std::min(position, total + 1);
      range.first = from - 1;
      range.step = -1;
      range.count = std::clamp<std::int64_t>(std::min(count, from - 1), 0, total);
      range.end_position = range.count < count ? 0 : from - range.count;
      break;
    }
    case FetchDirection::kAbsolute:
      range = single(count < 0 ? total + 1 + count : count, total);
      break;
    case FetchDirection::kRelative:
      range = single(saturating_add(position, count), total);
      break;
  }
  portal.position = range.end_position;
  if (utility.move) {
    client.command_complete("MOVE " + std::to_string(range.count));
    return;
  }
  static constexpr std::int16_t kBinary[] = {1};
  const Formats formats = portal.binary ? Formats{kBinary} : mode.formats;
  if (mode.describe) client.row_description(portal.rows->columns(), formats);
  RowReceiver& receiver = client.rows(portal.rows->columns(), formats);
  std::int64_t row = range.first;
  for (std::int64_t i = 0; i < range.count; ++i, row += range.step) {
    receiver.row(portal.rows->at(static_cast<std::size_t>(row - 1)));
  }
  client.command_complete("FETCH " + std::to_string(range.count));
}

void SessionState::close_cursor(const CloseUtility& utility) {
  if (utility.cursor.empty()) {
    portals.clear();
    return;
  }
  const auto at = portals.find(utility.cursor);
  if (at == portals.end()) {
    throw SqlError{sqlstate::kInvalidCursorName,
                   "cursor \"" + std::string{utility.cursor} + "\" does not exist"};
  }
  portals.erase(at);
}

}  // namespace pinwheel::sql
