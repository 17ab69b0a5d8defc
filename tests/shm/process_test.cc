#include "shm/process.h"

#include <catch2/catch.hpp>

#include "tests/shm/shared_fixture.h"

namespace pinwheel::shm {

TEST_CASE("requests reach a sleeping process and are taken once", "[shm][process]") {
  test::SharedFixture fixture;
  const ProcessIndex sleeper = fixture.start([](ProcessIndex) {
    for (std::uint32_t seen = 0; (seen & kRequestShutdown) == 0;) {
      const std::uint32_t taken = wait_for_requests(WaitEvent::kCheckpointerMain, Deadline::after_ms(10'000));
      if (taken == 0) return 1;  // the deadline: a request was lost
      seen |= taken;
      if ((taken & kRequestWork) != 0) count(Counter::kBgwriterRounds);
    }
    return 0;
  });
  for (int i = 0; i < 100; ++i) {
    const std::uint64_t before = fixture.processes_table.sum(Counter::kBgwriterRounds);
    fixture.processes_table.request(sleeper, kRequestWork);
    while (fixture.processes_table.sum(Counter::kBgwriterRounds) == before) ::sched_yield();
  }
  fixture.processes_table.request(sleeper, kRequestShutdown);
  CHECK(fixture.join() == 0);
  CHECK(fixture.processes_table.sum(Counter::kBgwriterRounds) == 100);
}

TEST_CASE("waits end at their deadline even when the eventfd was written late", "[shm][process]") {
  test::SharedFixture fixture;
  const ProcessIndex me = fixture.attach_here();
  // A waker that cleared `asleep` and has yet to write.
  REQUIRE(begin_sleep());
  self().slot->asleep.store(0);
  end_sleep();
  const std::uint64_t one = 1;
  REQUIRE(::write(self().slot->event_fd, &one, sizeof one) == sizeof one);
  const std::int64_t begun = monotonic_ns();
  CHECK(wait_for_requests(WaitEvent::kBgWriterMain, Deadline::after_ms(30)) == 0);
  CHECK(monotonic_ns() - begun >= 29'000'000);
  std::uint64_t left = 0;
  CHECK(::read(self().slot->event_fd, &left, sizeof left) < 0);  // emptied
  fixture.processes_table.release(me);
}

TEST_CASE("process slots are given out once and found by kind", "[shm][process]") {
  test::SharedFixture fixture{64, 2};
  ProcessTable& table = fixture.processes_table;
  const ProcessIndex a = table.reserve(ProcessKind::kCheckpointer);
  const ProcessIndex b = table.reserve(ProcessKind::kBgwriter);
  CHECK(a != b);
  CHECK(table.reserve(ProcessKind::kBackend) == kNoProcess);
  CHECK(table.find(ProcessKind::kBgwriter) == b);
  table.release(b);
  CHECK(table.find(ProcessKind::kBgwriter) == kNoProcess);
  CHECK(table.reserve(ProcessKind::kBackend) == b);
}

}  // namespace pinwheel::shm
