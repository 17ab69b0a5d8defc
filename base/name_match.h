#pragma once

#include <span>
#include <string>
#include <string_view>

namespace pinwheel {

/// Edit distance (insertions, deletions, substitutions of one byte) of two names, at most `limit` + 1.
int edit_distance(std::string_view a, std::string_view b, int limit);

/// The name closest to `wanted`, for "did you mean"; empty when none comes near enough to be meant: a third
/// of its bytes, at least 2, may differ. Letter case does not count. The first of several equally close ones.
std::string_view nearest_name(std::string_view wanted, std::span<const std::string_view> names);

}  // namespace pinwheel
