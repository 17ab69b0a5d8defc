#include "shm/interrupts.h"

#include <catch2/catch.hpp>

#include "tests/base/error_text.h"
#include "tests/shm/shared_fixture.h"

namespace pinwheel::shm {
namespace {

int hook_calls = 0;  // of the test's own process

}  // namespace

TEST_CASE("check_interrupts is quiet, serves a cancel once, and looks at the clock now and then",
          "[shm][interrupts]") {
  test::SharedFixture fixture;
  fixture.attach_here();
  const SessionIndex index = fixture.sessions_table.acquire(ProcessKind::kBackend);
  SessionSlot& slot = fixture.sessions_table.slot(index);
  PlainParker parker{fixture.sessions_table, index};
  set_current_session(&slot, &parker, index);
  CHECK(test::error_of([] { check_interrupts(); }) == "none");
  interrupt(fixture.processes_table, fixture.sessions_table, index, kInterruptCancel);
  CHECK(test::error_of([] { check_interrupts(); }) == "57014 canceling statement due to user request");
  CHECK(test::error_of([] { check_interrupts(); }) == "none");
  slot.interrupts.store(kInterruptTerminate);
  CHECK(test::error_of([] { check_interrupts(); }) ==
        "57P01 terminating connection due to administrator command");
  slot.interrupts.store(0);

  set_interrupt_hook([](std::uint32_t) { ++hook_calls; });
  for (int i = 0; i < 10 * (kTicksPerQuantumCheck + 1); ++i) check_interrupts();
  CHECK(hook_calls == 10);
  set_interrupt_hook(nullptr);
  set_current_session(nullptr, nullptr, kNoSession);
}

TEST_CASE("wait events and tranches are described from the published word", "[shm][interrupts]") {
  CHECK(describe_published_wait(published(WaitEvent::kClientRead)).name == "ClientRead");
  CHECK(wait_event_type_name(describe_published_wait(published(WaitEvent::kWalSync)).type) == "IO");
  const WaitEventInfo latch =
      describe_published_wait(lwlock_wait_event(static_cast<unsigned>(Tranche::kProcArray)));
  CHECK(latch.name == "ProcArray");
  CHECK(wait_event_type_name(latch.type) == "LWLock");
  CHECK(describe_published_wait(0).name.empty());
  CHECK(wait_event_info(WaitEvent::kLockTransactionId).name == "transactionid");
  CHECK(wait_event_info(WaitEvent::kQuantumYield).name == "QuantumYield");
}

}  // namespace pinwheel::shm
