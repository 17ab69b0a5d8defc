#include "wal/record.h"

#include <lz4.h>
#include <zstd.h>

#include <cstring>

#include "base/bytes.h"
#include "base/checksum.h"
#include "base/error.h"
#include "base/sqlstate.h"
#include "wal/reader.h"

namespace pinwheel::wal {

std::uint64_t hash_record_content(std::span<const std::byte> record) noexcept {
  return xxh3_64(record.subspan(sizeof(RecordHeader::checksum)));
}

std::uint32_t seal_record_hash(std::uint64_t content_hash, Lsn start) noexcept {
  // One multiplication spreads the position over all bits, two more mix it with the content: a record copied
  // to any other position fails with the probability of a random checksum.
  std::uint64_t mixed = content_hash ^ (start.value * 0x9E3779B97F4A7C15ULL);
  mixed = (mixed ^ (mixed >> 32)) * 0xD6E8FEB86659FD93ULL;
  mixed = (mixed ^ (mixed >> 32)) * 0xD6E8FEB86659FD93ULL;
  return static_cast<std::uint32_t>(mixed >> 32);
}

std::uint32_t record_checksum(std::span<const std::byte> record, Lsn start) noexcept {
  return seal_record_hash(hash_record_content(record), start);
}

std::string_view decode_error_text(DecodeError error) noexcept {
  switch (error) {
    case DecodeError::kNone:
      return "valid record";
    case DecodeError::kZeroLength:
      return "invalid record length: got 0";
    case DecodeError::kBadLength:
      return "invalid record length";
    case DecodeError::kTruncated:
      return "record is cut short";
    case DecodeError::kBadChecksum:
      return "incorrect resource manager data checksum in record";
    case DecodeError::kBadContent:
      return "record with invalid structure";
  }
  return "unknown error";
}

/// Fills a RecordView; the only friend that may.
class RecordDecoder {
 public:
  static DecodeError decode(std::span<const std::byte> bytes, Lsn start, RecordView& record) noexcept;

 private:
  static bool decode_block_header(ByteReader& in, BlockView& block, std::uint16_t& image_length,
                                  std::uint16_t& data_length) noexcept;
};

bool RecordDecoder::decode_block_header(ByteReader& in, BlockView& block, std::uint16_t& image_length,
                                        std::uint16_t& data_length) noexcept {
  BlockHeader header;
  if (!in.read(header) || header.index >= kMaxBlocks) return false;
  const auto fork = static_cast<Fork>(header.fork_and_flags & BlockHeader::kForkMask);
  block = BlockView{};
  block.tag = PageTag{FileId{Oid{header.database}, Oid{header.relation}}, fork, PageNumber{header.page}};
  block.index = header.index;
  block.has_image = (header.fork_and_flags & BlockHeader::kHasImage) != 0;
  block.will_init = (header.fork_and_flags & BlockHeader::kWillInit) != 0;
  data_length = header.data_length;
  image_length = 0;
  if (!block.has_image) return true;
  ImageHeader image;
  if (!in.read(image)) return false;
  if (image.compression > static_cast<std::uint8_t>(ImageCompression::kZstd)) return false;
  if (std::size_t{image.hole_offset} + image.hole_length > kPageSize) return false;
  block.compression = static_cast<ImageCompression>(image.compression);
  block.hole_offset = image.hole_offset;
  block.hole_length = image.hole_length;
  image_length = image.image_length;
  const std::size_t stored_whole = kPageSize - image.hole_length;
  return block.compression == ImageCompression::kNone ? image_length == stored_whole
                                                      : image_length < stored_whole;
}

DecodeError RecordDecoder::decode(std::span<const std::byte> bytes, Lsn start, RecordView& record) noexcept {
  if (bytes.size() < sizeof(RecordHeader)) return DecodeError::kTruncated;
  const auto header = load<RecordHeader>(bytes.data());
  if (header.total_length == 0) return DecodeError::kZeroLength;
  if (header.total_length < sizeof(RecordHeader) || header.total_length > kMaxRecordBytes) {
    return DecodeError::kBadLength;
  }
  const std::uint64_t whole = align_record(header.total_length);
  if (bytes.size() < whole) return DecodeError::kTruncated;
  if (record_checksum(bytes.first(whole), start) != header.checksum) return DecodeError::kBadChecksum;
  if (header.block_count > kMaxBlocks || header.rmgr >= kRmgrCount) return DecodeError::kBadContent;

  ByteReader in{bytes.subspan(sizeof header, header.total_length - sizeof header)};
  std::uint16_t image_lengths[kMaxBlocks];
  std::uint16_t data_lengths[kMaxBlocks];
  for (unsigned i = 0; i < header.block_count; ++i) {
    if (!decode_block_header(in, record.blocks_[i], image_lengths[i], data_lengths[i])) {
      return DecodeError::kBadContent;
    }
  }
  for (unsigned i = 0; i < header.block_count; ++i) {
    if (!in.read_bytes(record.blocks_[i].image, image_lengths[i])) return DecodeError::kBadContent;
    if (!in.read_bytes(record.blocks_[i].data, data_lengths[i])) return DecodeError::kBadContent;
  }
  if (in.remaining() != header.data_length) return DecodeError::kBadContent;
  if (!in.read_bytes(record.data_, header.data_length)) return DecodeError::kBadContent;

  record.start_ = start;
  record.end_ = start + whole;
  record.xid_ = Xid{header.xid};
  record.rmgr_ = static_cast<RmgrId>(header.rmgr);
  record.kind_ = header.kind;
  record.block_count_ = header.block_count;
  record.total_length_ = header.total_length;
  return DecodeError::kNone;
}

DecodeError decode_record(std::span<const std::byte> bytes, Lsn start, RecordView& record) noexcept {
  return RecordDecoder::decode(bytes, start, record);
}

void RecordView::copy_data(void* to, std::size_t size_bytes) const {
  if (data_.size() < size_bytes) {
    throw SqlError{sqlstate::kDataCorrupted, "WAL record at " + format_lsn(start_) + " has too little data"};
  }
  std::memcpy(to, data_.data(), size_bytes);
}

void restore_image(const BlockView& block, std::span<std::byte, kPageSize> page) {
  const std::size_t stored = kPageSize - block.hole_length;
  std::byte whole[kPageSize];
  const std::byte* from = block.image.data();
  bool good = block.has_image;
  switch (block.compression) {
    case ImageCompression::kNone:
      good = good && block.image.size() == stored;
      break;
    case ImageCompression::kLz4: {
      const int size =
          LZ4_decompress_safe(reinterpret_cast<const char*>(from), reinterpret_cast<char*>(whole),
                              static_cast<int>(block.image.size()), kPageSize);
      good = good && size >= 0 && static_cast<std::size_t>(size) == stored;
      from = whole;
      break;
    }
    case ImageCompression::kZstd:
      good = good && ZSTD_decompress(whole, kPageSize, from, block.image.size()) == stored;
      from = whole;
      break;
  }
  if (!good) throw SqlError{sqlstate::kDataCorrupted, "could not decompress image of a page in a WAL record"};
  std::memcpy(page.data(), from, block.hole_offset);
  std::memset(page.data() + block.hole_offset, 0, block.hole_length);
  std::memcpy(page.data() + block.hole_offset + block.hole_length, from + block.hole_offset,
              stored - block.hole_offset);
}

}  // namespace pinwheel::wal
