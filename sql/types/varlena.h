#pragma once

#include <cstdint>
#include <string_view>

#include "base/arena.h"
#include "sql/types/datum.h"

/// Values of varying length: the same bytes in memory and in heap tuples, so that reading a tuple only
/// points.
///
///   first byte        header                                   total length
///   b & 1, b != 1     1 byte                                   b >> 1, header included (2 .. 127)
///   b == 1            1 byte, then a tag byte (18)             20: an ExternalPointer follows
///   !(b & 1)          u32 little-endian, unaligned             u32 >> 2, header included
///     u32 & 2         the payload is u32 raw size, then lz4    (raw size excludes any header)
namespace pinwheel::sql {

inline constexpr std::size_t kMaxValueBytes = 0x3FFFFFFF;
inline constexpr std::size_t kShortMaxTotal = 127;
inline constexpr std::uint8_t kExternalTag = 18;
inline constexpr std::size_t kExternalTotal = 20;

/// Where an out-of-line value lies: the bytes after a varlena's `01 12` header.
///
///   offset  size  field
///   0       4     toast_relation
///   4       4     value_id
///   8       4     raw_size       payload bytes once decompressed
///   12      4     stored_size    bytes in the toast relation
///   16      1     compression    0 none, 1 lz4
///   17      1     reserved       zero
struct ExternalPointer {
  Oid toast_relation;
  std::uint32_t value_id;
  std::uint32_t raw_size;
  std::uint32_t stored_size;
  std::uint8_t compression;
  std::uint8_t reserved;
};

/// Fetches out-of-line values; implemented over storage's toast by the executor.
class Detoaster {
 public:
  virtual ~Detoaster() = default;
  /// Writes the `pointer.stored_size` stored bytes to `to`. Errors: XX001 when chunks are missing.
  virtual void fetch(const ExternalPointer& pointer, std::uint8_t* to) = 0;
};

/// Total bytes of a varlena, header included, as stored (not detoasted).
inline std::size_t var_total(const std::uint8_t* v) {
  if (v[0] & 1) return v[0] == 1 ? kExternalTotal : static_cast<std::size_t>(v[0] >> 1);
  return load<std::uint32_t>(v) >> 2;
}
inline std::size_t var_total(Datum v) { return var_total(v.as_pointer()); }

inline bool is_external(const std::uint8_t* v) { return v[0] == 1; }
inline bool is_compressed(const std::uint8_t* v) { return (v[0] & 3) == 2; }
/// True when the payload does not lie plainly behind the header: call detoast() before var_view().
inline bool needs_detoast(Datum v) { return is_external(v.as_pointer()) || is_compressed(v.as_pointer()); }

/// The payload of a plain varlena.
inline std::string_view var_view(Datum v) {
  const std::uint8_t* p = v.as_pointer();
  if (p[0] & 1) return {reinterpret_cast<const char*>(p) + 1, static_cast<std::size_t>(p[0] >> 1) - 1};
  return {reinterpret_cast<const char*>(p) + 4, (load<std::uint32_t>(p) >> 2) - 4};
}

/// Payload bytes once detoasted, without detoasting.
std::size_t var_raw_size(Datum v);

/// The plain form of `v`: itself, or a decompressed or fetched copy in `arena`. `detoaster` may be null when
/// no external value can come. Errors: XX001.
Datum detoast(Datum v, Arena& arena, Detoaster* detoaster);

inline ExternalPointer external_pointer(Datum v) {
  ExternalPointer pointer{};
  std::memcpy(static_cast<void*>(&pointer), v.as_pointer() + 2, kExternalTotal - 2);
  return pointer;
}
/// Writes `01 12` and the pointer: kExternalTotal bytes.
inline void write_external(std::uint8_t* to, const ExternalPointer& pointer) {
  to[0] = 1;
  to[1] = kExternalTag;
  std::memcpy(to + 2, &pointer, kExternalTotal - 2);
}

/// An uninitialised plain varlena of `payload_size` bytes; `*payload` is where they go. Short headers for
/// short values. Errors: 54000 past kMaxValueBytes.
Datum new_var(Arena& arena, std::size_t payload_size, char** payload);

/// A plain varlena holding a copy of `payload`.
Datum make_var(Arena& arena, std::string_view payload);
inline Datum make_text(Arena& arena, std::string_view text) { return make_var(arena, text); }

/// Copy of a whole varlena (any form) in `arena`.
Datum copy_var(Arena& arena, Datum v);

/// lz4 form of a plain varlena, or an invalid datum (bits 0) when it saves less than a quarter.
Datum compress_var(Arena& arena, Datum v);

/// Decompresses `stored` (lz4) to exactly `raw_size` bytes at `to`. Errors: XX001.
void lz4_decompress(std::string_view stored, char* to, std::size_t raw_size);

/// A name: 64 bytes, zero-padded, cut at 63 bytes on a character boundary.
inline constexpr std::size_t kNameSize = 64;
Datum make_name(Arena& arena, std::string_view text);
inline std::string_view name_view(Datum v) { return {v.as_chars(), strnlen(v.as_chars(), kNameSize)}; }

/// A zero-terminated string (type cstring, typlen -2).
inline Datum make_cstring(Arena& arena, std::string_view text) {
  return Datum::from_pointer(arena.copy(text).data());
}
inline std::string_view cstring_view(Datum v) { return {v.as_chars(), std::strlen(v.as_chars())}; }

}  // namespace pinwheel::sql
