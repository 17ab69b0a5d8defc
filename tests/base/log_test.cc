#include "base/log.h"

#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <sstream>

#include "base/file.h"
#include "tests/base/test_directory.h"

namespace pinwheel {

TEST_CASE("log lines have time, pid and level, and stay whole between processes", "[base][log]") {
  const test::TestDirectory directory;
  set_log_file(directory / "log");
  constexpr int kLines = 500;
  const std::string filler(300, 'x');
  const pid_t child = ::fork();
  for (int i = 0; i < kLines; ++i)
    log(LogLevel::kLog, "{} line {} {}", child == 0 ? "child" : "parent", i, filler);
  if (child == 0) ::_exit(0);
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  set_log_tag("user@db");
  log(LogLevel::kWarning, "two\nlines");
  log(LogLevel::kDebug1, "not shown");
  set_log_tag("");
  set_log_file("");

  std::istringstream content{read_file(directory / "log")};
  std::string line;
  int whole = 0;
  bool saw_warning = false, saw_continuation = false;
  while (std::getline(content, line)) {
    if (line.find("LOG:  ") != std::string::npos && line.ends_with(filler)) ++whole;
    saw_warning |= line.ends_with("] user@db WARNING:  two");
    saw_continuation |= line == "\tlines";
    CHECK(line.find("not shown") == std::string::npos);
  }
  CHECK(whole == 2 * kLines);
  CHECK(saw_warning);
  CHECK(saw_continuation);
}

}  // namespace pinwheel
