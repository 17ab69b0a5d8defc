#pragma once

#include "base/settings.h"
#include "server/shared_state.h"
#include "wal/rmgr.h"

namespace pinwheel::server {

class Engine;

/// Joins every owner of log records with replay: the one place where wal meets its users.
void register_owners(wal::RmgrRegistry& registry, Engine& engine);

/// Describers only: for waldump, which has no engine.
void register_describers(wal::RmgrRegistry& registry);

/// Main of the startup process: brings the cluster from whatever state it was left in to one that can serve.
/// Exit status 0 when done.
int run_startup(SharedState& shared, ServerSettings& settings);

/// The same for single-process work. Leaves the control file saying "in production".
void recover(Engine& engine, SharedState& shared, shm::Parker& parker);

}  // namespace pinwheel::server
