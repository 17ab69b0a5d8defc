#pragma once

#include <functional>

#include "base/ids.h"
#include "wal/checkpoint.h"
#include "wal/record.h"
#include "wal/rmgr.h"
#include "wal/segment_files.h"

namespace pinwheel::wal {

/// What happened in a replay.
struct ReplayResult {
  Lsn start;        // of the first record
  Lsn end;          // just after the last whole record: where the next insertion goes
  Lsn last_record;  // start of the last record; `start` when there was none
  std::uint64_t record_count = 0;
  std::int64_t last_commit_time_us = 0;  // set by `before_record` callers if they like
};

struct ReplayCallbacks {
  /// Before each record is applied, whatever its owner: tracks next xid, serves requests of the process.
  std::function<void(const RecordView&)> before_record;
  /// No messages unless something is replayed for long: start after a clean shutdown.
  bool quiet = false;
};

/// Applies all records from `from` to the end of the log through `registry`, logging "redo starts at",
/// progress every 10 s and "redo done at". Padding, redo markers and checkpoint records need no handler.
///
/// First it syncs the log it is going to apply, because pages may be written before their log would be.
/// Idempotent: it changes nothing in the log, and handlers are idempotent, so recovery that was killed starts
/// again from the same point. Errors: XX001 for a record without an owner or whose handler failed (the
/// error's context names the record).
ReplayResult replay(SegmentFiles& files, Lsn from, const RmgrRegistry& registry,
                    const ReplayCallbacks& callbacks = {});

/// Reads the checkpoint record at `at`. Errors: FATAL XX001 "could not locate a valid checkpoint record".
CheckpointData read_checkpoint_record(const SegmentFiles& files, Lsn at);

}  // namespace pinwheel::wal
