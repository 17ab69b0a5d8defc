#pragma once

#include <cstdint>

#include "base/settings.h"

namespace pinwheel::sql {

/// Keeps VACUUM and ANALYZE from taking the disk for themselves: adds up the cost of what they do and pauses
/// when it reaches vacuum_cost_limit, for vacuum_cost_delay (0 = never). May park: nothing is latched.
class VacuumPacer {
 public:
  explicit VacuumPacer(const Settings& settings);

  void page_read() { add(page_cost_); }
  void page_dirtied() { add(dirty_cost_); }

 private:
  void add(std::int64_t cost) {
    if (delay_ms_ <= 0) return;
    balance_ += cost;
    if (balance_ >= limit_) pause();
  }
  void pause();

  double delay_ms_;
  std::int64_t limit_;
  std::int64_t page_cost_;
  std::int64_t dirty_cost_;
  std::int64_t balance_ = 0;
};

}  // namespace pinwheel::sql
