#include "base/failpoints.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>

#include "tests/base/error_text.h"

namespace pinwheel {

TEST_CASE("a failpoint acts only while armed and only on the hits asked for", "[base][failpoints]") {
  failpoint::hit("f");
  failpoint::arm("f=2@error;g=1*error");
  CHECK(test::error_of([] { failpoint::hit("f"); }) == "none");
  CHECK(test::error_of([] { failpoint::hit("f"); }) == "XX000 failpoint \"f\" raised an error");
  CHECK(test::error_of([] { failpoint::hit("g"); }) == "XX000 failpoint \"g\" raised an error");
  CHECK(test::error_of([] { failpoint::hit("g"); }) == "none");
  CHECK(failpoint::hits("f") == 2);
  failpoint::arm("f=off");
  CHECK(test::error_of([] { failpoint::hit("f"); }) == "none");
  failpoint::disarm_all();
}

TEST_CASE("the action crash kills the process with SIGKILL", "[base][failpoints]") {
  const pid_t child = ::fork();
  if (child == 0) {
    failpoint::arm("here=crash");
    failpoint::hit("here");
    ::_exit(0);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK((WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL));
}

TEST_CASE("a list of failpoints that does not parse is refused", "[base][failpoints]") {
  for (const char* list : {"x", "=error", "x=explode", "x=sleep", "x=sleep(a)", "x=z*error"}) {
    CHECK(test::error_of([&] { failpoint::arm(list); }).starts_with("22023 invalid failpoint"));
  }
  failpoint::disarm_all();
}

}  // namespace pinwheel
