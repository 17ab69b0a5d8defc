#include "server/checkpoint.h"

#include "base/clock.h"
#include "base/failpoints.h"
#include "storage/file/double_write.h"

namespace pinwheel::server {

CheckpointResult perform_checkpoint(Engine& engine, wal::ControlData& control, CheckpointKind kind,
                                    shm::Parker& parker, storage::FlushPacer* pacer) {
  const bool online = kind == CheckpointKind::kOnline;
  CheckpointResult result;
  wal::CheckpointData data{};
  result.redo = engine.log.begin_checkpoint();
  failpoint::hit("checkpoint_after_redo");
  engine.transactions.running().wait_for_commits(parker);
  engine.clog.describe_ids(data, kind == CheckpointKind::kShutdown);
  data.redo = result.redo.value;
  data.oldest_xid = kFirstNormalXid.value;
  data.oldest_multixact = clog::kFirstMultiXact.value;
  data.oldest_active_xid = online ? engine.transactions.running().oldest_running().value : 0;
  data.time_us = wall_clock_us();
  data.timeline = 1;
  data.full_page_writes = engine.log.full_page_writes() ? 1 : 0;

  const std::int64_t write_start_ns = monotonic_ns();
  engine.clog.flush();
  result.pages_written = engine.storage.pool.flush_all(/*include_unlogged=*/!online, pacer);
  const std::int64_t sync_start_ns = monotonic_ns();
  failpoint::hit("checkpoint_before_sync");
  if (!online) engine.storage.files.settle_lengths();
  result.files_synced = engine.storage.files.sync_pending();
  if (storage::DoubleWrite* const double_write = engine.storage.pool.double_write()) {
    double_write->note_synced(result.redo);
  }
  const std::int64_t sync_end_ns = monotonic_ns();
  result.write_ms = static_cast<double>(sync_start_ns - write_start_ns) / 1e6;
  result.sync_ms = static_cast<double>(sync_end_ns - sync_start_ns) / 1e6;
  shm::count(shm::Counter::kCheckpointWriteMs, static_cast<std::uint64_t>(result.write_ms));
  shm::count(shm::Counter::kCheckpointSyncMs, static_cast<std::uint64_t>(result.sync_ms));

  const auto position = engine.log.log_checkpoint(data, kind == CheckpointKind::kShutdown);
  failpoint::hit("checkpoint_before_control");
  control.state =
      kind == CheckpointKind::kShutdown ? wal::ClusterState::kShutDown : wal::ClusterState::kInProduction;
  control.checkpoint = position.start.value;
  control.checkpoint_copy = data;
  wal::write_control_file(engine.storage.files.data_directory(), control);
  failpoint::hit("checkpoint_after_control");
  engine.log.finish_checkpoint(result.redo);
  return result;
}

}  // namespace pinwheel::server
