// Pages to their files, one or a batch at a time.
#include <algorithm>
#include <cstring>

#include "shm/interrupts.h"
#include "storage/buffer/buffer_pool_internal.h"
#include "wal/log.h"

namespace pinwheel::storage {

using namespace buffer_state;

/// On kStaged `copy` holds the page with its checksum, and we have I/O in progress on the frame.
BufferPool::Staging BufferPool::stage_write(BufferId buffer, bool wait_for_io, bool wait_for_latch,
                                            PageBytes copy) noexcept {
  if (wait_for_io) {
    if (!start_io(buffer, false)) return Staging::kClean;
  } else {
    std::uint64_t seen = at(buffer).state.load(std::memory_order_acquire);
    do {
      if ((seen & kIoInProgress) != 0) return Staging::kBusy;
      if ((seen & kDirty) == 0) return Staging::kClean;
    } while (!at(buffer).state.compare_exchange_weak(seen, seen | kIoInProgress, std::memory_order_acq_rel));
  }
  // Who holds the latch may wait for a frame that another process holds while it waits for us: victims are
  // not waited for. A process that has I/O here and waits for the latch is safe: no latch holder waits for
  // I/O on a page that is valid.
  if (wait_for_latch) {
    latch_shared(buffer);
  } else if (!try_latch_shared(buffer)) {
    end_io(buffer, 0, 0);
    return Staging::kBusy;
  }
  at(buffer).state.fetch_and(~kJustDirtied, std::memory_order_acq_rel);
  std::memcpy(copy.data(), frame(buffer), kPageSize);
  unlatch_shared(buffer, 0);
  if (options_.data_checksums) set_checksum(copy, at(buffer).tag.load().page);
  return Staging::kStaged;
}

/// Ends the I/O on every page, whether it was written or not.
void BufferPool::write_staged(std::span<const StagedPage> pages) {
  std::size_t written = 0;
  try {
    Lsn last{0};
    for (const StagedPage& page : pages) last = std::max(last, ConstPage{page.copy}.lsn());
    // The log first: a crash after the page's write must find the records that explain it.
    if (is_valid(last) && !log_.is_durable(last)) log_.flush_to(last);
    const shm::WaitEventScope waiting{shm::WaitEvent::kDataFileWrite};
    const IoTimer timer{timed_, shm::Counter::kWriteNs, shm::SessionCounter::kWriteNs};
    // If the process dies from here on, a page that is half written has its copy.
    if (double_write_ != nullptr) double_write_->save(pages);
    for (const StagedPage& page : pages) {
      files_.write(page.tag, ConstPageBytes{page.copy, kPageSize});
      shm::count(write_counter_);
      ++written;
      end_io(page.buffer, 0, kDirty | kCheckpointNeeded | kIoError);
    }
  } catch (...) {
    if (double_write_ != nullptr) double_write_->note_failure();
    for (const StagedPage& page : pages.subspan(written)) end_io(page.buffer, kIoError, 0);
    throw;
  }
}

bool BufferPool::write_pinned(BufferId buffer, bool wait) {
  const Staging staging = stage_write(buffer, true, wait, PageBytes{write_copy_.get(), kPageSize});
  if (staging != Staging::kStaged) return staging == Staging::kClean;
  const StagedPage page{at(buffer).tag.load(), buffer, write_copy_.get()};
  write_staged({&page, 1});
  return true;
}

BufferPool::WriteBatch::WriteBatch(BufferPool& pool)
    : pool_{pool}, capacity_{pool.double_write_ != nullptr ? DoubleWrite::kBatch : 1} {
  if (capacity_ > 1) own_copies_ = std::make_unique<std::byte[]>(capacity_ * kPageSize);
  copies_ = own_copies_ ? own_copies_.get() : pool.write_copy_.get();
  staged_.reserve(capacity_);
  pins_.reserve(capacity_);
}

BufferPool::WriteBatch::~WriteBatch() {
  for (const StagedPage& page : staged_) pool_.end_io(page.buffer, kIoError, 0);
}

bool BufferPool::WriteBatch::add(Pin pin, bool wait) {
  const BufferId buffer = pin.buffer();
  const auto stage = [&] {
    std::byte* const copy = copies_ + staged_.size() * kPageSize;
    const Staging staging = pool_.stage_write(buffer, staged_.empty(), wait, PageBytes{copy, kPageSize});
    if (staging == Staging::kStaged) {
      staged_.push_back({pin.tag(), buffer, copy});
      pins_.push_back(std::move(pin));
    }
    return staging;
  };
  Staging staging = stage();
  if (staging == Staging::kBusy && !staged_.empty()) {
    finish();
    staging = stage();
  }
  if (staged_.size() == capacity_) finish();
  return staging != Staging::kBusy;
}

void BufferPool::WriteBatch::finish() {
  if (staged_.empty()) return;
  // write_staged() ends the I/O even when it throws.
  const struct Emptier {
    WriteBatch& batch;
    ~Emptier() {
      batch.staged_.clear();
      batch.pins_.clear();
    }
  } emptier{*this};
  pool_.write_staged(staged_);
}

}  // namespace pinwheel::storage
