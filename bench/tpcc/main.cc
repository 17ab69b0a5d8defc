// pw-tpcc: a TPC-C-like load, run and check of any PostgreSQL server.

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <fstream>

#include "bench/tpcc/checks.h"
#include "bench/tpcc/load.h"
#include "bench/tpcc/report.h"
#include "bench/tpcc/run.h"
#include "bench/tpcc/schema.h"

namespace pinwheel::tpcc {
namespace {

constexpr int kMaxWarehouses = 10'000;

CLI::App* add_command(CLI::App& app, const char* name, const char* what, std::string& dsn) {
  CLI::App* command = app.add_subcommand(name, what);
  command->add_option("--dsn", dsn,
                      "libpq connection string; what it leaves out comes from PGHOST, PGPORT, ...");
  return command;
}

void add_load(CLI::App& app, LoadOptions& options) {
  CLI::App* command = add_command(app, "load", "make the tables and fill them", options.dsn);
  command->add_option("--warehouses", options.scale.warehouses, "warehouses")
      ->required()
      ->check(CLI::Range(1, kMaxWarehouses));
  command->add_option("--items", options.scale.items, "items; fewer only for tests")
      ->check(CLI::Range(100, kFullItems))
      ->capture_default_str();
  command
      ->add_option("--customers", options.scale.customers, "customers of each district; fewer only for tests")
      ->check(CLI::Range(30, kFullCustomers))
      ->capture_default_str();
  command->add_flag("--fast", options.fast, "one transaction, COPY with FREEZE");
  command->add_flag("--unlogged", options.unlogged, "unlogged tables");
  command->add_option("--seed", options.seed, "equal seeds give equal rows")->capture_default_str();
  command->callback([&options] { load(options); });
}

void add_run(CLI::App& app, RunOptions& options, std::string& json_file, int& status) {
  CLI::App* command = add_command(app, "run", "run the five transactions and measure them", options.dsn);
  command->add_option("--warehouses", options.warehouses, "fails unless so many are loaded");
  command->add_option("--clients", options.clients, "connections")
      ->check(CLI::Range(1, 10'000))
      ->capture_default_str();
  command->add_option("--threads", options.threads, "threads that serve them")
      ->check(CLI::Range(1, 256))
      ->capture_default_str();
  command->add_option("--seconds", options.seconds, "seconds measured")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  command->add_option("--warmup", options.warmup_s, "seconds run before that")
      ->check(CLI::Range(0, 1'000'000));
  command->add_flag("--think", options.think, "keying and think times");
  command->add_option("--think-scale", options.think_scale, "their factor")
      ->check(CLI::Range(0.0001, 100.0))
      ->capture_default_str();
  command->add_option("--isolation", options.isolation, "of every transaction")
      ->check(CLI::IsMember({"READ COMMITTED", "REPEATABLE READ", "SERIALIZABLE"}, CLI::ignore_case))
      ->capture_default_str();
  command->add_option("--seed", options.seed, "of the terminals' choices")->capture_default_str();
  command->add_option("--json", json_file, "write the result there too; - is stdout, instead of the table");
  command->add_option("--progress", options.progress_s, "a line on stderr every so many seconds")
      ->check(CLI::Range(0, 1'000'000));
  command->callback([&] {
    std::ofstream file;
    if (!json_file.empty() && json_file != "-") {
      file.open(json_file);  // before the run, so that a wrong name does not cost one
      if (!file) throw std::runtime_error{"cannot write " + json_file};
    }
    const RunResult result = run(options);
    if (json_file == "-") {
      fmt::print("{}", to_json(options, result));
    } else {
      print_report(options, result);
    }
    if (file.is_open()) {
      file << to_json(options, result);
      if (!file.flush()) throw std::runtime_error{"cannot write " + json_file};
    }
    if (!result.is_clean()) {
      fmt::print(stderr, "pw-tpcc: {} transactions failed, {} connections were lost\n",
                 result.totals.failed(), result.lost_connections);
      status = 1;
    }
  });
}

int run_command_line(int argc, char** argv) {
  CLI::App app{"A TPC-C-like workload for any PostgreSQL server"};
  app.require_subcommand(1);
  int status = 0;
  LoadOptions load_options;
  RunOptions run_options;
  std::string json_file, check_dsn, drop_dsn;
  add_load(app, load_options);
  add_run(app, run_options, json_file, status);
  add_command(app, "check", "check the consistency conditions", check_dsn)->callback([&] {
    if (check(check_dsn) > 0) status = 1;
  });
  add_command(app, "drop", "drop the tables", drop_dsn)->callback([&] {
    Connection connection{drop_dsn};
    drop_tables(connection);
  });
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 1;
  } catch (const StatementError& error) {
    fmt::print(stderr, "pw-tpcc: {} (SQLSTATE {})\n", error.what(), error.sqlstate());
    if (error.sqlstate() == "42P07") fmt::print(stderr, "pw-tpcc: \"pw-tpcc drop\" removes earlier tables\n");
    return 1;
  } catch (const std::exception& error) {
    fmt::print(stderr, "pw-tpcc: {}\n", error.what());
    return 1;
  }
  return status;
}

}  // namespace
}  // namespace pinwheel::tpcc

int main(int argc, char** argv) { return pinwheel::tpcc::run_command_line(argc, argv); }
