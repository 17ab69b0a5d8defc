#include "server/background.h"

#include "base/clock.h"
#include "base/parameters.h"
#include "server/background_process.h"

namespace pinwheel::server {
namespace {

/// With nothing to do the bgwriter sleeps this many times longer, if whoever needs frames wakes it.
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
    const bool sleeps_long = round.idle && demand_wakes_bgwriter(settings);
    if (sleeps_long) delay_ms *= kIdleFactor;
    const auto event = sleeps_long ? shm::WaitEvent::kBgWriterHibernate : shm::WaitEvent::kBgWriterMain;
    if (BackgroundProcess::shutdown_asked(process.wait(event, Deadline::after_ms(delay_ms)))) return 0;
  }
}

int run_walwriter(SharedState& shared, ServerSettings& settings) {
  BackgroundProcess process{shared, settings, shm::ProcessKind::kWalwriter};
  wal::Log& log = process.engine.log;
  log.become_flusher();
  while (true) {
    log.set_sync_method(log_sync_method(settings));
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
