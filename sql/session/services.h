#pragma once

#include <string>

#include "base/settings.h"
#include "shm/parking.h"
#include "shm/process.h"
#include "shm/session_slot.h"
#include "shm/statistics_view.h"
#include "sql/catalog/services.h"

namespace pinwheel::sql {

class PlanCache;

/// What the server as a whole has to tell. Times are microseconds since 2000-01-01 UTC.
struct ServerFacts {
  std::int64_t started_at_us = 0;
  std::int64_t configuration_loaded_at_us = 0;
};

/// What sessions may ask of the server around them.
class ServerActions {
 public:
  virtual ~ServerActions() = default;
  /// CHECKPOINT: asks for an immediate one and waits until it is done. Errors: those of waiting.
  virtual void checkpoint(shm::Parker& parker) = 0;
  /// pg_reload_conf().
  virtual bool reload_configuration() = 0;
  virtual ServerFacts facts() const = 0;
  /// True when no other session of this process could run meanwhile.
  virtual bool alone_in_process() const = 0;
  virtual void set_timer_statement(Deadline deadline) = 0;
  virtual void set_timer_idle_in_transaction(Deadline deadline) = 0;
  virtual void set_timer_idle_session(Deadline deadline) = 0;
};

/// What a process gives its sessions. Made once per backend; outlives them.
struct SessionServices {
  CatalogServices& catalog;
  const ServerSettings& settings;
  const shm::ProcessTable& processes;
  const shm::SessionTable& sessions;
  PlanCache& plans;
  ServerActions& server;
  std::string data_directory;
  shm::StatisticsView& counters;
  const shm::Segment& segment;
};

}  // namespace pinwheel::sql
