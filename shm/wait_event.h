#pragma once

#include <cstdint>
#include <string_view>

namespace pinwheel::shm {

/// Classes of waits, as pg_stat_activity.wait_event_type names them.
enum class WaitEventType : std::uint8_t {
  kNone,
  kActivity,
  kBufferPin,
  kClient,
  kExtension,
  kIo,
  kIpc,
  kLock,
  kLwLock,
  kTimeout,
};

/// Everything a session or process can be seen to wait for. LwLock waits are published as tranches: see
/// lwlock_wait_event(). The table in wait_event.cc gives each its type and PostgreSQL's name.
enum class WaitEvent : std::uint16_t {
  kNone,
  // Activity: background processes in their main loops
  kAutoVacuumMain,
  kBgWriterHibernate,
  kBgWriterMain,
  kCheckpointerMain,
  kRecoveryWalStream,
  kWalWriterMain,
  kSchedulerMain,
  // Buffer pin
  kBufferPin,
  // Client
  kClientRead,
  kClientWrite,
  kSslOpenServer,
  // IPC
  kBackendTermination,
  kBufferIo,
  kCheckpointDone,
  kCheckpointStart,
  kClogGroupUpdate,
  kMessageQueueReceive,
  kProcSignalBarrier,
  kWalBuffersFull,
  kWalFlush,
  kFreelistRefill,
  kProcessStart,
  kSocketHandover,
  // IO
  kBufFileRead,
  kBufFileWrite,
  kControlFileSync,
  kControlFileWrite,
  kCopyFileRead,
  kCopyFileWrite,
  kDataFileExtend,
  kDataFileFlush,
  kDataFileImmediateSync,
  kDataFilePrefetch,
  kDataFileRead,
  kDataFileSync,
  kDataFileTruncate,
  kDataFileWrite,
  kRelationMapRead,
  kRelationMapSync,
  kRelationMapWrite,
  kSlruFlushSync,
  kSlruRead,
  kSlruSync,
  kSlruWrite,
  kWalInitSync,
  kWalInitWrite,
  kWalRead,
  kWalSync,
  kWalWrite,
  // Lock: heavyweight locks
  kLockAdvisory,
  kLockExtend,
  kLockFrozenId,
  kLockObject,
  kLockPage,
  kLockRelation,
  kLockSpeculativeToken,
  kLockTransactionId,
  kLockTuple,
  kLockUserLock,
  kLockVirtualXid,
  // Timeout
  kCheckpointWriteDelay,
  kPgSleep,
  kRegisterSyncRequest,
  kVacuumDelay,
  kVacuumTruncate,
  kCommitDelay,
  kQuantumYield,
  kCount,
};

struct WaitEventInfo {
  WaitEventType type;
  std::string_view name;
  std::string_view summary;
};

WaitEventInfo wait_event_info(WaitEvent event) noexcept;
/// "Client", "Lock"...; empty for kNone.
std::string_view wait_event_type_name(WaitEventType type) noexcept;

/// What a session slot publishes: a WaitEvent, or kLwLockWaitBit with the index of a tranche.
inline constexpr std::uint32_t kLwLockWaitBit = 1u << 31;
constexpr std::uint32_t published(WaitEvent event) noexcept { return static_cast<std::uint32_t>(event); }
constexpr std::uint32_t lwlock_wait_event(unsigned tranche) noexcept { return kLwLockWaitBit | tranche; }
/// Names for a published word, LwLock tranches included.
WaitEventInfo describe_published_wait(std::uint32_t word) noexcept;

}  // namespace pinwheel::shm
