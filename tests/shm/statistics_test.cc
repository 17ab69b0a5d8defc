#include <catch2/catch.hpp>

#include "shm/interrupts.h"
#include "shm/lwlock.h"
#include "shm/statistics_view.h"
#include "shm/usage_meter.h"
#include "tests/shm/shared_fixture.h"

namespace pinwheel::shm {
namespace {

/// A table of processes and the view over it, in one segment.
struct ViewFixture {
  static RegionBuilder make_builder() {
    RegionBuilder builder;
    ProcessTable::declare(builder, 4);
    SessionTable::declare(builder, 4, 1);
    StatisticsView::declare(builder);
    return builder;
  }
  Segment segment{make_builder(), {MemoryType::kMmap, HugePages::kOff}};
  ProcessTable processes{segment};
  SessionTable sessions{segment};
  StatisticsView view{segment, processes};

  ViewFixture() { processes.create_event_fds(); }
  ~ViewFixture() {
    for (ProcessSlot& slot : processes.slots()) ::close(slot.event_fd);
    detach_self();
  }
};

}  // namespace

TEST_CASE("a reset sets back its own group and no other", "[shm][statistics]") {
  ViewFixture f;
  f.processes.attach(f.processes.reserve(ProcessKind::kBackend));
  count(Counter::kWalRecords, 7);
  CHECK(f.view.total(StatisticsGroup::kWal, Counter::kWalRecords) == 7);
  CHECK(f.view.reset_at_us(StatisticsGroup::kWal) == 0);
  f.view.reset(StatisticsGroup::kWal, 1234);
  CHECK(f.view.total(StatisticsGroup::kWal, Counter::kWalRecords) == 0);
  CHECK(f.view.reset_at_us(StatisticsGroup::kWal) == 1234);
  CHECK(f.view.total(StatisticsGroup::kIo, Counter::kWalRecords) == 7);
  CHECK(f.view.reset_at_us(StatisticsGroup::kIo) == 0);
  count(Counter::kWalRecords, 2);
  CHECK(f.view.total(StatisticsGroup::kWal, Counter::kWalRecords) == 2);
  CHECK(f.processes.sum(Counter::kWalRecords) == 9);
}

TEST_CASE("counts stay with their kind of process when slots are used again", "[shm][statistics]") {
  ViewFixture f;
  const ProcessIndex writer = f.processes.reserve(ProcessKind::kBgwriter);
  f.processes.attach(writer);
  count(Counter::kBufferHits, 5);
  f.processes.release(writer);
  const ProcessIndex backend = f.processes.reserve(ProcessKind::kBackend);
  CHECK(backend != writer);
  f.processes.attach(backend);
  count(Counter::kBufferHits, 11);
  CHECK(f.view.io_total(Counter::kBufferHits, ProcessKind::kBgwriter) == 5);
  CHECK(f.view.io_total(Counter::kBufferHits, ProcessKind::kBackend) == 11);
  f.view.reset(StatisticsGroup::kIo, 1);
  CHECK(f.view.io_total(Counter::kBufferHits, ProcessKind::kBackend) == 0);
  CHECK(f.processes.reserve(ProcessKind::kBgwriter) == writer);
}

TEST_CASE("latches are summed by tranche and can be set back", "[shm][statistics]") {
  ViewFixture f;
  f.processes.attach(f.processes.reserve(ProcessKind::kBackend));
  LwLock lock{Tranche::kXidGen};
  for (int i = 0; i < 3; ++i) {
    lock.lock_exclusive();
    lock.unlock_exclusive();
  }
  CHECK(f.view.lwlock(Tranche::kXidGen).acquired == 3);
  CHECK(f.view.lwlock(Tranche::kXidGen).waited == 0);
  CHECK(f.view.lwlock(Tranche::kControlFile).acquired == 0);
  f.view.reset(StatisticsGroup::kLwLocks, 1);
  CHECK(f.view.lwlock(Tranche::kXidGen).acquired == 0);
}

TEST_CASE("a session shows one command's progress at a time", "[shm][progress]") {
  ViewFixture f;
  f.processes.attach(f.processes.reserve(ProcessKind::kBackend));
  const SessionIndex index = f.sessions.acquire(ProcessKind::kBackend);
  SessionSlot& slot = f.sessions.slot(index);
  set_current_session(&slot, nullptr, index);
  const auto shown = [&](std::size_t parameter) { return slot.progress.parameters[parameter].load(); };
  set_progress(VacuumProgress::kBlocksTotal, 3);  // nothing is shown yet
  CHECK(shown(1) == 0);
  {
    const ProgressScope vacuum{ProgressCommand::kVacuum, Oid{42}};
    CHECK(slot.progress.relation.load() == 42);
    set_progress(VacuumProgress::kBlocksTotal, 10);
    add_progress(VacuumProgress::kBlocksScanned, 4);
    add_progress(VacuumProgress::kBlocksScanned);
    {
      const ProgressScope inner{ProgressCommand::kCreateIndex, Oid{43}};
      set_progress(CreateIndexProgress::kCommand, 1);
    }
    CHECK(slot.progress.command.load() == static_cast<std::uint8_t>(ProgressCommand::kVacuum));
    CHECK(shown(0) == 0);
    CHECK(shown(1) == 10);
    CHECK(shown(2) == 5);
  }
  CHECK(slot.progress.command.load() == 0);
  const ProgressScope again{ProgressCommand::kVacuum, Oid{44}};
  CHECK(shown(1) == 0);  // begins anew
}

TEST_CASE("a meter leaves out what others did while its session was parked", "[shm][statistics]") {
  ViewFixture f;
  f.processes.attach(f.processes.reserve(ProcessKind::kBackend));
  UsageMeter meter;
  count(Counter::kBufferHits, 2);
  count(Counter::kWalRecords);
  count(Counter::kWalBytes, 100);
  meter.leave();
  count(Counter::kBufferHits, 50);
  count(Counter::kWalBytes, 5000);
  meter.enter();
  count(Counter::kBufferHits);
  CHECK(meter.buffers().hits == 3);
  CHECK(meter.log().records == 1);
  CHECK(meter.log().bytes == 100);
}

}  // namespace pinwheel::shm
