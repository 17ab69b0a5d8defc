#pragma once

#include <memory>

#include "clog/clog.h"
#include "server/shared_state.h"
#include "shm/statistics_view.h"
#include "sql/catalog/invalidation_log.h"
#include "sql/catalog/relation_cache.h"
#include "sql/catalog/services.h"
#include "sql/statistics/activity_log.h"
#include "storage/storage.h"
#include "txn/lock_manager.h"
#include "txn/transaction_manager.h"
#include "wal/log.h"

namespace pinwheel::server {

/// One process's handles on everything in the segment, joined: made once, after the process has attached to
/// its slot.
class Engine {
 public:
  Engine(const SharedState& shared, const ServerSettings& settings);
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  /// Takes over settings that a reload may have changed.
  void apply_settings(const ServerSettings& settings);

  wal::Log log;
  clog::Clog clog;
  storage::Storage storage;
  txn::TransactionManager transactions;
  txn::LockManager locks;
  sql::InvalidationLog invalidations;
  sql::TableStatistics table_statistics;
  sql::DatabaseStatistics database_statistics;
  sql::StatementStatistics statement_statistics;
  shm::StatisticsView counters;
  sql::ActivityLog activity;
  sql::RelationCache relations{invalidations};
  sql::CatalogServices catalog_services;

 private:
  class Dropper;
  std::unique_ptr<Dropper> dropper_;
  shm::ProcessTable& processes_;
};

}  // namespace pinwheel::server
