#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/ids.h"
#include "shm/process.h"
#include "shm/progress.h"
#include "shm/spin_lock.h"

namespace pinwheel::shm {

/// Reasons for a session to leave its straight line, as bits of SessionSlot::interrupts.
enum Interrupt : std::uint32_t {
  kInterruptCancel = 1u << 0,             // 57014 canceling statement due to user request
  kInterruptTerminate = 1u << 1,          // 57P01 terminating connection due to administrator command
  kInterruptStatementTimeout = 1u << 2,   // 57014
  kInterruptLockTimeout = 1u << 3,        // 55P03
  kInterruptIdleInTransaction = 1u << 4,  // 25P03
  kInterruptIdleSession = 1u << 5,        // 57P05
  kInterruptReload = 1u << 6,             // configuration files changed
  kInterruptCatalog = 1u << 7,            // catalog invalidations to take
  kInterruptClientGone = 1u << 8,         // 08006
  kInterruptDeadlock = 1u << 9,           // chosen as a deadlock's victim
  kInterruptAutovacuumCancel = 1u << 10,  // an autovacuum worker blocks a user
  kInterruptYield = 1u << 11,             // let another session run
  kInterruptBarrier = 1u << 12,
};
/// Bits that make a park return kCancelled.
inline constexpr std::uint32_t kCancellingInterrupts = kInterruptCancel | kInterruptStatementTimeout |
                                                       kInterruptLockTimeout | kInterruptDeadlock |
                                                       kInterruptAutovacuumCancel;
/// Bits that make a park return kTerminated.
inline constexpr std::uint32_t kTerminatingInterrupts =
    kInterruptTerminate | kInterruptIdleInTransaction | kInterruptIdleSession | kInterruptClientGone;

enum class ActivityState : std::uint8_t {
  kUndefined,
  kIdle,
  kActive,
  kIdleInTransaction,
  kIdleInTransactionAborted,
  kFastPath,
  kDisabled,
};
/// "active", "idle in transaction"...; empty for kUndefined.
std::string_view activity_state_name(ActivityState state) noexcept;

inline constexpr std::size_t kQueryTextBytes = 1024;

/// What pg_stat_activity shows of a session. Written by its owner under ActivityWriter, read by anyone
/// through SessionTable::read_activity, which retries while the change count is odd or has moved.
struct Activity {
  std::int64_t session_start_us;
  std::int64_t xact_start_us;   // 0 = no transaction
  std::int64_t query_start_us;  // 0 = none yet
  std::int64_t state_change_us;
  std::uint64_t query_id;
  Oid database;
  Oid user;
  ActivityState state;
  ProcessKind backend_kind;
  std::uint16_t client_port;  // 0 = Unix socket
  std::uint16_t query_bytes;
  char client_address[48];  // printable, zero-terminated; empty for a Unix socket
  char application_name[64];
  char query[kQueryTextBytes];  // cut to fit, not zero-terminated
};

/// What low layers count for the session that runs, which knows what database it is in.
enum class SessionCounter : std::uint8_t { kTempFiles, kTempBytes, kDeadlocks, kReadNs, kWriteNs, kCount };
inline constexpr std::size_t kSessionCounters = static_cast<std::size_t>(SessionCounter::kCount);

/// Wake word of a session: who owns it and what is pending, in one atomic word so that a waker acts on one
/// consistent view.
///   bits 0..15   ProcessIndex of the owner; 0xFFFF = slot is free
///   bit 16       kQueued: the slot is on its owner's woken list (or about to be pushed there)
///   bit 17       kWoken: a wake-up not yet consumed by park()
struct WakeWord {
  static constexpr std::uint32_t kOwnerMask = 0xFFFF;
  static constexpr std::uint32_t kQueued = 1u << 16;
  static constexpr std::uint32_t kWoken = 1u << 17;
  static constexpr std::uint32_t kFree = kOwnerMask;
};

/// A session's public face in shared memory. Hot words of different writers stand on different lines.
struct alignas(kCacheLine) SessionSlot {
  // Line 1: written by wakers and by those who interrupt.
  std::atomic<std::uint32_t> wake{WakeWord::kFree};
  /// Next session on the owner's woken list (SessionIndex + 1); owned by whoever set kQueued until it is
  /// popped.
  std::atomic<std::uint32_t> next_woken{0};
  std::atomic<std::uint32_t> interrupts{0};

