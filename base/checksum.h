#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/ids.h"

namespace pinwheel {

/// XXH3, 64 bits: for hash tables and for content that is compared within one build family; also on disk.
std::uint64_t xxh3_64(const void* bytes, std::size_t size_bytes, std::uint64_t seed = 0) noexcept;
inline std::uint64_t xxh3_64(std::span<const std::byte> bytes, std::uint64_t seed = 0) noexcept {
  return xxh3_64(bytes.data(), bytes.size(), seed);
}

/// Checksum of a whole page whose own checksum field, 2 bytes at `checksum_offset`, counts as zero; `block`
/// is mixed in so that a page written to the wrong place does not pass. Never 0, which means "none".
std::uint16_t page_checksum(std::span<const std::byte, kPageSize> page, std::uint32_t block,
                            std::size_t checksum_offset) noexcept;

/// Checksum of bytes in the write-ahead log (low 32 bits of XXH3). Seeded with the record's LSN, so that
/// bytes left from an earlier use of a segment file never pass.
std::uint32_t wal_checksum(std::uint64_t seed, std::span<const std::byte> bytes) noexcept;

/// wal_checksum over bytes that lie in several pieces; the result equals that over their concatenation.
class WalChecksum {
 public:
  explicit WalChecksum(std::uint64_t seed) noexcept;
  void update(const void* bytes, std::size_t size_bytes) noexcept;
  std::uint32_t finish() const noexcept;

 private:
  alignas(64) std::byte state_[640];
};

/// CRC-32C of small fixed structs (control file); hardware instruction where the CPU has it.
std::uint32_t crc32c(std::uint32_t seed, const void* bytes, std::size_t size_bytes) noexcept;

}  // namespace pinwheel
