#include "server/lock_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstring>
#include <ctime>
#include <fstream>

#include "base/error.h"
#include "base/file.h"
#include "base/sqlstate.h"

namespace pinwheel::server {
namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::size_t begin = 0;
  while (begin < text.size()) {
    std::size_t end = text.find('\n', begin);
    if (end == std::string::npos) end = text.size();
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

template <class Number>
Number number_of(const std::vector<std::string>& lines, std::size_t index) {
  Number value{};
  if (index < lines.size()) {
    std::from_chars(lines[index].data(), lines[index].data() + lines[index].size(), value);
  }
  return value;
}

std::string text_of(const LockFileContent& content) {
  return std::to_string(content.pid) + "\n" + content.data_directory + "\n" +
         std::to_string(content.start_time) + "\n" + std::to_string(content.port) + "\n" +
         content.socket_directory + "\n" + content.listen_address + "\n\n" + content.status + "\n";
}

std::string pid_path(const std::string& data_directory) { return data_directory + "/postmaster.pid"; }

[[noreturn]] void throw_in_use(const std::string& path, const std::string& what, pid_t pid,
                               const std::string& where) {
  throw SqlError{sqlstate::kObjectInUse, "lock file \"" + path + "\" already exists"}
      .hint("Is another " + what + " (PID " + std::to_string(pid) + ") running in " + where + "?")
      .fatal();
}

std::optional<LockFileContent> parse(const std::string& path) {
  const auto text = read_file_if_exists(path);
  if (!text) return std::nullopt;
  const std::vector<std::string> lines = lines_of(*text);
  LockFileContent content;
  content.pid = number_of<pid_t>(lines, 0);
  if (content.pid <= 0) return std::nullopt;
  if (lines.size() > 1) content.data_directory = lines[1];
  content.start_time = number_of<std::int64_t>(lines, 2);
  content.port = number_of<int>(lines, 3);
  if (lines.size() > 4) content.socket_directory = lines[4];
  if (lines.size() > 5) content.listen_address = lines[5];
  if (lines.size() > 7) content.status = lines[7];
  return content;
}

void write_whole(const std::string& path, const std::string& text) {
  // Never empty in between: others read it at any time.
  File file = File::open(path, OpenMode::kCreate);
  file.write_at(0, std::as_bytes(std::span{text}));
  file.truncate(text.size());
  file.sync();
}

}  // namespace

std::optional<LockFileContent> read_lock_file(const std::string& data_directory) {
  return parse(pid_path(data_directory));
}

bool process_exists(pid_t pid) {
  if (::kill(pid, 0) != 0 && errno != EPERM) return false;
  // A killed server that its parent has not reaped yet holds nothing any more.
  std::ifstream stream{"/proc/" + std::to_string(pid) + "/stat"};
  std::string facts;
  std::getline(stream, facts);
  const std::size_t name_end = facts.rfind(')');
  return name_end == std::string::npos || facts.compare(name_end, 3, ") Z") != 0;
}

DirectoryLock::DirectoryLock(const std::string& data_directory, int orphan_wait_ms)
    : data_directory_{data_directory} {
  const std::string path = data_directory + "/pinwheel.lock";
  lock_fd_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (lock_fd_ < 0) throw_file_error("open", path, errno);
  constexpr int kStepMs = 20;
  for (int waited_ms = 0; ::flock(lock_fd_, LOCK_EX | LOCK_NB) != 0; waited_ms += kStepMs) {
    const auto other = read_lock_file(data_directory);
    const bool launcher_lives = other && process_exists(other->pid);
    if (launcher_lives || waited_ms >= orphan_wait_ms) {
      ::close(lock_fd_);
      throw_in_use("postmaster.pid", "postmaster", other ? other->pid : 0,
                   "data directory \"" + data_directory + "\"");
    }
    const timespec step{0, kStepMs * 1'000'000L};
    ::nanosleep(&step, nullptr);
  }
}

DirectoryLock::~DirectoryLock() {
  ::unlink(pid_path(data_directory_).c_str());
  ::close(lock_fd_);
}

void DirectoryLock::write(const LockFileContent& content) {
  content_ = content;
  write_whole(pid_path(data_directory_), text_of(content_));
}

void DirectoryLock::set_status(const std::string& status) {
  content_.status = status;
  write_whole(pid_path(data_directory_), text_of(content_));
}

SocketLock::SocketLock(const std::string& socket_path, const LockFileContent& content)
    : path_{socket_path + ".lock"} {
  if (const auto other = parse(path_); other && other->pid != ::getpid() && process_exists(other->pid)) {
    throw_in_use(path_, "postmaster", other->pid, "data directory \"" + other->data_directory + "\"");
  }
  write_whole(path_, text_of(content));
}

SocketLock::~SocketLock() { ::unlink(path_.c_str()); }

}  // namespace pinwheel::server
