#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/ids.h"
#include "wal/builder.h"
#include "wal/record.h"

namespace pinwheel::wal {

/// What decides about page images while a record is assembled.
struct ImagePolicy {
  Lsn redo;  // pages not changed since it get an image
  bool full_page_writes = true;
  ImageCompression compression = ImageCompression::kNone;
};

/// An assembled record: its bytes are the first `size_bytes` of the scratch buffer, padding included; all is
/// final but the checksum, which needs the position.
struct Assembled {
  std::size_t size_bytes;  // multiple of kRecordAlign
  std::uint64_t content_hash;
  unsigned image_count;
};

/// Lays a record out in contiguous memory (private to wal). Doing this, and the long part of the checksum,
/// before a position is reserved keeps the time short in which others must wait for us.
class RecordAssembler {
 public:
  static Assembled assemble(const RecordBuilder& record, Xid xid, const ImagePolicy& policy,
                            std::vector<std::byte>& scratch);

  /// True when the images depend on the redo point, so that a moved one makes them doubtful.
  static bool depends_on_redo(const RecordBuilder& record) noexcept;

  /// A padding record over exactly `size_bytes` (a multiple of kRecordAlign, at least a header).
  static Assembled assemble_padding(std::size_t size_bytes, std::vector<std::byte>& scratch);

 private:
  static bool wants_image(const RecordBuilder::Block& block, const ImagePolicy& policy) noexcept;
  static std::size_t greatest_size(const RecordBuilder& record) noexcept;
  static std::byte* put_image(const RecordBuilder::Block& block, ImageCompression compression, std::byte* at,
                              std::byte* spare, ImageHeader& header) noexcept;
  static std::byte* put_pieces(const RecordBuilder& record, std::uint8_t target, std::byte* at) noexcept;
};

/// Longest single padding record; longer stretches are filled with several.
inline constexpr std::size_t kMaxPaddingBytes = 1u << 20;

}  // namespace pinwheel::wal
