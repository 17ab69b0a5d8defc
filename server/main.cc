// The command line: subcommands and their options, PostgreSQL's letters where it has one.

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>

#include "base/error.h"
#include "base/failpoints.h"
#include "server/commands.h"
#include "server/init.h"
#include "server/profile.h"

namespace pinwheel::server {
namespace {

void add_directory(CLI::App& app, CommonOptions& options) {
  app.add_option("-D,--pgdata", options.data_directory, "data directory (default: $PGDATA)")
      ->envname("PGDATA");
}

void add_settings(CLI::App& app, CommonOptions& options) {
  app.add_option("-c", options.settings, "name=value: set a parameter")->allow_extra_args(false);
}

void print_error(const SqlError& error) {
  std::fprintf(stderr, "pinwheel: error: %s\n", error.message().c_str());
  if (!error.fields().detail.empty())
    std::fprintf(stderr, "pinwheel: detail: %s\n", error.fields().detail.c_str());
  if (!error.fields().context.empty())
    std::fprintf(stderr, "pinwheel: context: %s\n", error.fields().context.c_str());
  if (!error.fields().hint.empty()) std::fprintf(stderr, "pinwheel: hint: %s\n", error.fields().hint.c_str());
}

void add_start_options(CLI::App& app, StartOptions& start) {
  add_directory(app, start.common);
  add_settings(app, start.common);
  app.add_option("-p,--port", start.port, "port");
  app.add_option("-k", start.socket_directory, "directory of the Unix socket");
  app.add_option("--listen", start.listen_addresses, "listen_addresses");
  app.add_option("-B", start.shared_buffers, "shared_buffers");
  app.add_option("-N", start.max_connections, "max_connections");
  app.add_option("-l,--log", start.log_file, "write the log to this file and detach");
  app.add_option("--profile", start.profile, "settings of profiles/NAME.conf, or of a file");
  app.add_flag("-F", start.no_fsync, "fsync = off");
  app.add_flag("-w,--wait", start.wait, "detach, and return when the server accepts connections");
  app.add_option("-t,--timeout", start.timeout_s, "seconds to wait with -w");
}

void add_stop_options(CLI::App& app, StopOptions& stop, bool with_directory) {
  if (with_directory) add_directory(app, stop.common);
  app.add_option("-m,--mode", stop.mode, "smart, fast or immediate")
      ->check(CLI::IsMember({"smart", "fast", "immediate", "s", "f", "i"}));
  app.add_flag("!-W,!--no-wait", stop.wait, "do not wait");
}

int run(int argc, char** argv) {
  CLI::App app{"Pinwheel: a database server that speaks PostgreSQL's protocol"};
  app.require_subcommand(1);
  app.set_version_flag("-V,--version", std::string{"pinwheel 0.1.0 (compatible with PostgreSQL 15)"});
  int status = 0;

  InitOptions init;
  bool no_checksums = false;
  CLI::App* init_app = app.add_subcommand("init", "make a new cluster");
  init_app->add_option("-D,--pgdata,directory", init.data_directory, "data directory (default: $PGDATA)")
      ->envname("PGDATA");
  init_app->add_option("-U,--username", init.superuser, "name of the superuser (default: yours)");
  init_app->add_option("-A,--auth", init.auth_method, "authentication method: trust, peer, reject");
  init_app->add_option("--auth-local", init.auth_local, "the same, for Unix sockets");
  init_app->add_option("--auth-host", init.auth_host, "the same, for TCP");
  init_app->add_option("-E,--encoding", init.encoding, "UTF8");
  init_app->add_option("--wal-segsize", init.wal_segment_mb, "size of WAL segments in MB");
  init_app->add_flag("--no-data-checksums", no_checksums, "do not checksum data pages");
  init_app->add_flag("-N,--no-sync", init.no_sync, "do not wait for the disk");
  init_app->add_flag("-q,--quiet", init.quiet, "print nothing but errors");
  init_app->callback([&] {
    if (init.data_directory.empty())
      throw SqlError{SqlState{"22023"}, "no data directory specified"}.hint(
          "You must identify the directory where the data will reside, with the -D option or the environment "
          "variable PGDATA.");
    init.data_checksums = !no_checksums;
    init_cluster(init);
  });

  StartOptions start;
  CLI::App* start_app =
      app.add_subcommand("start", "start the server (in the foreground unless -l or -w is given)");
  add_start_options(*start_app, start);
  start_app->callback([&] { status = command_start(start); });

  StopOptions stop;
  CLI::App* stop_app = app.add_subcommand("stop", "stop the server");
  add_stop_options(*stop_app, stop, true);
  stop_app->add_option("-t,--timeout", stop.timeout_s, "seconds to wait");
  stop_app->callback([&] { status = command_stop(stop); });

  CLI::App* restart_app = app.add_subcommand("restart", "stop the server and start it again");
  add_start_options(*restart_app, start);
  add_stop_options(*restart_app, stop, false);
  restart_app->callback([&] {
    stop.common = start.common;
    status = command_restart(stop, start);
  });

  CommonOptions common;
  CLI::App* reload_app = app.add_subcommand("reload", "read the configuration files again");
  add_directory(*reload_app, common);
  reload_app->callback([&] { status = command_reload(common); });

  CLI::App* status_app = app.add_subcommand("status", "tell whether a server runs");
  add_directory(*status_app, common);
  status_app->callback([&] { status = command_status(common); });

  CLI::App* control_app = app.add_subcommand("controldata", "print the control file");
  add_directory(*control_app, common);
  control_app->callback([&] { status = command_controldata(common); });

  std::string from, to;
  CLI::App* dump_app = app.add_subcommand("waldump", "print log records");
  add_directory(*dump_app, common);
  dump_app->add_option("-s,--start", from, "first position (default: the last redo point)");
  dump_app->add_option("-e,--end", to, "stop at this position");
  dump_app->callback([&] { status = command_waldump(common, from, to); });

  CLI::App* check_app = app.add_subcommand("check", "look for damage in a cluster that does not run");
  add_directory(*check_app, common);
  check_app->callback([&] { status = command_check(common); });

  TopCommandOptions top;
  CLI::App* top_app = app.add_subcommand("top", "show sessions, rates and waits of a running server");
  add_directory(*top_app, top.common);
  top_app
      ->add_option("--host", top.host, "directory of the Unix socket (default: the cluster's, else $PGHOST)")
      ->envname("PGHOST");
  top_app->add_option("-p,--port", top.port, "port")->envname("PGPORT");
  top_app->add_option("-U,--username", top.user, "role (default: yours)")->envname("PGUSER");
  top_app->add_option("-d,--dbname", top.database, "database")->envname("PGDATABASE");
  top_app->add_option("-s,--seconds", top.interval_s, "seconds between two frames")
      ->check(CLI::Range(1, 3600));
  top_app->add_flag("--once", top.once, "print one frame as plain text, over one interval");
  top_app->callback([&] { status = command_top(top); });

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error);
  } catch (const UnknownProfile& error) {
    print_error(error);
    return 2;
  } catch (const SqlError& error) {
    print_error(error);
    return 1;
  }
  return status;
}

}  // namespace
}  // namespace pinwheel::server

int main(int argc, char** argv) {
  pinwheel::failpoint::arm_from_environment();
  try {
    return pinwheel::server::run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "pinwheel: error: %s\n", error.what());
    return 1;
  }
}
