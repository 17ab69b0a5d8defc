// Write-back of a relation, or of all that a checkpoint must write.
#include <algorithm>
#include <cstring>
#include <vector>

#include "shm/interrupts.h"
#include "storage/buffer/buffer_pool_internal.h"
#include "storage/buffer/mapping_table.h"
#include "wal/log.h"

namespace pinwheel::storage {

using namespace buffer_state;

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
  WriteBatch batch{*this};
  for (std::size_t i = 0; i < frame_count_; ++i) {
    const BufferId buffer{static_cast<std::uint32_t>(i)};
    BufferDescriptor& d = at(buffer);
    if ((d.state.load(std::memory_order_relaxed) & kDirty) == 0) continue;
    const PageTag tag = d.tag.load();
    if (!matches(tag) || !try_pin(buffer, tag)) continue;
    batch.add(Pin{this, buffer, frame(buffer)}, true);
  }
  batch.finish();
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
  WriteBatch batch{*this};
  std::vector<PageTag> added;  // since the batch was empty
  for (const Dirty& page : pages) {
    ++done;
    // Cleared: written by somebody since, or dropped.
    if ((at(page.buffer).state.load(std::memory_order_acquire) & kCheckpointNeeded) != 0 &&
        try_pin(page.buffer, page.tag)) {
      batch.add(Pin{this, page.buffer, frame(page.buffer)}, true);
      added.push_back(page.tag);
      ++written;
    }
    if (done == pages.size()) batch.finish();
    // The pacer may sleep: nobody shall wait meanwhile for pages that are staged.
    if (!batch.empty()) continue;
    for (const PageTag& tag : added) hints.wrote(tag);
    added.clear();
    if (pacer != nullptr) pacer->page_written(done, pages.size());
  }
  return written;
}

}  // namespace pinwheel::storage
