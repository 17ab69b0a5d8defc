#include "shm/progress.h"

#include "base/sqlstate.h"
#include "sql/session/functions/function_tables.h"

/// pg_stat_get_progress_info: how far the long commands are that run now.
namespace pinwheel::sql::session_functions {
namespace {

struct ShownCommand {
  std::string_view name;
  shm::ProgressCommand command;
};
constexpr ShownCommand kShownCommands[] = {
    {"VACUUM", shm::ProgressCommand::kVacuum},   {"ANALYZE", shm::ProgressCommand::kAnalyze},
    {"CLUSTER", shm::ProgressCommand::kCluster}, {"CREATE INDEX", shm::ProgressCommand::kCreateIndex},
    {"COPY", shm::ProgressCommand::kCopy},       {"BASEBACKUP", shm::ProgressCommand::kNone},  // never runs
};

/// Case counts as little as in stock.
bool same_command(std::string_view a, std::string_view b) {
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(), [](char x, char y) {
           return std::toupper(static_cast<unsigned char>(x)) == std::toupper(static_cast<unsigned char>(y));
         });
}

void show_progress(SessionState& session, Call& call, Rows& rows) {
  const std::string_view wanted = call.text(0);
  const auto* shown = std::ranges::find_if(
      kShownCommands, [&](const ShownCommand& each) { return same_command(each.name, wanted); });
  if (shown == std::end(kShownCommands)) {
    throw SqlError{sqlstate::kInvalidParameterValue, "invalid command name: \"" + std::string{wanted} + "\""};
  }
  if (shown->command == shm::ProgressCommand::kNone) return;
  const shm::SessionTable& sessions = session.services.sessions;
  shm::Activity activity;
  for (std::uint32_t i = 0; i < sessions.capacity(); ++i) {
    const shm::SessionIndex index{i};
    const shm::SessionSlot& slot = sessions.slot(index);
    const shm::Progress& progress = slot.progress;
    if (progress.command.load(std::memory_order_acquire) != static_cast<std::uint8_t>(shown->command) ||
        !sessions.read_activity(index, activity)) {
      continue;
    }
    std::vector<Value> row;
    row.emplace_back(Datum::from_int32(slot.backend_pid.load(std::memory_order_relaxed)));
    row.push_back(oid_or_null(activity.database));
    const bool visible = may_see_statements_of(session, activity.user);
    row.push_back(visible ? oid_value(Oid{progress.relation.load(std::memory_order_relaxed)}) : Value{});
    for (const auto& parameter : progress.parameters) {
      row.push_back(visible ? Value{Datum::from_int64(parameter.load(std::memory_order_relaxed))} : Value{});
    }
    rows.add(row);
  }
}

constexpr SetOf kProgressSets[] = {
    {"pg_stat_get_progress_info", 3 + static_cast<int>(shm::kProgressParameters), show_progress}};

}  // namespace

std::span<const SetOf> progress_sets() { return kProgressSets; }

}  // namespace pinwheel::sql::session_functions
