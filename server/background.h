#pragma once

#include <span>

#include "base/settings.h"
#include "server/shared_state.h"
#include "shm/process.h"

namespace pinwheel::server {

/// A background process that the launcher keeps running while the server serves.
struct BackgroundKind {
  shm::ProcessKind kind;
  int (*main)(SharedState& shared, ServerSettings& settings);
};
std::span<const BackgroundKind> background_kinds();

/// Flushes dirty pages and makes redo points: by time, by WAL volume, on request, at shutdown.
int run_checkpointer(SharedState& shared, ServerSettings& settings);
/// Refills the buffer freelist, woken by demand, and cleans frames ahead of the clock.
int run_bgwriter(SharedState& shared, ServerSettings& settings);
/// Writes and syncs the log for waiting sessions (group commit) and for asynchronous commits.
int run_walwriter(SharedState& shared, ServerSettings& settings);
/// Vacuums and analyzes tables of all databases when their counters ask for it, one after the other.
int run_autovacuum(SharedState& shared, ServerSettings& settings);

}  // namespace pinwheel::server
