#include "sql/commands/database_files.h"

#include "shm/session_slot.h"
#include "sql/catalog/catalog.h"
#include "sql/statistics/activity_log.h"
#include "storage/storage.h"
#include "txn/lock_manager.h"
#include "txn/transaction.h"

namespace pinwheel::sql {
namespace {

/// What was counted of a database that is gone, its tables included.
void forget_statistics(Catalog& catalog, Oid database) {
  ActivityLog* log = catalog.services().activity;
  if (log == nullptr) return;
  for (const auto& [key, report] : log->statistics().list(database)) log->statistics().forget(key);
  if (log->databases() != nullptr) log->databases()->forget(database);
}

}  // namespace

int sessions_in_database(CommandContext& context, Oid database) {
  const shm::SessionTable& sessions = context.catalog.services().locks.sessions();
  int count = 0;
  shm::Activity activity;
  for (std::uint32_t i = 0; i < sessions.capacity(); ++i) {
    const shm::SessionIndex index{static_cast<decltype(shm::SessionIndex::value)>(i)};
    if (index == context.catalog.transaction().session()) continue;
    if (sessions.read_activity(index, activity) && activity.database == database) ++count;
  }
  return count;
}

void copy_database(CommandContext& context, Oid from, Oid to) {
  storage::Storage& storage = context.catalog.services().storage;
  storage.pool.flush_database(from);
  storage.files.settle_lengths();
  storage.files.copy_database_directory(from, to);
  context.restart_transaction();
}

void drop_database_at_commit(CommandContext& context, Oid database) {
  context.restart_transaction();
  storage::Storage& storage = context.catalog.services().storage;
  storage.pool.drop_database(database);
  forget_statistics(context.catalog, database);
  storage.files.remove_database_directory(database);
}

}  // namespace pinwheel::sql
