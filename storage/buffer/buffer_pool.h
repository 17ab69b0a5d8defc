#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "base/ids.h"
#include "shm/segment.h"
#include "shm/statistics.h"
#include "storage/buffer/buffer_ring.h"
#include "storage/buffer/descriptor.h"
#include "storage/buffer/page_guard.h"
#include "storage/buffer/relation_io.h"
#include "storage/buffer/replacement_policy.h"
#include "storage/file/relation_files.h"

namespace pinwheel::wal {
class Log;
}

namespace pinwheel::storage {

class DoubleWrite;
class Freelist;
class MappingTable;
struct StagedPage;

struct BufferPoolOptions {
  std::size_t frames = 16'384;           // shared_buffers, in pages
  std::size_t mapping_partitions = 128;  // buffer_mapping_partitions; a power of two
  Replacement replacement = Replacement::kAtomicClock;
  bool freelist_refill = true;             // buffer_freelist = refill
  double freelist_high_watermark = 0.005;  // share of the frames
  double freelist_low_watermark = 0.2;     // share of the high mark
  std::size_t freelist_partitions = 1;
  bool data_checksums = true;
  int bgwriter_max_pages = 100;      // bgwriter_lru_maxpages
  double bgwriter_multiplier = 2.0;  // bgwriter_lru_multiplier
  /// torn_page_protection = double_write: areas of the double-write files, one for each process; 0 = off.
  std::size_t double_write_areas = 0;
};

/// What to do about the bytes of a page that is not in the pool.
enum class ReadMode : std::uint8_t {
  kNormal,       // read and verify; XX001 when damaged
  kZeroOnError,  // damaged bytes become zeroes: for maps, which only hint
  kZero,         // do not read: the caller overwrites everything (redo)
};

/// One frame as pg_buffercache shows it; a snapshot of words that may change meanwhile.
struct FrameView {
  PageTag tag;
  bool dirty = false;
  std::uint32_t usage_count = 0;
  std::uint32_t pin_count = 0;
};

/// What evict_all did, in frames.
struct EvictedFrames {
  std::size_t evicted = 0;
  std::size_t flushed = 0;  // of these, dirty before
  std::size_t skipped = 0;  // pinned, or being read or written
};

/// What run_bgwriter_once did.
struct BgwriterRound {
  std::size_t refilled = 0;
  std::size_t written = 0;
  bool idle = false;  // nothing was asked for since the last round
};

/// Paces a checkpoint's writes: called after each page with pages written and pages to write.
class FlushPacer {
 public:
  virtual ~FlushPacer() = default;
  virtual void page_written(std::size_t done, std::size_t total) = 0;
};

/// The pages of all relations in shared frames, by tag. One object per process over the shared regions; many
/// sessions use it. Rules: storage/buffer/README.md.
///
/// Errors of every function that may read: 58030 when the system cannot read, XX001 when a page is damaged
/// (`invalid page in block N of relation base/5/16384`) or beyond the end, 53000 when every frame is pinned.
/// The frame is not lost by an error: the next reader tries again.
class BufferPool {
 public:
  static void declare(shm::RegionBuilder& builder, const BufferPoolOptions& options);
  BufferPool(const shm::Segment& segment, const BufferPoolOptions& options, RelationFiles& files,
             wal::Log& log);
  ~BufferPool();
  BufferPool(const BufferPool&) = delete;
  BufferPool& operator=(const BufferPool&) = delete;

  // ---- pages ----

  /// Pins and latches shared: one compare-exchange when the page is in the pool.
  ReadGuard read_page(const PageTag& tag, BufferRing* ring = nullptr, ReadMode mode = ReadMode::kNormal);
  /// Pins and latches exclusively.
  WriteGuard write_page(const PageTag& tag, BufferRing* ring = nullptr, ReadMode mode = ReadMode::kNormal);
  Pin pin(const PageTag& tag, BufferRing* ring = nullptr, ReadMode mode = ReadMode::kNormal);
  /// Nothing when the page is not in the pool or is being changed: take read_page then.
  OptimisticRead optimistic_read(const PageTag& tag) noexcept;

  /// Adds one page of zeroes at the end of a fork, latched exclusively. The caller initialises and logs it.
  /// Nobody waits: numbers are handed out by an addition. Errors: 53100, 54000 when the relation is full.
  WriteGuard extend(FileId file, Fork fork, BufferRing* ring = nullptr);

  /// Asks the system to read the page ahead, unless it is in the pool.
  void prefetch(const PageTag& tag) noexcept;
  bool is_cached(const PageTag& tag) noexcept;

  // ---- whole relations; the caller's locks keep others from using the pages ----

  /// Forgets pages from `from` on, dirty or not: before truncation.
  void drop_pages(FileId file, Fork fork, PageNumber from) noexcept;
  /// Forgets all forks: before unlinking.
  void drop_relation(FileId file) noexcept;
  void drop_database(Oid database) noexcept;
  /// Writes all dirty pages of all forks of a relation.
  void flush_relation(FileId file);
  void flush_database(Oid database);

  // ---- background ----

  /// Writes every page that was dirty when called (sorted by file and block). Pages that were never logged
  /// (LSN 0: unlogged relations, free-space maps) only if `include_unlogged`. Returns pages written.
  std::size_t flush_all(bool include_unlogged, FlushPacer* pacer);
  /// One round of the background writer: refills the freelist to its high mark if it fell below the low one,
  /// then cleans frames ahead of the clock.
  BgwriterRound run_bgwriter_once();

  // ---- inspection ----

