#include "server/scheduler.h"

#include <catch2/catch.hpp>
#include <string>

#include "tests/shm/shared_fixture.h"

namespace pinwheel::server {
namespace {

/// Notes its letter each time it runs, and yields between.
class Noting : public Fiber {
 public:
  Noting(Scheduler& scheduler, const shm::SessionTable& sessions, shm::SessionIndex index, char letter,
         int times, std::string& notes)
      : Fiber{scheduler}, sessions_{sessions}, index_{index}, letter_{letter}, times_{times}, notes_{notes} {}

 private:
  void run() override {
    bind_slot(index_, &sessions_.slot(index_));
    for (int i = 0; i < times_; ++i) {
      yield();
      notes_ += letter_;
    }
  }

  const shm::SessionTable& sessions_;
  shm::SessionIndex index_;
  char letter_;
  int times_;
  std::string& notes_;
};

/// One session keeps the others waiting.
struct OneFirst : Precedence {
  shm::SessionIndex first = shm::kNoSession;
  bool is_waited_for(shm::SessionIndex session) const noexcept override { return session == first; }
};

struct Turns {
  test::SharedFixture shared;
  Poller poller;
  OneFirst precedence;
  std::string notes;
  std::string run(int sessions, int first, int times) {
    shared.attach_here();
    Scheduler scheduler{shared.sessions_table, poller};
    scheduler.set_precedence(&precedence);
    for (int i = 0; i < sessions; ++i) {
      const shm::SessionIndex index = shared.sessions_table.acquire(shm::ProcessKind::kBackend);
      if (i == first) precedence.first = index;
      scheduler.spawn(std::make_unique<Noting>(scheduler, shared.sessions_table, index,
                                               static_cast<char>('a' + i), times, notes));
    }
    scheduler.run([&] { return scheduler.fiber_count() == 0; });
    return notes;
  }
};

}  // namespace

TEST_CASE("fibers that are ready run in the order in which they became so", "[server][scheduler]") {
  Turns turns;
  CHECK(turns.run(3, -1, 2) == "abcabc");
}

TEST_CASE("a session that others wait for runs first in its process's turn", "[server][scheduler]") {
  Turns turns;
  CHECK(turns.run(3, 2, 2) == "cabcab");
}

TEST_CASE("one that is waited for all the time runs more often, and starves nobody", "[server][scheduler]") {
  Turns turns;
  const std::string notes = turns.run(10, 9, 6);
  // It is looked for after every kFibersBetweenLooks fibers; each other one still has had its every turn.
  CHECK(notes.substr(0, 9) == "jabcjdefj");
  for (char letter = 'a'; letter <= 'j'; ++letter) {
    CHECK(std::count(notes.begin(), notes.end(), letter) == 6);
  }
}

}  // namespace pinwheel::server
