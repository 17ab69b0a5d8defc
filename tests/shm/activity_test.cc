#include <catch2/catch.hpp>
#include <string>

#include "tests/shm/shared_fixture.h"

namespace pinwheel::shm {

TEST_CASE("readers of an activity never see half a change", "[shm][activity]") {
  test::SharedFixture fixture{64};
  std::atomic<std::uint32_t>* stop = ::new (fixture.scratch<void>()) std::atomic<std::uint32_t>{0};
  std::atomic<std::uint32_t>* session =
      ::new (fixture.scratch<char>() + 8) std::atomic<std::uint32_t>{kNoSession.value};
  fixture.start([&](ProcessIndex) {
    const SessionIndex index = fixture.sessions_table.acquire(ProcessKind::kBackend);
    SessionSlot& slot = fixture.sessions_table.slot(index);
    std::string text;
    for (std::uint64_t i = 0; stop->load() == 0; ++i) {
      text.assign(i % 1000, static_cast<char>('a' + i % 26));
      ActivityWriter writer{slot};
      writer.set_query(text);
      writer->query_id = i;
      if (i == 0) session->store(index.value);
    }
    return 0;
  });
  while (session->load() == kNoSession.value) ::sched_yield();
  Activity copy;
  bool all_whole = true;
  for (int i = 0; i < 20'000; ++i) {
    REQUIRE(fixture.sessions_table.read_activity(SessionIndex{session->load()}, copy));
    const std::string_view text{copy.query, copy.query_bytes};
    all_whole &= text.size() == copy.query_id % 1000;
    all_whole &=
        text.find_first_not_of(static_cast<char>('a' + copy.query_id % 26)) == std::string_view::npos;
  }
  stop->store(1);
  CHECK(all_whole);
  CHECK(fixture.join() == 0);
}

TEST_CASE("texts are cut at whole characters", "[shm][activity]") {
  test::SharedFixture fixture;
  fixture.attach_here();
  const SessionIndex index = fixture.sessions_table.acquire(ProcessKind::kBackend);
  ActivityWriter{fixture.sessions_table.slot(index)}.set_query(std::string(1023, 'x') + "\xC3\xA9");
  Activity copy;
  REQUIRE(fixture.sessions_table.read_activity(index, copy));
  CHECK(copy.query_bytes == 1023);
}

TEST_CASE("client slots end at their count, with some kept for superusers", "[shm][activity]") {
  test::SharedFixture fixture{64, 2, 5};
  fixture.attach_here();
  SessionTable& table = fixture.sessions_table;
  std::vector<SessionIndex> taken;
  for (int i = 0; i < 3; ++i) taken.push_back(table.acquire(ProcessKind::kBackend, 2));
  CHECK(taken.back() != kNoSession);
  CHECK(table.acquire(ProcessKind::kBackend, 2) == kNoSession);
  CHECK(table.acquire(ProcessKind::kBackend, 0) != kNoSession);
  CHECK(table.acquire(ProcessKind::kBackend, 0) != kNoSession);
  CHECK(table.acquire(ProcessKind::kBackend, 0) == kNoSession);
  CHECK(table.clients_in_use() == 5);
  const SessionIndex background = table.acquire(ProcessKind::kAutovacuumWorker);
  CHECK(background.value >= 5);
  table.slot(taken[1]).backend_pid.store(77);
  CHECK(table.find_by_backend_pid(77) == taken[1]);
  REQUIRE(table.try_release(taken[1]));
  CHECK(table.find_by_backend_pid(77) == kNoSession);
  CHECK(table.acquire(ProcessKind::kBackend, 0) == taken[1]);
}

}  // namespace pinwheel::shm
