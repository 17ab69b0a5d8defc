#include "server/recovery.h"

#include "base/clock.h"
#include "base/log.h"
#include "clog/redo.h"
#include "server/checkpoint.h"
#include "server/engine.h"
#include "shm/interrupts.h"
#include "storage/btree/redo.h"
#include "storage/file/double_write.h"
#include "storage/redo.h"
#include "txn/transaction_record.h"
#include "wal/describe.h"
#include "wal/reader.h"
#include "wal/replay.h"

namespace pinwheel::server {
namespace {

/// Records of the log itself: most need nothing, next-oid belongs to the id allocator, images to storage.
void redo_xlog(wal::RedoContext& context, const wal::RecordView& record) {
  Engine& engine = context.owner_as<Engine>();
  switch (static_cast<wal::XlogKind>(record.kind())) {
    case wal::XlogKind::kNextOid:
      clog::redo_next_oid(engine.clog, record);
      break;
    case wal::XlogKind::kFullPageImage:
    case wal::XlogKind::kFullPageImageForHint:
      storage::redo_full_page_images(engine.storage, record);
      break;
    default:
      break;
  }
}

void log_interruption(const wal::ControlData& control) {
  switch (control.state) {
    case wal::ClusterState::kShutDown:
      log(LogLevel::kLog, "database system was shut down");
      break;
    case wal::ClusterState::kInCrashRecovery:
      log(LogLevel::kLog, "database system was interrupted while in recovery");
      break;
    default:
      log(LogLevel::kLog, "database system was interrupted");
      break;
  }
}

}  // namespace

void register_owners(wal::RmgrRegistry& registry, Engine& engine) {
  registry.add({wal::RmgrId::kXlog, "XLOG", redo_xlog, wal::describe_xlog, &engine});
  registry.add({wal::RmgrId::kTransaction, "Transaction", txn::redo_transaction, txn::describe_transaction,
                &engine.transactions});
  registry.add(
      {wal::RmgrId::kMultixact, "MultiXact", clog::redo_multixact, clog::describe_multixact, &engine.clog});
  registry.add(storage::file_resource_manager(&engine.storage));
  registry.add(storage::heap_resource_manager(&engine.storage));
  registry.add(storage::btree_resource_manager(&engine.storage));
}

void register_describers(wal::RmgrRegistry& registry) {
  registry.add({wal::RmgrId::kXlog, "XLOG", nullptr, wal::describe_xlog, nullptr});
  registry.add({wal::RmgrId::kTransaction, "Transaction", nullptr, txn::describe_transaction, nullptr});
  registry.add({wal::RmgrId::kMultixact, "MultiXact", nullptr, clog::describe_multixact, nullptr});
  registry.add(storage::file_resource_manager(nullptr));
  registry.add(storage::heap_resource_manager(nullptr));
  registry.add({wal::RmgrId::kBtree, "Btree", nullptr, storage::btree_describe, nullptr});
}

void recover(Engine& engine, SharedState& shared, shm::Parker& parker) {
  wal::ControlData control = wal::read_control_file(shared.data_directory());
  log_interruption(control);
  const bool clean = control.state == wal::ClusterState::kShutDown;
  const wal::CheckpointData& checkpoint = control.checkpoint_copy;
  engine.clog.begin_recovery(checkpoint);
  if (!clean) {
    log(LogLevel::kLog, "database system was not properly shut down; automatic recovery in progress");
    control.state = wal::ClusterState::kInCrashRecovery;
    wal::write_control_file(shared.data_directory(), control);
    // Whatever torn_page_protection is now: it may have been another one when the server died.
    storage::restore_torn_pages(engine.storage.files, control.system_identifier, Lsn{checkpoint.redo});
    engine.storage.files.sync_everything();
    engine.storage.reset_unlogged(/*before_redo=*/true);
  }
  wal::RmgrRegistry registry;
  register_owners(registry, engine);
  if (storage::DoubleWrite* const double_write = engine.storage.pool.double_write()) {
    double_write->begin_recovery(Lsn{checkpoint.redo});
  }
  wal::ReplayCallbacks callbacks;
  callbacks.quiet = clean;
  callbacks.before_record = [&engine](const wal::RecordView& record) {
    if (is_normal(record.xid())) engine.clog.xids.observe(record.xid());
  };
  const wal::ReplayResult replayed =
      wal::replay(engine.log.files(), Lsn{checkpoint.redo}, registry, callbacks);
  engine.clog.finish_recovery();
  engine.log.start_after_recovery(replayed.end, Lsn{checkpoint.redo}, clean);
  engine.log.set_full_page_writes(true);
  if (!clean) {
    engine.storage.reset_unlogged(/*before_redo=*/false);
    perform_checkpoint(engine, control, CheckpointKind::kEndOfRecovery, parker, nullptr);
  }
  control.state = wal::ClusterState::kInProduction;
  wal::write_control_file(shared.data_directory(), control);
}

int run_startup(SharedState& shared, ServerSettings& settings) {
  const shm::SessionIndex session = shared.sessions().acquire(shm::ProcessKind::kStartup);
  shm::PlainParker parker{shared.sessions(), session};
  shm::set_current_session(&shared.sessions().slot(session), &parker, session);
  Engine engine{shared, settings};
  recover(engine, shared, parker);
  engine.log.set_full_page_writes(logs_page_images(settings));
  while (!shared.sessions().try_release(session)) {
    shm::take_woken(shared.sessions(), [](shm::SessionIndex) {});
  }
  return 0;
}

}  // namespace pinwheel::server