  /// What a frame holds; nothing when it holds no page.
  std::optional<FrameView> inspect(BufferId buffer) const noexcept;
  /// Takes the frame's page out of the pool, written first if it is dirty; the frame becomes free. False when
  /// it holds none, or is in use.
  bool evict(BufferId buffer);
  EvictedFrames evict_all();

  // ---- facts and settings ----

  std::size_t frame_count() const noexcept { return frame_count_; }
  /// Which counter this process's page writes add to (bgwriter, checkpointer).
  void set_write_counter(shm::Counter counter) noexcept { write_counter_ = counter; }
  /// How allocations wake the background writer when free frames run low.
  void set_refill_waker(void (*waker)(void*), void* context) noexcept;
  /// Setting bgwriter_lru_maxpages and the like may change at a reload.
  BufferPoolOptions& options() noexcept { return options_; }
  /// Frames now on the freelist.
  std::size_t free_frames() const noexcept;
  const BufferDescriptor& descriptor(BufferId buffer) const noexcept { return descriptors_[buffer.value]; }
  RelationFiles& files() noexcept { return files_; }
  /// Null unless pages are written twice.
  DoubleWrite* double_write() noexcept { return double_write_.get(); }
  RelationIo& relation_io() noexcept { return io_; }
  /// Whether reads and writes of files are timed (track_io_timing of the server).
  void set_timed(bool timed) noexcept { timed_ = timed; }
  wal::Log& log() noexcept { return log_; }

 private:
  template <LatchMode>
  friend class PageGuard;
  friend class Pin;

  std::byte* frame(BufferId buffer) const noexcept { return frames_ + std::size_t{buffer.value} * kPageSize; }
  BufferDescriptor& at(BufferId buffer) const noexcept { return descriptors_[buffer.value]; }

  // buffer_pool.cc: finding and installing pages
  BufferId pin_frame(const PageTag& tag, BufferRing* ring, ReadMode mode);
  BufferId pin_cached(const PageTag& tag, std::uint32_t hash) noexcept;
  bool try_pin(BufferId buffer, const PageTag& tag) noexcept;
  BufferId install(const PageTag& tag, std::uint32_t hash, BufferRing* ring, bool& found);
  void load(BufferId buffer, const PageTag& tag, const BufferRing* ring, ReadMode mode);
  void count_hit(const PageTag& tag, const BufferRing* ring) noexcept;
  void pin_again(BufferId buffer) noexcept;
  void unpin(BufferId buffer) noexcept;

  // buffer_latch.cc: content latches and I/O waits
  /// Take the latch, and `pins` more pins (the caller has one) in the same step.
  void latch_shared(BufferId buffer, std::uint64_t pins = 0) noexcept;
  void latch_exclusive(BufferId buffer, std::uint64_t pins = 0) noexcept;
  bool try_latch_shared(BufferId buffer) noexcept;
  bool try_latch_exclusive(BufferId buffer) noexcept;
  /// Gives up the latch, and `pins` pins in the same step.
  void unlatch_shared(BufferId buffer, std::uint64_t pins) noexcept;
  void unlatch_exclusive(BufferId buffer, std::uint64_t pins) noexcept;
  bool start_io(BufferId buffer, bool for_input) noexcept;
  void end_io(BufferId buffer, std::uint64_t set, std::uint64_t clear) noexcept;
  void wait_for_io(BufferDescriptor& descriptor) noexcept;
  void set_dirty(BufferId buffer) noexcept;

  // buffer_evict.cc: victims
  BufferId take_victim(BufferRing* ring);
  BufferId claim_from_ring(BufferRing& ring) noexcept;
  bool clean_and_evict(BufferId buffer, BufferRing* ring);
  bool evict_claimed(BufferId buffer) noexcept;
  void free_victim(BufferId buffer) noexcept;

  // buffer_write.cc: one page, or a batch of pages, to its file
  /// Writes a pinned page if it is dirty. With `wait` false gives up (false) when its latch is taken.
  bool write_pinned(BufferId buffer, bool wait);
  class WriteBatch;
  enum class Staging : std::uint8_t { kStaged, kClean, kBusy };
  Staging stage_write(BufferId buffer, bool wait_for_io, bool wait_for_latch, PageBytes copy) noexcept;
  void write_staged(std::span<const StagedPage> pages);

  // buffer_flush.cc: write-back of many
  template <class Matches>
  void flush_matching(Matches matches);

  // buffer_drop.cc
  template <class Matches>
  void drop_matching(Matches matches) noexcept;
  void discard(BufferId buffer, const PageTag& tag) noexcept;
  void discard_page(const PageTag& tag) noexcept;

  // buffer_background.cc
  std::size_t refill_freelist();
  std::size_t clean_ahead();
  std::size_t clean_upcoming(std::size_t look_at, std::size_t most);

  struct Clean;  // what this process remembers between rounds of cleaning

  BufferDescriptor* descriptors_;
  std::byte* frames_;
  std::size_t frame_count_;
  BufferPoolOptions options_;
  RelationFiles& files_;
  wal::Log& log_;
  std::unique_ptr<MappingTable> mapping_;
  std::unique_ptr<ReplacementPolicy> policy_;
  std::unique_ptr<Freelist> freelist_;
  std::unique_ptr<Clean> clean_;
  std::unique_ptr<DoubleWrite> double_write_;
  /// The copy of a page that is being written: nobody parks during a write, so one serves all sessions.
  std::unique_ptr<std::byte[]> write_copy_;
  shm::Counter write_counter_ = shm::Counter::kBufferWritesByBackend;
  bool timed_ = false;
  RelationIo io_;
};

}  // namespace pinwheel::storage
