#include "server/launcher.h"

#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <ctime>
#include <utility>

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "base/sqlstate.h"
#include "protocol/report.h"
#include "server/backend.h"
#include "server/background.h"
#include "server/handover.h"
#include "server/recovery.h"

namespace pinwheel::server {
namespace {

using Clock = std::chrono::steady_clock;
using boost::asio::posix::stream_descriptor;

/// How long orphans of a killed launcher may take to die before a new server gives up.
constexpr int kOrphanWaitMs = 10'000;
/// SIGQUIT, then this long, then SIGKILL.
constexpr std::int64_t kCrashGraceNs = 5'000'000'000;
constexpr auto kTick = std::chrono::milliseconds{200};

ListenSettings listen_settings(const ServerSettings& settings) {
  ListenSettings listen;
  listen.listen_addresses = settings.get_string(param::kListenAddresses);
  listen.unix_socket_directories = settings.get_string(param::kUnixSocketDirectories);
  listen.unix_socket_group = settings.get_string(param::kUnixSocketGroup);
  listen.unix_socket_permissions = static_cast<int>(settings.get_int(param::kUnixSocketPermissions));
  listen.port = static_cast<int>(settings.get_int(param::kPort));
  return listen;
}

}  // namespace

Launcher::Launcher(ServerSettings& settings, std::string data_directory)
    : settings_{settings},
      data_directory_{std::move(data_directory)},
      children_{processes_},
      signals_{io_, SIGTERM, SIGINT, SIGQUIT},
      timer_{io_} {
  signals_.add(SIGHUP);
  signals_.add(SIGCHLD);
  std::signal(SIGPIPE, SIG_IGN);
}

Launcher::~Launcher() = default;

int Launcher::run() {
  lock_ = std::make_unique<DirectoryLock>(data_directory_, kOrphanWaitMs);
  LockFileContent content;
  content.pid = ::getpid();
  content.data_directory = data_directory_;
  content.start_time = ::time(nullptr);
  content.port = static_cast<int>(settings_.get_int(param::kPort));
  content.status = "starting";
  log(LogLevel::kLog, "starting Pinwheel (PostgreSQL {} compatible)",
      settings_.get_string(param::kServerVersion));
  listener_ = std::make_unique<Listener>(listen_settings(settings_), content);
  content.socket_directory = listener_->first_socket_directory();
  content.listen_address = listener_->first_address();
  lock_->write(content);
  make_segment();
  for (const int fd : listener_->sockets()) {
    acceptors_.push_back(std::make_unique<stream_descriptor>(io_, ::dup(fd)));
    wait_connection(*acceptors_.back());
  }
  wait_signal();
  start_recovery();
  tick();
  while (phase_ != Phase::kDone) io_.run_one();
  acceptors_.clear();
  listener_->close();
  shared_.reset();
  log(LogLevel::kLog, "database system is shut down");
  lock_.reset();
  return exit_status_;
}

void Launcher::make_segment() {
  std::unique_ptr<SharedState> previous = std::move(shared_);
  shared_ = std::make_unique<SharedState>(settings_, data_directory_, previous.get());
  processes_ = &shared_->processes();
  ServerControl& control = shared_->control();
  control.started_at_us = started_at_us_;
  control.reloaded_at_us = loaded_at_us_;
}

ChildProcess* Launcher::start_child(shm::ProcessKind kind, const ChildMain& main) {
  return children_.start(
      kind,
      [this] {
        listener_->close_in_child();
        for (auto& acceptor : acceptors_) ::close(acceptor->native_handle());
        for (const ChildProcess& child : children_.all()) {
          if (child.channel >= 0) ::close(child.channel);
        }
      },
      main);
}

void Launcher::start_recovery() {
  phase_ = Phase::kRecovering;
  if (start_child(shm::ProcessKind::kStartup, [this] { return run_startup(*shared_, settings_); }) ==
      nullptr) {
    log(LogLevel::kFatal, "could not start the startup process");
    exit_status_ = 1;
    phase_ = Phase::kDone;
  }
}

void Launcher::start_background() {
  phase_ = Phase::kRunning;
  start_missing_background();
  lock_->set_status("ready   ");
  log(LogLevel::kLog, "database system is ready to accept connections");
  if (shutdown_ != ShutdownMode::kNone) begin_shutdown(shutdown_);
}

void Launcher::start_missing_background() {
  for (const BackgroundKind& background : background_kinds()) {
    if (children_.count(background.kind) > 0) continue;
    start_child(background.kind, [this, &background] { return background.main(*shared_, settings_); });
  }
}

void Launcher::wait_signal() {
  signals_.async_wait([this](const boost::system::error_code& error, int number) {
    if (error) return;
    on_signal(number);
    wait_signal();
  });
}

void Launcher::on_signal(int number) {
  switch (number) {
    case SIGCHLD:
      reap_children();
      break;
    case SIGHUP:
      reload();
      break;
    case SIGTERM:
      begin_shutdown(ShutdownMode::kSmart);
      break;
    case SIGINT:
      begin_shutdown(ShutdownMode::kFast);
      break;
    default:
      begin_shutdown(ShutdownMode::kImmediate);
      break;
  }
}

void Launcher::wait_connection(stream_descriptor& socket) {
  socket.async_wait(stream_descriptor::wait_read, [this, &socket](const boost::system::error_code& error) {
    if (error || phase_ == Phase::kDone) return;
    if (accept_all(socket.native_handle())) {
      wait_connection(socket);
    } else {
      exhausted_.push_back(&socket);
    }
  });
}

bool Launcher::accept_all(int listening_fd) {
  while (true) {
    const int fd = ::accept4(listening_fd, nullptr, nullptr, SOCK_CLOEXEC);
    if (fd < 0) {
      if (errno == EINTR || errno == ECONNABORTED) continue;
      if (errno == EAGAIN || errno == EWOULDBLOCK) return true;
      log(LogLevel::kLog, "could not accept new connection: {}", std::strerror(errno));
      return false;
    }
    place(fd);
    ::close(fd);
  }
}

void Launcher::place(int fd) {
  if (phase_ != Phase::kRunning) return refuse(fd);
  if (settings_.get_int(param::kBackendProcesses) == 0) return place_classic(fd);
  place_pooled(fd);
}

void Launcher::place_classic(int fd) {
  if (start_child(shm::ProcessKind::kBackend,
                  [this, fd] { return run_backend(*shared_, settings_, -1, fd); }) == nullptr) {
    refuse(fd);
  }
}

void Launcher::place_pooled(int fd) {
  const auto limit = static_cast<std::size_t>(settings_.get_int(param::kBackendProcesses));
  if (children_.count(shm::ProcessKind::kBackend) < limit) {
    HandoverChannel channel;
    try {
      channel = make_handover_channel();
    } catch (const SqlError& error) {
      log(LogLevel::kLog, "{}", error.message());
      return refuse(fd);
    }
    ChildProcess* child = start_child(shm::ProcessKind::kBackend, [this, channel, fd] {
      ::close(channel.launcher_end);
      ::close(fd);
      return run_backend(*shared_, settings_, channel.backend_end, -1);
    });
    ::close(channel.backend_end);
    if (child == nullptr) {
      ::close(channel.launcher_end);
    } else {
      child->channel = channel.launcher_end;
    }
  }
  ChildProcess* backend = children_.least_loaded_backend();
  if (backend == nullptr || !send_descriptor(backend->channel, fd)) return refuse(fd);
  // The backend will overwrite this with its own count; until then it keeps a burst of connections spread.
  processes_->slot(backend->index).session_count.fetch_add(1, std::memory_order_relaxed);
}

void Launcher::refuse(int fd) {
  SqlError reason{sqlstate::kCannotConnectNow, "the database system is starting up"};
  if (phase_ == Phase::kCrashing) {
    reason = SqlError{sqlstate::kCannotConnectNow, "the database system is in recovery mode"};
  } else if (phase_ == Phase::kRunning) {
    reason = SqlError{sqlstate::kTooManyConnections, "sorry, too many clients already"};
  } else if (shutdown_ != ShutdownMode::kNone) {
    reason = SqlError{sqlstate::kCannotConnectNow, "the database system is shutting down"};
  }
  protocol::MessageWriter out;
  protocol::write_error(out, std::move(reason).fatal());
  [[maybe_unused]] const ssize_t sent =
      ::send(fd, out.pending().data(), out.pending().size(), MSG_DONTWAIT | MSG_NOSIGNAL);
}

void Launcher::tick() {
  timer_.expires_after(kTick);
  timer_.async_wait([this](const boost::system::error_code&) {
    if (phase_ == Phase::kDone) return;
    reap_children();
    for (stream_descriptor* socket : std::exchange(exhausted_, {})) wait_connection(*socket);
    if (phase_ == Phase::kRunning) start_missing_background();
    if (phase_ == Phase::kCrashing && monotonic_ns() > crash_kill_ns_) children_.signal_all(SIGKILL);
    tick();
  });
}

void Launcher::reap_children() {
  ChildTable::Exit exit;
  while (children_.reap(exit)) on_exit(exit);
}

void Launcher::on_exit(const ChildTable::Exit& exit) {
  const std::string failure = describe_exit(exit);
  if (phase_ == Phase::kCrashing) {
    if (!children_.empty()) return;
    if (shutdown_ == ShutdownMode::kImmediate) {
      phase_ = Phase::kDone;
      return;
    }
    log(LogLevel::kLog, "all server processes terminated; reinitializing");
    make_segment();
    start_recovery();
    return;
  }
  if (!failure.empty()) {
    if (exit.child.kind == shm::ProcessKind::kStartup) {
      log(LogLevel::kLog, "{}", failure);
      log(LogLevel::kLog, "aborting startup due to startup process failure");
      exit_status_ = 1;
      phase_ = Phase::kDone;
      return;
    }
    return begin_crash(failure);
  }
  if (exit.child.kind == shm::ProcessKind::kStartup) return start_background();
  if (phase_ != Phase::kRunning) advance_shutdown();
}

void Launcher::begin_crash(const std::string& reason) {
  log(LogLevel::kLog, "{}", reason);
  log(LogLevel::kLog, "terminating any other active server processes");
  phase_ = Phase::kCrashing;
  crash_kill_ns_ = monotonic_ns() + kCrashGraceNs;
  children_.signal_all(SIGQUIT);
  if (children_.empty()) {
    make_segment();
    start_recovery();
  }
}

void Launcher::reload() {
  log(LogLevel::kLog, "received SIGHUP, reloading configuration files");
  settings_.load_files(settings_.get_string(param::kConfigFile), data_directory_, /*reload=*/true);
  loaded_at_us_ = wall_clock_us();
  shared_->control().reloaded_at_us = loaded_at_us_;
  for (const ChildProcess& child : children_.all()) processes_->request(child.index, shm::kRequestReload);
}

void Launcher::begin_shutdown(ShutdownMode mode) {
  if (mode <= shutdown_ && phase_ != Phase::kRunning) return;
  if (mode != shutdown_) {
    static constexpr const char* kNames[] = {"", "smart", "fast", "immediate"};
    log(LogLevel::kLog, "received {} shutdown request", kNames[static_cast<int>(mode)]);
  }
  shutdown_ = mode;
  if (phase_ == Phase::kDone) return;
  lock_->set_status("stopping");
  if (mode == ShutdownMode::kImmediate) {
    phase_ = Phase::kCrashing;
    crash_kill_ns_ = monotonic_ns() + kCrashGraceNs;
    children_.signal_all(SIGQUIT);
    if (children_.empty()) phase_ = Phase::kDone;
    return;
  }
  if (phase_ == Phase::kRecovering || phase_ == Phase::kCrashing) {
    return;  // acted on when recovery is over
  }
  if (phase_ == Phase::kRunning) phase_ = Phase::kDraining;
  if (phase_ == Phase::kDraining) {
    const std::uint32_t bits =
        mode == ShutdownMode::kFast ? shm::kRequestFastShutdown : shm::kRequestShutdown;
    for (const ChildProcess& child : children_.all()) {
      const bool client_side = child.kind == shm::ProcessKind::kBackend ||
                               child.kind == shm::ProcessKind::kAutovacuumLauncher ||
                               child.kind == shm::ProcessKind::kAutovacuumWorker;
      if (client_side) processes_->request(child.index, bits);
    }
  }
  advance_shutdown();
}

bool Launcher::background_running() const {
  return children_.count(shm::ProcessKind::kBgwriter) + children_.count(shm::ProcessKind::kWalwriter) > 0;
}

void Launcher::advance_shutdown() {
  if (phase_ == Phase::kDraining) {
    const std::size_t sessions = children_.count(shm::ProcessKind::kBackend) +
                                 children_.count(shm::ProcessKind::kAutovacuumLauncher) +
                                 children_.count(shm::ProcessKind::kAutovacuumWorker);
    if (sessions > 0) return;
    phase_ = Phase::kStoppingBackground;
    processes_->request(shm::ProcessKind::kBgwriter, shm::kRequestShutdown);
    processes_->request(shm::ProcessKind::kWalwriter, shm::kRequestShutdown);
  }
  if (phase_ == Phase::kStoppingBackground) {
    if (background_running()) return;
    phase_ = Phase::kCheckpointing;
    processes_->request(shm::ProcessKind::kCheckpointer, shm::kRequestShutdown);
  }
  if (phase_ == Phase::kCheckpointing && children_.empty()) phase_ = Phase::kDone;
}

}  // namespace pinwheel::server
