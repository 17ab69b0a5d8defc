#pragma once

#include "base/settings.h"
#include "server/engine.h"
#include "server/shared_state.h"
#include "shm/interrupts.h"
#include "shm/parking.h"

namespace pinwheel::server {

/// What every background process has: a session slot to wait in, a parker, the engine; and a loop that serves
/// reloads.
class BackgroundProcess {
 public:
  BackgroundProcess(SharedState& shared, ServerSettings& settings, shm::ProcessKind kind)
      : shared{shared},
        settings{settings},
        session_{shared.sessions().acquire(kind)},
        parker{shared.sessions(), session_},
        engine{shared, settings} {
    shm::SessionSlot& slot = shared.sessions().slot(session_);
    shm::set_current_session(&slot, &parker, session_);
    slot.backend_pid.store(shm::self().slot->pid.load(std::memory_order_relaxed), std::memory_order_release);
  }

  /// Sleeps until requests or the deadline; serves a reload itself and returns the rest.
  std::uint32_t wait(shm::WaitEvent event, Deadline deadline) {
    std::uint32_t requests = shm::wait_for_requests(event, deadline);
    if ((requests & shm::kRequestReload) != 0) {
      settings.load_files(settings.get_string(param::kConfigFile), shared.data_directory(), /*reload=*/true);
      engine.apply_settings(settings);
    }
    return requests & ~shm::kRequestReload;
  }
  static bool shutdown_asked(std::uint32_t requests) {
    return (requests & (shm::kRequestShutdown | shm::kRequestFastShutdown)) != 0;
  }

  shm::SessionIndex session_index() const { return session_; }
  std::int32_t backend_pid() const {
    return shared.sessions().slot(session_).backend_pid.load(std::memory_order_relaxed);
  }

  SharedState& shared;
  ServerSettings& settings;

 private:
  shm::SessionIndex session_;

 public:
  shm::PlainParker parker;
  Engine engine;
};

}  // namespace pinwheel::server
