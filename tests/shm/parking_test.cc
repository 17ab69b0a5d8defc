#include "shm/parking.h"

#include <catch2/catch.hpp>

#include "tests/shm/shared_fixture.h"

namespace pinwheel::shm {
namespace {

/// Ping-pong: each player waits for its turn by parking and gives the turn to the next by waking it.
struct Table {
  std::atomic<std::uint32_t> turn{0};
  std::atomic<std::uint32_t> seated{0};
  std::atomic<std::uint32_t> sessions[8];
};

int play(test::SharedFixture& fixture, Table* table, std::uint32_t me, std::uint32_t players,
         std::uint32_t rounds) {
  const SessionIndex index = fixture.sessions_table.acquire(ProcessKind::kBackend);
  table->sessions[me].store(index.value);
  table->seated.fetch_add(1);
  while (table->seated.load() != players) ::sched_yield();
  PlainParker parker{fixture.sessions_table, index};
  for (std::uint32_t round = 0; round < rounds; ++round) {
    const std::uint32_t mine = round * players + me;
    while (table->turn.load(std::memory_order_acquire) != mine) {
      // A lost wake-up would show as this generous deadline passing.
      if (parker.park(WaitEvent::kPgSleep, Deadline::after_ms(10'000)) == WakeReason::kTimeout) return 1;
    }
    table->turn.store(mine + 1, std::memory_order_release);
    wake(fixture.processes_table, fixture.sessions_table,
         SessionIndex{table->sessions[(me + 1) % players].load()});
  }
  return 0;
}

}  // namespace

TEST_CASE("no wake-up is lost between processes that hand each other the turn", "[shm][parking]") {
  const std::uint32_t players = GENERATE(2u, 5u);
  test::SharedFixture fixture{sizeof(Table)};
  Table* table = ::new (fixture.scratch<void>()) Table;
  for (std::uint32_t me = 0; me < players; ++me) {
    fixture.start([&, me](ProcessIndex) { return play(fixture, table, me, players, 4000); });
  }
  CHECK(fixture.join() == 0);
  CHECK(table->turn.load() == players * 4000);
}

TEST_CASE("no wake-up is lost when many wake one, and the system is called only for sleepers",
          "[shm][parking]") {
  struct Counts {
    std::atomic<std::uint32_t> session{kNoSession.value};
    std::atomic<std::uint64_t> given{0};
    std::atomic<std::uint32_t> done{0};
  };
  constexpr std::uint64_t kEach = 20'000;
  constexpr std::uint32_t kWakers = 3;
  test::SharedFixture fixture{sizeof(Counts)};
  Counts* counts = ::new (fixture.scratch<void>()) Counts;
  fixture.start([&](ProcessIndex) {
    const SessionIndex index = fixture.sessions_table.acquire(ProcessKind::kBackend);
    counts->session.store(index.value);
    PlainParker parker{fixture.sessions_table, index};
    while (counts->given.load() != kEach * kWakers) {
      if (parker.park(WaitEvent::kPgSleep, Deadline::after_ms(10'000)) == WakeReason::kTimeout) return 1;
    }
    return 0;
  });
  for (std::uint32_t w = 0; w < kWakers; ++w) {
    fixture.start([&](ProcessIndex) {
      while (counts->session.load() == kNoSession.value) ::sched_yield();
      for (std::uint64_t i = 0; i < kEach; ++i) {
        counts->given.fetch_add(1);
        wake(fixture.processes_table, fixture.sessions_table, SessionIndex{counts->session.load()});
      }
      return 0;
    });
  }
  CHECK(fixture.join() == 0);
  CHECK(fixture.processes_table.sum(Counter::kWakeSystemCalls) < kEach * kWakers);
}

TEST_CASE("one process serves several sessions through its woken list", "[shm][parking]") {
  test::SharedFixture fixture;
  fixture.attach_here();
  const SessionTable& sessions = fixture.sessions_table;
  const SessionIndex a = fixture.sessions_table.acquire(ProcessKind::kBackend);
  const SessionIndex b = fixture.sessions_table.acquire(ProcessKind::kBackend);
  for (int i = 0; i < 3; ++i) wake(fixture.processes_table, sessions, a);
  wake(fixture.processes_table, sessions, b);
  std::vector<std::uint32_t> woken;
  take_woken(sessions, [&](SessionIndex index) { woken.push_back(index.value); });
  CHECK(woken == std::vector<std::uint32_t>{b.value, a.value});
  CHECK(consume_wake(sessions.slot(a)));
  CHECK_FALSE(consume_wake(sessions.slot(a)));
  wake(fixture.processes_table, sessions, a);
  woken.clear();
  take_woken(sessions, [&](SessionIndex index) { woken.push_back(index.value); });
  CHECK(woken == std::vector<std::uint32_t>{a.value});
}

TEST_CASE("a park ends by deadline, by cancel and by termination", "[shm][parking]") {
  test::SharedFixture fixture;
  fixture.attach_here();
  const SessionIndex index = fixture.sessions_table.acquire(ProcessKind::kBackend);
  SessionSlot& slot = fixture.sessions_table.slot(index);
  PlainParker parker{fixture.sessions_table, index};
  CHECK(parker.park(WaitEvent::kPgSleep, Deadline::after_ms(5)) == WakeReason::kTimeout);
  interrupt(fixture.processes_table, fixture.sessions_table, index, kInterruptCancel);
  // The wake-up itself first, then the reason stays until served.
  CHECK(parker.park(WaitEvent::kPgSleep, Deadline::never()) == WakeReason::kReady);
  CHECK(parker.park(WaitEvent::kPgSleep, Deadline::never()) == WakeReason::kCancelled);
  slot.interrupts.store(kInterruptCancel | kInterruptTerminate);
  CHECK(parker.park(WaitEvent::kPgSleep, Deadline::never()) == WakeReason::kTerminated);
  CHECK(slot.wait_event.load() == 0);
}

TEST_CASE("a slot is not freed while a wake-up is on its way", "[shm][parking]") {
  test::SharedFixture fixture;
  fixture.attach_here();
  SessionTable& sessions = fixture.sessions_table;
  const SessionIndex index = sessions.acquire(ProcessKind::kBackend);
  wake(fixture.processes_table, sessions, index);
  CHECK_FALSE(sessions.try_release(index));
  take_woken(sessions, [](SessionIndex) {});
  CHECK(sessions.try_release(index));
  wake(fixture.processes_table, sessions, index);  // of a free slot: nothing
  CHECK(self().slot->woken_head.load() == 0);
  CHECK(sessions.acquire(ProcessKind::kBackend) == index);
  CHECK_FALSE(consume_wake(sessions.slot(index)));
}

}  // namespace pinwheel::shm
