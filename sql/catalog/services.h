#pragma once

#include "base/ids.h"

namespace pinwheel::storage {
class Storage;
}
namespace pinwheel::clog {
class XidAllocator;
}
namespace pinwheel::txn {
class TransactionManager;
class LockManager;
class Transaction;
}  // namespace pinwheel::txn

namespace pinwheel::sql {

class RelationCache;
class InvalidationLog;
class ActivityLog;

/// The handles of this process that the catalogs work through. Made once per process (or by the bootstrap);
/// everything outlives the sessions.
struct CatalogServices {
  storage::Storage& storage;
  clog::XidAllocator& ids;
  txn::TransactionManager& transactions;
  txn::LockManager& locks;
  RelationCache& cache;
  InvalidationLog& invalidations;
  /// Null: nothing is counted.
  ActivityLog* activity = nullptr;
};

}  // namespace pinwheel::sql
