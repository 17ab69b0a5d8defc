// `pinwheel top`: the terminal around server/top.
#include <poll.h>
#include <pwd.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>

#include "base/clock.h"
#include "base/error.h"
#include "base/sqlstate.h"
#include "server/commands.h"
#include "server/lock_file.h"
#include "server/top.h"

namespace pinwheel::server {
namespace {

volatile std::sig_atomic_t leave_top = 0;
void note_leave(int) { leave_top = 1; }

/// Keys one by one and unechoed, on a screen of its own, until its end.
class RawTerminal {
 public:
  RawTerminal() {
    if (::tcgetattr(STDIN_FILENO, &before_) == 0) {
      termios raw = before_;
      raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
      changed_ = ::tcsetattr(STDIN_FILENO, TCSANOW, &raw) == 0;
    }
    // Alternate screen, cursor hidden.
    std::fputs("\x1b[?1049h\x1b[?25l", stdout);
    std::fflush(stdout);
  }
  ~RawTerminal() {
    std::fputs("\x1b[?25h\x1b[?1049l", stdout);
    std::fflush(stdout);
    if (changed_) ::tcsetattr(STDIN_FILENO, TCSANOW, &before_);
  }
  RawTerminal(const RawTerminal&) = delete;
  RawTerminal& operator=(const RawTerminal&) = delete;

 private:
  termios before_{};
  bool changed_ = false;
};

struct TerminalSize {
  int width = 160;
  int height = 0;
};

TerminalSize terminal_size() {
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return {};
  return {size.ws_col, size.ws_row};
}

/// Waits for a key or the interval's end. True when it is time to leave: q, or the input has ended.
bool wait_for_key(int interval_s) {
  const Deadline until = Deadline::after_ms(std::int64_t{interval_s} * 1000);
  while (leave_top == 0 && !until.passed()) {
    pollfd input{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0};
    const std::int64_t left_ms = (until.at_ns - monotonic_ns()) / 1'000'000 + 1;
    if (::poll(&input, 1, static_cast<int>(left_ms)) <= 0) continue;
    char key = 0;
    const ssize_t got = ::read(STDIN_FILENO, &key, 1);
    if (got == 0 || (got == 1 && (key == 'q' || key == 'Q'))) return true;
  }
  return leave_top != 0;
}

}  // namespace

int run_top(const TopOptions& options) {
  WireClient client{options.target};
  TopSample before = take_top_sample(client);
  if (options.once) {
    ::usleep(static_cast<useconds_t>(options.interval_s) * 1'000'000);
    const TopSample now = take_top_sample(client);
    std::fputs(render_top(before, now, 1 << 20, 0).c_str(), stdout);
    return 0;
  }
  struct sigaction action {};
  action.sa_handler = note_leave;
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) ::sigaction(signal, &action, nullptr);
  const RawTerminal terminal;
  TopSample shown_before = before;
  TopSample now = std::move(before);
  while (true) {
    const TerminalSize size = terminal_size();
    // Home, the frame, and nothing below it.
    const std::string frame =
        render_top(shown_before, now, size.width, size.height > 0 ? size.height - 1 : 0);
    std::string out = "\x1b[H";
    for (const char c : frame) {
      if (c == '\n') out += "\x1b[K";
      out += c;
    }
    out += "\x1b[J";
    std::fputs(out.c_str(), stdout);
    std::fflush(stdout);
    if (wait_for_key(options.interval_s)) return 0;
    shown_before = std::move(now);
    now = take_top_sample(client);
  }
}

int command_top(const TopCommandOptions& given) {
  TopOptions options;
  options.once = given.once;
  options.interval_s = given.interval_s;
  options.target.application_name = "pinwheel top";
  options.target.socket_directory = given.host;
  options.target.port = given.port;
  options.target.database = given.database;
  options.target.user = given.user;
  if (options.target.user.empty()) {
    const passwd* account = ::getpwuid(::geteuid());
    options.target.user = account != nullptr ? account->pw_name : "postgres";
  }
  if (!given.common.data_directory.empty()) {
    const auto server = read_lock_file(given.common.data_directory);
    if (!server) {
      throw SqlError{sqlstate::kConnectionFailure,
                     "no server runs in \"" + given.common.data_directory + "\""};
    }
    options.target.port = server->port;
    options.target.socket_directory = server->socket_directory;
  }
  if (options.target.socket_directory.empty()) options.target.socket_directory = "/tmp";
  return run_top(options);
}

}  // namespace pinwheel::server
