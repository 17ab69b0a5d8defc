#include "server/init.h"

#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>

#include "base/clock.h"
#include "base/error.h"
#include "base/file.h"
#include "base/parameters.h"
#include "base/settings.h"
#include "base/sqlstate.h"
#include "server/checkpoint.h"
#include "server/engine.h"
#include "server/sample_files.h"
#include "server/shared_state.h"
#include "shm/interrupts.h"
#include "sql/catalog/bootstrap.h"

namespace pinwheel::server {
namespace {

namespace fs = std::filesystem;

constexpr const char* kDirectories[] = {"base",      "base/1",    "base/4",        "base/5",
                                        "global",    "pg_wal",    "pg_stat",       "pg_stat_tmp",
                                        "pg_tblspc", "pg_notify", "base/pgsql_tmp"};

void say(const InitOptions& options, const std::string& text) {
  if (options.quiet) return;
  std::fputs(text.c_str(), stdout);
  std::fflush(stdout);
}

std::string system_user() {
  const passwd* entry = ::getpwuid(::geteuid());
  return entry != nullptr ? entry->pw_name : "postgres";
}

/// True when this call made the directory (else it was there and empty).
bool prepare_directory(const InitOptions& options) {
  const fs::path path = options.data_directory;
  std::error_code error;
  if (fs::exists(path, error)) {
    if (!fs::is_directory(path, error)) {
      throw SqlError{sqlstate::kInvalidParameterValue,
                     "\"" + options.data_directory + "\" exists but is not a directory"};
    }
    if (!fs::is_empty(path, error) || error) {
      throw SqlError{sqlstate::kInvalidParameterValue,
                     "directory \"" + options.data_directory + "\" exists but is not empty"}
          .hint("If you want to create a new database system, either remove or empty the directory \"" +
                options.data_directory + "\" or run pinwheel init with an argument other than \"" +
                options.data_directory + "\".");
    }
    ::chmod(options.data_directory.c_str(), 0700);
    return false;
  }
  fs::create_directories(path.parent_path().empty() ? fs::path{"."} : path.parent_path(), error);
  make_directory(options.data_directory, 0700);
  return true;
}

void check_options(const InitOptions& options) {
  if (options.encoding != "UTF8" && options.encoding != "UTF-8" && options.encoding != "utf8") {
    throw SqlError{sqlstate::kInvalidParameterValue,
                   "encoding \"" + options.encoding + "\" is not supported: only UTF8 is"};
  }
  const std::uint32_t mb = options.wal_segment_mb;
  if (mb < 1 || mb > 1024 || (mb & (mb - 1)) != 0) {
    throw SqlError{sqlstate::kInvalidParameterValue,
                   "argument of --wal-segsize must be a power of two between 1 and 1024"};
  }
  for (const std::string& method : {options.auth_method, options.auth_local, options.auth_host}) {
    if (!method.empty() && method != "trust" && method != "peer" && method != "reject") {
      throw SqlError{sqlstate::kInvalidParameterValue, "invalid authentication method \"" + method + "\""}
          .hint("Supported methods: trust, peer, reject.");
    }
  }
  if (options.auth_host == "peer" || (options.auth_host.empty() && options.auth_method == "peer")) {
    if (!options.auth_host.empty()) {
      throw SqlError{sqlstate::kInvalidParameterValue,
                     "invalid authentication method \"peer\" for \"host\" connections"};
    }
  }
}

void fill(const InitOptions& options, const std::string& superuser) {
  say(options, "creating subdirectories ... ");
  for (const char* name : kDirectories) make_directory(options.data_directory + "/" + name, 0700);
  clog::Clog::create_directories(options.data_directory);
  say(options, "ok\ncreating configuration files ... ");
  const std::string local = options.auth_local.empty() ? options.auth_method : options.auth_local;
  std::string host = options.auth_host.empty() ? options.auth_method : options.auth_host;
  if (host == "peer") host = "reject";
  write_file_durably(options.data_directory + "/PG_VERSION", "15\n");
  write_file_durably(options.data_directory + "/postgresql.conf", sample_postgresql_conf());
  write_file_durably(options.data_directory + "/postgresql.auto.conf", kAutoConfHeader);
  write_file_durably(options.data_directory + "/pg_hba.conf", sample_hba_conf(local, host));
  write_file_durably(options.data_directory + "/pg_ident.conf", kIdentConf);
  say(options, "ok\nrunning bootstrap script ... ");

  wal::ControlData control;
  control.system_identifier = wal::make_system_identifier();
  control.segment_bytes = options.wal_segment_mb << 20;
  control.data_checksums = options.data_checksums ? 1 : 0;
  wal::write_control_file(options.data_directory, control);

  ServerSettings settings;
  settings.set("shared_buffers", "32MB", SettingSource::kCommandLine);
  settings.set("huge_pages", "off", SettingSource::kCommandLine);
  if (options.no_sync) settings.set("fsync", "off", SettingSource::kCommandLine);
  const std::unique_ptr<SharedState> shared = SharedState::standalone(settings, options.data_directory);
  shared->processes().attach(shared->processes().reserve(shm::ProcessKind::kStartup));
  const shm::SessionIndex session = shared->sessions().acquire(shm::ProcessKind::kStartup);
  shm::PlainParker parker{shared->sessions(), session};
  shm::set_current_session(&shared->sessions().slot(session), &parker, session);
  Engine engine{*shared, settings};
  wal::CheckpointData first{};
  first.next_xid = kFirstNormalXid.value;
  first.next_oid = kFirstNormalOid.value;
  first.next_multixact = clog::kFirstMultiXact.value;
  engine.clog.begin_recovery(first);
  engine.clog.finish_recovery();
  engine.log.start_new();
  sql::BootstrapOptions bootstrap;
  bootstrap.superuser = superuser;
  sql::bootstrap_catalog(engine.storage, bootstrap);
  say(options, "ok\nsyncing data to disk ... ");
  perform_checkpoint(engine, control, CheckpointKind::kShutdown, parker, nullptr);
  for (const char* name : kDirectories) sync_directory(options.data_directory + "/" + name);
  sync_directory(options.data_directory);
  say(options, "ok\n");
}

}  // namespace

void init_cluster(const InitOptions& options) {
  check_options(options);
  const std::string superuser = options.superuser.empty() ? system_user() : options.superuser;
  say(options, "The database cluster will be owned by role \"" + superuser +
                   "\".\n\nData page checksums are " + (options.data_checksums ? "enabled" : "disabled") +
                   ".\n\n");
  const bool made = prepare_directory(options);
  bool done = false;
  struct Undo {
    const InitOptions& options;
    bool made;
    bool& done;
    ~Undo() {
      if (done) return;
      std::error_code error;
      for (const auto& entry : fs::directory_iterator(options.data_directory, error))
        fs::remove_all(entry.path(), error);
      if (made) fs::remove(options.data_directory, error);
    }
  } undo{options, made, done};
  fill(options, superuser);
  done = true;
  say(options, "\nSuccess. You can now start the database server using:\n\n    pinwheel start -D " +
                   options.data_directory + " -l logfile -w\n\n");
}

}  // namespace pinwheel::server
