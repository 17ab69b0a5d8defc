#include "server/engine_options.h"

#include <algorithm>

#include "base/error.h"
#include "base/parameter_enums.h"
#include "base/parameters.h"
#include "base/sqlstate.h"

namespace pinwheel::server {
namespace {

/// Launcher, startup, checkpointer, bgwriter, walwriter, autovacuum launcher, and slack for what is being
/// reaped.
constexpr std::size_t kFixedProcesses = 16;
/// Sessions of background processes: recovery, checkpointer, autovacuum launcher and others.
constexpr std::size_t kFixedSessions = 8;
constexpr std::uint64_t kMegabyte = 1u << 20;
constexpr double kPercent = 100;

storage::Replacement replacement_of(BufferReplacement setting) {
  switch (setting) {
    case BufferReplacement::kLockedClock:
      return storage::Replacement::kLockedClock;
    case BufferReplacement::kAtomicClock:
      return storage::Replacement::kAtomicClock;
    case BufferReplacement::kBatchedClock:
      return storage::Replacement::kBatchedClock;
    case BufferReplacement::kS3Fifo:
      return storage::Replacement::kS3Fifo;
  }
  DB_PANIC("unknown buffer_replacement");
}

}  // namespace

EngineOptions make_engine_options(const ServerSettings& settings, const std::string& data_directory,
                                  const wal::ControlData& control) {
  EngineOptions options;
  options.data_directory = data_directory;
  const auto workers = static_cast<std::size_t>(settings.get_int(param::kAutovacuumMaxWorkers));
  const auto backends = static_cast<std::size_t>(settings.get_int(param::kBackendProcesses));
  options.client_capacity = static_cast<std::size_t>(settings.get_int(param::kMaxConnections));
  options.background_sessions = kFixedSessions + workers;
  // A classic server needs a process for each connection and a few for those that will be refused.
  options.process_capacity =
      kFixedProcesses + workers + (backends > 0 ? backends + 4 : options.client_capacity + 16);
  const std::size_t session_capacity = options.client_capacity + options.background_sessions;

  options.log.data_directory = data_directory;
  options.log.system_identifier = control.system_identifier;
  options.log.segment_bytes = control.segment_bytes;
  options.log.buffer_pages = wal::choose_buffer_pages(
      settings.get_int(param::kWalBuffers),
      static_cast<std::uint64_t>(settings.get_int(param::kSharedBuffers)), control.segment_bytes);
  switch (settings.get_enum<WalInsertMethod>(param::kWalInsert)) {
    case WalInsertMethod::kSingleLock:
      options.log.insert_method = wal::InsertMethod::kSingleLock;
      break;
    case WalInsertMethod::kSlots:
      options.log.insert_method = wal::InsertMethod::kSlots;
      break;
    case WalInsertMethod::kReserve:
      options.log.insert_method = wal::InsertMethod::kReserve;
      break;
  }
  options.log.sync_method = log_sync_method(settings);
  options.log.insert_locks = static_cast<std::uint32_t>(settings.get_int(param::kWalInsertLocks));
  options.log.process_capacity = static_cast<std::uint32_t>(options.process_capacity);
  options.log.session_capacity = static_cast<std::uint32_t>(session_capacity);

  options.clog.data_directory = data_directory;
  options.clog.buffers = static_cast<std::uint32_t>(settings.get_int(param::kClogBuffers));
  options.clog.banks = static_cast<std::uint32_t>(settings.get_int(param::kClogBanks));
  options.clog.update = settings.get_enum<ClogUpdate>(param::kClogUpdate);
  options.clog.process_count = options.process_capacity;

  storage::BufferPoolOptions& buffers = options.storage.buffers;
  buffers.frames = static_cast<std::size_t>(settings.get_int(param::kSharedBuffers));
  buffers.mapping_partitions = static_cast<std::size_t>(settings.get_int(param::kBufferMappingPartitions));
  buffers.replacement = replacement_of(settings.get_enum<BufferReplacement>(param::kBufferReplacement));
  buffers.freelist_refill =
      settings.get_enum<BufferFreelist>(param::kBufferFreelist) == BufferFreelist::kRefill;
  buffers.freelist_high_watermark = settings.get_real(param::kFreelistHighWatermark) / kPercent;
  buffers.freelist_low_watermark = settings.get_real(param::kFreelistLowWatermark) / kPercent;
  buffers.freelist_partitions = static_cast<std::size_t>(settings.get_int(param::kFreelistPartitions));
  buffers.data_checksums = control.data_checksums != 0;
  if (settings.get_enum<TornPageProtection>(param::kTornPageProtection) == TornPageProtection::kDoubleWrite) {
    if (!buffers.data_checksums) {
      throw SqlError{sqlstate::kObjectNotInPrerequisiteState,
                     "torn_page_protection = double_write requires data checksums"}
          .detail("The cluster was made with --no-data-checksums.")
          .hint("Set torn_page_protection to full_page_writes.");
    }
    buffers.double_write_areas = options.process_capacity;
  }
  options.storage.files.data_directory = data_directory;
  options.storage.files.max_open_files =
      static_cast<std::size_t>(settings.get_int(param::kMaxFilesPerProcess));

  options.transactions.snapshot_method = settings.get_enum<SnapshotMethod>(param::kSnapshotMethod);
  options.transactions.commit_sequence.slots = static_cast<std::size_t>(settings.get_int(param::kCsnSlots));
  options.transactions.commit_sequence.data_directory = data_directory;
  options.transactions.outcome_cache_size =
      static_cast<std::size_t>(settings.get_int(param::kTransactionStatusCache));
  options.locks.session_capacity = session_capacity;
  options.locks.max_locks_per_transaction =
      static_cast<std::uint32_t>(settings.get_int(param::kMaxLocksPerTransaction));
  return options;
}

bool demand_wakes_bgwriter(const Settings& settings) {
  return settings.get_enum<BgwriterMode>(param::kBgwriterMode) == BgwriterMode::kDemand &&
         settings.get_enum<BufferFreelist>(param::kBufferFreelist) == BufferFreelist::kRefill;
}

wal::SyncMethod log_sync_method(const Settings& settings) {
  switch (settings.get_enum<WalSyncMethod>(param::kWalSyncMethod)) {
    case WalSyncMethod::kFsync:
      return wal::SyncMethod::kFsync;
    case WalSyncMethod::kFdatasync:
      return wal::SyncMethod::kFdatasync;
    case WalSyncMethod::kOpenSync:
      return wal::SyncMethod::kOpenSync;
    case WalSyncMethod::kOpenDatasync:
      return wal::SyncMethod::kOpenDatasync;
  }
  return wal::SyncMethod::kFdatasync;
}

bool logs_page_images(const Settings& settings) {
  return settings.get_bool(param::kFullPageWrites) &&
         settings.get_enum<TornPageProtection>(param::kTornPageProtection) ==
             TornPageProtection::kFullPageWrites;
}

wal::LogSettings make_log_settings(const Settings& settings) {
  wal::LogSettings log;
  switch (settings.get_enum<WalCompression>(param::kWalCompression)) {
    case WalCompression::kOff:
      log.compression = wal::ImageCompression::kNone;
      break;
    case WalCompression::kLz4:
      log.compression = wal::ImageCompression::kLz4;
      break;
    case WalCompression::kZstd:
      log.compression = wal::ImageCompression::kZstd;
      break;
  }
  log.commit_delay_us = static_cast<std::int32_t>(settings.get_int(param::kCommitDelay));
  log.commit_siblings = static_cast<std::int32_t>(settings.get_int(param::kCommitSiblings));
  log.max_wal_bytes = static_cast<std::uint64_t>(settings.get_int(param::kMaxWalSize)) * kMegabyte;
  log.min_wal_bytes = static_cast<std::uint64_t>(settings.get_int(param::kMinWalSize)) * kMegabyte;
  log.keep_wal_bytes = static_cast<std::uint64_t>(settings.get_int(param::kWalKeepSize)) * kMegabyte;
  log.recycle_segments = settings.get_bool(param::kWalRecycle);
  log.flush_after_bytes =
      static_cast<std::uint64_t>(settings.get_int(param::kWalWriterFlushAfter)) * kPageSize;
  const double target = settings.get_real(param::kCheckpointCompletionTarget);
  log.checkpoint_after_bytes =
      static_cast<std::uint64_t>(static_cast<double>(log.max_wal_bytes) / (1.0 + target));
  return log;
}

}  // namespace pinwheel::server
