#pragma once

#include <boost/context/fiber.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "base/clock.h"
#include "server/poller.h"
#include "shm/interrupts.h"
#include "shm/parking.h"
#include "shm/session_slot.h"

namespace pinwheel::server {

class Scheduler;

/// Timeouts that run beside whatever the session does; each sets an interrupt bit when it expires.
enum class SessionTimer : std::uint8_t { kStatement, kLock, kIdleInTransaction, kIdleSession, kCount };

/// One session's straight line of code on its own stack. Its Parker parks it in the scheduler.
class Fiber : public shm::Parker {
 public:
  explicit Fiber(Scheduler& scheduler);
  ~Fiber() override = default;

  /// Parks this fiber (which must be the running one). See shm::Parker.
  shm::WakeReason park(shm::WaitEvent event, Deadline deadline) final;
  /// Lets the other runnable fibers and the poller have a turn.
  void yield();

  /// Arms (or, with Deadline::never(), disarms) a timer.
  void set_timer(SessionTimer timer, Deadline deadline);

  /// Binds the fiber to its slot in shared memory, once it has one.
  void bind_slot(shm::SessionIndex index, shm::SessionSlot* slot);
  shm::SessionIndex session_index() const { return session_index_; }
  shm::SessionSlot& slot() const { return *slot_; }
  Scheduler& scheduler() const { return scheduler_; }

  /// Makes a parked fiber runnable: for poll targets of its own process.
  void resume_soon();

 protected:
  /// The session's code; when it returns the fiber is finished and destroyed.
  virtual void run() = 0;

 private:
  friend class Scheduler;
  enum class State : std::uint8_t { kNew, kReady, kRunning, kParked, kFinished };

  Scheduler& scheduler_;
  shm::SessionSlot* slot_;
  shm::SessionIndex session_index_ = shm::kNoSession;
  boost::context::fiber context_;
  State state_ = State::kNew;
  bool woken_ = false;  ///< made ready by another session's wake-up, and has not run since
  bool poked_ = false;  ///< resume_soon() came while it was not parked
  Deadline park_deadline_;
  Deadline timers_[static_cast<int>(SessionTimer::kCount)];
  std::uintptr_t stack_limit_ = 0;
  const void* stack_bottom_ = nullptr;
  std::size_t stack_bytes_ = 0;
};

/// What a process does once it has had nothing to do for a while: hands over its statistics.
class IdleWork {
 public:
  virtual ~IdleWork() = default;
  virtual bool has_work() const noexcept = 0;
  virtual void do_work() = 0;
};

/// Tells which sessions keep others waiting.
class Precedence {
 public:
  virtual ~Precedence() = default;
  /// Asked often, and need not be exact.
  virtual bool is_waited_for(shm::SessionIndex session) const noexcept = 0;
};

/// Runs a backend process's fibers, one at a time, on its one thread.
///
/// Each turn: take woken sessions, run every fiber that is ready, look at the poller; sleep when nothing is
/// ready. The sleep follows the announcement protocol of shm/parking.h.
///
/// With a Precedence, sessions that others wait for go first within a turn, and those that another session
/// has just woken: what they hold is released the sooner, and queues for hot rows stay short. While there are
/// such, the poller is looked at every few fibers, not once a turn. Nobody starves: between two looks
/// kFibersBetweenLooks others run, and a turn ends only when all that were ready at its beginning have run.
class Scheduler {
 public:
  Scheduler(const shm::SessionTable& sessions, Poller& poller);
  ~Scheduler();
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;

  /// Takes over a new fiber and makes it ready.
  void spawn(std::unique_ptr<Fiber> fiber);
  /// Runs until `finished()` says so; it is asked between turns.
  void run(const std::function<bool()>& finished);
  /// Makes run() look at `finished` again.
  std::size_t fiber_count() const { return fibers_.size(); }
  template <class Visit>
  void for_each_fiber(Visit visit) {
    for (auto& fiber : fibers_) visit(*fiber);
  }

  /// Outlives run(); null (the default) = all in the order in which they became ready.
  void set_precedence(const Precedence* precedence) { precedence_ = precedence; }
  /// `work` outlives run().
  void set_idle_work(IdleWork* work) { idle_work_ = work; }

  Poller& poller() { return poller_; }
  Fiber* current() { return current_; }
  bool others_ready() const { return !ready_.empty(); }
  /// True when the running fiber has had its share of the processor.
  bool quantum_over() const { return coarse_monotonic_ns() - run_started_ns_ >= kQuantumNs; }

  /// Runs `call` on the process's main stack while the current fiber waits; exceptions come back to the
  /// fiber.
  void run_on_main_stack(const std::function<void()>& call);

  static constexpr std::int64_t kQuantumNs = 2'000'000;
  static constexpr std::size_t kFibersBetweenLooks = 4;

 private:
  friend class Fiber;
  void make_ready(Fiber* fiber);
  void switch_to(Fiber* fiber);
  void switch_back(Fiber* fiber);
  void run_ready();
  void take_woken();
  bool goes_first(const Fiber& fiber) const;
  /// Puts those of ready_ that go first into the running batch at `place`. True if there was one.
  bool move_ahead(std::size_t place);
  void expire_timers();
  void note_deadline(Deadline deadline) {
    if (deadline.at_ns < next_deadline_.at_ns) next_deadline_ = deadline;
  }
  int sleep_timeout_ms() const;
  void sleep();
  void destroy_finished();

  const shm::SessionTable& sessions_;
  Poller& poller_;
  std::vector<std::unique_ptr<Fiber>> fibers_;
  std::vector<Fiber*> ready_;
  std::vector<Fiber*> running_batch_;
  std::vector<Fiber*> by_session_;  ///< index = SessionIndex
  std::vector<Fiber*> finished_;
  Fiber* current_ = nullptr;
  boost::context::fiber main_context_;  ///< valid while a fiber runs
  const std::function<void()>* main_stack_call_ = nullptr;
  std::exception_ptr main_stack_error_;
  std::uintptr_t main_stack_limit_ = 0;
  IdleWork* idle_work_ = nullptr;
  const Precedence* precedence_ = nullptr;
  Deadline next_deadline_;  ///< no deadline or timer is earlier; may itself be stale
  std::int64_t run_started_ns_ = 0;
};

}  // namespace pinwheel::server
