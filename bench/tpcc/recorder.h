#pragma once

#include <array>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "bench/tpcc/histogram.h"
#include "bench/tpcc/transactions.h"

namespace pinwheel::tpcc {

/// What happened to one type of transaction in some stretch of time.
struct TypeCounts {
  Histogram committed;  // response times, first BEGIN to COMMIT's answer, retries included
  std::uint64_t rolled_back = 0;
  std::uint64_t serialization_retries = 0;  // 40001
  std::uint64_t deadlock_retries = 0;       // 40P01
  std::uint64_t failed = 0;                 // given up, by any other error

  void merge(const TypeCounts& other) noexcept;
};

struct Interval {
  std::array<TypeCounts, kTransactionTypes> types;

  const TypeCounts& of(TransactionType type) const noexcept { return types[index_of(type)]; }
  TypeCounts& of(TransactionType type) noexcept { return types[index_of(type)]; }
  void merge(const Interval& other) noexcept;
  std::uint64_t committed() const noexcept;
  std::uint64_t failed() const noexcept;
};

inline constexpr std::string_view kSerializationFailure = "40001";
inline constexpr std::string_view kDeadlockDetected = "40P01";

/// One thread's counts since they were last drained. The thread records, another drains.
class Recorder {
 public:
  void record_done(TransactionType type, Outcome outcome, std::int64_t response_us);
  void record_retry(TransactionType type, std::string_view sqlstate);
  void record_failure(TransactionType type, const StatementError& error);

  /// Adds the counts to `interval` and the messages to `errors`, and forgets them.
  void drain(Interval& interval, std::vector<std::string>& errors);

 private:
  static constexpr std::size_t kKeptErrors = 10;

  std::mutex mutex_;
  Interval interval_;                // under mutex_
  std::vector<std::string> errors_;  // under mutex_; the first few between two drains
};

}  // namespace pinwheel::tpcc
