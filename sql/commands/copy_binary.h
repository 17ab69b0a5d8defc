#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sql/commands/copy_reader.h"

namespace pinwheel::sql {

/// What COPY's binary files begin with, after which come u32 flags and the length of an extension (both 0
/// here), then rows: i16 field count, and for each field an i32 length (-1 null) and that many bytes; at the
/// end a field count of -1. All in network order.
inline constexpr std::string_view kBinarySignature{"PGCOPY\n\377\r\n\0", 11};

/// Reads COPY data in binary format, wherever its pieces begin and end.
class CopyBinaryReader {
 public:
  explicit CopyBinaryReader(CopySource source) : source_{std::move(source)} {}

  /// Errors: 22P04 `COPY file signature not recognized` and kin.
  void read_header();
  /// The next row's fields, `text` their bytes, valid until the next call; false at the end. Errors: 22P04
  /// `row field count is 1, expected 2`, `unexpected EOF in COPY data`.
  bool next(std::vector<CopyField>& fields, std::size_t expected);
  std::uint64_t row_number() const { return row_number_; }
  void drain();

 private:
  /// `size` bytes that stay until the next take; empty when the data ends before.
  bool take(std::size_t size, std::string_view& bytes);
  bool take_int32(std::int32_t& value);

  CopySource source_;
  std::string_view piece_;
  std::string buffer_;  // bytes of the row that span pieces
  std::string row_;     // the row's fields, one after the other
  bool ended_ = false;
  std::uint64_t row_number_ = 0;
};

}  // namespace pinwheel::sql
