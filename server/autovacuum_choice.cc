#include "server/autovacuum_choice.h"

#include <algorithm>
#include <charconv>
#include <unordered_map>

#include "base/parameters.h"
#include "sql/catalog/catalog_scan.h"

namespace pinwheel::server {
namespace {

/// The value of a storage parameter, if it is among `options`.
bool find_option(const std::vector<std::string>& options, std::string_view name, std::string_view& value) {
  for (const std::string& option : options) {
    if (option.size() <= name.size() || option[name.size()] != '=' || !option.starts_with(name)) continue;
    value = std::string_view{option}.substr(name.size() + 1);
    return true;
  }
  return false;
}

void overrule(const std::vector<std::string>& options, std::string_view name, double& limit) {
  std::string_view value;
  if (!find_option(options, name, value)) return;
  double number = 0;
  if (std::from_chars(value.data(), value.data() + value.size(), number).ec == std::errc{}) limit = number;
}

}  // namespace

AutovacuumLimits::AutovacuumLimits(const Settings& settings, const std::vector<std::string>& options)
    : vacuum_threshold{static_cast<double>(settings.get_int(param::kAutovacuumVacuumThreshold))},
      vacuum_scale{settings.get_real(param::kAutovacuumVacuumScaleFactor)},
      insert_threshold{static_cast<double>(settings.get_int(param::kAutovacuumVacuumInsertThreshold))},
      insert_scale{settings.get_real(param::kAutovacuumVacuumInsertScaleFactor)},
      analyze_threshold{static_cast<double>(settings.get_int(param::kAutovacuumAnalyzeThreshold))},
      analyze_scale{settings.get_real(param::kAutovacuumAnalyzeScaleFactor)} {
  std::string_view value;
  if (find_option(options, "autovacuum_enabled", value)) {
    enabled = value == "true" || value == "on" || value == "yes" || value == "1" || value == "t";
  }
  overrule(options, "autovacuum_vacuum_threshold", vacuum_threshold);
  overrule(options, "autovacuum_vacuum_scale_factor", vacuum_scale);
  overrule(options, "autovacuum_vacuum_insert_threshold", insert_threshold);
  overrule(options, "autovacuum_vacuum_insert_scale_factor", insert_scale);
  overrule(options, "autovacuum_analyze_threshold", analyze_threshold);
  overrule(options, "autovacuum_analyze_scale_factor", analyze_scale);
}

bool AutovacuumLimits::needs_vacuum(const sql::TableActivity& activity, double tuples) const {
  if (!enabled) return false;
  const double rows = std::max(tuples, 0.0);
  if (static_cast<double>(activity.dead) > vacuum_threshold + vacuum_scale * rows) return true;
  return insert_threshold >= 0 &&
         static_cast<double>(activity.inserted_unvacuumed) > insert_threshold + insert_scale * rows;
}

bool AutovacuumLimits::needs_analyze(const sql::TableActivity& activity, double tuples) const {
  return enabled &&
         static_cast<double>(activity.changed) > analyze_threshold + analyze_scale * std::max(tuples, 0.0);
}

std::vector<AutovacuumTask> choose_autovacuum_tasks(sql::Catalog& catalog, sql::TableStatistics& statistics,
                                                    const Settings& settings) {
  const Oid database = catalog.eval().database;
  // Listed before the catalog is read: whatever is listed had been committed by then.
  std::unordered_map<Oid, sql::TableReport> reports;
  for (const auto& [key, report] : statistics.list(database)) reports.emplace(key.relation, report);
  std::vector<AutovacuumTask> tasks;
  sql::scan_rows<sql::ClassRow>(catalog, {}, [&](sql::ClassRow& row, TupleId) {
    const auto found = reports.find(row.oid);
    if (found == reports.end()) return true;
    const sql::TableActivity activity = found->second.activity;
    reports.erase(found);
    if ((row.relkind != 'r' && row.relkind != 'm') || row.relpersistence == 't') return true;
    const AutovacuumLimits limits{settings, row.reloptions};
    AutovacuumTask task;
    task.vacuum = limits.needs_vacuum(activity, row.reltuples);
    // The planner's own table has no statistics about itself.
    task.analyze = row.oid != sql::kStatisticTable && limits.needs_analyze(activity, row.reltuples);
    if (!task.vacuum && !task.analyze) return true;
    task.schema = catalog.schema_name(row.relnamespace);
    task.table = row.relname;
    tasks.push_back(std::move(task));
    return true;
  });
  for (const auto& [relation, report] : reports) statistics.forget({database, relation});
  return tasks;
}

}  // namespace pinwheel::server
