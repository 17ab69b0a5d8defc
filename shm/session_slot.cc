#include "shm/session_slot.h"

#include <algorithm>
#include <cstring>

#include "base/clock.h"
#include "base/error.h"
#include "shm/parking.h"

namespace pinwheel::shm {
namespace {

constexpr std::string_view kSessionSlotsRegion = "Session Slots";
constexpr std::string_view kHeaderRegion = "Session Table";

/// Copies as much of `text` as fits, cut at a whole UTF-8 character, and returns the bytes copied.
std::size_t copy_cut(char* to, std::size_t capacity, std::string_view text) noexcept {
  std::size_t size = std::min(capacity, text.size());
  if (size < text.size()) {
    while (size > 0 && (static_cast<unsigned char>(text[size]) & 0xC0) == 0x80) --size;
  }
  if (size > 0) std::memcpy(to, text.data(), size);
  return size;
}

void copy_zero_terminated(char* to, std::size_t capacity, std::string_view text) noexcept {
  to[copy_cut(to, capacity - 1, text)] = '\0';
}

}  // namespace

/// Protected by `lock`, but for the counts, which are read without it.
struct alignas(kCacheLine) SessionTable::Header {
  SpinLock lock;
  std::uint32_t client_count = 0;  // constant after creation
  std::atomic<std::uint32_t> clients_in_use{0};
  /// Where the search for a free slot begins, so that low slots are used again first and scans stay short.
  std::uint32_t first_maybe_free = 0;
};

std::string_view activity_state_name(ActivityState state) noexcept {
  constexpr std::string_view kNames[] = {"",
                                         "idle",
                                         "active",
                                         "idle in transaction",
                                         "idle in transaction (aborted)",
                                         "fastpath function call",
                                         "disabled"};
  return kNames[static_cast<std::size_t>(state)];
}

void SessionTable::declare(RegionBuilder& builder, std::size_t client_count, std::size_t background_count) {
  builder.add_region(kHeaderRegion, sizeof(Header), alignof(Header), [client_count](std::byte* at) {
    ::new (at) Header;
    reinterpret_cast<Header*>(at)->client_count = static_cast<std::uint32_t>(client_count);
  });
  builder.add_array<SessionSlot>(kSessionSlotsRegion, client_count + background_count);
}

SessionTable::SessionTable(const Segment& segment)
    : header_{segment.as<Header>(kHeaderRegion)},
      slots_{segment.as<SessionSlot>(kSessionSlotsRegion),
             segment.size_of(kSessionSlotsRegion) / sizeof(SessionSlot)} {}

std::size_t SessionTable::client_capacity() const noexcept { return header_->client_count; }
std::size_t SessionTable::clients_in_use() const noexcept {
  return header_->clients_in_use.load(std::memory_order_relaxed);
}

SessionIndex SessionTable::acquire(ProcessKind kind, std::size_t reserved) noexcept {
  const bool client = kind == ProcessKind::kBackend;
  std::uint32_t found = kNoSession.value;
  {
    const SpinGuard guard{header_->lock};
    const std::size_t in_use = header_->clients_in_use.load(std::memory_order_relaxed);
    if (client && in_use + reserved >= header_->client_count) return kNoSession;
    const std::size_t begin = client ? header_->first_maybe_free : header_->client_count;
    const std::size_t end = client ? header_->client_count : slots_.size();
    for (std::size_t i = begin; i < end; ++i) {
      if (slots_[i].kind.load(std::memory_order_relaxed) != 0) continue;
      slots_[i].kind.store(static_cast<std::uint8_t>(kind), std::memory_order_relaxed);
      found = static_cast<std::uint32_t>(i);
      break;
    }
    if (found == kNoSession.value) return kNoSession;
    if (client) {
      header_->clients_in_use.store(static_cast<std::uint32_t>(in_use + 1), std::memory_order_relaxed);
      header_->first_maybe_free = found + 1;
    }
  }
  SessionSlot& slot = slots_[found];
  slot.generation.fetch_add(1, std::memory_order_relaxed);
  slot.wait_event.store(0, std::memory_order_relaxed);
  {
    const ActivityWriter writer{slot};
    slot.activity = Activity{};
    slot.activity.backend_kind = kind;
  }
  // Interrupts meant for the slot's last user end here.
  slot.interrupts.store(0, std::memory_order_relaxed);
  slot.wake.store(self().index.value, std::memory_order_release);
  return SessionIndex{found};
}

bool SessionTable::try_release(SessionIndex index) noexcept {
  SessionSlot& slot = slots_[index.value];
  std::uint32_t seen = slot.wake.load(std::memory_order_relaxed);
  do {
    // A waker is between its announcement and its push, or the slot lies on our list: freeing it now could
    // put it on the list of a process that no longer owns it.
    if ((seen & WakeWord::kQueued) != 0) return false;
  } while (!slot.wake.compare_exchange_weak(seen, WakeWord::kFree, std::memory_order_acq_rel));
  slot.backend_pid.store(0, std::memory_order_release);
  const SpinGuard guard{header_->lock};
  slot.kind.store(0, std::memory_order_relaxed);
  if (index.value < header_->client_count) {
    header_->clients_in_use.store(header_->clients_in_use.load(std::memory_order_relaxed) - 1,
                                  std::memory_order_relaxed);
    header_->first_maybe_free = std::min(header_->first_maybe_free, index.value);
  }
  return true;
}

SessionIndex SessionTable::find_by_backend_pid(std::int32_t backend_pid) const noexcept {
  if (backend_pid == 0) return kNoSession;
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    if (slots_[i].backend_pid.load(std::memory_order_acquire) == backend_pid) {
      return SessionIndex{static_cast<std::uint32_t>(i)};
    }
  }
  return kNoSession;
}

bool SessionTable::read_activity(SessionIndex index, Activity& copy) const noexcept {
  const SessionSlot& slot = slots_[index.value];
  for (;;) {
    const std::uint32_t before = slot.activity_changes.load(std::memory_order_acquire);
    if (slot.kind.load(std::memory_order_relaxed) == 0) return false;
    if ((before & 1) == 0) {
      std::memcpy(static_cast<void*>(&copy), &slot.activity, sizeof copy);
      std::atomic_thread_fence(std::memory_order_acquire);
      if (slot.activity_changes.load(std::memory_order_relaxed) == before) return true;
    }
    cpu_pause();
  }
}

void ActivityWriter::set_query(std::string_view text) noexcept {
  slot_.activity.query_bytes =
      static_cast<std::uint16_t>(copy_cut(slot_.activity.query, kQueryTextBytes, text));
}

void ActivityWriter::set_application_name(std::string_view name) noexcept {
  copy_zero_terminated(slot_.activity.application_name, sizeof slot_.activity.application_name, name);
}

void ActivityWriter::set_client_address(std::string_view address) noexcept {
  copy_zero_terminated(slot_.activity.client_address, sizeof slot_.activity.client_address, address);
}

}  // namespace pinwheel::shm
