#pragma once

#include <cstddef>
#include <string>

#include "base/settings.h"
#include "server/engine.h"
#include "server/poller.h"
#include "server/scheduler.h"
#include "server/shared_state.h"
#include "sql/session/plan_cache.h"
#include "sql/session/services.h"

namespace pinwheel::server {

/// A backend: one process, one thread, any number of sessions as fibers. The classic mode is a backend with
/// one session, which ends with it; a pooled one receives connections from the launcher until told to stop.
class BackendProcess final : public sql::ServerActions {
 public:
  /// `channel` -1: classic.
  BackendProcess(SharedState& shared, ServerSettings& settings, int channel);
  ~BackendProcess() override;
  BackendProcess(const BackendProcess&) = delete;
  BackendProcess& operator=(const BackendProcess&) = delete;

  /// Starts a session on an accepted socket.
  void adopt(int fd);
  /// Until the last session ends (classic), or until shutdown.
  int run();

  Scheduler& scheduler() { return scheduler_; }
  const shm::SessionTable& sessions() const { return shared_.sessions(); }
  sql::SessionServices& services() { return services_; }
  const ServerSettings& settings() const { return settings_; }
  const std::string& data_directory() const { return shared_.data_directory(); }
  shm::SessionIndex acquire_slot();
  /// Gives a session its backend pid and cancel secret.
  void name_session(shm::SessionSlot& slot, shm::SessionIndex index) const;
  void release_slot(Fiber& fiber, shm::SessionIndex index);
  void interrupt(shm::SessionIndex index, std::uint32_t bits) {
    shm::interrupt(shared_.processes(), shared_.sessions(), index, bits);
  }

  // sql::ServerActions
  void checkpoint(shm::Parker& parker) override;
  bool reload_configuration() override;
  sql::ServerFacts facts() const override;
  bool alone_in_process() const override;
  void set_timer_statement(Deadline deadline) override;
  void set_timer_idle_in_transaction(Deadline deadline) override;
  void set_timer_idle_session(Deadline deadline) override;

 private:
  class ChannelTarget;
  class EventTarget;
  class StatisticsFlush;
  class LockPrecedence;
  void serve_requests();
  static void service_interrupts(std::uint32_t bits);

  SharedState& shared_;
  ServerSettings& settings_;
  Engine engine_;
  Poller poller_;
  Scheduler scheduler_;
  sql::PlanCache plans_;
  sql::SessionServices services_;
  std::unique_ptr<ChannelTarget> channel_;
  std::unique_ptr<EventTarget> event_;
  std::unique_ptr<StatisticsFlush> statistics_flush_;
  std::unique_ptr<LockPrecedence> precedence_;
  bool stopping_ = false;
};

/// Main of a backend child. `channel` or `first_fd` is -1.
int run_backend(SharedState& shared, ServerSettings& settings, int channel, int first_fd);

}  // namespace pinwheel::server
