#include "server/background.h"

#include "base/clock.h"
#include "base/parameters.h"
#include "server/background_process.h"

namespace pinwheel::server {
namespace {

/// With nothing to do the bgwriter sleeps this many times longer; whoever needs frames wakes it.
constexpr std::int64_t kIdleFactor = 50;

}  // namespace

std::span<const BackgroundKind> background_kinds() {
  static constexpr BackgroundKind kKinds[] = {
      {shm::ProcessKind::kCheckpointer, run_checkpointer},
      {shm::ProcessKind::kBgwriter, run_bgwriter},
      {shm::ProcessKind::kWalwriter, run_walwriter},
      {shm::ProcessKind::kAutovacuumLauncher, run_autovacuum},
  };
  return kKinds;
}

int run_bgwriter(SharedState& shared, ServerSettings& settings) {
  BackgroundProcess process{shared, settings, shm::ProcessKind::kBgwriter};
  process.engine.storage.pool.set_write_counter(shm::Counter::kBufferWritesByBgwriter);
  while (true) {
    const storage::BgwriterRound round = process.engine.storage.pool.run_bgwriter_once();
    std::int64_t delay_ms = settings.get_int(param::kBgwriterDelay);
    if (round.idle) delay_ms *= kIdleFactor;
    const auto event = round.idle ? shm::WaitEvent::kBgWriterHibernate : shm::WaitEvent::kBgWriterMain;
    if (BackgroundProcess::shutdown_asked(process.wait(event, Deadline::after_ms(delay_ms)))) return 0;
  }
}

int run_walwriter(SharedState& shared, ServerSettings& settings) {
  BackgroundProcess process{shared, settings, shm::ProcessKind::kWalwriter};
  wal::Log& log = process.engine.log;
  log.set_sync_method(log_sync_method(settings));
  log.become_flusher();
  log.set_sibling_counter(
      [](void* transactions) {
        return static_cast<txn::TransactionManager*>(transactions)->running().count_active();
      },
      &process.engine.transactions);
  while (true) {
    while (log.run_flusher_once(/*everything=*/false)) {
    }
    const std::int64_t delay_ms = settings.get_int(param::kWalWriterDelay);
    const std::uint32_t requests = process.wait(shm::WaitEvent::kWalWriterMain, Deadline::after_ms(delay_ms));
    if (BackgroundProcess::shutdown_asked(requests)) {
      log.run_flusher_once(/*everything=*/true);
      return 0;
    }
    if ((requests & shm::kRequestWork) == 0) log.run_flusher_once(/*everything=*/true);
  }
}

}  // namespace pinwheel::server
