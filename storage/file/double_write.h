#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/ids.h"
#include "shm/segment.h"
#include "storage/page/page.h"

namespace pinwheel::wal {
class Log;
}

namespace pinwheel::storage {

class RelationFiles;

/// A private copy of a page that is about to be written, checksum set.
struct StagedPage {
  PageTag tag;
  BufferId buffer;
  std::byte* copy = nullptr;
};

/// First bytes of a slot in a double-write file; the page follows at kDoubleWriteHeaderBytes. Little-endian.
/// docs/formats/double_write.md.
///
///   offset  size  field
///   0       8     magic
///   8       8     system_identifier
///   16      8     redo       redo point in force when the copy was written
///   24      8     lsn        the page's
///   32      4     database
///   36      4     relation
///   40      4     page
///   44      1     fork
///   45      3     reserved   zero
///   48      4     checksum   CRC-32C of the bytes before and of the page
///   52      4     reserved   zero
struct DoubleWriteHeader {
  static constexpr std::uint64_t kMagic = 0x3154495257445750;  // "PWDWRIT1"

  std::uint64_t magic;
  std::uint64_t system_identifier;
  std::uint64_t redo;
  std::uint64_t lsn;
  std::uint32_t database;
  std::uint32_t relation;
  std::uint32_t page;
  std::uint8_t fork;
  std::uint8_t reserved[3];
  std::uint32_t checksum;
  std::uint32_t reserved2;
};
static_assert(sizeof(DoubleWriteHeader) == 56);
static_assert(std::has_unique_object_representations_v<DoubleWriteHeader>, "no padding on disk");

/// A whole sector, so that writing one slot never touches a sector of its neighbour.
inline constexpr std::size_t kDoubleWriteHeaderBytes = 512;
inline constexpr std::size_t kDoubleWriteSlotBytes = kDoubleWriteHeaderBytes + kPageSize;

/// Copies of pages, made durable before the pages themselves are written (torn_page_protection =
/// double_write): what a crash has left half written is restored from them, so that the log needs no page
/// images. Each process appends to an area of its own, the file pg_double_write/NNNN; decision 0015 says why
/// that is enough. One object per process over a shared region. Errors: File's; a failed sync is a panic.
class DoubleWrite {
 public:
  static void declare(shm::RegionBuilder& builder, std::size_t areas);
  DoubleWrite(const shm::Segment& segment, RelationFiles& files, wal::Log& log);
  ~DoubleWrite();

  /// Makes copies of the pages durable. The caller has I/O in progress on each page's frame, has made the log
  /// durable up to each page's LSN, and writes the pages in place next.
  void save(std::span<const StagedPage> pages);
  /// A write in place that followed save() failed: what was saved stays until a checkpoint has covered it.
  void note_failure() noexcept;

  /// Checkpointer, after its sync: everything written in place with copies older than `redo` is durable.
  void note_synced(Lsn redo) noexcept;
  /// Startup process, before it replays from `redo`: what this process saves from now on belongs to it.
  void begin_recovery(Lsn redo) noexcept;

  static constexpr std::size_t kSlotsPerArea = 512;
  /// Pages that callers should save at once, if they have as many.
  static constexpr std::size_t kBatch = 64;

 private:
  struct Shared;
  struct Area;
  Area& area() noexcept;
  void make_room(Area& area, std::span<const StagedPage> pages);

  Shared* shared_;
  Area* areas_;
  std::size_t area_count_;
  RelationFiles& files_;
  wal::Log& log_;
  std::uint32_t open_area_ = 0;
  File file_;
  std::vector<std::byte> headers_;
};

/// After a crash, before replay: writes back every page that its newest copy shows to be half written.
/// `redo` is where replay will begin: older copies do not count. Returns pages restored. Harmless when there
/// are no copies, and when repeated. The caller syncs all files next (RelationFiles::sync_everything): pages
/// that are whole in the system's cache must reach the disk, too, before their copies are overwritten.
std::size_t restore_torn_pages(RelationFiles& files, std::uint64_t system_identifier, Lsn redo);

}  // namespace pinwheel::storage
