#pragma once

#include <cstdint>

#include "wal/log_shared.h"

namespace pinwheel::wal {

/// wal_insert = reserve: one fetch-add gives the position, each process publishes in its own slot. No lock.
///
/// An insertion method is a class with begin(), reserve() and end(), called in that order; reserve() may be
/// called once between the others.
class ReserveInsert {
 public:
  /// True when the record is to be assembled between begin() and reserve().
  static constexpr bool kAssembleUnderLock = false;

  ReserveInsert(LogShared& shared, InsertionSlot* own) noexcept : shared_{shared}, own_{own} {}

  InsertionSlot& begin() noexcept { return *own_; }

  /// Takes `size` bytes; returns where they start.
  std::uint64_t reserve(std::uint64_t size) noexcept {
    own_->inserting_at.store(shared_.reserved.load(std::memory_order_relaxed), std::memory_order_release);
    const std::uint64_t start = shared_.reserved.fetch_add(size, std::memory_order_acq_rel);
    // Others may have come in between: no need to hold them back from what is below us.
    own_->inserting_at.store(start, std::memory_order_release);
    return start;
  }

  /// As reserve, for a size that depends on the position; 0 reserves nothing.
  template <class SizeAt>
  std::uint64_t reserve_by(SizeAt size_at, std::uint64_t& size) noexcept {
    std::uint64_t start = shared_.reserved.load(std::memory_order_relaxed);
    do {
      own_->inserting_at.store(start, std::memory_order_release);
      size = size_at(start);
      if (size == 0) break;
    } while (!shared_.reserved.compare_exchange_weak(start, start + size, std::memory_order_acq_rel,
                                                     std::memory_order_relaxed));
    return start;
  }

  void end() noexcept { own_->inserting_at.store(0, std::memory_order_release); }

 private:
  LogShared& shared_;
  InsertionSlot* own_;
};

}  // namespace pinwheel::wal
