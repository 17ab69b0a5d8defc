#include "base/log.h"

#include <fcntl.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <cerrno>

#include "base/file.h"

namespace pinwheel {
namespace {

/// Writes each formatted line with one write(2). Pipes and O_APPEND files keep such a line whole, so the
/// processes of a server share one log without a lock.
class DescriptorSink final : public spdlog::sinks::base_sink<spdlog::details::null_mutex> {
 public:
  explicit DescriptorSink(int fd) : fd_{fd} {}
  ~DescriptorSink() override {
    if (fd_ != STDERR_FILENO) ::close(fd_);
  }

 private:
  void sink_it_(const spdlog::details::log_msg& message) override {
    spdlog::memory_buf_t line;
    base_sink::formatter_->format(message, line);
    const char* at = line.data();
    std::size_t left = line.size();
    while (left > 0) {
      const ssize_t written = ::write(fd_, at, left);
      if (written < 0 && errno == EINTR) continue;
      if (written <= 0) return;  // nowhere to report it
      at += written;
      left -= static_cast<std::size_t>(written);
    }
  }
  void flush_() override {}

  int fd_;
};

/// The process's logger and the tag of its lines.
struct Logger {
  spdlog::logger logger;
  std::string tag;
};

spdlog::logger make_logger(int fd) {
  spdlog::logger logger{"pinwheel", std::make_shared<DescriptorSink>(fd)};
  logger.set_level(spdlog::level::trace);
  logger.set_formatter(std::make_unique<spdlog::pattern_formatter>("%Y-%m-%d %H:%M:%S.%e UTC [%P] %v",
                                                                   spdlog::pattern_time_type::utc));
  return logger;
}

Logger& logger() {
  static Logger instance{make_logger(STDERR_FILENO), {}};
  return instance;
}

}  // namespace

std::string_view log_level_name(LogLevel level) noexcept {
  switch (level) {
    case LogLevel::kDebug5:
    case LogLevel::kDebug4:
    case LogLevel::kDebug3:
    case LogLevel::kDebug2:
    case LogLevel::kDebug1:
      return "DEBUG";
    case LogLevel::kInfo:
      return "INFO";
    case LogLevel::kNotice:
      return "NOTICE";
    case LogLevel::kWarning:
      return "WARNING";
    case LogLevel::kError:
      return "ERROR";
    case LogLevel::kLog:
      return "LOG";
    case LogLevel::kFatal:
      return "FATAL";
    case LogLevel::kPanic:
      return "PANIC";
  }
  return "LOG";
}

namespace log_detail {

void write(LogLevel level, std::string_view message) {
  Logger& to = logger();
  fmt::memory_buffer text;
  if (!to.tag.empty()) {
    text.append(to.tag);
    text.push_back(' ');
  }
  text.append(log_level_name(level));
  text.append(std::string_view{":  "});
  for (const char c : message) {
    text.push_back(c);
    if (c == '\n') text.push_back('\t');
  }
  to.logger.log(spdlog::level::info, spdlog::string_view_t{text.data(), text.size()});
}

void format_and_write(LogLevel level, fmt::string_view format, fmt::format_args args) {
  fmt::memory_buffer text;
  fmt::vformat_to(fmt::appender(text), format, args);
  write(level, {text.data(), text.size()});
}

}  // namespace log_detail

void set_log_file(const std::string& path) {
  int fd = STDERR_FILENO;
  if (!path.empty()) {
    fd = ::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0) throw_file_error("open log", path, errno);
  }
  Logger& to = logger();
  to.logger = make_logger(fd);
}

void set_log_tag(std::string_view tag) { logger().tag = tag; }

}  // namespace pinwheel
