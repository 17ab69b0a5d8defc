#pragma once

#include <sys/types.h>

#include <functional>
#include <string_view>
#include <vector>

#include "shm/process.h"

namespace pinwheel::server {

/// A running child of the launcher.
struct ChildProcess {
  pid_t pid = 0;
  shm::ProcessKind kind = shm::ProcessKind::kFree;
  shm::ProcessIndex index = shm::kNoProcess;
  /// The launcher's end of a pooled backend's hand-over channel; -1 = none.
  int channel = -1;
  /// Connections handed over and not yet counted by the backend itself.
  std::uint32_t handed_over = 0;
};

/// What runs in a child. The result is its exit status: 0 = as asked, anything else makes the launcher
/// restart the cluster.
using ChildMain = std::function<int()>;

/// The launcher's children: forks them, reaps them, signals them.
class ChildTable {
 public:
  explicit ChildTable(shm::ProcessTable*& processes) : processes_{processes} {}

  /// Forks. In the child: default signals, death with the launcher, its slot attached, then `before` (closing
  /// what is not its own) and `main`, then _exit. Returns null when no slot is free or fork fails (logged).
  ChildProcess* start(shm::ProcessKind kind, const std::function<void()>& before, const ChildMain& main);

  struct Exit {
    ChildProcess child;
    int status = 0;  ///< as waitpid gives it
  };
  /// Reaps one dead child, if there is one.
  bool reap(Exit& exit);

  void signal_all(int signal_number);
  bool empty() const { return children_.empty(); }
  std::size_t count(shm::ProcessKind kind) const;
  ChildProcess* find(shm::ProcessKind kind);
  /// The pooled backend that serves the fewest sessions; null when there is none.
  ChildProcess* least_loaded_backend();
  std::vector<ChildProcess>& all() { return children_; }

 private:
  shm::ProcessTable*& processes_;  ///< the launcher's; changes when the segment is rebuilt
  std::vector<ChildProcess> children_;
};

/// "server process (PID 12) was terminated by signal 9: Killed", in PostgreSQL's words; "" for a clean exit.
std::string describe_exit(const ChildTable::Exit& exit);

}  // namespace pinwheel::server
