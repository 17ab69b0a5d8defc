#include "shm/lock_level.h"

#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <csignal>

#include "base/file.h"
#include "shm/lwlock.h"

namespace pinwheel::shm {

TEST_CASE("rows of the tranche table have names of their own", "[shm][lwlock]") {
  for (const TrancheInfo& a : kTranches) {
    CHECK_FALSE(a.name.empty());
    for (const TrancheInfo& b : kTranches) CHECK((&a == &b || a.name != b.name));
  }
}

#ifdef PINWHEEL_DEBUG_CHECKS
namespace {

/// True when `act` ends in a panic.
template <class Act>
bool panics(Act act) {
  const pid_t child = ::fork();
  if (child == 0) {
    std::signal(SIGABRT, SIG_DFL);
    ::close(STDERR_FILENO);
    act();
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
}

}  // namespace

TEST_CASE("a step against the lock order panics, steps along it do not", "[shm][lwlock]") {
  LwLock clog{Tranche::kClog}, insert{Tranche::kWalInsert}, mapping{Tranche::kBufferMapping};
  LwLock other_mapping{Tranche::kBufferMapping}, xid_gen{Tranche::kXidGen};
  CHECK_FALSE(
      panics([&] { const ExclusiveGuard a{mapping}, b{other_mapping}, c{xid_gen}, d{clog}, e{insert}; }));
  CHECK(panics([&] { const ExclusiveGuard a{insert}, b{clog}; }));
  CHECK(panics([&] { const SharedGuard a{clog}, b{xid_gen}; }));
  CHECK(panics([&] { const SharedGuard a{clog}, b{clog}; }));
  LwLock other_clog{Tranche::kClogBank};
  CHECK(panics([&] { const SharedGuard a{clog}, b{other_clog}; }));
}

TEST_CASE("parking while latched panics", "[shm][lwlock]") {
  LwLock clog{Tranche::kClog};
  CHECK_FALSE(panics([] { assert_nothing_latched(); }));
  CHECK(panics([&] {
    const SharedGuard guard{clog};
    assert_nothing_latched();
  }));
}

TEST_CASE("a try may go against the order, but counts for later waits", "[shm][lwlock]") {
  LwLock clog{Tranche::kClog}, insert{Tranche::kWalInsert}, array{Tranche::kProcArray};
  CHECK_FALSE(panics([&] {
    const ExclusiveGuard a{insert};
    const ExclusiveGuard b = ExclusiveGuard::try_acquire(clog);
  }));
  CHECK(panics([&] {
    const ExclusiveGuard a{insert};
    const ExclusiveGuard b = ExclusiveGuard::try_acquire(clog);
    const ExclusiveGuard c{array};
  }));
}
#endif

}  // namespace pinwheel::shm
