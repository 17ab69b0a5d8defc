#include "sql/session/plan_cache.h"

#include <algorithm>

#include "base/checksum.h"

namespace pinwheel::sql {

std::size_t PlanCache::Hash::operator()(std::string_view text) const noexcept {
  return xxh3_64(std::as_bytes(std::span{text.data(), text.size()}));
}

PlanRef PlanCache::find(std::string_view key) {
  const auto at = entries_.find(key);
  if (at == entries_.end()) {
    ++miss_count;
    return {};
  }
  ++hit_count;
  at->second.last_use = ++clock_;
  return at->second.plan;
}

void PlanCache::insert(std::string_view key, PlanRef plan) {
  if (entries_.size() >= capacity_) evict_half();
  entries_.insert_or_assign(std::string{key}, Entry{std::move(plan), ++clock_});
}

/// Halving keeps eviction off the common path: it runs once per capacity/2 insertions.
void PlanCache::evict_half() {
  std::vector<std::uint64_t> uses;
  uses.reserve(entries_.size());
  for (const auto& [key, entry] : entries_) uses.push_back(entry.last_use);
  const auto middle = uses.begin() + static_cast<std::ptrdiff_t>(uses.size() / 2);
  std::nth_element(uses.begin(), middle, uses.end());
  const std::uint64_t cut = *middle;
  std::erase_if(entries_, [cut](const auto& item) { return item.second.last_use < cut; });
}

}  // namespace pinwheel::sql
