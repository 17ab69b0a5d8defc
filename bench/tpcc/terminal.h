#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "bench/tpcc/async_session.h"
#include "bench/tpcc/event_loop.h"
#include "bench/tpcc/recorder.h"
#include "bench/tpcc/task.h"
#include "bench/tpcc/workload.h"

namespace pinwheel::tpcc {

/// One client: draws a transaction, keys it in, runs it until it is done, thinks, and so on until the loop is
/// told to stop. A transaction that has begun is finished, not retried, after that.
class Terminal {
 public:
  /// `think_scale`: factor of all keying and think times; 0: none. Connects; throws StatementError.
  Terminal(EventLoop& loop, Recorder& recorder, const Workload& workload, const std::string& dsn,
           std::string_view isolation, double think_scale, Home home, Random random);

  void start() { life_.start(); }
  bool is_done() const noexcept { return life_.is_done(); }
  /// Once done: false when it ended because the connection was lost. Throws what broke it otherwise.
  bool take() { return life_.take(); }

 private:
  Task<bool> live();
  Task<bool> perform(TransactionType type, const TransactionInput& input);
  /// After an error: an open transaction is ended. False when the connection is lost.
  Task<bool> recover();
  std::int64_t keying_ns(const TransactionFacts& facts) const;
  std::int64_t thinking_ns(const TransactionFacts& facts);

  EventLoop& loop_;
  Recorder& recorder_;
  const Workload& workload_;
  double think_scale_;
  Home home_;
  Random random_;
  AsyncSession session_;
  Task<bool> life_;
};

}  // namespace pinwheel::tpcc
