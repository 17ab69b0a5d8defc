#include "txn/commit_sequence.h"

#include <sched.h>

#include <algorithm>
#include <bit>
#include <new>

#include "base/error.h"
#include "base/failpoints.h"
#include "base/file.h"
#include "shm/spin_lock.h"
#include "shm/statistics.h"

namespace pinwheel::txn {

namespace {
constexpr std::string_view kHeaderRegion = "Commit sequence";
constexpr std::string_view kRingRegion = "Commit sequence ring";
constexpr std::uint64_t kXidsPerSavedFile = clog::kPagesPerSegment * CommitSequence::kXidsPerChunk;
/// Looks at a commit half published before the processor is given away: its owner may need it.
constexpr int kSpins = 100;

std::size_t ring_words(const CommitSequenceOptions& options) {
  return std::bit_ceil(std::max<std::size_t>(4096, options.slots));
}
}  // namespace

clog::SlruOptions CommitSequence::saved_options(const CommitSequenceOptions& options) {
  return {.name = "CommitSequence",
          .directory = options.data_directory + "/pg_csn",
          .subject = "commit sequence number of transaction",
          .tranche = shm::Tranche::kSubtrans,
          .buffers = 32,
          .banks = 2,
          .hits = shm::Counter::kCsnHits,
          .reads = shm::Counter::kCsnReads};
}

void CommitSequence::declare(shm::RegionBuilder& builder, const CommitSequenceOptions& options) {
  builder.add_array<Header>(kHeaderRegion, 1);
  builder.add_array<std::atomic<std::uint64_t>>(kRingRegion, ring_words(options));
  clog::Slru::declare(builder, saved_options(options));
}

CommitSequence::CommitSequence(const shm::Segment& segment, const CommitSequenceOptions& options)
    : directory_{saved_options(options).directory},
      header_{segment.as<Header>(kHeaderRegion)},
      ring_{segment.as<std::atomic<std::uint64_t>>(kRingRegion)},
      ring_mask_{ring_words(options) - 1},
      saved_{segment, saved_options(options), nullptr} {}

// ---- Reading ----

std::uint64_t CommitSequence::load_saved_word(Xid xid) {
  const auto forgotten = [&] { return xid.value < header_->kept_from.load(std::memory_order_acquire); };
  if (forgotten()) return kForgotten;
  try {
    const std::uint64_t word = saved_.read_word(xid.value / kXidsPerChunk, place_in_chunk(xid), xid.value);
    // Its page may have been removed before we read it.
    return forgotten() ? kForgotten : word;
  } catch (const SqlError&) {
    if (forgotten()) return kForgotten;
    throw;
  }
}

std::uint64_t CommitSequence::wait_until_settled(Xid xid) {
  shm::count(shm::Counter::kCsnWaits);
  // A few stores away, unless the committer has lost its processor.
  for (int spins = 0;; ++spins) {
    const std::uint64_t word = load_word(xid);
    if (word != kCommitting) return word;
    if (spins < kSpins) {
      shm::cpu_pause();
    } else {
      sched_yield();
    }
  }
}

// ---- Committing ----

void CommitSequence::publish(Xid top, std::span<const Xid> subxids) noexcept {
  // The marks come before the number is taken: whoever takes a snapshot that includes the number then meets a
  // mark or the number, never "not committed". If we die in between, the segment goes.
  for (const Xid xid : subxids) word_in_ring(xid).store(kCommitting, std::memory_order_relaxed);
  word_in_ring(top).store(kCommitting, std::memory_order_relaxed);
  failpoint::hit("csn_marked");
  const std::uint64_t csn = header_->last.fetch_add(1, std::memory_order_seq_cst) + 1;
  failpoint::hit("csn_numbered");
  for (const Xid xid : subxids) word_in_ring(xid).store(csn, std::memory_order_release);
  word_in_ring(top).store(csn, std::memory_order_release);
}

void CommitSequence::publish_old(Xid top, std::span<const Xid> subxids) noexcept {
  try {
    // Nothing moves meanwhile, so each xid has one place.
    shm::ExclusiveGuard guard{header_->move_latch};
    for (const Xid xid : subxids) store_old_word(xid, kCommitting);
    store_old_word(top, kCommitting);
    const std::uint64_t csn = header_->last.fetch_add(1, std::memory_order_seq_cst) + 1;
    for (const Xid xid : subxids) store_old_word(xid, csn);
    store_old_word(top, csn);
  } catch (const SqlError& error) {
    DB_PANIC(error.message() + ": " + error.fields().detail);
  }
}

void CommitSequence::store_old_word(Xid xid, std::uint64_t word) {
  if (xid.value >= header_->tail.load(std::memory_order_relaxed)) {
    word_in_ring(xid).store(word, std::memory_order_release);
    return;
  }
  saved_.update<shm::LatchMode::kShared>(
      xid.value / kXidsPerChunk, xid.value,
      [&](std::span<std::atomic<std::uint64_t>> words) { words[place_in_chunk(xid)].exchange(word); });
}

void CommitSequence::raise_oldest(Xid oldest) noexcept {
  std::uint64_t seen = header_->oldest.load(std::memory_order_relaxed);
  while (seen < oldest.value && !header_->oldest.compare_exchange_weak(seen, oldest.value)) {
  }
}

// ---- Moving the ring ----

Xid CommitSequence::start(Xid next) {
  if (!file_exists(directory_)) make_directory(directory_);
  saved_.reset();
  const std::uint64_t first = next.value / kXidsPerChunk * kXidsPerChunk;
  header_->tail.store(first, std::memory_order_relaxed);
  header_->moved_until.store(first, std::memory_order_relaxed);
  header_->kept_from.store(next.value, std::memory_order_relaxed);
  header_->oldest.store(next.value, std::memory_order_seq_cst);
  return Xid{first + kXidsPerChunk};
}

std::optional<Xid> CommitSequence::begin_move(Xid first) noexcept {
  const std::uint64_t end = first.value + kXidsPerChunk;
  const std::uint64_t size = ring_mask_ + 1;
  if (end <= header_->tail.load(std::memory_order_relaxed) + size) return {};
  header_->moved_until.store(end - size, std::memory_order_seq_cst);
  return Xid{end - size};
}

Xid CommitSequence::finish_move(Xid first, Xid horizon) {
  const std::uint64_t old_tail = header_->tail.load(std::memory_order_relaxed);
  const std::uint64_t tail = header_->moved_until.load(std::memory_order_relaxed);
  if (tail > old_tail) {
    const std::uint64_t kept_from = std::min(horizon.value, tail);
    if (kept_from < tail) {
      for (std::uint64_t at = old_tail; at < tail; at += kXidsPerChunk) save_chunk(Xid{at});
    }
    if (kept_from > header_->kept_from.load(std::memory_order_relaxed)) {
      header_->kept_from.store(kept_from, std::memory_order_release);
    }
    header_->tail.store(tail, std::memory_order_release);
    // Whole files only; a reader that comes too late finds kept_from raised.
    const std::uint64_t files_from = kept_from / kXidsPerSavedFile * kXidsPerSavedFile;
    if (header_->saved_from < files_from) {
      saved_.truncate(files_from / kXidsPerChunk);
      header_->saved_from = kept_from < tail ? files_from : kMaxXid.value;
    }
  }
  // After the tail, for load_word().
  std::atomic<std::uint64_t>* words = chunk(first);
  for (std::uint64_t i = 0; i < kXidsPerChunk; ++i) words[i].store(kNotCommitted, std::memory_order_release);
  return Xid{first.value + kXidsPerChunk};
}

void CommitSequence::save_chunk(Xid first) {
  const std::uint64_t page = first.value / kXidsPerChunk;
  const std::atomic<std::uint64_t>* from = chunk(first);
  saved_.zero_page(page);
  saved_.update<shm::LatchMode::kExclusive>(
      page, first.value, [&](std::span<std::atomic<std::uint64_t>> words) {
        for (std::uint64_t i = 0; i < kXidsPerChunk; ++i) {
          words[i].store(from[i].load(std::memory_order_acquire), std::memory_order_release);
        }
      });
  header_->saved_from = std::min(header_->saved_from, first.value);
  shm::count(shm::Counter::kCsnPagesSaved);
}

}  // namespace pinwheel::txn
