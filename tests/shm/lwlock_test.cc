#include "shm/lwlock.h"

#include <catch2/catch.hpp>

#include "tests/shm/shared_fixture.h"

namespace pinwheel::shm {
namespace {

struct Shared {
  LwLock lock{Tranche::kTest};
  SpinLock spin;
  // Protected by `lock`: two halves that are equal whenever it is free.
  std::uint64_t left = 0;
  std::uint64_t right = 0;
  // Protected by `spin`.
  std::uint64_t spun = 0;
  std::atomic<std::uint32_t> ready{0};
  std::atomic<std::uint32_t> held{0};
  std::atomic<std::uint32_t> let_go{0};
};

}  // namespace

TEST_CASE("exclusive holders of several processes exclude each other and sharers see whole changes",
          "[shm][lwlock]") {
  constexpr int kProcesses = 4;
  constexpr std::uint64_t kRounds = 20'000;
  test::SharedFixture fixture{sizeof(Shared)};
  Shared* shared = ::new (fixture.scratch<void>()) Shared;
  for (int p = 0; p < kProcesses; ++p) {
    fixture.start([=](ProcessIndex) {
      for (std::uint64_t i = 0; i < kRounds; ++i) {
        if (i % 3 == 0) {
          const SharedGuard guard{shared->lock};
          if (shared->left != shared->right) return 1;
        } else {
          const ExclusiveGuard guard{shared->lock};
          if (shared->left != shared->right) return 2;
          ++shared->left;
          if (i % 512 == 1) ::usleep(50);  // makes the others sleep on the futex
          ++shared->right;
        }
        const SpinGuard guard{shared->spin};
        ++shared->spun;
      }
      return 0;
    });
  }
  CHECK(fixture.join() == 0);
  const std::uint64_t exclusive = kProcesses * (kRounds - (kRounds + 2) / 3);
  CHECK(shared->left == exclusive);
  CHECK(shared->right == exclusive);
  CHECK(shared->spun == kProcesses * kRounds);
  CHECK_FALSE(shared->lock.is_held());

  std::uint64_t acquired = 0, waited = 0, in_histogram = 0;
  for (std::uint16_t p = 0; p < kProcesses; ++p) {
    const LwLockStats& stats =
        fixture.processes_table.stats(ProcessIndex{p}).lwlocks[index_of(Tranche::kTest)];
    acquired += stats.acquired.read();
    waited += stats.waited.read();
    for (const OwnedCounter& bucket : stats.histogram) in_histogram += bucket.read();
  }
  CHECK(acquired == kProcesses * kRounds);
  CHECK(waited > 0);
  CHECK(in_histogram == waited);
}

TEST_CASE("sharers hold together, and a try never waits", "[shm][lwlock]") {
  LwLock lock{Tranche::kTest};
  {
    const SharedGuard first{lock};
    CHECK(lock.is_held());
    CHECK_FALSE(lock.is_held_exclusive());
    CHECK_FALSE(ExclusiveGuard::try_acquire(lock).owns());
    CHECK(lock.try_lock_shared());
    lock.unlock_shared();
  }
  {
    ExclusiveGuard guard{lock};
    CHECK_FALSE(SharedGuard::try_acquire(lock).owns());
    CHECK_FALSE(ExclusiveGuard::try_acquire(lock).owns());
    guard.release();
    guard.release();
    CHECK(ExclusiveGuard::try_acquire(lock).owns());
  }
  CHECK_FALSE(lock.is_held());
}

TEST_CASE("sleeping sharers are all let in after one exclusive release", "[shm][lwlock]") {
  test::SharedFixture fixture{sizeof(Shared)};
  Shared* shared = ::new (fixture.scratch<void>()) Shared;
  constexpr std::uint32_t kSharers = 6;
  fixture.start([=](ProcessIndex) {
    const ExclusiveGuard guard{shared->lock};
    shared->held.store(1);
    while (shared->let_go.load() == 0) ::sched_yield();
    return 0;
  });
  while (shared->held.load() == 0) ::sched_yield();
  for (std::uint32_t p = 0; p < kSharers; ++p) {
    fixture.start([=](ProcessIndex) {
      const SharedGuard guard{shared->lock};
      // All must be inside at once for any to leave.
      shared->ready.fetch_add(1);
      while (shared->ready.load() != kSharers) ::sched_yield();
      return 0;
    });
  }
  // Long enough for most to be asleep; the outcome must not depend on it.
  ::usleep(20'000);
  shared->let_go.store(1);
  CHECK(fixture.join() == 0);
}

}  // namespace pinwheel::shm
