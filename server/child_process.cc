#include "server/child_process.h"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <string>

#include "base/error.h"
#include "base/log.h"

namespace pinwheel::server {
namespace {

/// SIGTERM to one child asks it to end its sessions and exit; async-signal-safe.
void request_fast_shutdown(int) {
  const int saved_errno = errno;
  shm::ProcessSlot* slot = shm::self().slot;
  if (slot != nullptr) {
    slot->requests.fetch_or(shm::kRequestFastShutdown, std::memory_order_release);
    shm::wake_if_asleep(*slot);  // only atomics and write(2)
  }
  errno = saved_errno;
}

void exit_at_once(int) { ::_exit(2); }

void set_handler(int number, void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  ::sigaction(number, &action, nullptr);
}

/// A terminal's Ctrl-C reaches the whole process group: only the launcher acts on it.
void set_child_signals() {
  set_handler(SIGTERM, request_fast_shutdown);
  set_handler(SIGQUIT, exit_at_once);
  set_handler(SIGINT, SIG_IGN);
  set_handler(SIGHUP, SIG_IGN);
  set_handler(SIGPIPE, SIG_IGN);
  set_handler(SIGCHLD, SIG_DFL);
  set_handler(SIGUSR1, SIG_IGN);
  set_handler(SIGUSR2, SIG_IGN);
}

int run_child(shm::ProcessKind kind, const ChildMain& main) {
  try {
    return main();
  } catch (const SqlError& error) {
    log(LogLevel::kFatal, "{}", error.message());
    if (!error.fields().detail.empty()) log(LogLevel::kFatal, "DETAIL:  {}", error.fields().detail);
  } catch (const std::exception& error) {
    log(LogLevel::kFatal, "unexpected error in {}: {}", shm::process_kind_name(kind), error.what());
  }
  return 1;
}

}  // namespace

ChildProcess* ChildTable::start(shm::ProcessKind kind, const std::function<void()>& before,
                                const ChildMain& main) {
  const shm::ProcessIndex index = processes_->reserve(kind);
  if (index == shm::kNoProcess) {
    log(LogLevel::kLog, "no free process slot for {}", shm::process_kind_name(kind));
    return nullptr;
  }
  // Signals wait until the child has its own handlers: the launcher's would write to the launcher's pipe.
  sigset_t all, saved;
  sigfillset(&all);
  ::sigprocmask(SIG_BLOCK, &all, &saved);
  const pid_t launcher = ::getpid();
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != launcher) ::_exit(1);
    set_child_signals();
    processes_->attach(index);
    sigset_t none;
    sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    before();
    ::_exit(run_child(kind, main));
  }
  ::sigprocmask(SIG_SETMASK, &saved, nullptr);
  if (pid < 0) {
    log(LogLevel::kLog, "could not fork new process for {}: {}", shm::process_kind_name(kind),
        std::strerror(errno));
    processes_->release(index);
    return nullptr;
  }
  ChildProcess child;
  child.pid = pid;
  child.kind = kind;
  child.index = index;
  children_.push_back(child);
  return &children_.back();
}

bool ChildTable::reap(Exit& exit) {
  while (true) {
    const pid_t pid = ::waitpid(-1, &exit.status, WNOHANG);
    if (pid <= 0) return false;
    const auto at =
        std::find_if(children_.begin(), children_.end(), [&](const auto& child) { return child.pid == pid; });
    if (at == children_.end()) continue;
    exit.child = *at;
    if (exit.child.channel >= 0) ::close(exit.child.channel);
    processes_->release(exit.child.index);
    children_.erase(at);
    return true;
  }
}

void ChildTable::signal_all(int signal_number) {
  for (const ChildProcess& child : children_) ::kill(child.pid, signal_number);
}

std::size_t ChildTable::count(shm::ProcessKind kind) const {
  return static_cast<std::size_t>(std::count_if(children_.begin(), children_.end(),
                                                [&](const auto& child) { return child.kind == kind; }));
}

ChildProcess* ChildTable::find(shm::ProcessKind kind) {
  const auto at =
      std::find_if(children_.begin(), children_.end(), [&](const auto& child) { return child.kind == kind; });
  return at == children_.end() ? nullptr : &*at;
}

ChildProcess* ChildTable::least_loaded_backend() {
  ChildProcess* best = nullptr;
  std::uint32_t best_load = 0;
  for (ChildProcess& child : children_) {
    if (child.channel < 0) continue;
    const std::uint32_t load = processes_->slot(child.index).session_count.load(std::memory_order_relaxed);
    if (best == nullptr || load < best_load) {
      best = &child;
      best_load = load;
    }
  }
  return best;
}

std::string describe_exit(const ChildTable::Exit& exit) {
  if (WIFEXITED(exit.status) && WEXITSTATUS(exit.status) == 0) return {};
  const std::string who = exit.child.kind == shm::ProcessKind::kBackend
                              ? "server process"
                              : std::string{shm::process_kind_name(exit.child.kind)} + " process";
  std::string text = who + " (PID " + std::to_string(exit.child.pid) + ")";
  if (WIFSIGNALED(exit.status)) {
    return text + " was terminated by signal " + std::to_string(WTERMSIG(exit.status)) + ": " +
           ::strsignal(WTERMSIG(exit.status));
  }
  return text + " exited with exit code " + std::to_string(WEXITSTATUS(exit.status));
}

}  // namespace pinwheel::server
