#include "storage/file/unlogged_reset.h"

#include <charconv>

#include "base/file.h"

namespace pinwheel::storage {

namespace {

/// The number at the front of `text`, and what follows it.
bool parse_number(std::string_view text, std::uint32_t& number, std::string_view& rest) noexcept {
  const auto result = std::from_chars(text.data(), text.data() + text.size(), number);
  if (result.ec != std::errc{}) return false;
  rest = text.substr(static_cast<std::size_t>(result.ptr - text.data()));
  return true;
}

}  // namespace

std::vector<FileId> find_unlogged(const std::string& data_directory) {
  std::vector<FileId> found;
  const std::string base = data_directory + "/base";
  if (!file_exists(base)) return found;
  for (const std::string& directory : list_directory(base)) {
    std::uint32_t database = 0;
    std::string_view rest;
    if (!parse_number(directory, database, rest) || !rest.empty()) continue;
    for (const std::string& name : list_directory(base + "/" + directory)) {
      std::uint32_t relation = 0;
      if (parse_number(name, relation, rest) && rest == "_init")
        found.push_back({Oid{database}, Oid{relation}});
    }
  }
  return found;
}

void copy_file_durably(const std::string& from, const std::string& to) {
  const File source = File::open(from, OpenMode::kRead);
  const File target = File::open(to, OpenMode::kTruncate);
  std::vector<std::byte> block(1 << 20);
  std::uint64_t offset = 0;
  while (const std::size_t got = source.read_at(offset, block)) {
    target.write_at(offset, std::span{block}.first(got));
    offset += got;
  }
  target.sync();
}

}  // namespace pinwheel::storage
