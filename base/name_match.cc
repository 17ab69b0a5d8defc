#include "base/name_match.h"

#include <algorithm>
#include <cstdlib>
#include <vector>

namespace pinwheel {
namespace {

std::string lower(std::string_view text) {
  std::string result{text};
  for (char& c : result) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + ('a' - 'A'));
  }
  return result;
}

}  // namespace

int edit_distance(std::string_view a, std::string_view b, int limit) {
  if (std::abs(static_cast<int>(a.size()) - static_cast<int>(b.size())) > limit) return limit + 1;
  std::vector<int> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = static_cast<int>(j);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    int diagonal = row[0];
    row[0] = static_cast<int>(i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const int substitute = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, substitute});
    }
  }
  return std::min(row[b.size()], limit + 1);
}

std::string_view nearest_name(std::string_view wanted, std::span<const std::string_view> names) {
  const std::string folded = lower(wanted);
  int best_distance = std::max(2, static_cast<int>(wanted.size()) / 3) + 1;
  std::string_view best;
  for (const std::string_view name : names) {
    const int distance = edit_distance(folded, lower(name), best_distance - 1);
    if (distance >= best_distance) continue;
    best_distance = distance;
    best = name;
  }
  return best;
}

}  // namespace pinwheel
