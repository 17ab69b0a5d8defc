#include "bench/tpcc/terminal.h"

#include <algorithm>
#include <cmath>
#include <variant>

#include "base/clock.h"

namespace pinwheel::tpcc {
namespace {

constexpr double kNsPerSecond = 1e9;
/// Think times are cut off at this many means (TPC-C 5.2.5.4).
constexpr double kMaxThinkMeans = 10;

bool is_retryable(const StatementError& error) {
  return error.sqlstate() == kSerializationFailure || error.sqlstate() == kDeadlockDetected;
}

}  // namespace

Terminal::Terminal(EventLoop& loop, Recorder& recorder, const Workload& workload, const std::string& dsn,
                   std::string_view isolation, double think_scale, Home home, Random random)
    : loop_{loop},
      recorder_{recorder},
      workload_{workload},
      think_scale_{think_scale},
      home_{home},
      random_{random},
      session_{loop, dsn, isolation},
      life_{live()} {}

std::int64_t Terminal::keying_ns(const TransactionFacts& facts) const {
  return static_cast<std::int64_t>(facts.keying_s * think_scale_ * kNsPerSecond);
}

std::int64_t Terminal::thinking_ns(const TransactionFacts& facts) {
  const double means = std::min(-std::log(random_.unit()), kMaxThinkMeans);
  return static_cast<std::int64_t>(facts.think_s * means * think_scale_ * kNsPerSecond);
}

Task<bool> Terminal::live() {
  while (!loop_.is_stopping()) {
    const TransactionType type = draw_type(random_);
    const TransactionFacts& facts = kTransactions[index_of(type)];
    const TransactionInput input = draw_input(type, workload_, home_, random_);
    if (think_scale_ > 0) {
      co_await loop_.sleep_until(monotonic_ns() + keying_ns(facts));
      if (loop_.is_stopping()) break;
    }
    const bool usable = co_await perform(type, input);
    if (!usable) co_return false;
    if (think_scale_ > 0) co_await loop_.sleep_until(monotonic_ns() + thinking_ns(facts));
  }
  co_return true;
}

Task<bool> Terminal::perform(TransactionType type, const TransactionInput& input) {
  const std::int64_t begin_ns = monotonic_ns();
  while (true) {
    std::optional<StatementError> error;
    try {
      const Outcome outcome =
          co_await std::visit([this](const auto& of) { return execute(session_, of); }, input);
      recorder_.record_done(type, outcome, (monotonic_ns() - begin_ns) / 1000);
      co_return true;
    } catch (const StatementError& thrown) {
      error = thrown;  // a handler cannot wait
    }
    const bool usable = co_await recover();
    const bool again = usable && is_retryable(*error);
    if (again && loop_.is_stopping()) co_return true;
    if (again) {
      recorder_.record_retry(type, error->sqlstate());
    } else {
      recorder_.record_failure(type, *error);
      co_return usable;
    }
  }
}

Task<bool> Terminal::recover() {
  try {
    // Where no transaction is open this is a warning, not an error.
    co_await session_.execute(StatementId::kRollback);
  } catch (const StatementError&) {
    co_return false;
  }
  co_return !session_.is_lost();
}

}  // namespace pinwheel::tpcc
