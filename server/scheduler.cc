#include "server/scheduler.h"

#include <algorithm>
#include <boost/context/protected_fixedsize_stack.hpp>

#include "base/error.h"
#include "base/stack.h"
#include "shm/lwlock.h"
#include "shm/process.h"
#include "shm/usage_meter.h"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#endif

namespace pinwheel::server {
namespace {

namespace context = boost::context;

constexpr std::size_t kFiberStackBytes = 512 * 1024;
/// Left below the depth limit for what throws, unwinds and reports.
constexpr std::size_t kStackReserveBytes = 96 * 1024;
constexpr int kMaxSleepMs = 60'000;
/// How long nothing must happen before idle work is done.
constexpr int kIdleMs = 1000;

/// Stands in for the slot of sessions that have none yet: nobody else can see it.
shm::SessionSlot& placeholder_slot() {
  static shm::SessionSlot slot;
  return slot;
}

constexpr std::uint32_t interrupt_of(SessionTimer timer) {
  switch (timer) {
    case SessionTimer::kStatement:
      return shm::kInterruptStatementTimeout;
    case SessionTimer::kLock:
      return shm::kInterruptLockTimeout;
    case SessionTimer::kIdleInTransaction:
      return shm::kInterruptIdleInTransaction;
    default:
      return shm::kInterruptIdleSession;
  }
}

// Tell AddressSanitizer about every change of stacks, or it takes frames of one for another's.
#if defined(__SANITIZE_ADDRESS__)
struct MainStack {
  const void* bottom = nullptr;
  std::size_t bytes = 0;
};
MainStack main_stack;
#endif

}  // namespace

Fiber::Fiber(Scheduler& scheduler) : scheduler_{scheduler}, slot_{&placeholder_slot()} {}

void Fiber::bind_slot(shm::SessionIndex index, shm::SessionSlot* slot) {
  Scheduler& scheduler = scheduler_;
  if (session_index_ != shm::kNoSession) scheduler.by_session_[session_index_.value] = nullptr;
  session_index_ = index;
  slot_ = slot != nullptr ? slot : &placeholder_slot();
  if (index != shm::kNoSession) scheduler.by_session_[index.value] = this;
  if (scheduler.current_ == this) shm::set_current_session(slot_, this, session_index_);
}

shm::WakeReason Fiber::park(shm::WaitEvent event, Deadline deadline) {
  shm::assert_nothing_latched();
  slot_->wait_event.store(shm::published(event), std::memory_order_relaxed);
  park_deadline_ = deadline;
  scheduler_.note_deadline(deadline);
  shm::WakeReason reason = shm::WakeReason::kReady;
  while (true) {
    if (poked_ || shm::consume_wake(*slot_)) break;
    reason = shm::interrupt_reason(*slot_);
    if (reason != shm::WakeReason::kReady) break;
    if (deadline.passed()) {
      reason = shm::WakeReason::kTimeout;
      break;
    }
    state_ = State::kParked;
    scheduler_.switch_back(this);
  }
  poked_ = false;
  park_deadline_ = Deadline::never();
  slot_->wait_event.store(0, std::memory_order_relaxed);
  return reason;
}

void Fiber::yield() {
  scheduler_.make_ready(this);
  scheduler_.switch_back(this);
}

void Fiber::set_timer(SessionTimer timer, Deadline deadline) {
  timers_[static_cast<int>(timer)] = deadline;
  scheduler_.note_deadline(deadline);
}

void Fiber::resume_soon() {
  poked_ = true;
  if (state_ == State::kParked) scheduler_.make_ready(this);
}

Scheduler::Scheduler(const shm::SessionTable& sessions, Poller& poller)
    : sessions_{sessions}, poller_{poller}, by_session_(sessions.capacity(), nullptr) {
  // The main stack grows on demand up to the soft limit (8 MiB by default); the parser may use most of it.
  main_stack_limit_ = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)) - 6 * 1024 * 1024;
  stack_limit = main_stack_limit_;
}

Scheduler::~Scheduler() = default;

