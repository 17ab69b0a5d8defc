// Flush: from the ring to durable files, and group commit.

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <bit>

#include "base/clock.h"
#include "base/error.h"
#include "base/failpoints.h"
#include "base/file.h"
#include "shm/interrupts.h"
#include "wal/log.h"
#include "wal/log_shared.h"
#include "wal/reader.h"

namespace pinwheel::wal {
namespace {

constexpr std::uint64_t kNoLimit = ~std::uint64_t{0};
/// Most bytes in one write: `written` moves on after each, which frees ring space for inserters.
constexpr std::uint64_t kMaxWriteBytes = 512u << 10;
constexpr int kSpinsBeforeYield = 500;
constexpr int kYieldsBeforeSleep = 100;

bool writes_are_durable(SyncMethod method) noexcept {
  return method == SyncMethod::kOpenDatasync || method == SyncMethod::kOpenSync;
}

}  // namespace

bool Log::is_durable_slow(Lsn lsn) const noexcept {
  const std::uint64_t flushed = shared_->flushed.load(std::memory_order_acquire);
  // In recovery the word is no position, so it must not be remembered.
  if (flushed != kInRecovery) known_flushed_ = flushed;
  return lsn.value <= flushed;
}

/// Everything below the result is filled. Proof: LogShared.
std::uint64_t Log::filled_position() const noexcept {
  std::uint64_t filled = shared_->reserved.load(std::memory_order_acquire);
  const std::uint32_t slots = shared_->slot_high_water.load(std::memory_order_acquire);
  for (std::uint32_t i = 0; i < slots; ++i) {
    const std::uint64_t at = shared_->slots()[i].inserting_at.load(std::memory_order_acquire);
    if (at != 0 && at < filled) filled = at;
  }
  return filled;
}

void Log::wait_filled(std::uint64_t wanted) const noexcept {
  if (shared_->reserved.load(std::memory_order_acquire) < wanted) {
    DB_PANIC("WAL flush request " + format_lsn(Lsn{wanted}) + " is beyond the end of the log " +
             format_lsn(insert_position()));
  }
  for (int turn = 0; filled_position() < wanted; ++turn) {
    if (turn < kSpinsBeforeYield) {
      shm::cpu_pause();
    } else if (turn < kSpinsBeforeYield + kYieldsBeforeSleep) {
      sched_yield();
    } else {
      ::usleep(50);
    }
  }
}

void Log::write_range(std::uint64_t from, std::uint64_t to) noexcept {
  const auto method = static_cast<SyncMethod>(shared_->sync_method.load(std::memory_order_relaxed));
  const shm::WaitEventScope waiting{shm::WaitEvent::kWalWrite};
  const std::int64_t started_ns = monotonic_ns();
  // Whole blocks. In front stands what is written already, behind it what is being filled: neither is taken
  // for a record before it is whole, and both are written again.
  std::uint64_t at = from & ~(kWriteBlock - 1);
  const std::uint64_t end = (to + kWriteBlock - 1) & ~(kWriteBlock - 1);
  while (at < end) {
    const std::uint64_t offset = at % ring_bytes_;
    const std::uint64_t size = std::min(end - at, ring_bytes_ - offset);
    files_.write(Lsn{at}, {ring_ + offset, size}, method);
    at += size;
  }
  shm::count(shm::Counter::kWalWrites);
  shm::count(shm::Counter::kWalWriteNs, static_cast<std::uint64_t>(monotonic_ns() - started_ns));
}

/// Hands what is filled, at most `limit_bytes`, to the operating system; returns the new `written`. Under
/// write_claim.
std::uint64_t Log::write_filled(std::uint64_t limit_bytes) noexcept {
  std::uint64_t from = shared_->written.load(std::memory_order_relaxed);
  if (from == kInRecovery) return from;
  const std::uint64_t filled = filled_position();
  const std::uint64_t until = filled - from > limit_bytes ? from + limit_bytes : filled;
  while (from < until) {
    const std::uint64_t to = std::min(until, from + kMaxWriteBytes);
    write_range(from, to);
    shared_->written.store(to, std::memory_order_release);
    note_written(from, to);
    from = to;
  }
  return from;
}

void Log::note_written(std::uint64_t from, std::uint64_t to) noexcept {
  const std::uint64_t half = files_.segment_bytes() / 2;
  if (from / half != to / half) request_process(shared_->checkpointer.load(std::memory_order_relaxed));
}

/// Makes everything up to `wanted`, and what else is filled, durable. Under sync_claim.
///
/// It waits for insertions below `wanted`, which may in turn wait for ring space: they need only write_claim,
/// which is not held meanwhile.
void Log::flush_claimed(std::uint64_t wanted) noexcept {
  const std::uint64_t from = shared_->flushed.load(std::memory_order_acquire);
  if (from >= wanted) return;
  wait_filled(wanted);
  shared_->write_claim.acquire();
  const std::uint64_t to = write_filled(kNoLimit);
  const auto method = static_cast<SyncMethod>(shared_->sync_method.load(std::memory_order_relaxed));
  shared_->write_claim.release();
  // If the process dies before the store below, what was synced is found by recovery; nobody was told.
  if (!writes_are_durable(method)) {
    const shm::WaitEventScope waiting{shm::WaitEvent::kWalSync};
    const std::int64_t started_ns = monotonic_ns();
    failpoint::hit("wal-before-sync");
    files_.sync(Lsn{from}, Lsn{to}, method);
    shm::count(shm::Counter::kWalSyncs);
    shm::count(shm::Counter::kWalSyncNs, static_cast<std::uint64_t>(monotonic_ns() - started_ns));
  }
  known_flushed_ = to;
  shared_->flushed.store(to, std::memory_order_seq_cst);
}

void Log::flush_to(Lsn lsn) noexcept {
  while (!is_durable(lsn)) {
    if (shared_->sync_claim.acquire_or_wait()) {
      flush_claimed(lsn.value);
      shared_->sync_claim.release();
      wake_waiters();
    }
  }
}

void Log::set_sync_method(SyncMethod method) noexcept {
  if (shared_->sync_method.load(std::memory_order_relaxed) == static_cast<std::uint8_t>(method)) return;
  shared_->sync_claim.acquire();
  shared_->write_claim.acquire();
  const std::uint64_t from = shared_->flushed.load(std::memory_order_relaxed);
  const std::uint64_t to = write_filled(kNoLimit);
  if (to != kInRecovery && to > from) {
    files_.sync(Lsn{from}, Lsn{to}, SyncMethod::kFdatasync);
    shared_->flushed.store(to, std::memory_order_seq_cst);
  }
  shared_->sync_method.store(static_cast<std::uint8_t>(method), std::memory_order_relaxed);
  shared_->write_claim.release();
  shared_->sync_claim.release();
  wake_waiters();
}

void Log::request_process(std::uint32_t index) noexcept {
  if (index == kNobody || processes_ == nullptr) return;
  // Our own requests reach us through the same bits; a needless round is all they cost.
  processes_->request(shm::ProcessIndex{static_cast<std::uint16_t>(index)}, shm::kRequestWork);
}

void Log::request_flush(Lsn lsn) noexcept {
  if (is_durable(lsn)) return;
  std::uint64_t seen = shared_->requested.load(std::memory_order_relaxed);
  // A greater request is on its way already, and whoever raised it has told the walwriter.
  while (seen < lsn.value) {
    if (shared_->requested.compare_exchange_weak(seen, lsn.value, std::memory_order_acq_rel)) {
      shm::count(shm::Counter::kWalFlushRequests);
      request_process(shared_->flusher.load(std::memory_order_relaxed));
      return;
    }
  }
}

void Log::wait_durable(Lsn lsn, shm::SessionIndex session, shm::Parker& parker, FlushBy by) {
  if (is_durable(lsn)) return;
  const bool has_flusher = shared_->flusher.load(std::memory_order_relaxed) != kNobody &&
                           processes_ != nullptr && sessions_ != nullptr;
  if (!has_flusher || session.value >= shared_->session_count) {
    flush_to(lsn);
    shm::count(shm::Counter::kWalCommitsFlushed);
    return;
  }
  if (by == FlushBy::kSelfIfIdle && shared_->sync_claim.try_acquire()) {
    delay_for_siblings();
    flush_claimed(lsn.value);
    shared_->sync_claim.release();
    shm::count(shm::Counter::kWalCommitsFlushed);
    wake_waiters();
    return;
  }
  park_until_durable(lsn, session, parker);
}

/// No wake-up is lost: the session sets its bit, then looks at `flushed`; a flusher stores `flushed`, then
/// looks at the bits. All four are sequentially consistent, so one of the two sees the other's store.
void Log::park_until_durable(Lsn lsn, shm::SessionIndex session, shm::Parker& parker) {
  std::atomic<std::uint64_t>& word = shared_->waiting()[session.value / 64];
  const std::uint64_t bit = std::uint64_t{1} << (session.value % 64);
  shared_->waits()[session.value].lsn.store(lsn.value, std::memory_order_relaxed);
  word.fetch_or(bit, std::memory_order_seq_cst);
  request_flush(lsn);
  while (shared_->flushed.load(std::memory_order_seq_cst) < lsn.value) {
    const shm::WakeReason reason = parker.park(shm::WaitEvent::kWalFlush, Deadline::never());
    if (reason == shm::WakeReason::kCancelled || reason == shm::WakeReason::kTerminated) {
      // The commit has happened; the interrupt has to wait until it is durable. Parking again would return at
      // once, so wait without.
      flush_to(lsn);
    }
  }
  word.fetch_and(~bit, std::memory_order_acq_rel);
}

int Log::count_waiters() const noexcept {
  int count = 0;
  for (std::uint32_t i = 0; i < shared_->wait_word_count; ++i) {
    count += std::popcount(shared_->waiting()[i].load(std::memory_order_relaxed));
  }
  return count;
}

void Log::wake_waiters() noexcept {
  if (processes_ == nullptr || sessions_ == nullptr) return;
  const std::uint64_t flushed = shared_->flushed.load(std::memory_order_seq_cst);
  std::uint64_t woken = 0;
  for (std::uint32_t i = 0; i < shared_->wait_word_count; ++i) {
    std::uint64_t bits = shared_->waiting()[i].load(std::memory_order_seq_cst);
    while (bits != 0) {
      const std::uint64_t bit = bits & (~bits + 1);
      bits ^= bit;
      const std::uint32_t session = i * 64 + static_cast<std::uint32_t>(std::countr_zero(bit));
      if (shared_->waits()[session].lsn.load(std::memory_order_relaxed) > flushed) continue;
      // Whoever clears the bit wakes; a session that has seen the position by itself may get a needless
      // wake-up, which sessions must bear.
      if ((shared_->waiting()[i].fetch_and(~bit, std::memory_order_acq_rel) & bit) == 0) continue;
      shm::wake(*processes_, *sessions_, shm::SessionIndex{session});
      ++woken;
    }
  }
  if (woken != 0) shm::count(shm::Counter::kWalCommitsFlushed, woken);
}

void Log::delay_for_siblings() noexcept {
  if (settings_.commit_delay_us <= 0 || !sync_enabled()) return;
  const int siblings = sibling_counter_ != nullptr ? sibling_counter_(sibling_owner_) : count_waiters();
  if (siblings < settings_.commit_siblings) return;
  const shm::WaitEventScope waiting{shm::WaitEvent::kCommitDelay};
  ::usleep(static_cast<unsigned>(settings_.commit_delay_us));
}

bool Log::run_flusher_once(bool everything) noexcept {
  if (in_recovery()) return false;
  std::uint64_t wanted = shared_->requested.load(std::memory_order_acquire);
  const std::uint64_t flushed = shared_->flushed.load(std::memory_order_acquire);
  const bool somebody_waits = wanted > flushed;
  if (!somebody_waits) {
    wanted = filled_position();
    const std::uint64_t enough = std::min(settings_.flush_after_bytes, ring_bytes_ / 4);
    if (wanted <= flushed || (!everything && wanted - flushed < enough)) return false;
  }
  shared_->sync_claim.acquire();
  if (somebody_waits) delay_for_siblings();
  flush_claimed(wanted);
  shared_->sync_claim.release();
  wake_waiters();
  return true;
}

void Log::wait_for_insertions(Lsn lsn) noexcept {
  // Only positions that are reserved can be under way.
  const std::uint64_t reserved = shared_->reserved.load(std::memory_order_acquire);
  wait_filled(std::min(lsn.value, reserved));
}

}  // namespace pinwheel::wal
