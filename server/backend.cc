#include "server/backend.h"

#include <sys/random.h>
#include <unistd.h>

#include <csignal>

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "base/sqlstate.h"
#include "server/client_session.h"
#include "server/handover.h"
#include "sql/parse/parser.h"
#include "sql/session/setting_hooks.h"

namespace pinwheel::server {
namespace {

/// This process's backend, for hooks that are plain functions.
BackendProcess* this_backend = nullptr;

void run_on_main_stack(void (*run)(void*), void* argument) {
  if (this_backend == nullptr || this_backend->scheduler().current() == nullptr) return run(argument);
  this_backend->scheduler().run_on_main_stack([run, argument] { run(argument); });
}

}  // namespace

/// The launcher's end of this carries accepted sockets.
class BackendProcess::ChannelTarget final : public PollTarget {
 public:
  ChannelTarget(BackendProcess& backend, int fd) : backend_{backend}, fd_{fd} {
    backend_.poller_.add_level(fd_, this);
  }
  ~ChannelTarget() override { close(); }

  void on_events(std::uint32_t) override {
    while (true) {
      const int fd = receive_descriptor(fd_);
      if (fd == -1) return;
      if (fd == -2) {
        close();
        backend_.stopping_ = true;
        return;
      }
      backend_.adopt(fd);
    }
  }

 private:
  void close() {
    if (fd_ < 0) return;
    backend_.poller_.remove(fd_);
    ::close(fd_);
    fd_ = -1;
  }
  BackendProcess& backend_;
  int fd_;
};

/// Hands over what was counted, so that views of others do not wait for the next statement here.
class BackendProcess::StatisticsFlush final : public IdleWork {
 public:
  explicit StatisticsFlush(sql::ActivityLog& log) : log_{log} {}
  bool has_work() const noexcept override { return log_.has_pending(); }
  void do_work() override { log_.flush(wall_clock_us()); }

 private:
  sql::ActivityLog& log_;
};

/// The process's eventfd only ends the sleep; shm::end_sleep() empties it.
class BackendProcess::EventTarget final : public PollTarget {
 public:
  void on_events(std::uint32_t) override {}
};

/// Sessions whose transactions others wait for go first.
class BackendProcess::LockPrecedence : public Precedence {
 public:
  explicit LockPrecedence(const txn::RunningSet& running) : running_{running} {}
  bool is_waited_for(shm::SessionIndex session) const noexcept override {
    return running_.has_waiters(session);
  }

