#include "sql/commands/vacuum_pacer.h"

#include <algorithm>

#include "base/parameters.h"
#include "shm/interrupts.h"

namespace pinwheel::sql {

VacuumPacer::VacuumPacer(const Settings& settings)
    : delay_ms_{settings.get_real(param::kVacuumCostDelay)},
      limit_{settings.get_int(param::kVacuumCostLimit)},
      // Whether a page was in the pool is not told: as if half of them were.
      page_cost_{
          (settings.get_int(param::kVacuumCostPageHit) + settings.get_int(param::kVacuumCostPageMiss) + 1) /
          2},
      dirty_cost_{settings.get_int(param::kVacuumCostPageDirty)} {}

void VacuumPacer::pause() {
  const double share = std::min(4.0, static_cast<double>(balance_) / static_cast<double>(limit_));
  const auto wait_ms = std::max<std::int64_t>(1, static_cast<std::int64_t>(delay_ms_ * share));
  static_cast<void>(shm::park(shm::WaitEvent::kVacuumDelay, Deadline::after_ms(wait_ms)));
  shm::check_interrupts();
  balance_ = 0;
}

}  // namespace pinwheel::sql