void Scheduler::spawn(std::unique_ptr<Fiber> fiber) {
  Fiber* raw = fiber.get();
  context::protected_fixedsize_stack allocator{kFiberStackBytes};
  context::stack_context stack = allocator.allocate();
  raw->stack_bottom_ = static_cast<char*>(stack.sp) - stack.size;
  raw->stack_bytes_ = stack.size;
  raw->stack_limit_ = reinterpret_cast<std::uintptr_t>(raw->stack_bottom_) + kStackReserveBytes;
  raw->context_ =
      context::fiber{std::allocator_arg, context::preallocated(stack.sp, stack.size, stack), allocator,
                     [this, raw](context::fiber&& main) {
#if defined(__SANITIZE_ADDRESS__)
                       __sanitizer_finish_switch_fiber(nullptr, &main_stack.bottom, &main_stack.bytes);
#endif
                       main_context_ = std::move(main);
                       raw->run();
                       raw->state_ = Fiber::State::kFinished;
#if defined(__SANITIZE_ADDRESS__)
                       __sanitizer_start_switch_fiber(nullptr, main_stack.bottom, main_stack.bytes);
#endif
                       return std::move(main_context_);
                     }};
  fibers_.push_back(std::move(fiber));
  make_ready(raw);
}

void Scheduler::make_ready(Fiber* fiber) {
  if (fiber->state_ == Fiber::State::kReady) return;
  fiber->state_ = Fiber::State::kReady;
  ready_.push_back(fiber);
}

void Scheduler::switch_to(Fiber* fiber) {
  fiber->state_ = Fiber::State::kRunning;
  fiber->woken_ = false;
  current_ = fiber;
  stack_limit = fiber->stack_limit_;
  shm::set_current_session(fiber->slot_, fiber, fiber->session_index_);
  while (true) {
#if defined(__SANITIZE_ADDRESS__)
    void* fake = nullptr;
    __sanitizer_start_switch_fiber(&fake, fiber->stack_bottom_, fiber->stack_bytes_);
#endif
    context::fiber back = std::move(fiber->context_).resume();
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_finish_switch_fiber(fake, nullptr, nullptr);
#endif
    if (fiber->state_ != Fiber::State::kFinished) fiber->context_ = std::move(back);
    if (main_stack_call_ == nullptr) break;
    const auto* call = main_stack_call_;
    main_stack_call_ = nullptr;
    stack_limit = main_stack_limit_;
    try {
      (*call)();
    } catch (...) {
      main_stack_error_ = std::current_exception();
    }
    stack_limit = fiber->stack_limit_;
  }
  current_ = nullptr;
  stack_limit = main_stack_limit_;
  if (fiber->state_ == Fiber::State::kFinished) finished_.push_back(fiber);
}

void Scheduler::switch_back(Fiber* fiber) {
  // current_session is the next fiber's until this one is resumed; its meter waits here, on its stack.
  shm::UsageMeter* const meter = shm::current_session.meter;
  if (meter != nullptr) meter->leave();
#if defined(__SANITIZE_ADDRESS__)
  void* fake = nullptr;
  __sanitizer_start_switch_fiber(&fake, main_stack.bottom, main_stack.bytes);
#endif
  main_context_ = std::move(main_context_).resume();
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(fake, &main_stack.bottom, &main_stack.bytes);
#endif
  fiber->state_ = Fiber::State::kRunning;
  if (meter != nullptr) {
    meter->enter();
    shm::current_session.meter = meter;
  }
}

void Scheduler::run_on_main_stack(const std::function<void()>& call) {
  Fiber* fiber = current_;
  if (fiber == nullptr) return call();
  main_stack_call_ = &call;
  switch_back(fiber);
  if (main_stack_error_) std::rethrow_exception(std::exchange(main_stack_error_, nullptr));
}

bool Scheduler::goes_first(const Fiber& fiber) const {
  if (precedence_ == nullptr) return false;
  return fiber.woken_ ||
         (fiber.session_index_ != shm::kNoSession && precedence_->is_waited_for(fiber.session_index_));
}

