#include <memory>
#include <optional>

#include "base/clock.h"
#include "base/log.h"
#include "base/parameters.h"
#include "base/sqlstate.h"
#include "server/autovacuum_choice.h"
#include "server/background.h"
#include "server/background_process.h"
#include "sql/catalog/catalog_scan.h"
#include "sql/deparse/deparse.h"
#include "sql/session/plan_cache.h"
#include "sql/session/services.h"
#include "sql/session/session.h"

namespace pinwheel::server {
namespace {

constexpr Oid kFirstRole{10};        // the cluster's first superuser
constexpr Oid kTemplateDatabase{1};  // where shared catalogs can be read from

/// Hears nothing and asks for nothing: commands of autovacuum return no rows.
class NoClient final : public sql::Client, public sql::RowReceiver {
 public:
  void row_description(std::span<const sql::ResultColumn>, sql::Formats) override {}
  void parameter_description(std::span<const Oid>) override {}
  void no_data() override {}
  sql::RowReceiver& rows(std::span<const sql::ResultColumn>, sql::Formats) override { return *this; }
  void command_complete(std::string_view) override {}
  void portal_suspended() override {}
  void empty_query() override {}
  void notice(sql::NoticeLevel, const SqlError&) override {}
  void copy_in_begin(bool, int) override {}
  bool copy_in_read(std::string_view&) override { return false; }
  void copy_out_begin(bool, int) override {}
  void copy_out_data(std::string_view) override {}
  void copy_out_end() override {}
  void row(const sql::Slot&) override {}
};

/// A process that serves no clients has no timers and no neighbours.
class NoActions final : public sql::ServerActions {
 public:
  void checkpoint(shm::Parker&) override {}
  bool reload_configuration() override { return false; }
  sql::ServerFacts facts() const override { return {}; }
  bool alone_in_process() const override { return true; }
  void set_timer_statement(Deadline) override {}
  void set_timer_idle_in_transaction(Deadline) override {}
  void set_timer_idle_session(Deadline) override {}
};

bool shutdown_is_due() {
  return BackgroundProcess::shutdown_asked(shm::self().slot->requests.load(std::memory_order_relaxed));
}

/// Cancels what runs when a user waits for it, and at shutdown.
void serve_interrupts(std::uint32_t interrupts) {
  if (shutdown_is_due() || (interrupts & shm::kTerminatingInterrupts) != 0) {
    throw SqlError{sqlstate::kAdminShutdown, "terminating autovacuum process due to administrator command"};
  }
  if ((interrupts & shm::kCancellingInterrupts) == 0) return;
  shm::current_session.slot->interrupts.fetch_and(~shm::kCancellingInterrupts, std::memory_order_acq_rel);
  throw SqlError{sqlstate::kQueryCanceled, "canceling autovacuum task"};
}

/// The process that vacuums and analyzes tables when enough has changed: database by database, table by
/// table, each command in a session of its own to that database.
class Autovacuum {
 public:
  Autovacuum(SharedState& shared, ServerSettings& settings)
      : process_{shared, settings, shm::ProcessKind::kAutovacuumLauncher},
        services_{process_.engine.catalog_services,
                  settings,
                  shared.processes(),
                  shared.sessions(),
                  plans_,
                  actions_,
                  shared.data_directory(),
                  process_.engine.counters,
                  shared.segment()} {
    shm::set_interrupt_hook(serve_interrupts);
  }

  int run() {
    for (;;) {
      const std::int64_t nap_ms = process_.settings.get_int(param::kAutovacuumNaptime) * 1000;
      const std::uint32_t requests =
          process_.wait(shm::WaitEvent::kAutoVacuumMain, Deadline::after_ms(nap_ms));
      if (BackgroundProcess::shutdown_asked(requests)) return 0;
      if (!process_.settings.get_bool(param::kAutovacuum)) continue;
      guarded("autovacuum", [&] { run_round(); });
      if (shutdown_is_due()) return 0;
    }
  }

 private:
  struct Database {
    Oid oid;
    std::string name;
  };

  template <class Act>
  static void guarded(std::string_view what, Act act) {
    try {
      act();
    } catch (const SqlError& error) {
      if (!shutdown_is_due()) log(LogLevel::kError, "{}: {}", what, error.message());
    }
  }

