#include "shm/wait_event.h"

#include <iterator>

#include "shm/lwlock_tranche.h"

namespace pinwheel::shm {
namespace {

using T = WaitEventType;

/// One row per event, in the order of the enum.
constexpr WaitEventInfo kEvents[] = {
    {T::kNone, "", "Not waiting."},
    {T::kActivity, "AutoVacuumMain", "The autovacuum launcher waits for its next round."},
    {T::kActivity, "BgWriterHibernate", "The background writer waits for demand."},
    {T::kActivity, "BgWriterMain", "The background writer waits for its next round."},
    {T::kActivity, "CheckpointerMain", "The checkpointer waits for its next checkpoint."},
    {T::kActivity, "RecoveryWalStream", "Recovery waits for more log."},
    {T::kActivity, "WalWriterMain", "The log writer waits for its next round."},
    {T::kActivity, "SchedulerMain", "A backend waits for any of its sessions."},
    {T::kBufferPin, "BufferPin", "For all other pins of a page to go."},
    {T::kClient, "ClientRead", "For data from the client."},
    {T::kClient, "ClientWrite", "For the client to take data."},
    {T::kClient, "SSLOpenServer", "For a TLS handshake."},
    {T::kIpc, "BackendTermination", "For another backend to end."},
    {T::kIpc, "BufferIO", "For another session's read or write of a page."},
    {T::kIpc, "CheckpointDone", "For a checkpoint to end."},
    {T::kIpc, "CheckpointStart", "For a checkpoint to begin."},
    {T::kIpc, "XactGroupUpdate", "For the group leader to set a transaction's status."},
    {T::kIpc, "MessageQueueReceive", "For a message of another process."},
    {T::kIpc, "ProcSignalBarrier", "For all processes to have seen a change."},
    {T::kIpc, "WALBuffersFull", "For room in the log buffers."},
    {T::kIpc, "WALFlush", "For the log to be durable up to a commit."},
    {T::kIpc, "FreelistRefill", "For free buffers."},
    {T::kIpc, "ProcessStart", "For a process to start."},
    {T::kIpc, "SocketHandover", "For a connection to be handed over."},
    {T::kIo, "BufFileRead", "For a read of a temporary file."},
    {T::kIo, "BufFileWrite", "For a write of a temporary file."},
    {T::kIo, "ControlFileSync", "For the control file to be durable."},
    {T::kIo, "ControlFileWrite", "For a write of the control file."},
    {T::kIo, "CopyFileRead", "For a read of a file by COPY."},
    {T::kIo, "CopyFileWrite", "For a write of a file by COPY."},
    {T::kIo, "DataFileExtend", "For a relation's file to grow."},
    {T::kIo, "DataFileFlush", "For a relation's file to be written back."},
    {T::kIo, "DataFileImmediateSync", "For a relation's file to be durable at once."},
    {T::kIo, "DataFilePrefetch", "For a read ahead of a relation's file."},
    {T::kIo, "DataFileRead", "For a read of a relation's file."},
    {T::kIo, "DataFileSync", "For a relation's file to be durable."},
    {T::kIo, "DataFileTruncate", "For a relation's file to be cut."},
    {T::kIo, "DataFileWrite", "For a write of a relation's file."},
    {T::kIo, "RelationMapRead", "For a read of the relation map."},
    {T::kIo, "RelationMapSync", "For the relation map to be durable."},
    {T::kIo, "RelationMapWrite", "For a write of the relation map."},
    {T::kIo, "SLRUFlushSync", "For status pages to be durable at a checkpoint."},
    {T::kIo, "SLRURead", "For a read of a status page."},
    {T::kIo, "SLRUSync", "For a status page to be durable."},
    {T::kIo, "SLRUWrite", "For a write of a status page."},
    {T::kIo, "WALInitSync", "For a new log file to be durable."},
    {T::kIo, "WALInitWrite", "For a new log file to be filled."},
    {T::kIo, "WALRead", "For a read of the log."},
    {T::kIo, "WALSync", "For the log to be durable."},
    {T::kIo, "WALWrite", "For a write of the log."},
    {T::kLock, "advisory", "For an advisory lock."},
    {T::kLock, "extend", "To extend a relation."},
    {T::kLock, "frozenid", "To change a database's horizon."},
    {T::kLock, "object", "For a lock on an object that is no relation."},
    {T::kLock, "page", "For a lock on a page."},
    {T::kLock, "relation", "For a lock on a relation."},
    {T::kLock, "spectoken", "For a speculative insertion to be decided."},
    {T::kLock, "transactionid", "For a transaction to end."},
    {T::kLock, "tuple", "For a lock on a row."},
    {T::kLock, "userlock", "For a user lock."},
    {T::kLock, "virtualxid", "For a virtual transaction to end."},
    {T::kTimeout, "CheckpointWriteDelay", "A checkpoint spreads its writes."},
    {T::kTimeout, "PgSleep", "In pg_sleep."},
    {T::kTimeout, "RegisterSyncRequest", "For room in the checkpointer's queue."},
    {T::kTimeout, "VacuumDelay", "VACUUM pauses for its cost."},
    {T::kTimeout, "VacuumTruncate", "For the lock to cut a vacuumed table."},
    {T::kTimeout, "CommitDelay", "A commit waits for others to share its flush."},
    {T::kTimeout, "QuantumYield", "Lets another session of the process run."},
};
static_assert(std::size(kEvents) == static_cast<std::size_t>(WaitEvent::kCount), "one row per event");

}  // namespace

WaitEventInfo wait_event_info(WaitEvent event) noexcept { return kEvents[static_cast<std::size_t>(event)]; }

std::string_view wait_event_type_name(WaitEventType type) noexcept {
  constexpr std::string_view kNames[] = {"",   "Activity", "BufferPin", "Client", "Extension",
                                         "IO", "IPC",      "Lock",      "LWLock", "Timeout"};
  return kNames[static_cast<std::size_t>(type)];
}

WaitEventInfo describe_published_wait(std::uint32_t word) noexcept {
  if ((word & kLwLockWaitBit) != 0) {
    const std::size_t tranche = word & ~kLwLockWaitBit;
    if (tranche >= kTrancheCount) return kEvents[0];
    return {WaitEventType::kLwLock, kTranches[tranche].name, "For a latch of this tranche."};
  }
  if (word >= static_cast<std::uint32_t>(WaitEvent::kCount)) return kEvents[0];
  return kEvents[word];
}

}  // namespace pinwheel::shm
