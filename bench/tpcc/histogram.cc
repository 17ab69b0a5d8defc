#include "bench/tpcc/histogram.h"

#include <algorithm>
#include <cmath>

namespace pinwheel::tpcc {

int Histogram::bucket_of(std::uint64_t us) noexcept {
  if (us < kSubBuckets) return static_cast<int>(us);
  const int shift = std::bit_width(us) - 1 - kSubBits;
  const int bucket = shift * kSubBuckets + static_cast<int>(us >> shift);
  return std::min(bucket, kBuckets - 1);
}

std::int64_t Histogram::upper_bound(int bucket) noexcept {
  if (bucket < kSubBuckets) return bucket;
  const int shift = bucket / kSubBuckets - 1;
  const std::int64_t mantissa = bucket - shift * kSubBuckets;
  return ((mantissa + 1) << shift) - 1;
}

void Histogram::record(std::int64_t us) noexcept {
  us = std::max<std::int64_t>(us, 0);
  ++buckets_[static_cast<std::size_t>(bucket_of(static_cast<std::uint64_t>(us)))];
  ++count_;
  sum_us_ += us;
  max_us_ = std::max(max_us_, us);
}

void Histogram::merge(const Histogram& other) noexcept {
  for (std::size_t i = 0; i < buckets_.size(); ++i) buckets_[i] += other.buckets_[i];
  count_ += other.count_;
  sum_us_ += other.sum_us_;
  max_us_ = std::max(max_us_, other.max_us_);
}

double Histogram::mean_us() const noexcept {
  return count_ == 0 ? 0 : static_cast<double>(sum_us_) / static_cast<double>(count_);
}

std::int64_t Histogram::percentile_us(double percent) const noexcept {
  const auto rank = static_cast<std::uint64_t>(std::ceil(static_cast<double>(count_) * percent / 100));
  std::uint64_t seen = 0;
  for (int bucket = 0; bucket < kBuckets; ++bucket) {
    seen += buckets_[static_cast<std::size_t>(bucket)];
    if (seen > 0 && seen >= rank) return std::min(upper_bound(bucket), max_us_);
  }
  return max_us_;
}

}  // namespace pinwheel::tpcc
