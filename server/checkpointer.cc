#include <algorithm>

#include "base/clock.h"
#include "base/log.h"
#include "base/parameters.h"
#include "server/background.h"
#include "server/background_process.h"
#include "server/checkpoint.h"

namespace pinwheel::server {
namespace {

constexpr std::int64_t kPaceStepMs = 100;
/// How often the loop looks whether log segments should be made in advance.
constexpr std::int64_t kLoopMs = 500;

/// Spreads a checkpoint's writes over checkpoint_completion_target of its interval, unless somebody is in a
/// hurry.
class Pacer final : public storage::FlushPacer {
 public:
  Pacer(BackgroundProcess& process, ServerControl& control, bool hurry)
      : process_{process}, control_{control}, hurry_{hurry} {
    const ServerSettings& settings = process.settings;
    budget_ns_ = static_cast<std::int64_t>(static_cast<double>(settings.get_int(param::kCheckpointTimeout)) *
                                           1e9 * settings.get_real(param::kCheckpointCompletionTarget));
  }

  void page_written(std::size_t done, std::size_t total) override {
    if (hurry_ || total == 0 || done / kPagesPerLook == looks_) return;
    looks_ = done / kPagesPerLook;
    if (control_.checkpoint_immediate.load(std::memory_order_acquire) != 0) hurry_ = true;
    const double progress = static_cast<double>(done) / static_cast<double>(total);
    while (!hurry_ &&
           static_cast<double>(monotonic_ns() - start_ns_) < progress * static_cast<double>(budget_ns_)) {
      const std::uint32_t requests =
          process_.wait(shm::WaitEvent::kCheckpointWriteDelay, Deadline::after_ms(kPaceStepMs));
      if (BackgroundProcess::shutdown_asked(requests)) shutdown_seen = true;
      process_.engine.log.prepare_segments();
      // By volume: when the log grows faster than time passes, hurry as well.
      hurry_ = shutdown_seen || process_.engine.log.checkpoint_due() ||
               control_.checkpoint_immediate.load(std::memory_order_acquire) != 0;
    }
  }

  bool shutdown_seen = false;

 private:
  static constexpr std::size_t kPagesPerLook = 8;
  BackgroundProcess& process_;
  ServerControl& control_;
  bool hurry_;
  std::size_t looks_ = 0;
  std::int64_t start_ns_ = monotonic_ns();
  std::int64_t budget_ns_ = 0;
};

}  // namespace

int run_checkpointer(SharedState& shared, ServerSettings& settings) {
  BackgroundProcess process{shared, settings, shm::ProcessKind::kCheckpointer};
  process.engine.storage.pool.set_write_counter(shm::Counter::kBufferWritesByCheckpointer);
  ServerControl& control = shared.control();
  process.engine.log.become_checkpointer();
  wal::ControlData control_data = wal::read_control_file(shared.data_directory());
  std::int64_t last_start_ns = monotonic_ns();
  Lsn last_end = process.engine.log.insert_position();
  bool shutdown = false;
  while (!shutdown) {
    // A request that came while the last one ran has used up its wake-up.
    const bool waiting = control.checkpoint_immediate.load(std::memory_order_acquire) != 0;
    const std::uint32_t requests =
        process.wait(shm::WaitEvent::kCheckpointerMain, Deadline::after_ms(waiting ? 0 : kLoopMs));
    if (BackgroundProcess::shutdown_asked(requests)) break;
    process.engine.log.set_full_page_writes(logs_page_images(settings));
    process.engine.log.prepare_segments();
    const bool asked = control.checkpoint_immediate.exchange(0, std::memory_order_acq_rel) != 0;
    const bool by_volume = process.engine.log.checkpoint_due();
    const bool by_time =
        monotonic_ns() - last_start_ns >= settings.get_int(param::kCheckpointTimeout) * 1'000'000'000;
    if (!asked && !by_volume && !by_time) continue;
    if (by_time && !asked && process.engine.log.insert_position() == last_end) {
      last_start_ns = monotonic_ns();
      continue;  // nothing was logged since the last one
    }
    last_start_ns = monotonic_ns();
    // Requesters wait for a checkpoint that starts after they asked.
    const std::uint64_t started = control.checkpoints_started.fetch_add(1, std::memory_order_acq_rel) + 1;
    shm::count(asked || by_volume ? shm::Counter::kCheckpointsRequested : shm::Counter::kCheckpointsTimed);
    if (settings.get_bool(param::kLogCheckpoints)) {
      log(LogLevel::kLog, "checkpoint starting:{}{}{}", asked ? " immediate force wait" : "",
          by_volume ? " wal" : "", by_time && !asked && !by_volume ? " time" : "");
    }
    Pacer pacer{process, control, asked};
    const CheckpointResult result =
        perform_checkpoint(process.engine, control_data, CheckpointKind::kOnline, process.parker, &pacer);
    last_end = process.engine.log.insert_position();
    control.checkpoints_done.store(started, std::memory_order_release);
    if (settings.get_bool(param::kLogCheckpoints)) {
      log(LogLevel::kLog,
          "checkpoint complete: wrote {} buffers; sync files={}; write={:.3f} s, sync={:.3f} s",
          result.pages_written, result.files_synced, result.write_ms / 1000, result.sync_ms / 1000);
    }
    shutdown = pacer.shutdown_seen;
  }
  log(LogLevel::kLog, "shutting down");
  perform_checkpoint(process.engine, control_data, CheckpointKind::kShutdown, process.parker, nullptr);
  return 0;
}

}  // namespace pinwheel::server
