#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "sql/catalog/ref.h"
#include "sql/plan/cached_plan.h"
#include "sql/statistics/statement_statistics.h"

namespace pinwheel::sql {

/// A plan that sessions share. The plan is changed by running it (idle executor states), hence mutable.
struct SharedPlan : RefCounted {
  mutable CachedPlan plan;
  /// Relation versions at planning, beside plan.relations.
  std::vector<std::uint64_t> relation_versions;
  /// Generation at which the versions were last found unchanged.
  mutable std::uint64_t checked_generation = 0;
  /// For pg_stat_statements: the text with literals as $n, its hash, and where the process counts it.
  std::string statement_text;
  std::uint64_t statement_id = 0;
  mutable StatementTicket ticket;
};
using PlanRef = Ref<SharedPlan>;

/// The statement cache of one process: statement text (with literals lifted out, or as Parse gave it) and
/// what else decides its meaning, to a plan. Shared by all sessions; entries that the catalogs have outdated
/// are replaced when somebody needs them.
class PlanCache {
 public:
  explicit PlanCache(std::size_t capacity = 2000) : capacity_{capacity} {}

  /// Null when there is none. The caller checks that it still holds.
  PlanRef find(std::string_view key);
  void insert(std::string_view key, PlanRef plan);
  void clear() { entries_.clear(); }

  std::uint64_t hit_count = 0;
  std::uint64_t miss_count = 0;

 private:
  struct Entry {
    PlanRef plan;
    std::uint64_t last_use = 0;
  };
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const noexcept;
  };
  void evict_half();

  std::size_t capacity_;
  std::uint64_t clock_ = 0;
  std::unordered_map<std::string, Entry, Hash, std::equal_to<>> entries_;
};

}  // namespace pinwheel::sql
