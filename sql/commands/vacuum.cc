#include "base/parameters.h"
#include "base/settings.h"
#include "base/sqlstate.h"
#include "sql/catalog/catalog_scan.h"
#include "sql/catalog/relation_lock.h"
#include "sql/commands/commands_list.h"
#include "sql/commands/constraints.h"
#include "sql/commands/index_create.h"
#include "sql/commands/support.h"
#include "sql/commands/table_rewrite.h"
#include "sql/commands/vacuum_table.h"
#include "sql/deparse/deparse.h"
#include "txn/transaction.h"

namespace pinwheel::sql {
namespace {

constexpr int kShareUpdateExclusive = 4;
constexpr int kAccessExclusive = 8;

struct VacuumOptions {
  bool vacuum = true;
  bool analyze = false;
  bool full = false;
  bool verbose = false;
  bool skip_locked = false;
  bool process_toast = true;
};

VacuumOptions read_options(const VacuumUtility& utility) {
  VacuumOptions options;
  options.vacuum = utility.vacuum;
  options.analyze = !utility.vacuum;
  for (const Option& option : utility.options) {
    if (option.name == "analyze" && utility.vacuum) {
      options.analyze = option_bool(option);
    } else if (option.name == "full" && utility.vacuum) {
      options.full = option_bool(option);
    } else if (option.name == "verbose") {
      options.verbose = option_bool(option);
    } else if (option.name == "skip_locked") {
      options.skip_locked = option_bool(option);
    } else if (option.name == "process_toast" && utility.vacuum) {
      options.process_toast = option_bool(option);
    } else if (utility.vacuum && (option.name == "freeze" || option.name == "disable_page_skipping" ||
                                  option.name == "truncate")) {
      static_cast<void>(option_bool(option));
    } else if (utility.vacuum && (option.name == "index_cleanup" || option.name == "parallel")) {
      // Indexes are always cleaned, by one process.
    } else {
      throw SqlError{sqlstate::kSyntaxError, std::string{"unrecognized "} +
                                                 (utility.vacuum ? "VACUUM" : "ANALYZE") + " option " +
                                                 in_quotes(option.name)}
          .position(option.location >= 0 ? option.location + 1 : 0);
    }
  }
  return options;
}

struct VacuumWork {
  Oid relation;
  std::vector<std::string> columns;
};

std::vector<VacuumWork> find_targets(CommandContext& context, const VacuumUtility& utility) {
  std::vector<VacuumWork> targets;
  Catalog& catalog = context.catalog;
  for (const VacuumTarget& each : utility.targets) {
    const Oid oid = catalog.find_relation_oid(each.table.schema, each.table.name);
    if (!is_valid(oid)) catalog.throw_no_relation(each.table.schema, each.table.name);
    targets.push_back({oid, {each.columns.begin(), each.columns.end()}});
  }
  if (!utility.targets.empty()) return targets;
  for (const ClassRow& row : find_rows<ClassRow>(catalog, {})) {
    if (row.relkind == 'r' || row.relkind == 'm') targets.push_back({row.oid, {}});
  }
  return targets;
}

bool may_maintain(Catalog& catalog, const Relation& relation) {
  const Oid user = catalog.eval().user;
  if (catalog.has_privileges_of(user, relation.owner)) return true;
  const auto database = catalog.database(catalog.eval().database);
  return database && !relation.shared && catalog.has_privileges_of(user, database->owner);
}

void vacuum_full(CommandContext& context, const Relation& table) {
  if (table.oid < kFirstNormalOid) return;  // the system's own files keep their names
  std::vector<std::string> sources;
  for (const Column& column : table.columns)
    sources.push_back(column.dropped ? "" : quote_identifier(column.name));
  const Oid file = rewrite_table(context, table, {table.columns, table.persistence}, sources);
  adopt_rewrite(context, table.oid, file);
}

void process(CommandContext& context, const VacuumWork& target, const VacuumOptions& options,
             int statistics_target) {
  Catalog& catalog = context.catalog;
  const int mode = options.full ? kAccessExclusive : kShareUpdateExclusive;
  RelationRef relation = lock_relation(catalog, target.relation, mode);
  if (!relation) return;
  if (relation->kind != 'r' && relation->kind != 'm' && relation->kind != 't') {
    send_warning(context, sqlstate::kWarning,
                 std::string{"skipping "} + in_quotes(relation->name) + " --- cannot " +
                     (options.vacuum ? "vacuum" : "analyze") + " non-tables or special system tables");
    return;
  }
  if (!may_maintain(catalog, *relation)) {
    send_warning(context, sqlstate::kWarning,
                 std::string{"permission denied to "} + (options.vacuum ? "vacuum " : "analyze ") +
                     in_quotes(relation->name) + ", skipping it");
    return;
  }
  if (options.vacuum && options.full) {
    vacuum_full(context, *relation);
  } else if (options.vacuum) {
    const VacuumReport report = vacuum_relation(catalog, *relation);
    if (options.verbose) {
      context.client.notice(
          NoticeLevel::kInfo,
          SqlError{sqlstate::kSuccessfulCompletion,
                   "finished vacuuming \"" + catalog.eval().database_name + "." + relation->schema_name +
                       "." + relation->name + "\"\npages: " + std::to_string(report.pages_cut) +
                       " removed, " + std::to_string(report.pages) +
                       " remain\ntuples: " + std::to_string(report.removed_tuples) + " removed, " +
                       std::to_string(report.live_tuples) + " remain, " +
                       std::to_string(report.recently_dead_tuples) + " are dead but not yet removable"});
    }
    if (options.process_toast && is_valid(relation->toast_table)) {
      const RelationRef toast = lock_relation(catalog, relation->toast_table, kShareUpdateExclusive);
      if (toast) vacuum_relation(catalog, *toast);
    }
  }
  if (!options.analyze) return;
  relation = catalog.require_relation(target.relation);
  std::vector<std::int16_t> columns;
  for (const std::string& name : target.columns) columns.push_back(require_column(*relation, name).number);
  analyze_relation(catalog, *relation, columns, statistics_target);
}

}  // namespace

std::string run_vacuum(CommandContext& context, const VacuumUtility& utility) {
  const VacuumOptions options = read_options(utility);
  if (options.vacuum && !options.analyze) {
    for (const VacuumTarget& target : utility.targets) {
      if (!target.columns.empty()) {
        throw SqlError{sqlstate::kFeatureNotSupported,
                       "ANALYZE option must be specified when a column list is provided"};
      }
    }
  }
  const std::vector<VacuumWork> targets = find_targets(context, utility);
  const int statistics_target = static_cast<int>(context.settings.get_int(param::kDefaultStatisticsTarget));
  for (const VacuumWork& target : targets) {
    process(context, target, options, statistics_target);
    // Each table is a transaction of its own, so that what is done stays done and locks are short.
    if (options.vacuum) context.restart_transaction();
  }
  return options.vacuum ? "VACUUM" : "ANALYZE";
}

}  // namespace pinwheel::sql
