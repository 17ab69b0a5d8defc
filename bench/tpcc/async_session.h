#pragma once

#include <coroutine>
#include <string>
#include <string_view>
#include <vector>

#include "bench/tpcc/event_loop.h"
#include "bench/tpcc/postgres.h"
#include "bench/tpcc/statements.h"

namespace pinwheel::tpcc {

/// A client's connection with all statements prepared, used by coroutines of one event loop: one statement at
/// a time, the coroutine waits for its result.
class AsyncSession final : public ReadableListener {
 public:
  /// Connects and prepares, waiting. `isolation` is a level as BEGIN names it. Throws StatementError.
  AsyncSession(EventLoop& loop, const std::string& dsn, std::string_view isolation);
  AsyncSession(const AsyncSession&) = delete;
  AsyncSession& operator=(const AsyncSession&) = delete;
  ~AsyncSession() override;

  /// What execute() and begin() return, to be awaited at once: gives the Result, or throws StatementError.
  class [[nodiscard]] Pending {
   public:
    explicit Pending(AsyncSession& session) noexcept : session_{session} {}
    bool await_ready() const noexcept { return !session_.sent_; }
    void await_suspend(std::coroutine_handle<> waiter) noexcept { session_.waiter_ = waiter; }
    Result await_resume() { return session_.take_result(); }

   private:
    AsyncSession& session_;
  };

  /// Sends a prepared statement. Parameters are int, Cents or text.
  template <class... Parameters>
  Pending execute(StatementId id, const Parameters&... parameters) {
    text_.clear();
    offsets_.clear();
    (append(parameters), ...);
    return send(definition(id).name);
  }
  Pending begin();

  /// The connection can no longer be used.
  bool is_lost() const noexcept { return PQstatus(connection_.native()) != CONNECTION_OK; }

 private:
  void on_readable() override;
  Pending send(const char* statement);
  Result take_result();
  template <class Parameter>
  void append(const Parameter& parameter) {
    offsets_.push_back(text_.size());
    append_value(parameter);
    text_ += '\0';
  }
  void append_value(int value) { text_ += std::to_string(value); }
  void append_value(Cents value) { append_cents(text_, value); }
  void append_value(std::string_view value) { text_ += value; }

  EventLoop& loop_;
  Connection connection_;
  std::string text_;                  // the parameters of the statement being sent, each zero-terminated
  std::vector<std::size_t> offsets_;  // where each begins
  std::vector<const char*> values_;
  bool sent_ = false;
  PGresult* result_ = nullptr;  // the first result of what was sent
  std::coroutine_handle<> waiter_;
};

}  // namespace pinwheel::tpcc
