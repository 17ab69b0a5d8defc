#include "shm/statistics.h"

namespace pinwheel::shm {
namespace {

/// Counts of a process that has no slot yet; nobody else reads them.
ProcessStats unattached_stats;

}  // namespace

ProcessStats* process_stats = &unattached_stats;

}  // namespace pinwheel::shm
