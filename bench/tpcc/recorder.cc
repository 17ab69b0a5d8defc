#include "bench/tpcc/recorder.h"

#include <fmt/core.h>

#include <iterator>
#include <utility>

namespace pinwheel::tpcc {

void TypeCounts::merge(const TypeCounts& other) noexcept {
  committed.merge(other.committed);
  rolled_back += other.rolled_back;
  serialization_retries += other.serialization_retries;
  deadlock_retries += other.deadlock_retries;
  failed += other.failed;
}

void Interval::merge(const Interval& other) noexcept {
  for (std::size_t i = 0; i < types.size(); ++i) types[i].merge(other.types[i]);
}

std::uint64_t Interval::committed() const noexcept {
  std::uint64_t sum = 0;
  for (const TypeCounts& counts : types) sum += counts.committed.count();
  return sum;
}

std::uint64_t Interval::failed() const noexcept {
  std::uint64_t sum = 0;
  for (const TypeCounts& counts : types) sum += counts.failed;
  return sum;
}

void Recorder::record_done(TransactionType type, Outcome outcome, std::int64_t response_us) {
  const std::lock_guard lock{mutex_};
  TypeCounts& counts = interval_.of(type);
  if (outcome == Outcome::kCommitted) {
    counts.committed.record(response_us);
  } else {
    ++counts.rolled_back;
  }
}

void Recorder::record_retry(TransactionType type, std::string_view sqlstate) {
  const std::lock_guard lock{mutex_};
  TypeCounts& counts = interval_.of(type);
  ++(sqlstate == kDeadlockDetected ? counts.deadlock_retries : counts.serialization_retries);
}

void Recorder::record_failure(TransactionType type, const StatementError& error) {
  const std::lock_guard lock{mutex_};
  ++interval_.of(type).failed;
  if (errors_.size() < kKeptErrors)
    errors_.push_back(
        fmt::format("{}: {} {}", kTransactions[index_of(type)].name, error.sqlstate(), error.what()));
}

void Recorder::drain(Interval& interval, std::vector<std::string>& errors) {
  const std::lock_guard lock{mutex_};
  interval.merge(interval_);
  interval_ = Interval{};
  std::move(errors_.begin(), errors_.end(), std::back_inserter(errors));
  errors_.clear();
}

}  // namespace pinwheel::tpcc
