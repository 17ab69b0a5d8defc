#include "base/checksum.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <array>
#include <cstring>
#include <new>

#if defined(__x86_64__)
#include <nmmintrin.h>
#endif

namespace pinwheel {
namespace {

constexpr std::array<std::uint32_t, 256> make_crc_table() {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t i = 0; i < 256; ++i) {
    std::uint32_t crc = i;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0x82F63B78u : 0u);
    table[i] = crc;
  }
  return table;
}
constexpr std::array<std::uint32_t, 256> kCrcTable = make_crc_table();

std::uint32_t crc32c_by_table(std::uint32_t crc, const unsigned char* bytes,
                              std::size_t size_bytes) noexcept {
  for (std::size_t i = 0; i < size_bytes; ++i) crc = kCrcTable[(crc ^ bytes[i]) & 0xFF] ^ (crc >> 8);
  return crc;
}

#if defined(__x86_64__)
__attribute__((target("sse4.2"))) std::uint32_t crc32c_by_cpu(std::uint32_t crc, const unsigned char* bytes,
                                                              std::size_t size_bytes) noexcept {
  for (; size_bytes >= 8; bytes += 8, size_bytes -= 8) {
    std::uint64_t word;
    std::memcpy(&word, bytes, sizeof word);
    crc = static_cast<std::uint32_t>(_mm_crc32_u64(crc, word));
  }
  for (; size_bytes > 0; ++bytes, --size_bytes) crc = _mm_crc32_u8(crc, *bytes);
  return crc;
}
#endif

}  // namespace

std::uint64_t xxh3_64(const void* bytes, std::size_t size_bytes, std::uint64_t seed) noexcept {
  return XXH3_64bits_withSeed(bytes, size_bytes, seed);
}

std::uint16_t page_checksum(std::span<const std::byte, kPageSize> page, std::uint32_t block,
                            std::size_t checksum_offset) noexcept {
  // Two runs around the checksum's own field: cheaper than copying the page to blank it.
  const std::uint64_t head = XXH3_64bits_withSeed(page.data(), checksum_offset, block);
  const std::uint64_t all =
      XXH3_64bits_withSeed(page.data() + checksum_offset + 2, kPageSize - checksum_offset - 2, head);
  const std::uint32_t folded = static_cast<std::uint32_t>(all ^ (all >> 32));
  return static_cast<std::uint16_t>(folded % 65535 + 1);
}

std::uint32_t wal_checksum(std::uint64_t seed, std::span<const std::byte> bytes) noexcept {
  return static_cast<std::uint32_t>(XXH3_64bits_withSeed(bytes.data(), bytes.size(), seed));
}

static_assert(sizeof(XXH3_state_t) <= 640 && alignof(XXH3_state_t) <= 64);

WalChecksum::WalChecksum(std::uint64_t seed) noexcept {
  XXH3_64bits_reset_withSeed(::new (state_) XXH3_state_t, seed);
}

void WalChecksum::update(const void* bytes, std::size_t size_bytes) noexcept {
  XXH3_64bits_update(reinterpret_cast<XXH3_state_t*>(state_), static_cast<const xxh_u8*>(bytes), size_bytes);
}

std::uint32_t WalChecksum::finish() const noexcept {
  return static_cast<std::uint32_t>(XXH3_64bits_digest(reinterpret_cast<const XXH3_state_t*>(state_)));
}

std::uint32_t crc32c(std::uint32_t seed, const void* bytes, std::size_t size_bytes) noexcept {
  const unsigned char* at = static_cast<const unsigned char*>(bytes);
#if defined(__x86_64__)
  static const bool has_instruction = __builtin_cpu_supports("sse4.2") != 0;
  if (has_instruction) return ~crc32c_by_cpu(~seed, at, size_bytes);
#endif
  return ~crc32c_by_table(~seed, at, size_bytes);
}

}  // namespace pinwheel
