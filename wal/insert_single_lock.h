#pragma once

#include <cstdint>

#include "wal/log_shared.h"

namespace pinwheel::wal {

/// wal_insert = single_lock, as before PostgreSQL 9.4: one lock over assembling, checksum, reservation and
/// copy.
class SingleLockInsert {
 public:
  static constexpr bool kAssembleUnderLock = true;

  explicit SingleLockInsert(LogShared& shared) noexcept : shared_{shared}, slot_{shared.slots()} {}

  InsertionSlot& begin() noexcept {
    slot_->lock.lock_exclusive();
    return *slot_;
  }

  std::uint64_t reserve(std::uint64_t size) noexcept {
    return reserve_by([size](std::uint64_t) { return size; }, size);
  }

  template <class SizeAt>
  std::uint64_t reserve_by(SizeAt size_at, std::uint64_t& size) noexcept {
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
  InsertionSlot* slot_;
};

}  // namespace pinwheel::wal
