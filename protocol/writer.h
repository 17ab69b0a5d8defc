#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

#include "protocol/message.h"

namespace pinwheel::protocol {

/// Builds messages, one after the other, in a buffer that keeps its memory. Integers go out in network order.
///
/// begin() ... end() brackets a message; end() fills in its length. Nothing here can fail but memory.
class MessageWriter {
 public:
  void begin(Backend type) {
    reserve(5);
    data_[size_] = static_cast<char>(type);
    start_ = size_ + 1;
    size_ += 5;
  }
  void end() { store_u32(data_.data() + start_, static_cast<std::uint32_t>(size_ - start_)); }

  void byte(char value) {
    reserve(1);
    data_[size_++] = value;
  }
  void int16(std::int16_t value) {
    reserve(2);
    const std::uint16_t swapped = __builtin_bswap16(static_cast<std::uint16_t>(value));
    std::memcpy(data_.data() + size_, &swapped, 2);
    size_ += 2;
  }
  void int32(std::int32_t value) {
    reserve(4);
    store_u32(data_.data() + size_, static_cast<std::uint32_t>(value));
    size_ += 4;
  }
  void bytes(std::string_view text) {
    reserve(text.size());
    if (!text.empty()) std::memcpy(data_.data() + size_, text.data(), text.size());
    size_ += text.size();
  }
  /// Text and a zero byte.
  void string(std::string_view text) {
    bytes(text);
    byte('\0');
  }
  /// Length and bytes, as DataRow's values.
  void counted(std::string_view value) {
    int32(static_cast<std::int32_t>(value.size()));
    bytes(value);
  }
  /// Room for `count` bytes at the end; the caller writes there and then calls advance().
  char* room(std::size_t count) {
    reserve(count);
    return data_.data() + size_;
  }
  void advance(std::size_t count) { size_ += count; }

  void empty_message(Backend type) {
    begin(type);
    end();
  }

  std::string_view pending() const { return {data_.data(), size_}; }
  std::size_t size() const { return size_; }
  void clear() { size_ = 0; }
  /// Drops what was written after `size` (a message abandoned half way).
  void truncate(std::size_t size) { size_ = size; }
  /// Gives memory back when a large reply has grown the buffer beyond `keep_bytes`.
  void shrink(std::size_t keep_bytes);

 private:
  void reserve(std::size_t more) {
    if (size_ + more > data_.size()) [[unlikely]]
      grow(more);
  }
  void grow(std::size_t more);
  static void store_u32(char* at, std::uint32_t value) {
    value = __builtin_bswap32(value);
    std::memcpy(at, &value, sizeof value);
  }

  std::vector<char> data_;
  std::size_t size_ = 0;
  std::size_t start_ = 0;
};

}  // namespace pinwheel::protocol
