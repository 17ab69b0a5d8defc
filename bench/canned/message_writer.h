#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/bytes.h"

namespace pinwheel::canned {

/// Appends one message of the server's side of protocol 3.0 to `output`; its length is set when the writer
/// goes.
class MessageWriter {
 public:
  MessageWriter(std::string& output, char type) : output_{output} {
    output_ += type;
    begin_ = output_.size();
    output_.append(4, '\0');
  }
  MessageWriter(const MessageWriter&) = delete;
  MessageWriter& operator=(const MessageWriter&) = delete;
  ~MessageWriter() {
    store_network<std::int32_t>(output_.data() + begin_, static_cast<std::int32_t>(output_.size() - begin_));
  }

  template <class T>
  MessageWriter& integer(T value) {
    char bytes[sizeof(T)];
    store_network<T>(bytes, value);
    output_.append(bytes, sizeof bytes);
    return *this;
  }
  MessageWriter& bytes(std::string_view value) {
    output_ += value;
    return *this;
  }
  MessageWriter& zero_terminated(std::string_view value) {
    output_ += value;
    output_ += '\0';
    return *this;
  }

 private:
  std::string& output_;
  std::size_t begin_ = 0;
};

}  // namespace pinwheel::canned
