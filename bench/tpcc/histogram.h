#pragma once

#include <array>
#include <bit>
#include <cstdint>

namespace pinwheel::tpcc {

/// Counts of durations in microseconds, in buckets that are log-linear: each power of two is cut into 64, so
/// a percentile is at most 1.6 % above the truth. Durations beyond 2^36 us (19 hours) count in the last
/// bucket.
class Histogram {
 public:
  void record(std::int64_t us) noexcept;
  void merge(const Histogram& other) noexcept;

  std::uint64_t count() const noexcept { return count_; }
  std::int64_t max_us() const noexcept { return max_us_; }
  double mean_us() const noexcept;
  /// The duration that `percent` of those recorded do not exceed; 0 when there are none.
  std::int64_t percentile_us(double percent) const noexcept;

 private:
  static constexpr int kSubBits = 6;
  static constexpr int kSubBuckets = 1 << kSubBits;
  static constexpr int kMaxBits = 36;
  static constexpr int kBuckets = (kMaxBits - kSubBits + 1) * kSubBuckets;

  static int bucket_of(std::uint64_t us) noexcept;
  /// The greatest duration that falls into the bucket.
  static std::int64_t upper_bound(int bucket) noexcept;

  std::array<std::uint32_t, kBuckets> buckets_{};
  std::uint64_t count_ = 0;
  std::int64_t sum_us_ = 0;
  std::int64_t max_us_ = 0;
};

}  // namespace pinwheel::tpcc
