#pragma once

#include <cstdint>

#include "wal/log_shared.h"

namespace pinwheel::wal {

/// wal_insert = slots, as in PostgreSQL 9.4 and later: an inserter holds one of `wal_insert_locks` locks
/// while it fills, and takes its position under a spin lock.
class SlotsInsert {
 public:
  static constexpr bool kAssembleUnderLock = false;

  /// `preferred` is where this process found a free lock last; kept by the caller.
  SlotsInsert(LogShared& shared, std::uint32_t& preferred) noexcept
      : shared_{shared}, preferred_{preferred} {}

  InsertionSlot& begin() noexcept {
    slot_ = &shared_.slots()[preferred_];
    if (!slot_->lock.try_lock_exclusive()) {
      // Contended: move on, so that processes spread over the locks.
      preferred_ = (preferred_ + 1) % shared_.slot_count;
      slot_ = &shared_.slots()[preferred_];
      slot_->lock.lock_exclusive();
    }
    return *slot_;
  }

  std::uint64_t reserve(std::uint64_t size) noexcept {
    return reserve_by([size](std::uint64_t) { return size; }, size);
  }

  template <class SizeAt>
  std::uint64_t reserve_by(SizeAt size_at, std::uint64_t& size) noexcept {
    const shm::SpinGuard guard{shared_.reserve_lock};
    const std::uint64_t start = shared_.reserved.load(std::memory_order_relaxed);
    slot_->inserting_at.store(start, std::memory_order_release);
    size = size_at(start);
    shared_.reserved.store(start + size, std::memory_order_release);
    return start;
  }

  void end() noexcept {
    slot_->inserting_at.store(0, std::memory_order_release);
    slot_->lock.unlock_exclusive();
  }

 private:
  LogShared& shared_;
  std::uint32_t& preferred_;
  InsertionSlot* slot_ = nullptr;
};

}  // namespace pinwheel::wal
