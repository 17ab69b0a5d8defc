#include "wal/log.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <new>

#include "base/error.h"
#include "wal/log_shared.h"

namespace pinwheel::wal {
namespace {

constexpr std::string_view kControlRegion = "WAL control";
constexpr std::string_view kBuffersRegion = "WAL buffers";
constexpr std::size_t kFirstScratchBytes = 4 * kPageSize;

std::uint32_t slot_count(const LogOptions& options) {
  switch (options.insert_method) {
    case InsertMethod::kReserve:
      return std::max(1u, options.process_capacity);
    case InsertMethod::kSlots:
      return std::max(1u, options.insert_locks);
    case InsertMethod::kSingleLock:
      return 1;
  }
  return 1;
}

std::uint64_t ring_bytes(const LogOptions& options) {
  return std::uint64_t{std::max(4u, options.buffer_pages)} * kPageSize;
}

void create_control(std::byte* at, const LogOptions& options) {
  auto* shared = new (at) LogShared;
  shared->slot_count = slot_count(options);
  shared->session_count = std::max(1u, options.session_capacity);
  shared->wait_word_count = shared->session_count / 64 + 1;
  shared->sync_method.store(static_cast<std::uint8_t>(options.sync_method), std::memory_order_relaxed);
  // Locked methods use their slots from the start; with `reserve` each process raises the mark as it
  // attaches.
  if (options.insert_method != InsertMethod::kReserve) shared->slot_high_water = shared->slot_count;
  for (std::uint32_t i = 0; i < shared->slot_count; ++i) new (shared->slots() + i) InsertionSlot;
  for (std::uint32_t i = 0; i < shared->session_count; ++i) new (shared->waits() + i) CommitWait;
  for (std::uint32_t i = 0; i < shared->wait_word_count; ++i) {
    new (shared->waiting() + i) std::atomic<std::uint64_t>{0};
  }
}

void raise(std::atomic<std::uint32_t>& mark, std::uint32_t value) noexcept {
  std::uint32_t seen = mark.load(std::memory_order_relaxed);
  while (seen < value && !mark.compare_exchange_weak(seen, value, std::memory_order_acq_rel)) {
  }
}

}  // namespace

std::uint32_t choose_buffer_pages(std::int64_t setting, std::uint64_t shared_buffers_pages,
                                  std::uint32_t segment_bytes) noexcept {
  if (setting >= 0) return static_cast<std::uint32_t>(std::max<std::int64_t>(setting, 4));
  const std::uint64_t most = segment_bytes / kPageSize;
  return static_cast<std::uint32_t>(std::clamp<std::uint64_t>(shared_buffers_pages / 32, 8, most));
}

void Log::declare(shm::RegionBuilder& builder, const LogOptions& options) {
  builder.add_region(kControlRegion,
                     LogShared::region_bytes(slot_count(options), std::max(1u, options.session_capacity)),
                     kCacheLine, [options](std::byte* at) { create_control(at, options); });
  builder.add_region(kBuffersRegion, ring_bytes(options), 4096);
}

Log::Log(const shm::Segment& segment, const LogOptions& options, shm::ProcessTable* processes,
         const shm::SessionTable* sessions)
    : files_{options.data_directory, options.segment_bytes, options.system_identifier},
      shared_{segment.as<LogShared>(kControlRegion)},
      ring_{segment.find(kBuffersRegion)},
      ring_bytes_{ring_bytes(options)},
      my_slot_{nullptr},
      processes_{processes},
      sessions_{sessions},
      method_{options.insert_method},
      nudge_shift_{static_cast<unsigned>(std::bit_width(ring_bytes_ / 4)) - 1} {
  scratch_.resize(kFirstScratchBytes);
  if (method_ == InsertMethod::kReserve) {
    const std::uint32_t index = shm::self().slot == nullptr ? 0 : shm::self().index.value;
    DB_ASSERT(index < shared_->slot_count);
    my_slot_ = shared_->slots() + index;
    raise(shared_->slot_high_water, index + 1);
  } else if (shm::self().slot != nullptr) {
    preferred_lock_ = shm::self().index.value % shared_->slot_count;
  }
}

Log::~Log() = default;

Lsn Log::insert_position() const noexcept { return Lsn{shared_->reserved.load(std::memory_order_acquire)}; }
Lsn Log::flushed_position() const noexcept { return Lsn{shared_->flushed.load(std::memory_order_acquire)}; }
Lsn Log::written_position() const noexcept { return Lsn{shared_->written.load(std::memory_order_acquire)}; }
Lsn Log::redo_position() const noexcept { return Lsn{shared_->redo.load(std::memory_order_acquire)}; }
bool Log::in_recovery() const noexcept {
  return shared_->flushed.load(std::memory_order_acquire) == kInRecovery;
}

void Log::set_full_page_writes(bool on) noexcept {
  shared_->full_page_writes.store(on ? 1 : 0, std::memory_order_release);
}
bool Log::full_page_writes() const noexcept {
  return shared_->full_page_writes.load(std::memory_order_acquire) != 0;
}

void Log::set_sibling_counter(SiblingCounter counter, void* owner) noexcept {
  sibling_counter_ = counter;
  sibling_owner_ = owner;
}

void Log::become_flusher() noexcept {
  DB_ASSERT(shm::self().slot != nullptr);
  shared_->flusher.store(shm::self().index.value, std::memory_order_seq_cst);
}

void Log::become_checkpointer() noexcept {
  DB_ASSERT(shm::self().slot != nullptr);
  shared_->checkpointer.store(shm::self().index.value, std::memory_order_seq_cst);
}

void Log::set_positions(Lsn end, Lsn redo) noexcept {
  shared_->redo.store(redo.value, std::memory_order_relaxed);
  shared_->reserved.store(end.value, std::memory_order_relaxed);
  shared_->requested.store(0, std::memory_order_relaxed);
  shared_->written.store(end.value, std::memory_order_relaxed);
  // Last: it ends recovery.
  shared_->flushed.store(end.value, std::memory_order_release);
  known_flushed_ = 0;
  room_until_ = 0;
  last_redo_ = redo.value;
}

void Log::start_new() {
  files_.create(1);
  const Lsn first = first_lsn(files_.segment_bytes());
  set_positions(first, first);
}

void Log::start_after_recovery(Lsn end, Lsn redo, bool clean_shutdown) {
  if (!clean_shutdown) files_.truncate_after(end);
  files_.remove_leftovers();
  // Writes are whole blocks, so the front of the last block must be in the ring again.
  const Lsn block{end.value & ~(kWriteBlock - 1)};
  if (block != end) {
    const std::optional<File> file = files_.open_for_read(files_.segment_of(block));
    DB_ASSERT(file.has_value());
    file->read_exactly_at(kSegmentHeaderBytes + block.value % files_.segment_bytes(),
                          {ring_ + block.value % ring_bytes_, end - block});
  }
  set_positions(end, redo);
}

}  // namespace pinwheel::wal
