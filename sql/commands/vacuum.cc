#include "sql/commands/vacuum.h"

#include <cmath>
#include <vector>

#include "base/sqlstate.h"
#include "shm/process.h"
#include "sql/catalog/catalog_scan.h"
#include "sql/catalog/relation_lock.h"
#include "sql/commands/commands_list.h"
#include "sql/commands/support.h"
#include "sql/statistics/activity_log.h"
#include "txn/transaction.h"

namespace pinwheel::sql {
namespace {

constexpr int kMaxParallelWorkers = 1024;

/// A table of the command's list, or of the whole database.
struct ChosenTable {
  Oid relation;
  std::string name;
  bool named = false;  // by the user, who is told when it is gone
  std::span<std::string_view> columns;
};

std::string verb(const VacuumOptions& options) { return options.vacuum ? "vacuum" : "analyze"; }

int position_of(const Option& option) { return option.location >= 0 ? option.location + 1 : 0; }

VacuumOptions::IndexCleanup read_index_cleanup(const Option& option) {
  using Cleanup = VacuumOptions::IndexCleanup;
  if (option.kind == Option::Kind::kNone) return Cleanup::kOn;
  if (option.text == "auto") return Cleanup::kAuto;
  return option_bool(option) ? Cleanup::kOn : Cleanup::kOff;
}

/// Number of workers asked for; there are none, so that the number only matters for the checks.
std::int64_t read_parallel(const Option& option) {
  if (option.kind == Option::Kind::kNone) {
    throw SqlError{sqlstate::kSyntaxError, "parallel option requires a value between 0 and 1024"}.position(
        position_of(option));
  }
  const std::int64_t workers = option_integer(option);
  if (workers < 0 || workers > kMaxParallelWorkers) {
    throw SqlError{sqlstate::kSyntaxError, "parallel workers for vacuum must be between 0 and 1024"}.position(
        position_of(option));
  }
  return workers;
}

/// Only its owner, or a superuser, may have a table vacuumed; most catalogs also the database's owner.
bool may_process(CommandContext& context, const Relation& relation, const VacuumOptions& options) {
  Catalog& catalog = context.catalog;
  const Oid user = catalog.eval().user;
  if (context.superuser || catalog.has_privileges_of(user, relation.owner)) return true;
  const auto database = catalog.database(catalog.eval().database);
  if (database && !relation.shared && catalog.has_privileges_of(user, database->owner)) return true;
  const std::string who = relation.shared                     ? "only superuser"
                          : relation.schema == kCatalogSchema ? "only superuser or database owner"
                                                              : "only table or database owner";
  send_warning(context, sqlstate::kWarning,
               "skipping " + in_quotes(relation.name) + " --- " + who + " can " + verb(options) + " it");
  return false;
}

bool has_right_kind(CommandContext& context, const Relation& relation, const VacuumOptions& options) {
  if (relation.kind == 'r' || relation.kind == 'm' || (relation.kind == 't' && options.vacuum)) return true;
  send_warning(context, sqlstate::kWarning,
               "skipping " + in_quotes(relation.name) + " --- cannot " + verb(options) +
                   " non-tables or special system tables");
  return false;
}

std::vector<ChosenTable> choose_tables(CommandContext& context, const VacuumUtility& utility,
                                       const VacuumOptions& options) {
  std::vector<ChosenTable> chosen;
  Catalog& catalog = context.catalog;
  if (utility.targets.empty()) {
    scan_rows<ClassRow>(catalog, {}, [&](ClassRow& row, TupleId) {
      if (row.relkind != 'r' && row.relkind != 'm') return true;
      // Other sessions' temporary tables are theirs.
      if (row.relpersistence == 't' && row.relnamespace != catalog.temporary_schema()) return true;
      chosen.push_back({row.oid, row.relname, false, {}});
      return true;
    });
    return chosen;
  }
  for (const VacuumTarget& each : utility.targets) {
    const RelationRef relation = catalog.find_relation(each.table.schema, each.table.name);
    if (!relation) {
      if (!each.table.schema.empty()) catalog.require_schema(each.table.schema);
      catalog.throw_no_relation(each.table.schema, each.table.name);
    }
    if (!has_right_kind(context, *relation, options)) continue;
    if (!may_process(context, *relation, options)) continue;
    chosen.push_back({relation->oid, relation->name, true, each.columns});
  }
  return chosen;
}

/// The table, locked; null when it is to be skipped.
RelationRef open_table(CommandContext& context, const ChosenTable& table, const VacuumOptions& options,
                       int mode) {
  Catalog& catalog = context.catalog;
  RelationRef relation = catalog.relation(table.relation);
  if (relation) {
    const Oid database = relation->shared ? kInvalidOid : catalog.eval().database;
    const auto wait = options.skip_locked ? txn::LockWait::kTry : txn::LockWait::kBlock;
    const txn::LockResult got = catalog.transaction().locks().lock_relation(
        database, table.relation, static_cast<txn::LockMode>(mode), wait);
    if (got == txn::LockResult::kNotAvailable) {
      send_warning(context, sqlstate::kLockNotAvailable,
                   "skipping " + verb(options) + " of " + in_quotes(table.name) + " --- lock not available");
      return {};
    }
    catalog.accept_invalidations();
    relation = catalog.relation(table.relation);
  }
  if (!relation) {
    if (table.named) {
      send_warning(
          context, sqlstate::kUndefinedTable,
          "skipping " + verb(options) + " of " + in_quotes(table.name) + " --- relation no longer exists");
    }
    return {};
  }
  if (!table.named && !may_process(context, *relation, options)) return {};
  return relation;
}

void vacuum_table(CommandContext& context, const ChosenTable& table, const VacuumOptions& options) {
  const int mode = options.full ? kAccessExclusiveLock : kShareUpdateExclusiveLock;
  const RelationRef relation = open_table(context, table, options, mode);
  if (!relation) return;
  // The system's own tables keep their files.
  if (options.full && relation->oid >= kFirstNormalOid) {
    rewrite_relation(context, relation->oid, options);
    return;
  }
  vacuum_relation(context, *relation, options);
  if (!is_valid(relation->toast_table) || !options.process_toast) return;
  const RelationRef toast = lock_relation(context.catalog, relation->toast_table, mode);
  if (toast) vacuum_relation(context, *toast, options);
}

void analyze_table(CommandContext& context, const ChosenTable& table, const VacuumOptions& options) {
  VacuumOptions only = options;
  only.vacuum = false;
  const RelationRef relation = open_table(context, table, only, kShareUpdateExclusiveLock);
  if (relation) analyze_relation(context, *relation, table.columns, options);
}

}  // namespace

void note_maintenance(Catalog& catalog, const Relation& relation, double live, double dead, bool analyzed) {
  ActivityLog* log = catalog.services().activity;
  if (log == nullptr) return;
  const bool automatic = shm::self().slot->kind.load(std::memory_order_relaxed) ==
                         static_cast<std::uint8_t>(shm::ProcessKind::kAutovacuumLauncher);
  const TableKey key{relation.shared ? kInvalidOid : relation.file.database, relation.oid};
  const std::int64_t now_us = catalog.eval().statement_timestamp;
  // What was counted before this is over with.
  log->flush(now_us);
  if (analyzed) {
    log->statistics().note_analyze(key, std::llround(live), std::llround(dead), automatic, now_us);
  } else {
    log->statistics().note_vacuum(key, std::llround(live), std::llround(dead), automatic, now_us);
  }
}

VacuumOptions read_vacuum_options(const VacuumUtility& utility) {
  VacuumOptions options;
  options.vacuum = utility.vacuum;
  options.analyze = !utility.vacuum;
  bool parallel = false, disable_skipping = false;
  for (const Option& option : utility.options) {
    if (option.name == "verbose") {
      options.verbose = option_bool(option);
    } else if (option.name == "skip_locked") {
      options.skip_locked = option_bool(option);
    } else if (!utility.vacuum) {
      throw SqlError{sqlstate::kSyntaxError, "unrecognized ANALYZE option " + in_quotes(option.name)}
          .position(position_of(option));
    } else if (option.name == "analyze") {
      options.analyze = option_bool(option);
    } else if (option.name == "freeze") {
      static_cast<void>(option_bool(option));  // ids do not wrap: what all can see is marked so anyway
    } else if (option.name == "full") {
      options.full = option_bool(option);
    } else if (option.name == "disable_page_skipping") {
      disable_skipping = option_bool(option);
    } else if (option.name == "index_cleanup") {
      options.index_cleanup = read_index_cleanup(option);
    } else if (option.name == "process_toast") {
      options.process_toast = option_bool(option);
    } else if (option.name == "truncate") {
      options.truncate = option_bool(option);
    } else if (option.name == "parallel") {
      parallel = read_parallel(option) > 0;
    } else {
      throw SqlError{sqlstate::kSyntaxError, "unrecognized VACUUM option " + in_quotes(option.name)}.position(
          position_of(option));
    }
  }
  if (options.full && parallel) {
    throw SqlError{sqlstate::kFeatureNotSupported, "VACUUM FULL cannot be performed in parallel"};
  }
  if (!options.analyze) {
    for (const VacuumTarget& target : utility.targets) {
      if (target.columns.empty()) continue;
      throw SqlError{sqlstate::kFeatureNotSupported,
                     "ANALYZE option must be specified when a column list is provided"};
    }
  }
  if (options.full && disable_skipping) {
    throw SqlError{sqlstate::kFeatureNotSupported,
                   "VACUUM option DISABLE_PAGE_SKIPPING cannot be used with FULL"};
  }
  if (options.full && !options.process_toast) {
    throw SqlError{sqlstate::kFeatureNotSupported, "PROCESS_TOAST required with VACUUM FULL"};
  }
  options.use_visibility_map = !disable_skipping;
  return options;
}

std::string run_vacuum(CommandContext& context, const VacuumUtility& utility) {
  const VacuumOptions options = read_vacuum_options(utility);
  for (const ChosenTable& table : choose_tables(context, utility, options)) {
    if (options.vacuum) {
      // Each table in a transaction of its own, so that its locks and its snapshot do not last.
      context.restart_transaction();
      vacuum_table(context, table, options);
      if (!options.analyze) continue;
      context.restart_transaction();
    }
    analyze_table(context, table, options);
  }
  return options.vacuum ? "VACUUM" : "ANALYZE";
}

}  // namespace pinwheel::sql
