#pragma once

#include "server/engine.h"
#include "shm/parking.h"
#include "wal/control_file.h"

namespace pinwheel::server {

enum class CheckpointKind : std::uint8_t { kOnline, kShutdown, kEndOfRecovery };

/// What a checkpoint did, for the log line and pg_stat_bgwriter.
struct CheckpointResult {
  Lsn redo;
  std::size_t pages_written = 0;
  std::size_t files_synced = 0;
  double write_ms = 0;
  double sync_ms = 0;
};

/// Makes everything before a redo point durable and lets the control file name it. Rules of order:
///   1 fix the redo point: from here on first changes of pages carry images
///   2 wait for commits whose record may lie before it and whose status is not set yet
///   3 commit log, then data pages (WAL first), then sync their files
///   4 checkpoint record, durable; then the control file; then old segments may go
/// If the process dies anywhere before the control file is written, recovery starts from the checkpoint
/// before.
CheckpointResult perform_checkpoint(Engine& engine, wal::ControlData& control, CheckpointKind kind,
                                    shm::Parker& parker, storage::FlushPacer* pacer);

}  // namespace pinwheel::server
