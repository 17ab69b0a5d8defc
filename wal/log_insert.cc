// Insertion: from a builder's parts to bytes in the ring of WAL buffers.

#include <sched.h>

#include <algorithm>
#include <cstring>

#include "base/bytes.h"
#include "base/error.h"
#include "base/failpoints.h"
#include "shm/interrupts.h"
#include "wal/assembler.h"
#include "wal/insert_reserve.h"
#include "wal/insert_single_lock.h"
#include "wal/insert_slots.h"
#include "wal/log.h"
#include "wal/log_shared.h"

namespace pinwheel::wal {
namespace {
constexpr int kSpins = 200;
}

template <class Act>
Lsn Log::with_method(Act act) noexcept {
  switch (method_) {
    case InsertMethod::kReserve:
      return act(ReserveInsert{*shared_, my_slot_});
    case InsertMethod::kSlots:
      return act(SlotsInsert{*shared_, preferred_lock_});
    case InsertMethod::kSingleLock:
      return act(SingleLockInsert{*shared_});
  }
  DB_PANIC("unknown WAL insertion method");
}

std::uint64_t Log::settled_redo_counter() const noexcept {
  for (int spins = 0;; ++spins) {
    const std::uint64_t counter = shared_->redo_counter.load(std::memory_order_acquire);
    if ((counter & 1) == 0) [[likely]]
      return counter;
    if (spins < kSpins) {
      shm::cpu_pause();
    } else {
      sched_yield();
    }
  }
}

// Page images against a redo point that moves meanwhile, without a lock.
//
// The checkpoint (A) makes redo_counter odd, (B) reserves its marker, which begins at P, (C) stores redo = P,
// (D) makes redo_counter even again, greater than before. An insertion (1) reads an even counter c, (2) reads
// redo and decides about images by it, (3) reserves, at s, (4) reads the counter again and keeps its record
// only if it is still c; else it fills its space with padding and starts over.
//
// Claim: a record kept at s >= P was decided with redo >= P, so a page it changes first after P has an image
// at or after P. Proof: s >= P means that (3) comes after (B) in the order of reservations, and that order is
// one of acquire and release (read-modify-writes of one word, or a lock); so (A) happens before (4), and c is
// at least A's value; being even it is at least D's; so (1) read D's store or a later one with acquire, and
// (2) sees C.
//
// A record kept at s < P with redo = P seen early has an image it did not need, nothing worse. One kept at s
// < P with the old redo is not replayed from P on; its page was marked dirty before (rules of insertion), so
// the checkpoint that made P writes it.
template <class Method>
Lsn Log::insert_by(Method method, const RecordBuilder& record, Xid xid, Lsn& start) noexcept {
  const bool depends = RecordAssembler::depends_on_redo(record);
  for (;;) {
    const std::uint64_t counter = settled_redo_counter();
    const ImagePolicy policy{Lsn{shared_->redo.load(std::memory_order_relaxed)},
                             shared_->full_page_writes.load(std::memory_order_relaxed) != 0,
                             settings_.compression};
    Assembled assembled;
    InsertionSlot* slot;
    if constexpr (Method::kAssembleUnderLock) {
      slot = &method.begin();
      assembled = RecordAssembler::assemble(record, xid, policy, scratch_);
    } else {
      assembled = RecordAssembler::assemble(record, xid, policy, scratch_);
      slot = &method.begin();
    }
    const std::uint64_t at = method.reserve(assembled.size_bytes);
    failpoint::hit("wal-insert-reserved");
    if (depends && shared_->redo_counter.load(std::memory_order_acquire) != counter) [[unlikely]] {
      fill_with_padding(*slot, at, assembled.size_bytes);
      method.end();
      continue;
    }
    // If the process dies from here to end(), the record is not whole: filled_position() stays below it, so
    // nothing after it is called durable, and the launcher restarts the cluster from what is on disk.
    put_sealed(*slot, at, assembled.size_bytes, assembled.content_hash);
    method.end();

    shm::count(shm::Counter::kWalRecords);
    shm::count(shm::Counter::kWalBytes, assembled.size_bytes);
    if (assembled.image_count != 0) shm::count(shm::Counter::kWalFullPageImages, assembled.image_count);
    note_progress(at, at + assembled.size_bytes);
    start = Lsn{at};
    return Lsn{at + assembled.size_bytes};
  }
}

Lsn Log::insert(const RecordBuilder& record, Xid xid) noexcept {
  Lsn start;
  if (method_ == InsertMethod::kReserve) [[likely]] {
    return insert_by(ReserveInsert{*shared_, my_slot_}, record, xid, start);
  }
  return with_method([&](auto method) { return insert_by(method, record, xid, start); });
}

template <class Method>
Lsn Log::begin_checkpoint_by(Method method) noexcept {
  const RecordBuilder marker{RmgrId::kXlog, XlogKind::kCheckpointRedo};
  const Assembled assembled = RecordAssembler::assemble(marker, kInvalidXid, ImagePolicy{}, scratch_);
  const std::uint64_t counter = shared_->redo_counter.load(std::memory_order_relaxed);
  DB_ASSERT((counter & 1) == 0);
  shared_->redo_counter.store(counter + 1, std::memory_order_relaxed);  // (A), released by (B)
  InsertionSlot& slot = method.begin();
  const std::uint64_t at = method.reserve(assembled.size_bytes);        // (B)
  shared_->redo.store(at, std::memory_order_relaxed);                   // (C), released by (D)
  shared_->redo_counter.store(counter + 2, std::memory_order_release);  // (D)
  put_sealed(slot, at, assembled.size_bytes, assembled.content_hash);
  method.end();
  return Lsn{at};
}

Lsn Log::begin_checkpoint() noexcept {
  return with_method([&](auto method) { return begin_checkpoint_by(method); });
}

Log::CheckpointPosition Log::log_checkpoint(const CheckpointData& data, bool shutdown) noexcept {
  RecordBuilder record{RmgrId::kXlog, shutdown ? XlogKind::kCheckpointShutdown : XlogKind::kCheckpointOnline};
  record.data(data);
  Lsn start;
  const Lsn end = with_method([&](auto method) { return insert_by(method, record, kInvalidXid, start); });
  flush_to(end);
  return {start, end};
}

template <class Method>
Lsn Log::switch_segment_by(Method method) noexcept {
  const std::uint64_t segment_bytes = files_.segment_bytes();
  InsertionSlot& slot = method.begin();
  std::uint64_t size = 0;
  const std::uint64_t at = method.reserve_by(
      [segment_bytes](std::uint64_t position) -> std::uint64_t {
        const std::uint64_t used = position % segment_bytes;
        if (used == 0) return 0;
        // Less than a header left: the padding reaches a few bytes into the next segment.
        return std::max<std::uint64_t>(segment_bytes - used, sizeof(RecordHeader));
      },
      size);
  if (size != 0) fill_with_padding(slot, at, size);
  method.end();
  return Lsn{at};
}

Lsn Log::switch_segment() noexcept {
  return with_method([&](auto method) { return switch_segment_by(method); });
}

void Log::put_sealed(InsertionSlot& slot, std::uint64_t start, std::uint64_t size,
                     std::uint64_t hash) noexcept {
  DB_ASSERT(start >= files_.segment_bytes());  // else: insertion in recovery
  store(scratch_.data() + offsetof(RecordHeader, checksum), seal_record_hash(hash, Lsn{start}));
  copy_to_ring(slot, start, scratch_.data(), size);
}

void Log::fill_with_padding(InsertionSlot& slot, std::uint64_t start, std::uint64_t size) noexcept {
  while (size != 0) {
    std::uint64_t chunk = std::min<std::uint64_t>(size, kMaxPaddingBytes);
    // What is left must hold a header again.
    if (size != chunk && size - chunk < sizeof(RecordHeader)) chunk -= sizeof(RecordHeader);
    const Assembled padding = RecordAssembler::assemble_padding(chunk, scratch_);
    put_sealed(slot, start, chunk, padding.content_hash);
    start += chunk;
    size -= chunk;
  }
}

void Log::copy_to_ring(InsertionSlot& slot, std::uint64_t at, const std::byte* bytes,
                       std::uint64_t size) noexcept {
  while (size != 0) {
    if (at >= room_until_) [[unlikely]] {
      // What we have filled so far may be written out, even by ourselves: a record longer than the ring gets
      // through in pieces.
      slot.inserting_at.store(at, std::memory_order_release);
      make_room(at);
    }
    const std::uint64_t offset = at % ring_bytes_;
    const std::uint64_t chunk = std::min({size, room_until_ - at, ring_bytes_ - offset});
    std::memcpy(ring_ + offset, bytes, chunk);
    at += chunk;
    bytes += chunk;
    size -= chunk;
  }
}

/// Waits until the ring place of position `at` is free.
///
/// The place is free when what stood there one round earlier is written; the block that holds `written`
/// stays, as the next write begins with it. Somebody can always make progress: of all insertions under way
/// the lowest has nothing unfilled below it, so it can write out everything up to its own position.
void Log::make_room(std::uint64_t at) noexcept {
  bool counted = false;
  for (int spins = 0;; ++spins) {
    const std::uint64_t written = shared_->written.load(std::memory_order_acquire);
    room_until_ = (written & ~(kWriteBlock - 1)) + ring_bytes_;
    if (at < room_until_) return;
    if (!counted) {
      shm::count(shm::Counter::kWalBuffersFull);
      counted = true;
    }
    const shm::WaitEventScope waiting{shm::WaitEvent::kWalBuffersFull};
    if (shared_->write_claim.acquire_or_wait()) {
      const std::uint64_t now = write_filled(ring_bytes_ / 4);
      shared_->write_claim.release();
      // Nothing was filled: an insertion below us is in the middle of its copy.
      if (now == written && spins >= kSpins) sched_yield();
    }
  }
}

void Log::note_progress(std::uint64_t start, std::uint64_t end) noexcept {
  if ((start >> nudge_shift_) != (end >> nudge_shift_)) [[unlikely]] {
    request_process(shared_->flusher.load(std::memory_order_relaxed));
  }
}

}  // namespace pinwheel::wal
