#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>

#include "base/ids.h"
#include "wal/rmgr.h"

namespace pinwheel::wal {

/// Records start at multiples of this; the bytes between a record's length and the next start are zero.
inline constexpr std::size_t kRecordAlign = 8;
/// Longest record. A damaged length beyond it is refused without reading further.
inline constexpr std::size_t kMaxRecordBytes = 256u << 20;
/// Blocks that one record may touch; block indexes are below it.
inline constexpr unsigned kMaxBlocks = 8;

constexpr std::uint64_t align_record(std::uint64_t bytes) noexcept {
  return (bytes + (kRecordAlign - 1)) & ~std::uint64_t{kRecordAlign - 1};
}

/// Start of every record (docs/formats/wal_record.md):
///
///   offset  size  field
///   0       4     checksum       over bytes from offset 4 to the next record's start, mixed with this
///   record's own start LSN 4       4     total_length   header to end of data, without the alignment padding
///   8       8     xid            0 = no transaction
///   16      1     rmgr           RmgrId
///   17      1     kind           the resource manager's own
///   18      1     block_count
///   19      1     flags          zero
///   20      4     data_length    bytes of main data, at the end of the record
///
/// Then block_count BlockHeaders (each followed by an ImageHeader if kHasImage), then for each block its
/// image and its data, then the main data.
struct RecordHeader {
  std::uint32_t checksum;
  std::uint32_t total_length;
  std::uint64_t xid;
  std::uint8_t rmgr;
  std::uint8_t kind;
  std::uint8_t block_count;
  std::uint8_t flags;
  std::uint32_t data_length;
};
static_assert(sizeof(RecordHeader) == 24);
static_assert(std::has_unique_object_representations_v<RecordHeader>, "no padding on disk");

/// One block reference.
struct BlockHeader {
  std::uint32_t database;
  std::uint32_t relation;
  std::uint32_t page;
  std::uint8_t index;           // the number the owner gave the block
  std::uint8_t fork_and_flags;  // bits 0..1 Fork, then kHasImage, kWillInit
  std::uint16_t data_length;

  static constexpr std::uint8_t kForkMask = 0x03;
  static constexpr std::uint8_t kHasImage = 0x04;
  static constexpr std::uint8_t kWillInit = 0x08;
};
static_assert(sizeof(BlockHeader) == 16);
static_assert(std::has_unique_object_representations_v<BlockHeader>, "no padding on disk");

/// How page images are stored (setting wal_compression). On disk: never renumber.
enum class ImageCompression : std::uint8_t { kNone = 0, kLz4 = 1, kZstd = 2 };

/// Follows a BlockHeader that has an image. The hole (the free space of the page) is all zero and left out.
struct ImageHeader {
  std::uint16_t image_length;  // stored bytes
  std::uint16_t hole_offset;
  std::uint16_t hole_length;
  std::uint8_t compression;  // ImageCompression of the page without its hole
  std::uint8_t reserved;
};
static_assert(sizeof(ImageHeader) == 8);
static_assert(std::has_unique_object_representations_v<ImageHeader>, "no padding on disk");

/// Checksum of a whole record, alignment padding included, that starts at `start` in the log.
std::uint32_t record_checksum(std::span<const std::byte> record, Lsn start) noexcept;
/// The two halves of record_checksum: the long one needs no position, so an inserter does it before it
/// reserves one.
std::uint64_t hash_record_content(std::span<const std::byte> record) noexcept;
std::uint32_t seal_record_hash(std::uint64_t content_hash, Lsn start) noexcept;

/// A decoded block reference; spans point into the record's bytes.
struct BlockView {
  PageTag tag;
  std::uint8_t index = 0;
  bool has_image = false;
  bool will_init = false;  // redo makes the page from scratch, it need not be read
  ImageCompression compression = ImageCompression::kNone;
  std::uint16_t hole_offset = 0;
  std::uint16_t hole_length = 0;
  std::span<const std::byte> image;
  std::span<const std::byte> data;
};

/// A decoded record. Valid as long as the bytes it was decoded from.
class RecordView {
 public:
  /// Where the record starts, and where the next one would: the page LSN that redo sets is end().
  Lsn start() const noexcept { return start_; }
  Lsn end() const noexcept { return end_; }
  Xid xid() const noexcept { return xid_; }
  RmgrId rmgr() const noexcept { return rmgr_; }
  std::uint8_t kind() const noexcept { return kind_; }
  std::uint32_t total_length() const noexcept { return total_length_; }
  std::span<const std::byte> data() const noexcept { return data_; }
  std::span<const BlockView> blocks() const noexcept { return {blocks_, block_count_}; }

  /// The block the owner numbered `index`; null when the record has none such.
  const BlockView* block(unsigned index) const noexcept {
    for (const BlockView& block : blocks()) {
      if (block.index == index) return &block;
    }
    return nullptr;
  }

  /// The fixed struct at the start of the main data. Errors: XX001 when the data is shorter.
  template <class T>
  T data_as() const {
    static_assert(std::is_trivially_copyable_v<T>);
    T value;
    copy_data(&value, sizeof value);
    return value;
  }
  bool is(RmgrId rmgr, XlogKind kind) const noexcept {
    return rmgr_ == rmgr && kind_ == static_cast<std::uint8_t>(kind);
  }

 private:
  friend class RecordDecoder;
  void copy_data(void* to, std::size_t size_bytes) const;

  Lsn start_, end_;
  Xid xid_;
  RmgrId rmgr_{};
  std::uint8_t kind_ = 0;
  std::uint8_t block_count_ = 0;
  std::uint32_t total_length_ = 0;
  std::span<const std::byte> data_;
  BlockView blocks_[kMaxBlocks];
};

enum class DecodeError : std::uint8_t {
  kNone,
  kZeroLength,   // nothing was written here
  kBadLength,    // shorter than a header, or beyond kMaxRecordBytes
  kTruncated,    // the bytes given end before the record does
  kBadChecksum,  // damaged, or written for another position of the log
  kBadContent,   // the checksum is right but the parts do not add up
};
std::string_view decode_error_text(DecodeError error) noexcept;

/// Decodes and verifies the record at the front of `bytes`, which starts at `start`. `record` is unspecified
/// on failure.
DecodeError decode_record(std::span<const std::byte> bytes, Lsn start, RecordView& record) noexcept;

/// Fills `page` from a block's image (hole zeroed). The page's LSN is the old one: redo sets record.end().
/// Errors: XX001 when the image does not decompress to a page.
void restore_image(const BlockView& block, std::span<std::byte, kPageSize> page);

}  // namespace pinwheel::wal
