#pragma once

#include "base/ids.h"

namespace pinwheel::storage {
class BufferPool;
}
namespace pinwheel::wal {
class Log;
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

/// The handles of this process that the catalogs work through. Made once per process (or by the bootstrap);
/// everything outlives the sessions.
struct CatalogServices {
  storage::BufferPool& buffers;
  wal::Log& log;
  clog::XidAllocator& ids;
  txn::TransactionManager& transactions;
  txn::LockManager& locks;
  RelationCache& cache;
  InvalidationLog& invalidations;
};

}  // namespace pinwheel::sql
