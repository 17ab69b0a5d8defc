#include "server/engine_options.h"

#include <algorithm>

#include "base/parameter_enums.h"
#include "base/parameters.h"

namespace pinwheel::server {
namespace {

/// Launcher, startup, checkpointer, bgwriter, walwriter, autovacuum launcher, and slack for what is being
/// reaped.
constexpr std::size_t kFixedProcesses = 16;
/// Sessions of background processes: recovery, checkpointer, autovacuum launcher and others.
constexpr std::size_t kFixedSessions = 8;
constexpr std::uint64_t kMegabyte = 1u << 20;

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
  buffers.replacement =
      settings.get_enum<BufferReplacement>(param::kBufferReplacement) == BufferReplacement::kLockedClock
          ? storage::Replacement::kLockedClock
          : storage::Replacement::kAtomicClock;
  buffers.freelist_refill =
      settings.get_enum<BufferFreelist>(param::kBufferFreelist) == BufferFreelist::kRefill;
  buffers.freelist_high_watermark = settings.get_real(param::kFreelistHighWatermark);
  buffers.freelist_low_watermark = settings.get_real(param::kFreelistLowWatermark);
  buffers.freelist_partitions = static_cast<std::size_t>(settings.get_int(param::kFreelistPartitions));
  buffers.data_checksums = control.data_checksums != 0;
  buffers.bgwriter_max_pages = static_cast<int>(settings.get_int(param::kBgwriterLruMaxpages));
  buffers.bgwriter_multiplier = settings.get_real(param::kBgwriterLruMultiplier);
  options.storage.files.data_directory = data_directory;
  options.storage.files.max_open_files =
      static_cast<std::size_t>(settings.get_int(param::kMaxFilesPerProcess));

  options.transactions.snapshot_method = settings.get_enum<SnapshotMethod>(param::kSnapshotMethod);
  options.locks.session_capacity = session_capacity;
  options.locks.max_locks_per_transaction =
      static_cast<std::uint32_t>(settings.get_int(param::kMaxLocksPerTransaction));
  return options;
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
  log.flush_after_bytes =
      static_cast<std::uint64_t>(settings.get_int(param::kWalWriterFlushAfter)) * kPageSize;
  const double target = settings.get_real(param::kCheckpointCompletionTarget);
  log.checkpoint_after_bytes =
      static_cast<std::uint64_t>(static_cast<double>(log.max_wal_bytes) / (1.0 + target));
  return log;
}

}  // namespace pinwheel::server
