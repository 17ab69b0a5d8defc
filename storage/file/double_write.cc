#include "storage/file/double_write.h"

#include <fmt/format.h>
#include <sys/uio.h>

#include <algorithm>
#include <atomic>
#include <cstring>

#include "base/bytes.h"
#include "base/checksum.h"
#include "base/error.h"
#include "shm/interrupts.h"
#include "shm/process.h"
#include "storage/file/double_write_file.h"
#include "storage/file/relation_files.h"
#include "wal/log.h"

namespace pinwheel::storage {

namespace {
constexpr std::string_view kDoubleWriteControlRegion = "Double Write Control";
constexpr std::string_view kAreasRegion = "Double Write Areas";
/// Pieces of one vectored write: a header and a page each. Below the system's limit of 1024.
constexpr std::size_t kMostPieces = 2 * DoubleWrite::kBatch;
}  // namespace

struct DoubleWrite::Shared {
  /// Everything written in place with copies whose redo point is older is durable. Written by the
  /// checkpointer.
  std::atomic<std::uint64_t> synced_redo{0};
  /// Redo point of a recovery that runs, for the log knows none yet. Written by the startup process.
  std::atomic<std::uint64_t> recovery_redo{0};
};

/// One process's area. Changed only by the process that has the slot; in shared memory because the next
/// process in the slot goes on with the area, whose copies may still be needed.
struct alignas(kCacheLine) DoubleWrite::Area {
  /// More than a batch, so that a batch fits into an area that was just emptied.
  static constexpr std::size_t kMostSegments = 2 * kBatch;
  struct Segment {
    FileId file;
    Fork fork = Fork::kMain;
    std::uint32_t number = 0;
    bool operator==(const Segment&) const = default;
  };

  std::uint64_t newest_redo = 0;  // of the copy written last
  /// A write in place failed under this redo point: the page may be torn, and its copy is needed until a
  /// later checkpoint has written the page. 0 = none.
  std::uint64_t failed_redo = 0;
  std::uint32_t used = 0;  // slots
  std::uint32_t segment_count = 0;
  /// Segments that were written in place with copies in this area; incomplete after `overflowed`.
  Segment segments[kMostSegments];
  bool overflowed = false;

  static Segment segment_of(const PageTag& tag) noexcept {
    return {tag.file, tag.fork, tag.page.value / kPagesPerSegment};
  }
  bool knows(const Segment& segment) const noexcept {
    return std::find(segments, segments + segment_count, segment) != segments + segment_count;
  }
  void note(const Segment& segment) noexcept {
    if (knows(segment)) return;
    if (segment_count == kMostSegments) {
      overflowed = true;
    } else {
      segments[segment_count++] = segment;
    }
  }
  void reset() noexcept {
    used = 0;
    segment_count = 0;
    failed_redo = 0;
    overflowed = false;
  }
};

void DoubleWrite::declare(shm::RegionBuilder& builder, std::size_t areas) {
  builder.add_array<Shared>(kDoubleWriteControlRegion, 1);
  builder.add_array<Area>(kAreasRegion, areas);
}

DoubleWrite::DoubleWrite(const shm::Segment& segment, RelationFiles& files, wal::Log& log)
    : shared_{segment.as<Shared>(kDoubleWriteControlRegion)},
      areas_{segment.as<Area>(kAreasRegion)},
      area_count_{segment.size_of(kAreasRegion) / sizeof(Area)},
      files_{files},
      log_{log} {}

DoubleWrite::~DoubleWrite() = default;

DoubleWrite::Area& DoubleWrite::area() noexcept {
  const std::uint32_t index = shm::self().slot == nullptr ? 0 : shm::self().index.value;
  DB_ASSERT(index < area_count_);
  return areas_[index];
}

/// Empties the area if what it holds is not needed any more, or makes it so before it would overflow.
void DoubleWrite::make_room(Area& area, std::span<const StagedPage> pages) {
  const std::uint64_t synced = shared_->synced_redo.load(std::memory_order_acquire);
  if (area.newest_redo < synced) area.reset();
  std::size_t segments = area.segment_count;
  Area::Segment previous;
  for (const StagedPage& page : pages) {
    const Area::Segment segment = Area::segment_of(page.tag);
    if (segment == previous) continue;
    previous = segment;
    if (!area.knows(segment)) ++segments;
  }
  if (area.used + pages.size() <= kSlotsPerArea && segments <= Area::kMostSegments) return;
  // The only copy of a torn page may be here, or segments are written that were not noted: the file grows
  // instead, until a checkpoint has synced everything.
  if (area.overflowed || (area.failed_redo != 0 && area.failed_redo >= synced)) return;
  for (std::uint32_t i = 0; i < area.segment_count; ++i) {
    files_.sync_segment(area.segments[i].file, area.segments[i].fork, area.segments[i].number);
  }
  area.reset();
}

void DoubleWrite::save(std::span<const StagedPage> pages) {
  Area& own = area();
  // Read while the pages have I/O in progress and are dirty: a checkpoint that moves it afterwards waits for
  // them.
  const Lsn redo =
      log_.in_recovery() ? Lsn{shared_->recovery_redo.load(std::memory_order_relaxed)} : log_.redo_position();
  make_room(own, pages);
  headers_.assign(pages.size() * kDoubleWriteHeaderBytes, std::byte{0});
  iovec pieces[kMostPieces];
  std::size_t count = 0;
  for (const StagedPage& page : pages) {
    const Lsn lsn = ConstPage{page.copy}.lsn();
    // Never logged: nothing replays it, and after a crash it is emptied or taken for a hint.
    if (!is_valid(lsn)) continue;
    DB_ASSERT(count + 2 <= kMostPieces);
    std::byte* const header = headers_.data() + count / 2 * kDoubleWriteHeaderBytes;
    store(header, make_double_write_header(page.tag, ConstPageBytes{page.copy, kPageSize},
                                           log_.files().system_identifier(), redo));
    pieces[count++] = {header, kDoubleWriteHeaderBytes};
    pieces[count++] = {page.copy, kPageSize};
  }
  if (count == 0) return;
  const std::uint32_t index = static_cast<std::uint32_t>(&own - areas_);
  if (!file_.is_open() || open_area_ != index) {
    file_ = open_double_write_file(files_.data_directory(), index);
    open_area_ = index;
  }
  const shm::WaitEventScope waiting{shm::WaitEvent::kDataFileWrite};
  file_.write_pieces_at(std::uint64_t{own.used} * kDoubleWriteSlotBytes, {pieces, count});
  file_.sync();
  // Noted before the writes in place; if the process dies here, the whole segment of shared memory is thrown
  // away and recovery looks at all areas.
  own.used += static_cast<std::uint32_t>(count / 2);
  own.newest_redo = redo.value;
  for (const StagedPage& page : pages) own.note(Area::segment_of(page.tag));
}

void DoubleWrite::note_failure() noexcept {
  Area& own = area();
  own.failed_redo = std::max(own.failed_redo, own.newest_redo);
}

void DoubleWrite::note_synced(Lsn redo) noexcept {
  shared_->synced_redo.store(redo.value, std::memory_order_release);
}

void DoubleWrite::begin_recovery(Lsn redo) noexcept {
  shared_->recovery_redo.store(redo.value, std::memory_order_relaxed);
}

}  // namespace pinwheel::storage
