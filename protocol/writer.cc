#include "protocol/writer.h"

#include <algorithm>

namespace pinwheel::protocol {

void MessageWriter::grow(std::size_t more) {
  data_.resize(std::max({data_.size() * 2, size_ + more, std::size_t{2048}}));
}

void MessageWriter::shrink(std::size_t keep_bytes) {
  if (data_.size() <= keep_bytes || size_ > keep_bytes) return;
  data_.resize(keep_bytes);
  data_.shrink_to_fit();
}

}  // namespace pinwheel::protocol
