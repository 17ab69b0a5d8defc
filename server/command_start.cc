// start, stop, restart, reload, status: what pg_ctl does.

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "base/clock.h"
#include "base/error.h"
#include "base/file.h"
#include "base/log.h"
#include "base/parameter_enums.h"
#include "base/parameters.h"
#include "base/sqlstate.h"
#include "server/commands.h"
#include "server/launcher.h"
#include "server/lock_file.h"
#include "server/profile.h"
#include "wal/control_file.h"

namespace pinwheel::server {
namespace {

namespace fs = std::filesystem;

std::string absolute_directory(const CommonOptions& options) {
  if (options.data_directory.empty()) {
    throw SqlError{sqlstate::kInvalidParameterValue, "no data directory specified"}.hint(
        "Use the -D option or the environment variable PGDATA.");
  }
  return fs::absolute(options.data_directory).lexically_normal().string();
}

void check_data_directory(const std::string& directory) {
  struct stat facts {};
  if (::stat(directory.c_str(), &facts) != 0) {
    throw SqlError{sqlstate::kUndefinedFile, "data directory \"" + directory + "\" does not exist"};
  }
  if (!S_ISDIR(facts.st_mode)) {
    throw SqlError{sqlstate::kObjectNotInPrerequisiteState,
                   "specified data directory \"" + directory + "\" is not a directory"};
  }
  if (facts.st_uid != ::geteuid()) {
    throw SqlError{sqlstate::kObjectNotInPrerequisiteState,
                   "data directory \"" + directory + "\" has wrong ownership"}
        .hint("The server must be started by the user that owns the data directory.");
  }
  if ((facts.st_mode & 027) != 0) {
    throw SqlError{sqlstate::kObjectNotInPrerequisiteState,
                   "data directory \"" + directory + "\" has invalid permissions"}
        .detail("Permissions should be u=rwx (0700) or u=rwx,g=rx (0750).");
  }
  const auto version = read_file_if_exists(directory + "/PG_VERSION");
  if (!version || !file_exists(directory + "/global/pg_control")) {
    throw SqlError{sqlstate::kObjectNotInPrerequisiteState, "\"" + directory + "\" is not a Pinwheel cluster"}
        .detail("File \"PG_VERSION\" or \"global/pg_control\" is missing.")
        .hint("Make one with `pinwheel init`.");
  }
}

void set_assignment(ServerSettings& settings, const std::string& assignment) {
  const std::size_t equals = assignment.find('=');
  if (equals == std::string::npos || equals == 0) {
    throw SqlError{sqlstate::kSyntaxError, "-c " + assignment + " requires a value"};
  }
  settings.set(assignment.substr(0, equals), assignment.substr(equals + 1), SettingSource::kCommandLine);
}

/// Command line over profile over files.
void load_settings(ServerSettings& settings, const StartOptions& options, const std::string& directory) {
  for (const std::string& assignment : options.common.settings) set_assignment(settings, assignment);
  if (!options.port.empty()) settings.set("port", options.port, SettingSource::kCommandLine);
  if (!options.socket_directory.empty()) {
    settings.set("unix_socket_directories", options.socket_directory, SettingSource::kCommandLine);
  }
  if (!options.listen_addresses.empty())
    settings.set("listen_addresses", options.listen_addresses, SettingSource::kCommandLine);
  if (!options.shared_buffers.empty())
    settings.set("shared_buffers", options.shared_buffers, SettingSource::kCommandLine);
  if (!options.max_connections.empty())
    settings.set("max_connections", options.max_connections, SettingSource::kCommandLine);
  if (options.no_fsync) settings.set("fsync", "off", SettingSource::kCommandLine);
  settings.set("data_directory", directory, SettingSource::kOverride);
  if (settings.get_string(param::kConfigFile).empty()) {
    settings.set("config_file", directory + "/postgresql.conf", SettingSource::kOverride);
  }
  settings.load_files(settings.get_string(param::kConfigFile), directory, /*reload=*/false);
  if (!options.profile.empty()) apply_profile(settings, options.profile);
  if (settings.get_bool(param::kSsl)) {
    throw SqlError{sqlstate::kFeatureNotSupported, "SSL is not supported by this build"};
  }
}

/// Connections need descriptors: as many as the system allows without being root.
void raise_descriptor_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

/// What the cluster was made with, for SHOW.
void load_cluster_facts(ServerSettings& settings, const std::string& directory) {
  const wal::ControlData control = wal::read_control_file(directory);
  settings.set_internal(param::kDataChecksums, control.data_checksums != 0 ? "on" : "off");
  settings.set_internal(param::kWalSegmentSize, std::to_string(control.segment_bytes));
}

int serve(const StartOptions& options, const std::string& directory) {
  ServerSettings settings;
  load_settings(settings, options, directory);
  load_cluster_facts(settings, directory);
  raise_descriptor_limit();
  set_log_level(settings.get_enum<LogLevel>(param::kLogMinMessages));
  if (::chdir(directory.c_str()) != 0) throw_file_error("change to", directory, errno);
  ::umask(0077);
  Launcher launcher{settings, directory};
  return launcher.run();
}

int serve_reporting(const StartOptions& options, const std::string& directory) {
  try {
    return serve(options, directory);
  } catch (const SqlError& error) {
    log(LogLevel::kFatal, "{}", error.message());
    if (!error.fields().detail.empty()) log(LogLevel::kFatal, "DETAIL:  {}", error.fields().detail);
    if (!error.fields().context.empty()) log(LogLevel::kFatal, "CONTEXT:  {}", error.fields().context);
    if (!error.fields().hint.empty()) log(LogLevel::kFatal, "HINT:  {}", error.fields().hint);
    return 1;
  }
}

void sleep_ms(int ms) {
  const timespec time{ms / 1000, (ms % 1000) * 1'000'000L};
  ::nanosleep(&time, nullptr);
}

/// Waits until postmaster.pid of `pid` says ready. False when the process ended or time ran out.
bool wait_until_ready(const std::string& directory, pid_t pid, int timeout_s) {
  const Deadline deadline = Deadline::after_ms(std::int64_t{timeout_s} * 1000);
  while (!deadline.passed()) {
    const auto content = read_lock_file(directory);
    if (content && content->pid == pid && content->status.starts_with("ready")) return true;
    int status = 0;
    if (::waitpid(pid, &status, WNOHANG) == pid) return false;
    sleep_ms(5);
  }
  return false;
}

int start_detached(const StartOptions& options, const std::string& directory) {
  if (const auto running = read_lock_file(directory); running && process_exists(running->pid)) {
    std::fprintf(stderr, "pinwheel: another server might be running; trying to start server anyway\n");
  }
  const pid_t pid = ::fork();
  if (pid < 0)
    throw SqlError{sqlstate::kInsufficientResources, std::string{"could not fork: "} + std::strerror(errno)};
  if (pid == 0) {
    ::setsid();
    const int null = ::open("/dev/null", O_RDWR);
    ::dup2(null, STDIN_FILENO);
    const std::string log_path =
        options.log_file.empty() ? "/dev/null" : fs::absolute(options.log_file).string();
    const int out = ::open(log_path.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
    if (out < 0) {
      std::fprintf(stderr, "pinwheel: error: could not open log file \"%s\": %s\n", log_path.c_str(),
                   std::strerror(errno));
      ::_exit(1);
    }
    ::dup2(out, STDOUT_FILENO);
    ::dup2(out, STDERR_FILENO);
    ::_exit(serve_reporting(options, directory));
  }
  std::printf("waiting for server to start...");
  std::fflush(stdout);
  if (wait_until_ready(directory, pid, options.timeout_s)) {
    std::printf(" done\nserver started\n");
    return 0;
  }
  std::printf(" stopped waiting\n");
  std::fprintf(stderr, "pinwheel: could not start server\n%s",
               options.log_file.empty() ? "" : "Examine the log output.\n");
  return 1;
}

}  // namespace

int command_start(const StartOptions& options) {
  const std::string directory = absolute_directory(options.common);
  check_data_directory(directory);
  {
    // Mistakes in settings are told here, where the user sees them.
    ServerSettings trial;
    load_settings(trial, options, directory);
  }
  if (options.wait || !options.log_file.empty()) return start_detached(options, directory);
  return serve_reporting(options, directory);
}

int command_stop(const StopOptions& options) {
  const std::string directory = absolute_directory(options.common);
  const auto content = read_lock_file(directory);
  if (!content || !process_exists(content->pid)) {
    std::fprintf(stderr, "pinwheel: PID file \"%s/postmaster.pid\" does not exist\nIs server running?\n",
                 directory.c_str());
    return 1;
  }
  const int signal_number = options.mode[0] == 's' ? SIGTERM : options.mode[0] == 'i' ? SIGQUIT : SIGINT;
  if (::kill(content->pid, signal_number) != 0) {
    std::fprintf(stderr, "pinwheel: could not send stop signal (PID: %d): %s\n", content->pid,
                 std::strerror(errno));
    return 1;
  }
  if (!options.wait) {
    std::printf("server shutting down\n");
    return 0;
  }
  std::printf("waiting for server to shut down...");
  std::fflush(stdout);
  const Deadline deadline = Deadline::after_ms(std::int64_t{options.timeout_s} * 1000);
  while (!deadline.passed()) {
    if (!file_exists(directory + "/postmaster.pid") || !process_exists(content->pid)) {
      std::printf(" done\nserver stopped\n");
      return 0;
    }
    sleep_ms(5);
  }
  std::printf(" failed\n");
  std::fprintf(stderr, "pinwheel: server does not shut down\n");
  return 1;
}

int command_restart(const StopOptions& stop, const StartOptions& start) {
  const std::string directory = absolute_directory(start.common);
  const auto content = read_lock_file(directory);
  if (content && process_exists(content->pid)) {
    if (const int status = command_stop(stop); status != 0) return status;
  } else {
    std::fprintf(stderr, "pinwheel: no server running; starting one\n");
  }
  StartOptions detached = start;
  detached.wait = true;
  return command_start(detached);
}

int command_reload(const CommonOptions& options) {
  const std::string directory = absolute_directory(options);
  const auto content = read_lock_file(directory);
  if (!content || ::kill(content->pid, SIGHUP) != 0) {
    std::fprintf(stderr, "pinwheel: PID file \"%s/postmaster.pid\" does not exist\nIs server running?\n",
                 directory.c_str());
    return 1;
  }
  std::printf("server signaled\n");
  return 0;
}

int command_status(const CommonOptions& options) {
  const std::string directory = absolute_directory(options);
  const auto content = read_lock_file(directory);
  if (!content || !process_exists(content->pid)) {
    std::printf("pinwheel: no server running\n");
    return 3;
  }
  std::printf("pinwheel: server is running (PID: %d)\nport %d, %s\n", content->pid, content->port,
              content->status.c_str());
  return 0;
}

}  // namespace pinwheel::server
