#pragma once

#include <string>

#include "base/settings.h"
#include "clog/transaction_status.h"
#include "storage/storage.h"
#include "txn/lock_manager.h"
#include "txn/transaction_manager.h"
#include "wal/control_file.h"
#include "wal/log.h"

namespace pinwheel::server {

/// The settings and the control file, turned into each room's own options. Fixed while the segment lives.
struct EngineOptions {
  std::string data_directory;
  std::size_t process_capacity = 0;
  std::size_t client_capacity = 0;
  std::size_t background_sessions = 0;
  wal::LogOptions log;
  clog::TransactionStatusOptions clog;
  storage::StorageOptions storage;
  txn::TransactionManagerOptions transactions;
  txn::LockManagerOptions locks;
};

EngineOptions make_engine_options(const ServerSettings& settings, const std::string& data_directory,
                                  const wal::ControlData& control);

/// Whether sessions that find few free frames wake the background writer, instead of leaving it to its timer.
bool demand_wakes_bgwriter(const Settings& settings);

/// Setting wal_sync_method; the walwriter takes changes over.
wal::SyncMethod log_sync_method(const Settings& settings);

/// Whether first changes after a checkpoint log whole pages: full_page_writes, unless torn_page_protection
/// names something else. The startup process and the checkpointer take it over.
bool logs_page_images(const Settings& settings);

/// Settings of the log that a reload may change.
wal::LogSettings make_log_settings(const Settings& settings);

}  // namespace pinwheel::server