  /// Runs `act` with a catalog of that database, in a transaction.
  template <class Act>
  void with_catalog(Oid database, Act act) {
    sql::CatalogServices& services = process_.engine.catalog_services;
    sql::EvalContext eval;
    eval.database = database;
    eval.user = kFirstRole;
    txn::Transaction transaction{services.transactions, services.locks, process_.session_index(),
                                 process_.parker};
    transaction.locks().set_database(database);
    sql::Catalog catalog{services, eval, transaction};
    transaction.begin({});
    try {
      catalog.accept_invalidations();
      act(catalog);
    } catch (...) {
      transaction.abort();
      throw;
    }
    transaction.commit({.durable = false, .alone_in_process = true});
  }

  void run_round() {
    std::vector<Database> databases;
    with_catalog(kTemplateDatabase, [&](sql::Catalog& catalog) {
      const std::optional<sql::RoleInfo> role = catalog.role(kFirstRole);
      if (!role) return;
      user_ = role->name;
      for (const sql::DatabaseRow& row : sql::find_rows<sql::DatabaseRow>(catalog, {})) {
        if (row.datallowconn) databases.push_back({row.oid, row.datname});
      }
    });
    for (const Database& database : databases) {
      if (shutdown_is_due()) return;
      guarded("autovacuum of database \"" + database.name + "\"", [&] { run_database(database); });
    }
  }

  void run_database(const Database& database) {
    if (process_.engine.table_statistics.list(database.oid).empty()) return;
    std::vector<AutovacuumTask> tasks;
    with_catalog(database.oid, [&](sql::Catalog& catalog) {
      tasks = choose_autovacuum_tasks(catalog, process_.engine.table_statistics, process_.settings);
    });
    if (tasks.empty()) return;
    NoClient client;
    const std::vector<std::pair<std::string, std::string>> session_settings = make_session_settings();
    sql::Session session{services_,
                         {user_, database.name, process_.backend_pid(), process_.session_index()},
                         process_.parker,
                         client,
                         session_settings};
    for (const AutovacuumTask& task : tasks) {
      if (shutdown_is_due()) break;
      run_task(session, database, task);
    }
    session.end();
  }

  void run_task(sql::Session& session, const Database& database, const AutovacuumTask& task) {
    const std::string name = sql::quote_identifier(task.schema) + "." + sql::quote_identifier(task.table);
    // A table that somebody has locked can wait for the next round.
    const std::string command = !task.vacuum   ? "ANALYZE (SKIP_LOCKED) " + name
                                : task.analyze ? "VACUUM (ANALYZE, SKIP_LOCKED) " + name
                                               : "VACUUM (SKIP_LOCKED) " + name;
    const std::int64_t start_ns = monotonic_ns();
    try {
      session.simple_query(command);
    } catch (const SqlError& error) {
      failed_ = error;
    }
    if (failed_) {
      session.handle_error();
      if (!shutdown_is_due()) {
        log(LogLevel::kError, "{} (automatic {} of table \"{}.{}.{}\")", failed_->message(),
            task.vacuum ? "vacuum" : "analyze", database.name, task.schema, task.table);
      }
      failed_.reset();
      return;
    }
    const std::int64_t took_ms = (monotonic_ns() - start_ns) / 1'000'000;
    const std::int64_t least_ms = process_.settings.get_int(param::kLogAutovacuumMinDuration);
    if (least_ms < 0 || took_ms < least_ms) return;
    log(LogLevel::kLog, "automatic {} of table \"{}.{}.{}\": {} ms", task.vacuum ? "vacuum" : "analyze",
        database.name, task.schema, task.table, took_ms);
  }

  std::vector<std::pair<std::string, std::string>> make_session_settings() const {
    const ServerSettings& settings = process_.settings;
    double delay = settings.get_real(param::kAutovacuumVacuumCostDelay);
    if (delay < 0) delay = settings.get_real(param::kVacuumCostDelay);
    std::int64_t limit = settings.get_int(param::kAutovacuumVacuumCostLimit);
    if (limit < 0) limit = settings.get_int(param::kVacuumCostLimit);
    // What a user may have set for everybody must not stop or slow maintenance.
    return {{"vacuum_cost_delay", std::to_string(delay)},
            {"vacuum_cost_limit", std::to_string(limit)},
            {"statement_timeout", "0"},
            {"lock_timeout", "0"},
            {"idle_in_transaction_session_timeout", "0"},
            {"default_transaction_isolation", "read committed"},
            {"default_transaction_read_only", "off"},
            {"synchronous_commit", "off"}};
  }

  BackgroundProcess process_;
  NoActions actions_;
  sql::PlanCache plans_;
  sql::SessionServices services_;
  std::string user_;
  std::optional<SqlError> failed_;  // kept past the catch block: nobody parks inside one
};

}  // namespace

int run_autovacuum(SharedState& shared, ServerSettings& settings) {
  return Autovacuum{shared, settings}.run();
}

}  // namespace pinwheel::server
