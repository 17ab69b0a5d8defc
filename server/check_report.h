#pragma once

#include <cstdint>
#include <cstdio>
#include <string>

namespace pinwheel::server {

/// What `pinwheel check` finds, printed as it comes.
class CheckReport {
 public:
  /// Findings beyond this many are only counted: a lost disk block would fill the screen.
  static constexpr std::uint64_t kMostPrinted = 1000;

  void finding(const std::string& text) {
    if (++findings_ > kMostPrinted) return;
    std::fprintf(stdout, "%s\n", text.c_str());
  }
  std::uint64_t findings() const noexcept { return findings_; }

  std::uint64_t databases = 0;
  std::uint64_t relations = 0;
  std::uint64_t pages = 0;
  std::uint64_t tuples = 0;
  std::uint64_t index_entries = 0;

 private:
  std::uint64_t findings_ = 0;
};

}  // namespace pinwheel::server
