#pragma once

#include <cstdint>
#include <span>
#include <type_traits>

#include "base/error.h"
#include "base/ids.h"
#include "wal/record.h"
#include "wal/rmgr.h"

namespace pinwheel::wal {

/// Free space in the middle of a page: zero on redo, left out of images.
struct PageHole {
  std::uint16_t offset = 0;
  std::uint16_t length = 0;
};

/// How a block takes part in a record. Bits, combined with |.
enum BlockFlags : std::uint8_t {
  kBlockDefault = 0,     // an image if this is the page's first change since the redo point
  kBlockForceImage = 1,  // an image always
  kBlockNoImage = 2,     // never an image: redo does not read the old content, or a torn page is harmless
  kBlockWillInit = 4,    // redo initialises the page: never an image, never read
  kBlockKeepData = 8,    // keep the block's data even when there is an image
};
constexpr BlockFlags operator|(BlockFlags a, BlockFlags b) noexcept {
  return static_cast<BlockFlags>(static_cast<std::uint8_t>(a) | static_cast<std::uint8_t>(b));
}

/// The parts of a record, gathered on the stack: nothing is copied or allocated until Log::insert. Spans must
/// stay valid until then.
///
///   RecordBuilder record{RmgrId::kHeap, kInsert};
///   record.data(header);
///   record.block(0, tag, page_bytes, kBlockDefault, hole);
///   record.block_data(0, tuple);
///   const Lsn end = log.insert(record, xid);   // then set the page's LSN to `end`
///
/// Rules: the page already has its new content, is marked dirty and exclusively latched (wal/README.md, rules
/// of insertion). Bytes 0..7 of every page are its LSN, which decides about the image.
class RecordBuilder {
 public:
  static constexpr unsigned kMaxPieces = 24;

  RecordBuilder(RmgrId rmgr, std::uint8_t kind) noexcept : rmgr_{rmgr}, kind_{kind} {}
  template <class Kind>
  requires std::is_enum_v<Kind> RecordBuilder(RmgrId rmgr, Kind kind)
  noexcept : RecordBuilder{rmgr, static_cast<std::uint8_t>(kind)} {}

  /// Appends to the main data.
  void data(std::span<const std::byte> bytes) noexcept { piece(kMainData, bytes); }
  void data(const void* bytes, std::size_t size_bytes) noexcept {
    piece(kMainData, {static_cast<const std::byte*>(bytes), size_bytes});
  }
  /// Appends a fixed struct, which must outlive the insertion.
  template <class T>
  requires(std::is_class_v<T>&& std::has_unique_object_representations_v<T>) void data(
      const T& value) noexcept {
    data(&value, sizeof value);
  }

  /// Adds a block. `index` is the owner's number for it (below kMaxBlocks); indexes rise from call to call
  /// but may have gaps. `page` may be null with kBlockNoImage or kBlockWillInit.
  void block(unsigned index, const PageTag& tag, const std::byte* page, BlockFlags flags = kBlockDefault,
             PageHole hole = {}) noexcept {
    DB_ASSERT(index < kMaxBlocks && block_count_ < kMaxBlocks);
    DB_DEBUG_ASSERT(page != nullptr || (flags & (kBlockNoImage | kBlockWillInit)) != 0);
    Block& added = blocks_[block_count_++];
    added.tag = tag;
    added.page = page;
    added.hole = hole;
    added.index = static_cast<std::uint8_t>(index);
    added.flags = flags;
    added.data_length = 0;
  }

  /// Appends to the data of a block added before (at most 65535 bytes in all). Left out of the record when
  /// the block gets an image, unless kBlockKeepData.
  void block_data(unsigned index, std::span<const std::byte> bytes) noexcept {
    for (unsigned i = block_count_; i-- > 0;) {
      if (blocks_[i].index == index) {
        blocks_[i].data_length += static_cast<std::uint32_t>(bytes.size());
        DB_ASSERT(blocks_[i].data_length <= 0xFFFF);
        return piece(static_cast<std::uint8_t>(i), bytes);
      }
    }
    DB_PANIC("WAL record has data for a block it does not have");
  }
  void block_data(unsigned index, const void* bytes, std::size_t size_bytes) noexcept {
    block_data(index, {static_cast<const std::byte*>(bytes), size_bytes});
  }

 private:
  friend class RecordAssembler;
  static constexpr std::uint8_t kMainData = 0xFF;

  struct Piece {
    const std::byte* bytes;
    std::uint32_t size_bytes;
    std::uint8_t target;  // position in blocks_, or kMainData
  };
  struct Block {
    PageTag tag;
    const std::byte* page;
    std::uint32_t data_length;
    PageHole hole;
    std::uint8_t index;
    BlockFlags flags;
  };

  void piece(std::uint8_t target, std::span<const std::byte> bytes) noexcept {
    DB_ASSERT(piece_count_ < kMaxPieces);
    pieces_[piece_count_++] = {bytes.data(), static_cast<std::uint32_t>(bytes.size()), target};
    if (target == kMainData) data_length_ += static_cast<std::uint32_t>(bytes.size());
  }

  RmgrId rmgr_;
  std::uint8_t kind_;
  std::uint8_t block_count_ = 0;
  std::uint8_t piece_count_ = 0;
  std::uint32_t data_length_ = 0;
  // Deliberately without initialisers: only the counted ones are ever read.
  union {
    Block blocks_[kMaxBlocks];
  };
  union {
    Piece pieces_[kMaxPieces];
  };
};

}  // namespace pinwheel::wal
