#pragma once

#include <cstdint>

#include "base/parameter_enums.h"

namespace pinwheel::txn {

/// Transaction isolation levels; the values of the setting transaction_isolation.
using Isolation = IsolationSetting;

/// REPEATABLE READ and SERIALIZABLE keep their first snapshot.
constexpr bool keeps_snapshot(Isolation isolation) noexcept {
  return isolation >= Isolation::kRepeatableRead;
}

}  // namespace pinwheel::txn
