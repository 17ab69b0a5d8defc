#include "shm/process.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <poll.h>

#include "base/error.h"
#include "base/sqlstate.h"
#include "shm/parking.h"

namespace pinwheel::shm {
namespace {

constexpr std::string_view kProcessSlotsRegion = "Process Slots";
constexpr std::string_view kStatsRegion = "Process Statistics";

/// A waker has announced a write to our eventfd that we have not read yet. Process-wide, of this process
/// only.
bool write_in_flight = false;

}  // namespace

Self self_process;

std::string_view process_kind_name(ProcessKind kind) noexcept {
  constexpr std::string_view kNames[] = {"",
                                         "launcher",
                                         "startup",
                                         "checkpointer",
                                         "background writer",
                                         "walwriter",
                                         "autovacuum launcher",
                                         "autovacuum worker",
                                         "client backend"};
  return kNames[static_cast<std::size_t>(kind)];
}

void ProcessTable::declare(RegionBuilder& builder, std::size_t capacity) {
  builder.add_array<ProcessSlot>(kProcessSlotsRegion, capacity);
  builder.add_array<ProcessStats>(kStatsRegion, capacity);
}

ProcessTable::ProcessTable(const Segment& segment) {
  const std::size_t capacity = segment.size_of(kProcessSlotsRegion) / sizeof(ProcessSlot);
  slots_ = {segment.as<ProcessSlot>(kProcessSlotsRegion), capacity};
  stats_ = {segment.as<ProcessStats>(kStatsRegion), capacity};
}

void ProcessTable::create_event_fds(const ProcessTable* previous) {
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    if (previous != nullptr && i < previous->slots_.size()) {
      slots_[i].event_fd = previous->slots_[i].event_fd;
      std::uint64_t stale;
      [[maybe_unused]] const ssize_t got = ::read(slots_[i].event_fd, &stale, sizeof stale);
      continue;
    }
    const int fd = ::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (fd < 0) {
      throw SqlError{sqlstate::kInsufficientResources,
                     std::string{"could not create an event descriptor: "} + std::strerror(errno)}
          .hint("The server needs " + std::to_string(slots_.size()) +
                " of them: raise the limit of open files (ulimit -n), or lower max_connections or "
                "backend_processes.")
          .fatal();
    }
    slots_[i].event_fd = fd;
  }
}

ProcessIndex ProcessTable::reserve(ProcessKind kind) noexcept {
  const auto wanted = static_cast<std::uint8_t>(kind);
  const auto take = [&](auto fits) {
    for (std::size_t i = 0; i < slots_.size(); ++i) {
      std::uint8_t expected = 0;
      if (!fits(stats_[i].kind.load(std::memory_order_relaxed)) ||
          !slots_[i].kind.compare_exchange_strong(expected, wanted)) {
        continue;
      }
      slots_[i].requests.store(0, std::memory_order_relaxed);
      slots_[i].session_count.store(0, std::memory_order_relaxed);
      slots_[i].wait_event.store(0, std::memory_order_relaxed);
      slots_[i].asleep.store(0, std::memory_order_relaxed);
      stats_[i].kind.store(wanted, std::memory_order_relaxed);
      return ProcessIndex{static_cast<std::uint16_t>(i)};
    }
    return kNoProcess;
  };
  ProcessIndex index = take([&](std::uint8_t used_by) { return used_by == wanted; });
  if (index == kNoProcess) index = take([](std::uint8_t used_by) { return used_by == 0; });
  if (index == kNoProcess) index = take([](std::uint8_t) { return true; });
  return index;
}

void ProcessTable::attach(ProcessIndex index) noexcept {
  ProcessSlot& mine = slots_[index.value];
  mine.started_us.store(wall_clock_us(), std::memory_order_relaxed);
  mine.pid.store(::getpid(), std::memory_order_release);
  self_process = {index, &mine};
  process_stats = &stats_[index.value];
}

void ProcessTable::release(ProcessIndex index) noexcept {
  slots_[index.value].pid.store(0, std::memory_order_relaxed);
  slots_[index.value].kind.store(0, std::memory_order_release);
}

std::uint64_t ProcessTable::sum(Counter counter) const noexcept {
  std::uint64_t total = 0;
  for (const ProcessStats& stats : stats_) total += stats.counters[static_cast<std::size_t>(counter)].read();
  return total;
}

