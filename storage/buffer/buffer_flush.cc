// Write-back: one page, a relation, or all that a checkpoint must write.
#include <algorithm>
#include <cstring>
#include <vector>

#include "shm/interrupts.h"
#include "storage/buffer/buffer_pool_internal.h"
#include "storage/buffer/mapping_table.h"
#include "wal/log.h"

namespace pinwheel::storage {

using namespace buffer_state;

bool BufferPool::write_pinned(BufferId buffer, bool wait) {
  if (!start_io(buffer, false)) return true;
  // Who holds the latch may wait for a frame that another process holds while it waits for us: victims are
  // not waited for. A process that has I/O here and waits for the latch is safe: no latch holder waits for
  // I/O on a page that is valid.
  if (wait) {
    latch_shared(buffer);
  } else if (!try_latch_shared(buffer)) {
    end_io(buffer, 0, 0);
    return false;
  }
  at(buffer).state.fetch_and(~kJustDirtied, std::memory_order_acq_rel);
  std::memcpy(write_copy_.get(), frame(buffer), kPageSize);
  unlatch_shared(buffer, 0);

  const PageTag tag = at(buffer).tag.load();
  const PageBytes copy{write_copy_.get(), kPageSize};
  try {
    const Lsn lsn = Page{copy.data()}.lsn();
    // The log first: a crash after the page's write must find the records that explain it.
    if (is_valid(lsn) && !log_.is_durable(lsn)) log_.flush_to(lsn);
    if (options_.data_checksums) set_checksum(copy, tag.page);
    shm::WaitEventScope waiting{shm::WaitEvent::kDataFileWrite};
    files_.write(tag, copy);
  } catch (...) {
    end_io(buffer, kIoError, 0);
    throw;
  }
  shm::count(write_counter_);
  end_io(buffer, 0, kDirty | kCheckpointNeeded | kIoError);
  return true;
}

namespace {

/// Tells the system in time what a checkpoint has written, in runs of up to 256 kB (as
/// checkpoint_flush_after).
class WritebackHints {
 public:
  explicit WritebackHints(RelationFiles& files) noexcept : files_{files} {}
  ~WritebackHints() { flush(); }
  WritebackHints(const WritebackHints&) = delete;
  WritebackHints& operator=(const WritebackHints&) = delete;

  void wrote(const PageTag& tag) noexcept {
    const bool goes_on = pages_ != 0 && tag.file == first_.file && tag.fork == first_.fork &&
                         tag.page.value / kPagesPerSegment == first_.page.value / kPagesPerSegment;
    if (!goes_on) {
      flush();
      first_ = tag;
    }
    last_ = tag.page;
    if (++pages_ == kRun) flush();
  }

 private:
  static constexpr std::uint32_t kRun = 32;
  void flush() noexcept {
    if (pages_ != 0) {
      files_.start_writeback(first_, last_.value - first_.page.value + 1);
      shm::count(shm::Counter::kBufferWritebacks, pages_);
    }
    pages_ = 0;
  }

  RelationFiles& files_;
  PageTag first_;
  PageNumber last_;
  std::uint32_t pages_ = 0;
};

}  // namespace

template <class Matches>
void BufferPool::flush_matching(Matches matches) {
  for (std::size_t i = 0; i < frame_count_; ++i) {
    const BufferId buffer{static_cast<std::uint32_t>(i)};
    BufferDescriptor& d = at(buffer);
    if ((d.state.load(std::memory_order_relaxed) & kDirty) == 0) continue;
    const PageTag tag = d.tag.load();
    if (!matches(tag) || !try_pin(buffer, tag)) continue;
    const Pin pin{this, buffer, frame(buffer)};
    write_pinned(buffer, true);
  }
}

void BufferPool::flush_relation(FileId file) {
  flush_matching([file](const PageTag& tag) { return tag.file == file; });
}

void BufferPool::flush_database(Oid database) {
  flush_matching([database](const PageTag& tag) { return tag.file.database == database; });
}

std::size_t BufferPool::flush_all(bool include_unlogged, FlushPacer* pacer) {
  struct Dirty {
    PageTag tag;
    BufferId buffer;
  };
  std::vector<Dirty> pages;
  for (std::size_t i = 0; i < frame_count_; ++i) {
    const BufferId buffer{static_cast<std::uint32_t>(i)};
    BufferDescriptor& d = at(buffer);
    std::uint64_t seen = d.state.load(std::memory_order_acquire);
    if ((seen & kDirty) == 0) continue;
    // A racy look at the LSN is enough: a page that is logged for the first time just now is logged after the
    // redo point. Whoever logged before it holds the latch no more, or has it still and set the page dirty
    // first; then the LSN may be 0 yet: so look under the latch.
    if (!include_unlogged && !is_valid(ConstPage{frame(buffer)}.lsn())) {
      const PageTag tag = d.tag.load();
      if (!try_pin(buffer, tag)) continue;
      const Pin pin{this, buffer, frame(buffer)};
      const ReadGuard guard = pin.read();
      if (!is_valid(guard.page().lsn())) continue;
    }
    seen = d.state.fetch_or(kCheckpointNeeded, std::memory_order_acq_rel);
    if ((seen & kDirty) == 0) {
      d.state.fetch_and(~kCheckpointNeeded, std::memory_order_acq_rel);
      continue;
    }
    pages.push_back({d.tag.load(), buffer});
  }
  std::sort(pages.begin(), pages.end(), [](const Dirty& a, const Dirty& b) {
    if (a.tag.file != b.tag.file) return a.tag.file < b.tag.file;
    if (a.tag.fork != b.tag.fork) return a.tag.fork < b.tag.fork;
    return a.tag.page < b.tag.page;
  });
  std::size_t done = 0;
  std::size_t written = 0;
  WritebackHints hints{files_};
  for (const Dirty& page : pages) {
    ++done;
    // Cleared: written by somebody since, or dropped.
    if ((at(page.buffer).state.load(std::memory_order_acquire) & kCheckpointNeeded) != 0 &&
        try_pin(page.buffer, page.tag)) {
      const Pin pin{this, page.buffer, frame(page.buffer)};
      write_pinned(page.buffer, true);
      hints.wrote(page.tag);
      ++written;
    }
    if (pacer != nullptr) pacer->page_written(done, pages.size());
  }
  return written;
}

}  // namespace pinwheel::storage
