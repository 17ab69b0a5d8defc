#include "shm/statistics.h"

#include "shm/interrupts.h"
#include "shm/process.h"

namespace pinwheel::shm {
namespace {

/// Counts of a process that has no slot yet; nobody else reads them.
ProcessStats unattached_stats;

}  // namespace

ProcessStats* process_stats = &unattached_stats;

void detach_self() noexcept {
  self_process = {};
  process_stats = &unattached_stats;
  set_current_session(nullptr, nullptr, kNoSession);
}

}  // namespace pinwheel::shm
