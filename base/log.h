#pragma once

#include <fmt/core.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace pinwheel {

/// Levels in PostgreSQL's order for the server log, quiet to loud being high to low.
enum class LogLevel : std::uint8_t {
  kDebug5,
  kDebug4,
  kDebug3,
  kDebug2,
  kDebug1,
  kInfo,
  kNotice,
  kWarning,
  kError,
  kLog,  // above kError in the server log, as in PostgreSQL
  kFatal,
  kPanic,
};

/// "LOG", "WARNING"...; "DEBUG" for all debug levels.
std::string_view log_level_name(LogLevel level) noexcept;

namespace log_detail {
/// Lowest level that is written by this process; changed by set_log_level only.
inline LogLevel threshold = LogLevel::kWarning;
void write(LogLevel level, std::string_view message);
void format_and_write(LogLevel level, fmt::string_view format, fmt::format_args args);
}  // namespace log_detail

/// Level names as in log_min_messages.
inline void set_log_level(LogLevel level) noexcept { log_detail::threshold = level; }
inline bool log_enabled(LogLevel level) noexcept { return level >= log_detail::threshold; }

/// Where lines go: a file opened O_APPEND, or stderr when `path` is empty. Every line is one write(2), so
/// lines of different processes never mix. Called before fork or after; children inherit. Errors: 58030.
void set_log_file(const std::string& path);

/// What stands between the timestamp and the level, after "[pid]"; the backend sets user@database here.
void set_log_tag(std::string_view tag);

/// One line "timestamp [pid] LEVEL:  message" in the server log; newlines in the message are indented by a
/// tab.
template <class... Args>
void log(LogLevel level, fmt::format_string<Args...> format, Args&&... args) {
  if (!log_enabled(level)) return;
  log_detail::format_and_write(level, format, fmt::make_format_args(args...));
}

/// A message that is already text.
inline void log_text(LogLevel level, std::string_view message) {
  if (log_enabled(level)) log_detail::write(level, message);
}

}  // namespace pinwheel
