#pragma once

#include <cstdint>
#include <type_traits>

namespace pinwheel::clog {

/// MULTIXACT CREATE: one set of row lockers (docs/formats/clog.md). Followed by `count` member words.
///
///   offset  size  field
///   0       8     id
///   8       8     offset   index of the first member in pg_multixact/members
///   16      4     count
///   20      4     reserved zero
struct MultixactCreateRecord {
  std::uint64_t id;
  std::uint64_t offset;
  std::uint32_t count;
  std::uint32_t reserved;
};
static_assert(sizeof(MultixactCreateRecord) == 24);
static_assert(std::has_unique_object_representations_v<MultixactCreateRecord>, "no padding on disk");

}  // namespace pinwheel::clog
