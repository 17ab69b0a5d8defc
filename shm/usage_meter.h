#pragma once

#include <cstdint>

#include "shm/interrupts.h"
#include "shm/statistics.h"

namespace pinwheel::shm {

/// What was done with shared buffers, in pages.
struct BufferUsage {
  std::uint64_t hits = 0;
  std::uint64_t reads = 0;
  std::uint64_t dirtied = 0;
  std::uint64_t written = 0;

  BufferUsage& operator+=(const BufferUsage& other) noexcept {
    hits += other.hits;
    reads += other.reads;
    dirtied += other.dirtied;
    written += other.written;
    return *this;
  }
  BufferUsage operator-(const BufferUsage& other) const noexcept {
    return {hits - other.hits, reads - other.reads, dirtied - other.dirtied, written - other.written};
  }
};

/// What was put into the write-ahead log.
struct LogUsage {
  std::uint64_t records = 0;
  std::uint64_t bytes = 0;

  LogUsage& operator+=(const LogUsage& other) noexcept {
    records += other.records;
    bytes += other.bytes;
    return *this;
  }
  LogUsage operator-(const LogUsage& other) const noexcept {
    return {records - other.records, bytes - other.bytes};
  }
};

/// Tells one session's part of its process's counters: what they grew by while the session was parked is left
/// out. Lives on the session's stack, as its current_session.meter.
class UsageMeter {
 public:
  UsageMeter() noexcept : elsewhere_{counted()}, log_elsewhere_{logged()} {}

  /// Since the meter was made. The difference of two readings is what the session did between them.
  BufferUsage buffers() const noexcept { return counted() - elsewhere_; }
  LogUsage log() const noexcept { return logged() - log_elsewhere_; }

  /// The scheduler calls these around the time in which other sessions run.
  void leave() noexcept {
    left_at_ = counted();
    log_left_at_ = logged();
  }
  void enter() noexcept {
    elsewhere_ += counted() - left_at_;
    log_elsewhere_ += logged() - log_left_at_;
  }

 private:
  static std::uint64_t read(Counter counter) noexcept {
    return process_stats->counters[static_cast<std::size_t>(counter)].read();
  }
  static LogUsage logged() noexcept { return {read(Counter::kWalRecords), read(Counter::kWalBytes)}; }
  static BufferUsage counted() noexcept {
    return {read(Counter::kBufferHits), read(Counter::kBufferReads), read(Counter::kBuffersDirtied),
            read(Counter::kBufferWritesByBackend)};
  }

  BufferUsage elsewhere_;
  BufferUsage left_at_;
  LogUsage log_elsewhere_;
  LogUsage log_left_at_;
};

/// The running session has a meter until the end of the scope: its own if there was none.
class [[nodiscard]] MeterScope {
 public:
  MeterScope() noexcept : owns_{current_session.meter == nullptr} {
    if (owns_) current_session.meter = &meter_;
  }
  ~MeterScope() {
    if (owns_) current_session.meter = nullptr;
  }
  MeterScope(const MeterScope&) = delete;
  MeterScope& operator=(const MeterScope&) = delete;

  const UsageMeter& meter() const noexcept { return *current_session.meter; }

 private:
  UsageMeter meter_;
  bool owns_;
};

}  // namespace pinwheel::shm