 private:
  const txn::RunningSet& running_;
};

BackendProcess::BackendProcess(SharedState& shared, ServerSettings& settings, int channel)
    : shared_{shared},
      settings_{settings},
      engine_{shared, settings},
      scheduler_{shared.sessions(), poller_},
      services_{engine_.catalog_services, settings,         shared.processes(),
                shared.sessions(),        plans_,           *this,
                shared.data_directory(),  engine_.counters, shared.segment()} {
  this_backend = this;
  shm::set_interrupt_hook(&BackendProcess::service_interrupts);
  sql::set_main_stack_hook(&run_on_main_stack);
  sql::install_setting_hooks();
  event_ = std::make_unique<EventTarget>();
  poller_.add_level(shm::self().slot->event_fd, event_.get());
  statistics_flush_ = std::make_unique<StatisticsFlush>(engine_.activity);
  scheduler_.set_idle_work(statistics_flush_.get());
  if (settings.get_bool(param::kServeWaitedFor)) {
    precedence_ = std::make_unique<LockPrecedence>(engine_.transactions.running());
    scheduler_.set_precedence(precedence_.get());
  }
  if (channel >= 0) channel_ = std::make_unique<ChannelTarget>(*this, channel);
}

BackendProcess::~BackendProcess() { this_backend = nullptr; }

void BackendProcess::adopt(int fd) {
  scheduler_.spawn(std::make_unique<ClientSession>(*this, fd));
  shm::self().slot->session_count.store(static_cast<std::uint32_t>(scheduler_.fiber_count()),
                                        std::memory_order_relaxed);
}

int BackendProcess::run() {
  scheduler_.run([this] {
    if (shm::self().slot->requests.load(std::memory_order_relaxed) != 0) [[unlikely]]
      serve_requests();
    if (scheduler_.fiber_count() > 0) return false;
    return stopping_ || channel_ == nullptr;
  });
  return 0;
}

void BackendProcess::serve_requests() {
  const std::uint32_t requests = shm::take_requests();
  if ((requests & shm::kRequestReload) != 0) {
    settings_.load_files(settings_.get_string(param::kConfigFile), shared_.data_directory(), /*reload=*/true);
    engine_.apply_settings(settings_);
    scheduler_.for_each_fiber([this](Fiber& fiber) {
      if (fiber.session_index() != shm::kNoSession) interrupt(fiber.session_index(), shm::kInterruptReload);
    });
  }
  if ((requests & (shm::kRequestShutdown | shm::kRequestFastShutdown)) != 0) stopping_ = true;
  if ((requests & shm::kRequestFastShutdown) != 0) {
    scheduler_.for_each_fiber([this](Fiber& fiber) {
      if (fiber.session_index() != shm::kNoSession)
        interrupt(fiber.session_index(), shm::kInterruptTerminate);
    });
  }
}

shm::SessionIndex BackendProcess::acquire_slot() {
  return shared_.sessions().acquire(shm::ProcessKind::kBackend);
}

void BackendProcess::name_session(shm::SessionSlot& slot, shm::SessionIndex index) const {
  // A classic session is its process. Ids of pooled ones lie above every process id of the system.
  constexpr std::int32_t kFirstPooledId = 1 << 24;
  const bool classic = channel_ == nullptr;
  std::uint32_t secret = 0;
  if (::getrandom(&secret, sizeof secret, 0) != sizeof secret) {
    throw SqlError{sqlstate::kInternalError, "could not generate random cancel key"}.fatal();
  }
  slot.cancel_secret.store(secret, std::memory_order_relaxed);
  slot.backend_pid.store(classic ? ::getpid() : kFirstPooledId + static_cast<std::int32_t>(index.value),
                         std::memory_order_release);
}

void BackendProcess::release_slot(Fiber& fiber, shm::SessionIndex index) {
  while (!shared_.sessions().try_release(index)) fiber.yield();
  const auto others = static_cast<std::uint32_t>(scheduler_.fiber_count() - 1);
  shm::self().slot->session_count.store(others, std::memory_order_relaxed);
}

/// What shm::check_interrupts() calls when something is pending, or when it is time to look at the clock.
void BackendProcess::service_interrupts(std::uint32_t bits) {
  auto* fiber = static_cast<ClientSession*>(this_backend->scheduler().current());
  if (fiber == nullptr) return;
  shm::SessionSlot& slot = fiber->slot();
  if ((bits & shm::kTerminatingInterrupts) != 0) {
    throw SqlError{sqlstate::kAdminShutdown, "terminating connection due to administrator command"}.fatal();
  }
  if ((bits & shm::kInterruptReload) != 0) {
    slot.interrupts.fetch_and(~shm::kInterruptReload, std::memory_order_relaxed);
    fiber->note_reload();
  }
  const std::uint32_t ignored = shm::kInterruptCatalog | shm::kInterruptYield | shm::kInterruptBarrier |
                                shm::kInterruptDeadlock | shm::kInterruptAutovacuumCancel;
  slot.interrupts.fetch_and(~ignored, std::memory_order_relaxed);
  if ((bits & shm::kInterruptCancel) != 0) {
    slot.interrupts.fetch_and(~shm::kInterruptCancel, std::memory_order_relaxed);
    throw SqlError{sqlstate::kQueryCanceled, "canceling statement due to user request"};
  }
  if ((bits & shm::kInterruptStatementTimeout) != 0) {
    slot.interrupts.fetch_and(~shm::kInterruptStatementTimeout, std::memory_order_relaxed);
    throw SqlError{sqlstate::kQueryCanceled, "canceling statement due to statement timeout"};
  }
  if ((bits & shm::kInterruptLockTimeout) != 0) {
    slot.interrupts.fetch_and(~shm::kInterruptLockTimeout, std::memory_order_relaxed);
    throw SqlError{sqlstate::kLockNotAvailable, "canceling statement due to lock timeout"};
  }
  if (this_backend->scheduler().quantum_over()) fiber->yield();
}

// ---- sql::ServerActions ----

void BackendProcess::checkpoint(shm::Parker& parker) {
  constexpr std::int64_t kPollMs = 10;
  ServerControl& control = shared_.control();
  // A checkpoint that has begun before does not count.
  const std::uint64_t wanted = control.checkpoints_started.load(std::memory_order_acquire) + 1;
  control.checkpoint_immediate.store(1, std::memory_order_release);
  shared_.processes().request(shm::ProcessKind::kCheckpointer, shm::kRequestWork);
  while (control.checkpoints_done.load(std::memory_order_acquire) < wanted) {
    const shm::WakeReason reason = parker.park(shm::WaitEvent::kCheckpointDone, Deadline::after_ms(kPollMs));
    if (reason == shm::WakeReason::kCancelled || reason == shm::WakeReason::kTerminated)
      shm::service_interrupts();
  }
}

bool BackendProcess::reload_configuration() { return ::kill(::getppid(), SIGHUP) == 0; }

sql::ServerFacts BackendProcess::facts() const {
  const ServerControl& control = shared_.control();
  constexpr auto kRelaxed = std::memory_order_relaxed;
  return {control.started_at_us.load(kRelaxed), control.reloaded_at_us.load(kRelaxed)};
}

bool BackendProcess::alone_in_process() const { return scheduler_.fiber_count() == 1; }

void BackendProcess::set_timer_statement(Deadline deadline) {
  if (Fiber* fiber = scheduler_.current()) fiber->set_timer(SessionTimer::kStatement, deadline);
}

void BackendProcess::set_timer_idle_in_transaction(Deadline deadline) {
  if (Fiber* fiber = scheduler_.current()) fiber->set_timer(SessionTimer::kIdleInTransaction, deadline);
}

void BackendProcess::set_timer_idle_session(Deadline deadline) {
  if (Fiber* fiber = scheduler_.current()) fiber->set_timer(SessionTimer::kIdleSession, deadline);
}

int run_backend(SharedState& shared, ServerSettings& settings, int channel, int first_fd) {
  BackendProcess backend{shared, settings, channel};
  if (first_fd >= 0) backend.adopt(first_fd);
  return backend.run();
}

}  // namespace pinwheel::server