  // Line 2: written by the owner.
  alignas(kCacheLine) std::atomic<std::uint32_t> wait_event{0};
  /// What pg_backend_pid() and BackendKeyData say; unique among live sessions. 0 = slot is free.
  std::atomic<std::int32_t> backend_pid{0};
  std::atomic<std::uint32_t> cancel_secret{0};
  /// Counts uses of this slot, so that (index, generation) names one session for ever.
  std::atomic<std::uint32_t> generation{0};
  std::atomic<std::uint8_t> kind{0};  // ProcessKind of the session; kFree = slot is free
  /// Seqlock over `activity`: odd while the owner writes.
  std::atomic<std::uint32_t> activity_changes{0};

  alignas(kCacheLine) Activity activity{};

  Progress progress;
  /// SessionCounter; written by the session's process, never set back.
  OwnedCounter counts[kSessionCounters];
};

/// All session slots. The first `client_count` are for clients, the rest for background work (autovacuum
/// workers, recovery, checkpointer...). Attached once per process; a plain handle.
class SessionTable {
 public:
  static void declare(RegionBuilder& builder, std::size_t client_count, std::size_t background_count);
  explicit SessionTable(const Segment& segment);

  /// Takes a free slot for this process (must be attached); kNoSession when none is left. `reserved` slots
  /// stay free: an ordinary user passes superuser_reserved_connections, a superuser 0. Latch: its own spin
  /// lock.
  SessionIndex acquire(ProcessKind kind, std::size_t reserved = 0) noexcept;

  /// Gives the slot back. False while a wake-up is in flight on it: the owner takes its woken list
  /// (take_woken) and tries again.
  bool try_release(SessionIndex index) noexcept;

  SessionSlot& slot(SessionIndex index) const noexcept { return slots_[index.value]; }
  std::span<SessionSlot> slots() const noexcept { return slots_; }
  std::size_t capacity() const noexcept { return slots_.size(); }
  std::size_t client_capacity() const noexcept;
  /// Client slots in use; a snapshot.
  std::size_t clients_in_use() const noexcept;

  /// The live session that bears this id; kNoSession when there is none.
  SessionIndex find_by_backend_pid(std::int32_t backend_pid) const noexcept;

  /// A consistent copy; false when the slot is free.
  bool read_activity(SessionIndex index, Activity& copy) const noexcept;

 private:
  struct Header;
  Header* header_;
  std::span<SessionSlot> slots_;
};

/// Scope in which the owner changes its activity; readers meanwhile retry. A few stores long.
class [[nodiscard]] ActivityWriter {
 public:
  explicit ActivityWriter(SessionSlot& slot) noexcept : slot_{slot} {
    slot_.activity_changes.store(slot_.activity_changes.load(std::memory_order_relaxed) + 1,
                                 std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_release);
  }
  ~ActivityWriter() {
    slot_.activity_changes.store(slot_.activity_changes.load(std::memory_order_relaxed) + 1,
                                 std::memory_order_release);
  }
  ActivityWriter(const ActivityWriter&) = delete;
  ActivityWriter& operator=(const ActivityWriter&) = delete;

  Activity* operator->() noexcept { return &slot_.activity; }
  /// Cuts at a whole UTF-8 character.
  void set_query(std::string_view text) noexcept;
  void set_application_name(std::string_view name) noexcept;
  void set_client_address(std::string_view address) noexcept;

 private:
  SessionSlot& slot_;
};

}  // namespace pinwheel::shm
