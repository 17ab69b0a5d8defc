#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/settings.h"
#include "server/child_process.h"
#include "server/listener.h"
#include "server/lock_file.h"
#include "server/shared_state.h"

namespace pinwheel::server {

enum class ShutdownMode : std::uint8_t { kNone, kSmart, kFast, kImmediate };

/// Owns the listening sockets, the signals and the children. Takes no lock in shared memory, so that it
/// outlives whatever a child does to it.
///
/// SIGTERM smart, SIGINT fast, SIGQUIT immediate shutdown, SIGHUP reload, as PostgreSQL's postmaster.
class Launcher {
 public:
  Launcher(ServerSettings& settings, std::string data_directory);
  ~Launcher();
  Launcher(const Launcher&) = delete;
  Launcher& operator=(const Launcher&) = delete;

  /// Serves until shutdown; the process's exit status. Errors: SqlError when it cannot start.
  int run();

 private:
  enum class Phase : std::uint8_t {
    kRecovering,
    kRunning,
    kDraining,
    kStoppingBackground,
    kCheckpointing,
    kCrashing,
    kDone
  };

  void make_segment();
  void start_recovery();
  void start_background();
  void start_missing_background();
  void serve();

  void wait_signal();
  void on_signal(int number);
  void wait_connection(boost::asio::posix::stream_descriptor& socket);
  /// False when the system refused for want of something: the socket stays readable, so it is left alone
  /// until the next tick.
  bool accept_all(int listening_fd);
  void place(int fd);
  void place_classic(int fd);
  void place_pooled(int fd);
  void refuse(int fd);
  void tick();

  void reap_children();
  void on_exit(const ChildTable::Exit& exit);
  void begin_crash(const std::string& reason);
  void reload();
  void begin_shutdown(ShutdownMode mode);
  void advance_shutdown();
  ChildProcess* start_child(shm::ProcessKind kind, const ChildMain& main);
  bool background_running() const;

  ServerSettings& settings_;
  std::string data_directory_;
  std::unique_ptr<DirectoryLock> lock_;
  std::unique_ptr<Listener> listener_;
  std::unique_ptr<SharedState> shared_;
  shm::ProcessTable* processes_ = nullptr;
  ChildTable children_;
  boost::asio::io_context io_;
  boost::asio::signal_set signals_;
  boost::asio::steady_timer timer_;
  std::vector<std::unique_ptr<boost::asio::posix::stream_descriptor>> acceptors_;
  std::vector<boost::asio::posix::stream_descriptor*>
      exhausted_;  ///< to be waited for again at the next tick
  Phase phase_ = Phase::kRecovering;
  ShutdownMode shutdown_ = ShutdownMode::kNone;
  std::int64_t crash_kill_ns_ = 0;
  std::int64_t started_at_us_ = wall_clock_us();
  std::int64_t loaded_at_us_ = started_at_us_;  ///< when the configuration files were read
  int exit_status_ = 0;
};

}  // namespace pinwheel::server
