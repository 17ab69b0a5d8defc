#include "wal/replay.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "base/sqlstate.h"
#include "wal/describe.h"
#include "wal/reader.h"

namespace pinwheel::wal {
namespace {

constexpr std::int64_t kProgressNs = 10'000'000'000;

double seconds_since(std::int64_t start_ns) { return static_cast<double>(monotonic_ns() - start_ns) / 1e9; }

/// Kinds that only mark positions or are read by start-up itself.
bool needs_no_redo(const RecordView& record) {
  if (record.rmgr() != RmgrId::kXlog) return false;
  switch (static_cast<XlogKind>(record.kind())) {
    case XlogKind::kCheckpointShutdown:
    case XlogKind::kCheckpointOnline:
    case XlogKind::kNoop:
    case XlogKind::kParameterChange:
    case XlogKind::kFullPageWrites:
    case XlogKind::kEndOfRecovery:
    case XlogKind::kCheckpointRedo:
      return true;
    default:
      return false;
  }
}

void apply(const RmgrRegistry& registry, const RecordView& record) {
  if (needs_no_redo(record)) return;
  const ResourceManager* manager = registry.find(record.rmgr());
  if (manager == nullptr || manager->redo == nullptr) {
    throw SqlError{sqlstate::kDataCorrupted, "no redo handler for resource manager " +
                                                 std::string{rmgr_name(record.rmgr())} +
                                                 " of WAL record at " + format_lsn(record.start())}
        .fatal();
  }
  RedoContext context{manager->owner};
  try {
    manager->redo(context, record);
  } catch (SqlError& error) {
    error.fields().context =
        "WAL redo at " + format_lsn(record.start()) + " for " + describe_record(registry, record);
    throw;
  }
}

}  // namespace

ReplayResult replay(SegmentFiles& files, Lsn from, const RmgrRegistry& registry,
                    const ReplayCallbacks& callbacks) {
  const std::int64_t started_ns = monotonic_ns();
  std::int64_t last_report_ns = coarse_monotonic_ns();
  files.sync_existing(files.segment_of(from));
  Reader reader{files, from};
  ReplayResult result;
  result.start = result.end = result.last_record = from;
  while (const RecordView* record = reader.next()) {
    if (result.record_count == 0) {
      if (!record->is(RmgrId::kXlog, XlogKind::kCheckpointRedo)) break;
      if (!callbacks.quiet) log(LogLevel::kLog, "redo starts at {}", format_lsn(from));
    }
    ++result.record_count;
    if (callbacks.before_record) callbacks.before_record(*record);
    apply(registry, *record);
    result.last_record = record->start();
    result.end = record->end();
    if ((result.record_count & 1023) == 0 && coarse_monotonic_ns() - last_report_ns >= kProgressNs) {
      last_report_ns = coarse_monotonic_ns();
      log(LogLevel::kLog, "redo in progress, elapsed time: {:.2f} s, current LSN: {}",
          seconds_since(started_ns), format_lsn(record->start()));
    }
  }
  if (result.record_count == 0) {
    throw SqlError{sqlstate::kDataCorrupted,
                   "could not find redo location " + format_lsn(from) + " referenced by checkpoint record"}
        .detail(reader.stop_reason() == StopReason::kNone ? "The record there is no redo marker."
                                                          : reader.stop_message() + ".")
        .fatal();
  }
  if (callbacks.quiet) return result;
  log_text(LogLevel::kLog, reader.stop_message());
  log(LogLevel::kLog, "redo done at {} after {:.2f} s, {} records", format_lsn(result.last_record),
      seconds_since(started_ns), result.record_count);
  return result;
}

CheckpointData read_checkpoint_record(const SegmentFiles& files, Lsn at) {
  Reader reader{files, at};
  const RecordView* record = reader.next();
  if (record == nullptr || !(record->is(RmgrId::kXlog, XlogKind::kCheckpointOnline) ||
                             record->is(RmgrId::kXlog, XlogKind::kCheckpointShutdown))) {
    throw SqlError{sqlstate::kDataCorrupted, "could not locate a valid checkpoint record"}
        .detail(record == nullptr ? reader.stop_message() + "."
                                  : "The record at " + format_lsn(at) + " is no checkpoint.")
        .fatal();
  }
  return record->data_as<CheckpointData>();
}

}  // namespace pinwheel::wal
