#include "sql/types/varlena.h"

#include <lz4.h>

#include "sql/types/io_errors.h"
#include "sql/types/utf8.h"

namespace pinwheel::sql {

namespace {

[[noreturn]] void throw_bad_compressed() {
  throw SqlError{sqlstate::kDataCorrupted, "compressed lz4 data is corrupt"};
}

void write_header(std::uint8_t* to, std::size_t total, bool compressed) {
  store<std::uint32_t>(to, static_cast<std::uint32_t>(total) << 2 | (compressed ? 2u : 0u));
}

Datum decompress(const std::uint8_t* v, Arena& arena) {
  const std::size_t total = load<std::uint32_t>(v) >> 2;
  if (total < 8) throw_bad_compressed();
  const std::uint32_t raw_size = load<std::uint32_t>(v + 4);
  char* payload;
  Datum plain = new_var(arena, raw_size, &payload);
  lz4_decompress({reinterpret_cast<const char*>(v) + 8, total - 8}, payload, raw_size);
  return plain;
}

}  // namespace

std::size_t var_raw_size(Datum v) {
  const std::uint8_t* p = v.as_pointer();
  if (is_external(p)) return external_pointer(v).raw_size;
  if (is_compressed(p)) return load<std::uint32_t>(p + 4);
  return var_view(v).size();
}

void lz4_decompress(std::string_view stored, char* to, std::size_t raw_size) {
  const int got =
      LZ4_decompress_safe(stored.data(), to, static_cast<int>(stored.size()), static_cast<int>(raw_size));
  if (got < 0 || static_cast<std::size_t>(got) != raw_size) throw_bad_compressed();
}

Datum detoast(Datum v, Arena& arena, Detoaster* detoaster) {
  const std::uint8_t* p = v.as_pointer();
  if (is_external(p)) {
    if (!detoaster) throw SqlError{sqlstate::kDataCorrupted, "out-of-line value where none can be"};
    const ExternalPointer pointer = external_pointer(v);
    char* payload;
    if (pointer.compression == 0) {
      Datum plain = new_var(arena, pointer.stored_size, &payload);
      detoaster->fetch(pointer, reinterpret_cast<std::uint8_t*>(payload));
      return plain;
    }
    char* stored = static_cast<char*>(arena.allocate(pointer.stored_size, 1));
    detoaster->fetch(pointer, reinterpret_cast<std::uint8_t*>(stored));
    Datum plain = new_var(arena, pointer.raw_size, &payload);
    lz4_decompress({stored, pointer.stored_size}, payload, pointer.raw_size);
    return plain;
  }
  if (is_compressed(p)) return decompress(p, arena);
  return v;
}

Datum new_var(Arena& arena, std::size_t payload_size, char** payload) {
  if (payload_size + 1 <= kShortMaxTotal) {
    auto* p = static_cast<std::uint8_t*>(arena.allocate(payload_size + 1, 1));
    p[0] = static_cast<std::uint8_t>((payload_size + 1) << 1 | 1);
    *payload = reinterpret_cast<char*>(p) + 1;
    return Datum::from_pointer(p);
  }
  const std::size_t total = payload_size + 4;
  if (total > kMaxValueBytes) {
    throw SqlError{sqlstate::kProgramLimitExceeded,
                   "invalid memory alloc request size " + std::to_string(payload_size)};
  }
  auto* p = static_cast<std::uint8_t*>(arena.allocate(total, 4));
  write_header(p, total, false);
  *payload = reinterpret_cast<char*>(p) + 4;
  return Datum::from_pointer(p);
}

Datum make_var(Arena& arena, std::string_view payload) {
  char* to;
  Datum v = new_var(arena, payload.size(), &to);
  if (!payload.empty()) std::memcpy(to, payload.data(), payload.size());
  return v;
}

Datum copy_var(Arena& arena, Datum v) {
  const std::size_t total = var_total(v);
  void* to = arena.allocate(total, 4);
  std::memcpy(to, v.as_pointer(), total);
  return Datum::from_pointer(to);
}

Datum compress_var(Arena& arena, Datum v) {
  const std::string_view raw = var_view(v);
  const int most = static_cast<int>(raw.size() - raw.size() / 4);
  auto* to = static_cast<std::uint8_t*>(arena.allocate(static_cast<std::size_t>(most) + 8, 4));
  const int size =
      LZ4_compress_default(raw.data(), reinterpret_cast<char*>(to) + 8, static_cast<int>(raw.size()), most);
  if (size <= 0) return Datum{};
  write_header(to, static_cast<std::size_t>(size) + 8, true);
  store<std::uint32_t>(to + 4, static_cast<std::uint32_t>(raw.size()));
  return Datum::from_pointer(to);
}

Datum make_name(Arena& arena, std::string_view text) {
  const std::size_t size = clip_to_characters(text, kNameSize - 1);
  char* to = static_cast<char*>(arena.allocate(kNameSize, 1));
  std::memcpy(to, text.data(), size);
  std::memset(to + size, 0, kNameSize - size);
  return Datum::from_pointer(to);
}

}  // namespace pinwheel::sql
