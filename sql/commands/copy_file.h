#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"

namespace pinwheel::sql {

/// A server file that COPY FROM reads, piece by piece. Errors: 58P01 and kin `could not open file "x" for
/// reading`, 42809 `"x" is a directory`.
class CopyInputFile {
 public:
  explicit CopyInputFile(const std::string& path);
  /// False at the end; `data` is valid until the next call.
  bool next(std::string_view& data);
  std::int64_t size_bytes() const { return static_cast<std::int64_t>(file_.size()); }

 private:
  File file_;
  std::vector<std::byte> bytes_;
  std::uint64_t offset_ = 0;
};

/// A server file that COPY TO writes. Errors: 42602 for relative paths; `could not open file "x" for
/// writing`.
class CopyOutputFile {
 public:
  explicit CopyOutputFile(const std::string& path);
  void write(std::string_view data);
  void finish();

 private:
  void flush();
  File file_;
  std::string buffer_;
  std::uint64_t offset_ = 0;
};

}  // namespace pinwheel::sql