std::uint64_t ProcessTable::sum(Counter counter, ProcessKind kind) const noexcept {
  std::uint64_t total = 0;
  for (const ProcessStats& stats : stats_) {
    if (stats.kind.load(std::memory_order_relaxed) != static_cast<std::uint8_t>(kind)) continue;
    total += stats.counters[static_cast<std::size_t>(counter)].read();
  }
  return total;
}

ProcessIndex ProcessTable::find(ProcessKind kind) const noexcept {
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    if (slots_[i].kind.load(std::memory_order_acquire) == static_cast<std::uint8_t>(kind)) {
      return ProcessIndex{static_cast<std::uint16_t>(i)};
    }
  }
  return kNoProcess;
}

void ProcessTable::request(ProcessIndex index, std::uint32_t bits) noexcept {
  ProcessSlot& target = slots_[index.value];
  // Already asked and not yet taken: the target will see it, no shared write needed.
  if ((target.requests.load(std::memory_order_acquire) & bits) != bits) {
    target.requests.fetch_or(bits, std::memory_order_acq_rel);
  }
  wake_if_asleep(target);
}

void ProcessTable::request(ProcessKind kind, std::uint32_t bits) noexcept {
  const ProcessIndex index = find(kind);
  if (index != kNoProcess) request(index, bits);
}

void wake_if_asleep(ProcessSlot& slot) noexcept {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  // The exchange lets one of many wakers pay for the system call.
  if (slot.asleep.load(std::memory_order_relaxed) == 0 ||
      slot.asleep.exchange(0, std::memory_order_acq_rel) == 0) {
    count(Counter::kWakesWithoutSystemCall);
    return;
  }
  count(Counter::kWakeSystemCalls);
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = ::write(slot.event_fd, &one, sizeof one);
}

bool begin_sleep() noexcept {
  ProcessSlot& mine = *self().slot;
  mine.asleep.store(1, std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (mine.woken_head.load(std::memory_order_relaxed) == 0 &&
      mine.requests.load(std::memory_order_relaxed) == 0) {
    return true;
  }
  end_sleep();
  return false;
}

void end_sleep() noexcept {
  ProcessSlot& mine = *self().slot;
  const bool woken = mine.asleep.load(std::memory_order_relaxed) == 0 ||
                     mine.asleep.exchange(0, std::memory_order_acq_rel) == 0;
  if (!woken && !write_in_flight) return;
  // A waker that has cleared `asleep` writes the eventfd, perhaps later than this read: remember to look
  // again, or the descriptor would stay readable and every later wait return at once.
  std::uint64_t unused;
  write_in_flight = ::read(mine.event_fd, &unused, sizeof unused) < 0;
}

std::uint32_t take_requests() noexcept {
  ProcessSlot& mine = *self().slot;
  if (mine.requests.load(std::memory_order_relaxed) == 0) return 0;
  return mine.requests.exchange(0, std::memory_order_acq_rel);
}

std::uint32_t wait_for_requests(WaitEvent event, Deadline deadline) noexcept {
  ProcessSlot& mine = *self().slot;
  mine.wait_event.store(published(event), std::memory_order_relaxed);
  std::uint32_t taken = take_requests();
  while (taken == 0 && !deadline.passed() && mine.woken_head.load(std::memory_order_acquire) == 0) {
    wait_on_event_fd(deadline);
    taken = take_requests();
  }
  mine.wait_event.store(0, std::memory_order_relaxed);
  return taken;
}

void wait_on_event_fd(Deadline deadline) noexcept {
  if (!begin_sleep()) return;
  pollfd wait{.fd = self().slot->event_fd, .events = POLLIN, .revents = 0};
  timespec left;
  if (!deadline.is_never()) {
    const std::int64_t left_ns = std::max<std::int64_t>(deadline.at_ns - monotonic_ns(), 0);
    left = {static_cast<time_t>(left_ns / 1'000'000'000), static_cast<long>(left_ns % 1'000'000'000)};
  }
  ::ppoll(&wait, 1, deadline.is_never() ? nullptr : &left, nullptr);
  end_sleep();
}

}  // namespace pinwheel::shm
