// check: looks for damage in a cluster that does not run.

#include <fmt/format.h>

#include <cstdio>
#include <filesystem>

#include "base/error.h"
#include "base/settings.h"
#include "base/sqlstate.h"
#include "server/cluster_check.h"
#include "server/commands.h"
#include "server/engine.h"
#include "server/lock_file.h"
#include "server/recovery.h"
#include "server/shared_state.h"
#include "shm/interrupts.h"
#include "wal/control_file.h"
#include "wal/replay.h"

namespace pinwheel::server {
namespace {

void apply_options(ServerSettings& settings, const CommonOptions& options) {
  settings.set("shared_buffers", "64MB", SettingSource::kCommandLine);
  settings.set("huge_pages", "off", SettingSource::kCommandLine);
  for (const std::string& assignment : options.settings) {
    const std::size_t equals = assignment.find('=');
    if (equals == std::string::npos || equals == 0) {
      throw SqlError{sqlstate::kSyntaxError, "-c " + assignment + " requires a value"};
    }
    settings.set(assignment.substr(0, equals), assignment.substr(equals + 1), SettingSource::kCommandLine);
  }
}

/// A cluster that was shut down has one record to read: the checkpoint. Nothing is written.
void open_log(Engine& engine, const wal::ControlData& control) {
  wal::RmgrRegistry registry;
  register_owners(registry, engine);
  wal::ReplayCallbacks callbacks;
  callbacks.quiet = true;
  const Lsn redo{control.checkpoint_copy.redo};
  engine.clog.begin_recovery(control.checkpoint_copy);
  const wal::ReplayResult replayed = wal::replay(engine.log.files(), redo, registry, callbacks);
  engine.clog.finish_recovery();
  // Looking at catalogs may prune a page. That goes no further than this process's memory: no page and no log
  // is flushed.
  engine.log.start_after_recovery(replayed.end, redo, /*clean_shutdown=*/true);
}

}  // namespace

int command_check(const CommonOptions& options) {
  if (options.data_directory.empty()) {
    throw SqlError{sqlstate::kInvalidParameterValue, "no data directory specified"}.hint(
        "Use the -D option or the environment variable PGDATA.");
  }
  const std::string directory = std::filesystem::absolute(options.data_directory).lexically_normal().string();
  const DirectoryLock lock{directory, 0};
  const wal::ControlData control = wal::read_control_file(directory);
  if (control.state != wal::ClusterState::kShutDown &&
      control.state != wal::ClusterState::kShutDownInRecovery) {
    throw SqlError{sqlstate::kObjectNotInPrerequisiteState, "cluster was not shut down cleanly"}.hint(
        "Start the server, which will recover, and stop it; then check.");
  }
  ServerSettings settings;
  apply_options(settings, options);
  const std::unique_ptr<SharedState> shared = SharedState::standalone(settings, directory);
  shared->processes().attach(shared->processes().reserve(shm::ProcessKind::kStartup));
  const shm::SessionIndex session = shared->sessions().acquire(shm::ProcessKind::kStartup);
  shm::PlainParker parker{shared->sessions(), session};
  shm::set_current_session(&shared->sessions().slot(session), &parker, session);
  CheckReport report;
  {
    Engine engine{*shared, settings};
    open_log(engine, control);
    const XidRange xids{Xid{control.checkpoint_copy.next_xid}, Xid{control.checkpoint_copy.oldest_xid}};
    ClusterCheck{engine, session, parker, xids, control.data_checksums != 0, report}.run();
  }
  std::fputs(
      fmt::format("{} databases, {} relations, {} pages, {} tuples, {} index entries checked: ",
                  report.databases, report.relations, report.pages, report.tuples, report.index_entries)
          .c_str(),
      stdout);
  if (report.findings() == 0) {
    std::fputs("no problems found\n", stdout);
    return 0;
  }
  std::fputs(fmt::format("{} problems found\n", report.findings()).c_str(), stdout);
  return 1;
}

}  // namespace pinwheel::server