bool Scheduler::move_ahead(std::size_t place) {
  const auto first = [this](const Fiber* fiber) { return goes_first(*fiber); };
  const auto others = std::stable_partition(ready_.begin(), ready_.end(), first);
  if (others == ready_.begin()) return false;
  running_batch_.insert(running_batch_.begin() + static_cast<std::ptrdiff_t>(place), ready_.begin(), others);
  ready_.erase(ready_.begin(), others);
  return true;
}

void Scheduler::run_ready() {
  bool waited_for = move_ahead(0);
  running_batch_.insert(running_batch_.end(), ready_.begin(), ready_.end());
  ready_.clear();
  for (std::size_t i = 0; i < running_batch_.size(); ++i) {
    run_started_ns_ = coarse_monotonic_ns();
    switch_to(running_batch_[i]);
    if (waited_for && (i + 1) % kFibersBetweenLooks == 0 && i + 1 < running_batch_.size()) {
      poller_.wait(0);
      take_woken();
      move_ahead(i + 1);
    }
  }
  running_batch_.clear();
  destroy_finished();
}

void Scheduler::take_woken() {
  shm::take_woken(sessions_, [this](shm::SessionIndex index) {
    Fiber* fiber = by_session_[index.value];
    if (fiber == nullptr || fiber->state_ != Fiber::State::kParked) return;
    fiber->woken_ = true;
    make_ready(fiber);
  });
}

void Scheduler::destroy_finished() {
  for (Fiber* fiber : finished_) {
    if (fiber->session_index_ != shm::kNoSession) by_session_[fiber->session_index_.value] = nullptr;
    auto at =
        std::find_if(fibers_.begin(), fibers_.end(), [&](const auto& owned) { return owned.get() == fiber; });
    DB_ASSERT(at != fibers_.end());
    std::swap(*at, fibers_.back());
    fibers_.pop_back();
  }
  finished_.clear();
}

void Scheduler::expire_timers() {
  if (!next_deadline_.passed()) return;
  const std::int64_t now = monotonic_ns();
  next_deadline_ = Deadline::never();
  for (auto& fiber : fibers_) {
    bool due = false;
    for (int i = 0; i < static_cast<int>(SessionTimer::kCount); ++i) {
      Deadline& timer = fiber->timers_[i];
      if (timer.at_ns <= now) {
        timer = Deadline::never();
        fiber->slot_->interrupts.fetch_or(interrupt_of(static_cast<SessionTimer>(i)),
                                          std::memory_order_release);
        due = true;
      }
      note_deadline(timer);
    }
    if (fiber->park_deadline_.at_ns <= now) {
      due = true;
    } else {
      note_deadline(fiber->park_deadline_);
    }
    if (due && fiber->state_ == Fiber::State::kParked) make_ready(fiber.get());
  }
}

int Scheduler::sleep_timeout_ms() const {
  if (next_deadline_.is_never()) return -1;
  const std::int64_t left_ns = next_deadline_.at_ns - monotonic_ns();
  if (left_ns <= 0) return 0;
  return static_cast<int>(std::min<std::int64_t>((left_ns + 999'999) / 1'000'000, kMaxSleepMs));
}

void Scheduler::sleep() {
  if (!shm::begin_sleep()) return;
  int timeout_ms = sleep_timeout_ms();
  // Reads no clock: what was counted waits for a second without any event.
  const bool idle_work = idle_work_ != nullptr && idle_work_->has_work();
  if (idle_work && (timeout_ms < 0 || timeout_ms > kIdleMs)) timeout_ms = kIdleMs;
  const int events = poller_.wait(timeout_ms);
  shm::end_sleep();
  if (idle_work && events == 0 && timeout_ms == kIdleMs) idle_work_->do_work();
}

void Scheduler::run(const std::function<bool()>& finished) {
  while (!finished()) {
    take_woken();
    expire_timers();
    if (!ready_.empty()) run_ready();
    if (!ready_.empty()) {
      poller_.wait(0);  // those that yielded do not keep the others' clients waiting
    } else if (finished()) {
      return;
    } else {
      sleep();
    }
  }
}

}  // namespace pinwheel::server
