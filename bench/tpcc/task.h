#pragma once

#include <coroutine>
#include <exception>
#include <optional>
#include <utility>

namespace pinwheel::tpcc {

/// A coroutine that starts when it is awaited and hands its value or its exception to the one that awaits it.
/// So a transaction reads as straight-line code while its thread serves many clients.
template <class T>
class [[nodiscard]] Task {
 public:
  struct promise_type {
    Task get_return_object() { return Task{Handle::from_promise(*this)}; }
    std::suspend_always initial_suspend() noexcept { return {}; }
    auto final_suspend() noexcept {
      struct Resume {
        bool await_ready() noexcept { return false; }
        std::coroutine_handle<> await_suspend(std::coroutine_handle<promise_type> done) noexcept {
          const auto next = done.promise().awaiter;
          return next ? next : std::noop_coroutine();
        }
        void await_resume() noexcept {}
      };
      return Resume{};
    }
    void return_value(T result) { value.emplace(std::move(result)); }
    void unhandled_exception() { exception = std::current_exception(); }

    std::optional<T> value;
    std::exception_ptr exception;
    std::coroutine_handle<> awaiter;
  };
  using Handle = std::coroutine_handle<promise_type>;

  Task(Task&& other) noexcept : handle_{std::exchange(other.handle_, nullptr)} {}
  Task& operator=(Task&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Task() {
    if (handle_) handle_.destroy();
  }

  bool await_ready() const noexcept { return false; }
  std::coroutine_handle<> await_suspend(std::coroutine_handle<> awaiter) noexcept {
    handle_.promise().awaiter = awaiter;
    return handle_;
  }
  T await_resume() {
    if (handle_.promise().exception) std::rethrow_exception(handle_.promise().exception);
    return std::move(*handle_.promise().value);
  }

  /// For the outermost task, which nobody awaits: runs it up to its first wait.
  void start() { handle_.resume(); }
  bool is_done() const noexcept { return handle_.done(); }
  /// Once done: its value, or its exception thrown.
  T take() { return await_resume(); }

 private:
  explicit Task(Handle handle) noexcept : handle_{handle} {}

  Handle handle_;
};

}  // namespace pinwheel::tpcc
