#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

namespace pinwheel {

static_assert(std::endian::native == std::endian::little, "disk formats are stored as the host stores them");

/// Reads an integer, float or trivially copyable struct from any address; little-endian.
template <class T>
inline T load(const void* from) noexcept {
  static_assert(std::is_trivially_copyable_v<T>);
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

/// Writes `value` to any address; little-endian.
template <class T>
inline void store(void* to, const T& value) noexcept {
  static_assert(std::is_trivially_copyable_v<T>);
  std::memcpy(to, &value, sizeof value);
}

constexpr std::uint16_t swap_bytes(std::uint16_t v) noexcept { return __builtin_bswap16(v); }
constexpr std::uint32_t swap_bytes(std::uint32_t v) noexcept { return __builtin_bswap32(v); }
constexpr std::uint64_t swap_bytes(std::uint64_t v) noexcept { return __builtin_bswap64(v); }

/// Reads an unsigned or signed integer in network order.
template <class T>
inline T load_network(const void* from) noexcept {
  static_assert(std::is_integral_v<T>);
  if constexpr (sizeof(T) == 1) {
    return load<T>(from);
  } else {
    return static_cast<T>(swap_bytes(load<std::make_unsigned_t<T>>(from)));
  }
}

/// Writes an integer in network order.
template <class T>
inline void store_network(void* to, T value) noexcept {
  static_assert(std::is_integral_v<T>);
  if constexpr (sizeof(T) == 1) {
    store(to, value);
  } else {
    store(to, swap_bytes(static_cast<std::make_unsigned_t<T>>(value)));
  }
}

/// Walks over bytes that may be damaged. A read that would pass the end returns false and moves nothing; once
/// a read has failed all later ones fail too, so that a decoder may check once at its end with ok().
class ByteReader {
 public:
  explicit ByteReader(std::span<const std::byte> bytes) noexcept
      : at_{bytes.data()}, end_{at_ + bytes.size()} {}
  explicit ByteReader(std::string_view bytes) noexcept
      : at_{reinterpret_cast<const std::byte*>(bytes.data())}, end_{at_ + bytes.size()} {}

  template <class T>
  bool read(T& value) noexcept {
    if (!has(sizeof(T))) return false;
    value = load<T>(at_);
    at_ += sizeof(T);
    return true;
  }

  template <class T>
  bool read_network(T& value) noexcept {
    if (!has(sizeof(T))) return false;
    value = load_network<T>(at_);
    at_ += sizeof(T);
    return true;
  }

  /// A view of the next `size_bytes` bytes, valid as long as the underlying bytes.
  bool read_bytes(std::span<const std::byte>& bytes, std::size_t size_bytes) noexcept {
    if (!has(size_bytes)) return false;
    bytes = {at_, size_bytes};
    at_ += size_bytes;
    return true;
  }
  bool read_text(std::string_view& text, std::size_t size_bytes) noexcept {
    if (!has(size_bytes)) return false;
    text = {reinterpret_cast<const char*>(at_), size_bytes};
    at_ += size_bytes;
    return true;
  }

  /// Up to the next zero byte, which is skipped; fails when there is none.
  bool read_zero_terminated(std::string_view& text) noexcept {
    const void* zero = ok_ && at_ != end_ ? std::memchr(at_, 0, remaining()) : nullptr;
    if (zero == nullptr) return ok_ = false;
    text = {reinterpret_cast<const char*>(at_),
            static_cast<std::size_t>(static_cast<const std::byte*>(zero) - at_)};
    at_ = static_cast<const std::byte*>(zero) + 1;
    return true;
  }

  bool skip(std::size_t size_bytes) noexcept {
    if (!has(size_bytes)) return false;
    at_ += size_bytes;
    return true;
  }

  bool ok() const noexcept { return ok_; }
  std::size_t remaining() const noexcept { return static_cast<std::size_t>(end_ - at_); }
  const std::byte* position() const noexcept { return at_; }

  /// Like read(), for bytes that only damage can cut short. Errors: XX001 naming `what`.
  template <class T>
  T take(std::string_view what) {
    T value;
    if (!read(value)) throw_truncated(what);
    return value;
  }

  /// Errors: XX001 always.
  [[noreturn]] static void throw_truncated(std::string_view what);

 private:
  bool has(std::size_t size_bytes) noexcept {
    if (!ok_ || remaining() < size_bytes) return ok_ = false;
    return true;
  }

  const std::byte* at_;
  const std::byte* end_;
  bool ok_ = true;
};

/// Fills a fixed span. A write that would pass the end writes nothing and makes ok() false.
class ByteWriter {
 public:
  explicit ByteWriter(std::span<std::byte> bytes) noexcept
      : begin_{bytes.data()}, at_{bytes.data()}, end_{at_ + bytes.size()} {}

  template <class T>
  bool write(const T& value) noexcept {
    if (!has(sizeof(T))) return false;
    store(at_, value);
    at_ += sizeof(T);
    return true;
  }

  template <class T>
  bool write_network(T value) noexcept {
    if (!has(sizeof(T))) return false;
    store_network(at_, value);
    at_ += sizeof(T);
    return true;
  }

  bool write_bytes(const void* bytes, std::size_t size_bytes) noexcept {
    if (!has(size_bytes)) return false;
    if (size_bytes != 0) std::memcpy(at_, bytes, size_bytes);
    at_ += size_bytes;
    return true;
  }
  bool write_bytes(std::span<const std::byte> bytes) noexcept {
    return write_bytes(bytes.data(), bytes.size());
  }
  bool write_text(std::string_view text) noexcept { return write_bytes(text.data(), text.size()); }

  bool ok() const noexcept { return ok_; }
  std::size_t size() const noexcept { return static_cast<std::size_t>(at_ - begin_); }
  std::size_t remaining() const noexcept { return static_cast<std::size_t>(end_ - at_); }

 private:
  bool has(std::size_t size_bytes) noexcept {
    if (!ok_ || remaining() < size_bytes) return ok_ = false;
    return true;
  }

  std::byte* begin_;
  std::byte* at_;
  std::byte* end_;
  bool ok_ = true;
};

inline std::span<const std::byte> as_byte_span(std::string_view text) noexcept {
  return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
}
inline std::string_view as_text(std::span<const std::byte> bytes) noexcept {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace pinwheel
