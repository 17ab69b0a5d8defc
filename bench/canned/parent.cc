#include "bench/canned/parent.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>

#include "bench/canned/serve.h"

namespace pinwheel::canned {
namespace {

sigset_t handled_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGINT, SIGTERM, SIGCHLD}) sigaddset(&set, signal);
  return set;
}

}  // namespace

Parent::Parent(const ServerOptions& options) : options_{options} {
  const sigset_t set = handled_signals();
  sigprocmask(SIG_BLOCK, &set, nullptr);
  signals_ = FileDescriptor{signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK)};
  if (!options_.address.empty()) listeners_.push_back(listen_tcp(options_.address, options_.port));
  if (!options_.socket_directory.empty()) {
    const std::string path = options_.socket_directory + "/.s.PGSQL." + std::to_string(options_.port);
    listeners_.push_back(listen_unix(path));
    socket_path_ = path;
  }
  start_pool();
}

Parent::~Parent() {
  if (!socket_path_.empty()) unlink(socket_path_.c_str());
  for (const pid_t child : children_) kill(child, SIGTERM);
  for (const pid_t child : children_) waitpid(child, nullptr, 0);
}

pid_t Parent::fork_child() {
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child < 0) throw std::system_error(errno, std::generic_category(), "fork");
  if (child > 0) {
    children_.push_back(child);
    return child;
  }
  const sigset_t set = handled_signals();
  sigprocmask(SIG_UNBLOCK, &set, nullptr);
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() != parent) _exit(1);
  listeners_.clear();
  channels_.clear();
  return 0;
}

void Parent::start_pool() {
  for (int i = 0; i < options_.processes; ++i) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
      throw std::system_error(errno, std::generic_category(), "socketpair");
    FileDescriptor ours{ends[0]}, theirs{ends[1]};
    if (fork_child() == 0) {
      { const FileDescriptor closed = std::move(ours); }
      serve_pool(std::move(theirs), options_.burn_us);
      _exit(0);
    }
    channels_.push_back(std::move(ours));
  }
}

int Parent::run() {
  std::vector<pollfd> watched{{signals_.get(), POLLIN, 0}};
  for (const FileDescriptor& listener : listeners_) watched.push_back({listener.get(), POLLIN, 0});
  while (true) {
    if (poll(watched.data(), watched.size(), -1) < 0) continue;
    signalfd_siginfo signal;
    while (read(signals_.get(), &signal, sizeof signal) == sizeof signal) {
      if (signal.ssi_signo != SIGCHLD) return 0;
      if (!reap()) return 1;
    }
    for (std::size_t i = 1; i < watched.size(); ++i) {
      if ((watched[i].revents & POLLIN) != 0) admit(accept_client(watched[i].fd));
    }
  }
}

void Parent::admit(FileDescriptor client) {
  if (!client.is_open()) return;
  ++admitted_;
  if (!channels_.empty()) {
    // One that has just died is noticed through SIGCHLD; its client is refused by closing the socket.
    send_descriptor(channels_[static_cast<std::size_t>(admitted_) % channels_.size()].get(), client.get());
  } else if (fork_child() == 0) {
    serve_client(std::move(client), admitted_, options_.burn_us);
    _exit(0);
  }
}

bool Parent::reap() {
  bool pool_is_whole = true;
  for (pid_t pid = 0; (pid = waitpid(-1, nullptr, WNOHANG)) > 0;) {
    std::erase(children_, pid);
    pool_is_whole = pool_is_whole && options_.processes == 0;
  }
  return pool_is_whole;
}

}  // namespace pinwheel::canned
