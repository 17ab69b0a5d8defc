#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sql/commands/copy_lines.h"

namespace pinwheel::sql::testing {

/// A COPY source that hands out the given pieces. Each lies in memory of its own that is overwritten at the
/// next call, as the protocol's buffer is.
class Pieces {
 public:
  explicit Pieces(std::vector<std::string> pieces) : pieces_{std::move(pieces)} {}

  /// `text` cut at the given places.
  static Pieces cut(std::string_view text, const std::vector<std::size_t>& places) {
    std::vector<std::string> pieces;
    std::size_t from = 0;
    for (const std::size_t place : places) {
      pieces.emplace_back(text.substr(from, place - from));
      from = place;
    }
    pieces.emplace_back(text.substr(from));
    return Pieces{std::move(pieces)};
  }
  static Pieces single_bytes(std::string_view text) {
    std::vector<std::string> pieces;
    for (const char c : text) pieces.emplace_back(1, c);
    return Pieces{std::move(pieces)};
  }

  CopySource source() {
    return [this](std::string_view& data) {
      current_.assign(current_.size(), '#');
      if (next_ == pieces_.size()) return false;
      current_ = pieces_[next_++];
      data = current_;
      return true;
    };
  }
  bool exhausted() const { return next_ == pieces_.size(); }

 private:
  std::vector<std::string> pieces_;
  std::size_t next_ = 0;
  std::string current_;
};

}  // namespace pinwheel::sql::testing
