#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/clock.h"
#include "base/ids.h"
#include "shm/segment.h"
#include "shm/statistics.h"
#include "shm/wait_event.h"

namespace pinwheel::shm {

/// Index of a process slot.
using ProcessIndex = StrongId<struct ProcessIndexTag, std::uint16_t>;
inline constexpr ProcessIndex kNoProcess{0xFFFF};

/// Index of a session slot.
using SessionIndex = StrongId<struct SessionIndexTag, std::uint32_t>;
inline constexpr SessionIndex kNoSession{0xFFFFFFFFu};

enum class ProcessKind : std::uint8_t {
  kFree,
  kLauncher,
  kStartup,
  kCheckpointer,
  kBgwriter,
  kWalwriter,
  kAutovacuumLauncher,
  kAutovacuumWorker,
  kBackend,
};
/// As pg_stat_activity.backend_type names it ("checkpointer", "client backend"...).
std::string_view process_kind_name(ProcessKind kind) noexcept;

/// One process's public face.
///
/// The sleep protocol (rule 6 of sessions). A waker (1) publishes its news (pushes on `woken_head` or stores
/// a flag the target looks at), (2) fences, (3) reads `asleep`; if set it clears it and writes the eventfd. A
/// sleeper (1) sets `asleep`, (2) fences, (3) looks for news, (4) waits on the eventfd only if there is none,
/// and clears `asleep`. The fences are sequentially consistent, so one of the two stands first in their
/// order: if the waker's, the sleeper's look sees the news; if the sleeper's, the waker's read sees `asleep`.
/// No wake-up is lost, and a process that is awake costs its wakers no system call.
struct alignas(kCacheLine) ProcessSlot {
  // Set by the launcher before fork, constant while the process lives.
  std::atomic<std::uint8_t> kind{0};  // ProcessKind
  int event_fd = -1;                  // same number in all processes: made before any fork
  std::atomic<pid_t> pid{0};
  std::atomic<std::int64_t> started_us{0};
  /// Raised by anyone, taken by the process: something to do (see request bits of its kind).
  std::atomic<std::uint32_t> requests{0};
  /// What a background process waits for, as a published wait word.
  std::atomic<std::uint32_t> wait_event{0};
  /// Sessions served now; written by the owner, read by the launcher to spread connections.
  std::atomic<std::uint32_t> session_count{0};

  // Words that other processes write, on their own line.
  alignas(kCacheLine) std::atomic<std::uint32_t> asleep{0};
  /// Head of the list of sessions woken since the owner last looked: SessionIndex + 1, 0 = empty. Any process
  /// pushes by compare-exchange; the owner takes the whole list by exchange.
  std::atomic<std::uint32_t> woken_head{0};
};
static_assert(sizeof(ProcessSlot) == 2 * kCacheLine);

/// Bits of ProcessSlot::requests.
enum ProcessRequest : std::uint32_t {
  kRequestWork = 1u << 0,          // the kind's own work: checkpoint, refill, flush
  kRequestReload = 1u << 1,        // read the configuration files again
  kRequestShutdown = 1u << 2,      // finish what is running, then exit
  kRequestFastShutdown = 1u << 3,  // abort what is running, then exit
  kRequestStats = 1u << 4,
};

/// All process slots. Attached once per process; a plain handle.
class ProcessTable {
 public:
  /// Adds the regions for `capacity` processes.
  static void declare(RegionBuilder& builder, std::size_t capacity);
  explicit ProcessTable(const Segment& segment);

  /// In the launcher, once after each mapping: makes the eventfd of every slot, or reuses `previous` ones.
  /// Errors: 53000 when the descriptors run out (with the count that was needed).
  void create_event_fds(const ProcessTable* previous = nullptr);

  /// In the launcher before fork: reserves a free slot; nothing when all are taken. A slot that was used is
  /// given to a process of the same kind only, while others are left, so that its statistics stay those of
  /// one kind: capacities are sums over kinds, so others are left.
  ProcessIndex reserve(ProcessKind kind) noexcept;
  /// In the child: becomes that process (sets pid, the statistics block and self()).
  void attach(ProcessIndex index) noexcept;
  /// In the launcher after the child is reaped. Statistics of the slot stay, so that sums never shrink.
  void release(ProcessIndex index) noexcept;

  std::size_t capacity() const noexcept { return slots_.size(); }
  ProcessSlot& slot(ProcessIndex index) const noexcept { return slots_[index.value]; }
  std::span<ProcessSlot> slots() const noexcept { return slots_; }
  const ProcessStats& stats(ProcessIndex index) const noexcept { return stats_[index.value]; }

  /// Sum of one counter over all processes since the server started.
  std::uint64_t sum(Counter counter) const noexcept;
  /// The same over the processes of one kind, gone ones included.
  std::uint64_t sum(Counter counter, ProcessKind kind) const noexcept;
  /// The first process of a kind; kNoProcess when there is none.
  ProcessIndex find(ProcessKind kind) const noexcept;

  /// Sets request bits of a process and wakes it.
  void request(ProcessIndex index, std::uint32_t bits) noexcept;
  /// To the process of that kind, if it runs.
  void request(ProcessKind kind, std::uint32_t bits) noexcept;

 private:
  std::span<ProcessSlot> slots_;
  std::span<ProcessStats> stats_;
};

/// Second half of a wake-up, after the news was published: see ProcessSlot. Async-signal-safe.
void wake_if_asleep(ProcessSlot& slot) noexcept;

/// This process's slot; process-wide handle set by ProcessTable::attach. Null before.
struct Self {
  ProcessIndex index = kNoProcess;
  ProcessSlot* slot = nullptr;
};
extern Self self_process;
inline const Self& self() noexcept { return self_process; }
/// Forgets the slot (it is not freed) before the segment is unmapped; statistics go to a private block again.
void detach_self() noexcept;

/// Waits of a process as a whole (background processes' main loops, start-up): sleeps until request bits are
/// set, a session is woken, or the deadline; then takes and returns the request bits (0 at the deadline or
/// for a woken session). Must be attached; not on a fiber.
std::uint32_t wait_for_requests(WaitEvent event, Deadline deadline) noexcept;
/// Takes pending request bits without waiting.
std::uint32_t take_requests() noexcept;

}  // namespace pinwheel::shm
