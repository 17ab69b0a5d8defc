#include "wal/assembler.h"

#include <lz4.h>
#include <zstd.h>

#include <cstring>

#include "base/bytes.h"
#include "base/error.h"

namespace pinwheel::wal {

bool RecordAssembler::wants_image(const RecordBuilder::Block& block, const ImagePolicy& policy) noexcept {
  if ((block.flags & (kBlockNoImage | kBlockWillInit)) != 0) return false;
  if ((block.flags & kBlockForceImage) != 0) return true;
  // A page LSN equal to the redo point is the end of a record that began before it: still unprotected.
  return policy.full_page_writes && load<std::uint64_t>(block.page) <= policy.redo.value;
}

bool RecordAssembler::depends_on_redo(const RecordBuilder& record) noexcept {
  for (unsigned i = 0; i < record.block_count_; ++i) {
    if ((record.blocks_[i].flags & (kBlockNoImage | kBlockWillInit | kBlockForceImage)) == 0) return true;
  }
  return false;
}

std::size_t RecordAssembler::greatest_size(const RecordBuilder& record) noexcept {
  std::size_t size = sizeof(RecordHeader) + kRecordAlign + record.data_length_;
  for (unsigned i = 0; i < record.block_count_; ++i) {
    size += sizeof(BlockHeader) + sizeof(ImageHeader) + kPageSize + record.blocks_[i].data_length;
  }
  return size;
}

std::byte* RecordAssembler::put_image(const RecordBuilder::Block& block, ImageCompression compression,
                                      std::byte* at, std::byte* spare, ImageHeader& header) noexcept {
  const std::size_t after_hole = std::size_t{block.hole.offset} + block.hole.length;
  DB_ASSERT(after_hole <= kPageSize);
  std::memcpy(at, block.page, block.hole.offset);
  std::memcpy(at + block.hole.offset, block.page + after_hole, kPageSize - after_hole);
  std::size_t stored = kPageSize - block.hole.length;
  std::size_t packed = 0;
  if (compression == ImageCompression::kLz4) {
    const int size = LZ4_compress_default(reinterpret_cast<const char*>(at), reinterpret_cast<char*>(spare),
                                          static_cast<int>(stored), kPageSize);
    packed = size > 0 ? static_cast<std::size_t>(size) : 0;
  } else if (compression == ImageCompression::kZstd) {
    const std::size_t size = ZSTD_compress(spare, kPageSize, at, stored, 3);
    packed = ZSTD_isError(size) != 0 ? 0 : size;
  }
  if (packed != 0 && packed < stored) {
    std::memcpy(at, spare, packed);
    stored = packed;
  } else {
    compression = ImageCompression::kNone;
  }
  header = {static_cast<std::uint16_t>(stored), block.hole.offset, block.hole.length,
            static_cast<std::uint8_t>(compression), 0};
  return at + stored;
}

std::byte* RecordAssembler::put_pieces(const RecordBuilder& record, std::uint8_t target,
                                       std::byte* at) noexcept {
  for (unsigned i = 0; i < record.piece_count_; ++i) {
    const RecordBuilder::Piece& piece = record.pieces_[i];
    if (piece.target != target || piece.size_bytes == 0) continue;
    std::memcpy(at, piece.bytes, piece.size_bytes);
    at += piece.size_bytes;
  }
  return at;
}

Assembled RecordAssembler::assemble(const RecordBuilder& record, Xid xid, const ImagePolicy& policy,
                                    std::vector<std::byte>& scratch) {
  const std::size_t bound = greatest_size(record);
  if (bound + kPageSize > scratch.size()) scratch.resize(bound + kPageSize);
  std::byte* const begin = scratch.data();
  std::byte* const spare = begin + bound;

  std::byte* at = begin + sizeof(RecordHeader);
  std::byte* image_headers[kMaxBlocks] = {};
  unsigned image_count = 0;
  for (unsigned i = 0; i < record.block_count_; ++i) {
    const RecordBuilder::Block& block = record.blocks_[i];
    const bool image = wants_image(block, policy);
    const bool keeps_data = !image || (block.flags & kBlockKeepData) != 0;
    std::uint8_t fork_and_flags = static_cast<std::uint8_t>(block.tag.fork);
    if (image) fork_and_flags |= BlockHeader::kHasImage;
    if ((block.flags & kBlockWillInit) != 0) fork_and_flags |= BlockHeader::kWillInit;
    store(at, BlockHeader{block.tag.file.database.value, block.tag.file.relation.value, block.tag.page.value,
                          block.index, fork_and_flags,
                          keeps_data ? static_cast<std::uint16_t>(block.data_length) : std::uint16_t{0}});
    at += sizeof(BlockHeader);
    if (image) {
      image_headers[i] = at;
      at += sizeof(ImageHeader);
      ++image_count;
    }
  }
  for (unsigned i = 0; i < record.block_count_; ++i) {
    const RecordBuilder::Block& block = record.blocks_[i];
    if (image_headers[i] != nullptr) {
      ImageHeader header;
      at = put_image(block, policy.compression, at, spare, header);
      store(image_headers[i], header);
    }
    if (image_headers[i] == nullptr || (block.flags & kBlockKeepData) != 0) {
      at = put_pieces(record, static_cast<std::uint8_t>(i), at);
    }
  }
  at = put_pieces(record, RecordBuilder::kMainData, at);

  const std::size_t total = static_cast<std::size_t>(at - begin);
  DB_ASSERT(total <= kMaxRecordBytes);
  const std::size_t size = align_record(total);
  std::memset(at, 0, size - total);
  store(begin,
        RecordHeader{0, static_cast<std::uint32_t>(total), xid.value, static_cast<std::uint8_t>(record.rmgr_),
                     record.kind_, record.block_count_, 0, record.data_length_});
  return {size, hash_record_content({begin, size}), image_count};
}

Assembled RecordAssembler::assemble_padding(std::size_t size_bytes, std::vector<std::byte>& scratch) {
  DB_ASSERT(size_bytes >= sizeof(RecordHeader) && size_bytes % kRecordAlign == 0);
  if (size_bytes > scratch.size()) scratch.resize(size_bytes);
  std::memset(scratch.data(), 0, size_bytes);
  store(scratch.data(),
        RecordHeader{0, static_cast<std::uint32_t>(size_bytes), 0, static_cast<std::uint8_t>(RmgrId::kXlog),
                     static_cast<std::uint8_t>(XlogKind::kNoop), 0, 0,
                     static_cast<std::uint32_t>(size_bytes - sizeof(RecordHeader))});
  return {size_bytes, hash_record_content({scratch.data(), size_bytes}), 0};
}

}  // namespace pinwheel::wal
