#include "server/shared_state.h"

#include "base/parameter_enums.h"
#include "base/parameters.h"
#include "clog/clog.h"
#include "shm/statistics_view.h"
#include "sql/catalog/invalidation_log.h"
#include "sql/statistics/database_statistics.h"
#include "sql/statistics/statement_statistics.h"
#include "sql/statistics/table_statistics.h"

namespace pinwheel::server {
namespace {

/// Tables and indexes of all databases whose use is counted.
constexpr std::size_t kCountedTables = 16'384;
constexpr std::size_t kCountedDatabases = 512;

shm::MapOptions map_options(const ServerSettings& settings) {
  shm::MapOptions options;
  switch (settings.get_enum<SharedMemoryType>(param::kSharedMemoryType)) {
    case SharedMemoryType::kMmap:
      options.type = shm::MemoryType::kMmap;
      break;
    case SharedMemoryType::kSysv:
      options.type = shm::MemoryType::kSysV;
      break;
    case SharedMemoryType::kPosix:
      options.type = shm::MemoryType::kPosix;
      break;
  }
  switch (settings.get_enum<HugePagesSetting>(param::kHugePages)) {
    case HugePagesSetting::kOff:
      options.huge_pages = shm::HugePages::kOff;
      break;
    case HugePagesSetting::kOn:
      options.huge_pages = shm::HugePages::kOn;
      break;
    case HugePagesSetting::kTry:
      options.huge_pages = shm::HugePages::kTry;
      break;
  }
  return options;
}

}  // namespace

SharedState::SharedState(const ServerSettings& settings, const std::string& data_directory,
                         const SharedState* previous) {
  options_ = make_engine_options(settings, data_directory, wal::read_control_file(data_directory));
  build(settings);
  processes_->create_event_fds(previous != nullptr ? previous->processes_.get() : nullptr);
}

std::unique_ptr<SharedState> SharedState::standalone(const ServerSettings& settings,
                                                     const std::string& data_directory) {
  std::unique_ptr<SharedState> shared{new SharedState};
  shared->options_ = make_engine_options(settings, data_directory, wal::read_control_file(data_directory));
  shared->options_.process_capacity = 4;
  shared->options_.client_capacity = 4;
  shared->options_.background_sessions = 4;
  shared->options_.log.process_capacity = 4;
  shared->options_.log.session_capacity = 8;
  shared->options_.clog.process_count = 4;
  shared->options_.locks.session_capacity = 8;
  shared->build(settings);
  shared->processes_->create_event_fds();
  return shared;
}

SharedState::~SharedState() = default;

void SharedState::build(const ServerSettings& settings) {
  const std::size_t session_capacity = options_.client_capacity + options_.background_sessions;
  shm::RegionBuilder builder;
  builder.add_array<ServerControl>("Server Control", 1);
  shm::ProcessTable::declare(builder, options_.process_capacity);
  shm::SessionTable::declare(builder, options_.client_capacity, options_.background_sessions);
  wal::Log::declare(builder, options_.log);
  clog::Clog::declare(builder, options_.clog);
  storage::Storage::declare(builder, options_.storage);
  txn::TransactionManager::declare(builder, session_capacity, options_.transactions);
  txn::LockManager::declare(builder, options_.locks);
  sql::InvalidationLog::declare(builder);
  sql::TableStatistics::declare(builder, kCountedTables);
  sql::DatabaseStatistics::declare(builder, kCountedDatabases);
  sql::StatementStatistics::declare(builder,
                                    static_cast<std::size_t>(settings.get_int(param::kPgStatStatementsMax)));
  shm::StatisticsView::declare(builder);
  segment_ = std::make_unique<shm::Segment>(std::move(builder), map_options(settings));
  processes_ = std::make_unique<shm::ProcessTable>(*segment_);
  sessions_ = std::make_unique<shm::SessionTable>(*segment_);
  control_ = segment_->as<ServerControl>("Server Control");
}

}  // namespace pinwheel::server
