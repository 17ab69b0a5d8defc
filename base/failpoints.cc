#include "base/failpoints.h"

#include <signal.h>
#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <map>

#include "base/error.h"
#include "base/sqlstate.h"

namespace pinwheel::failpoint {
namespace {

enum class Action { kOff, kError, kCrash, kSleep, kPause };

struct Point {
  Action action = Action::kOff;
  std::uint64_t sleep_ms = 0;
  std::string pause_file;
  std::uint64_t first_hit = 1;  // acts from this hit on
  std::uint64_t last_hit = ~std::uint64_t{0};
  std::uint64_t hits = 0;
};

/// Process-wide: failpoints belong to the process, not to a session.
std::map<std::string, Point, std::less<>>& points() {
  static std::map<std::string, Point, std::less<>> all;
  return all;
}

[[noreturn]] void refuse(std::string_view item) {
  throw SqlError{sqlstate::kInvalidParameterValue, "invalid failpoint: \"" + std::string{item} + "\""};
}

std::string_view argument_of(std::string_view action, std::string_view name, std::string_view item) {
  if (action.size() < name.size() + 2 || action[name.size()] != '(' || action.back() != ')') refuse(item);
  return action.substr(name.size() + 1, action.size() - name.size() - 2);
}

std::uint64_t number(std::string_view text, std::string_view item) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) refuse(item);
  return value;
}

Point parse_action(std::string_view text, std::string_view item) {
  Point point;
  const std::size_t mark = text.find_first_of("*@");
  if (mark != std::string_view::npos && text.substr(0, mark).find('(') == std::string_view::npos) {
    const std::uint64_t n = number(text.substr(0, mark), item);
    (text[mark] == '*' ? point.last_hit : point.first_hit) = n;
    text.remove_prefix(mark + 1);
  }
  if (text == "off") {
    point.action = Action::kOff;
  } else if (text == "error") {
    point.action = Action::kError;
  } else if (text == "crash") {
    point.action = Action::kCrash;
  } else if (text.starts_with("sleep")) {
    point.action = Action::kSleep;
    point.sleep_ms = number(argument_of(text, "sleep", item), item);
  } else if (text.starts_with("pause")) {
    point.action = Action::kPause;
    point.pause_file = argument_of(text, "pause", item);
  } else {
    refuse(item);
  }
  return point;
}

void act(const Point& point, std::string_view name) {
  switch (point.action) {
    case Action::kOff:
      return;
    case Action::kError:
      throw SqlError{sqlstate::kInternalError, "failpoint \"" + std::string{name} + "\" raised an error"};
    case Action::kCrash:
      // SIGKILL, as a crash that no handler sees; everything in shared memory stays as it is at this instant.
      ::kill(::getpid(), SIGKILL);
      ::pause();
      return;
    case Action::kSleep:
      ::usleep(static_cast<useconds_t>(point.sleep_ms * 1000));
      return;
    case Action::kPause:
      while (::access(point.pause_file.c_str(), F_OK) == 0) ::usleep(1000);
      return;
  }
}

}  // namespace

void hit_slow(std::string_view name) {
  const auto at = points().find(name);
  if (at == points().end()) return;
  Point& point = at->second;
  ++point.hits;
  if (point.hits < point.first_hit || point.hits > point.last_hit) return;
  act(point, name);
}

void arm(std::string_view list) {
  while (!list.empty()) {
    const std::size_t end = list.find(';');
    const std::string_view item = list.substr(0, end);
    list = end == std::string_view::npos ? std::string_view{} : list.substr(end + 1);
    if (item.empty()) continue;
    const std::size_t equals = item.find('=');
    if (equals == std::string_view::npos || equals == 0) refuse(item);
    Point point = parse_action(item.substr(equals + 1), item);
    if (point.action == Action::kOff) {
      points().erase(std::string{item.substr(0, equals)});
    } else {
      points()[std::string{item.substr(0, equals)}] = std::move(point);
    }
  }
  armed_count.store(static_cast<std::uint32_t>(points().size()), std::memory_order_relaxed);
}

void arm_from_environment() {
  if (const char* list = std::getenv("PINWHEEL_FAILPOINTS")) arm(list);
}

void disarm_all() noexcept {
  points().clear();
  armed_count.store(0, std::memory_order_relaxed);
}

std::uint64_t hits(std::string_view name) noexcept {
  const auto at = points().find(name);
  return at == points().end() ? 0 : at->second.hits;
}

}  // namespace pinwheel::failpoint
