#include "bench/tpcc/histogram.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

#include "bench/tpcc/random.h"

namespace pinwheel::tpcc {

TEST_CASE("an empty histogram says zero", "[bench][histogram]") {
  const Histogram histogram;
  CHECK(histogram.count() == 0);
  CHECK(histogram.percentile_us(50) == 0);
  CHECK(histogram.mean_us() == 0);
}

TEST_CASE("short durations are exact", "[bench][histogram]") {
  Histogram histogram;
  for (int us = 1; us <= 100; ++us) histogram.record(us);
  CHECK(histogram.percentile_us(1) == 1);
  CHECK(histogram.percentile_us(50) == 50);
  CHECK(histogram.mean_us() == 50.5);
  CHECK(histogram.max_us() == 100);
  CHECK(histogram.percentile_us(100) == 100);
}

TEST_CASE("percentiles are at most 1.6 % above those of the sorted durations", "[bench][histogram]") {
  Random random{GENERATE(1, 2, 3)};
  Histogram histogram;
  std::vector<std::int64_t> all;
  for (int i = 0; i < 20'000; ++i) {
    const int bits = random.uniform(1, 30);
    all.push_back(random.uniform(0, (1 << bits) - 1));
    histogram.record(all.back());
  }
  std::sort(all.begin(), all.end());
  for (const double percent : {0.1, 10.0, 50.0, 90.0, 95.0, 99.0, 99.9, 100.0}) {
    const auto rank = static_cast<std::size_t>(std::max(1.0, std::ceil(20'000 * percent / 100)));
    const std::int64_t exact = all[rank - 1];
    CHECK(histogram.percentile_us(percent) >= exact);
    CHECK(static_cast<double>(histogram.percentile_us(percent)) <= static_cast<double>(exact) * 1.016);
  }
}

TEST_CASE("a merged histogram is that of all durations", "[bench][histogram]") {
  Histogram a, b, both;
  for (int us = 0; us < 5'000; us += 7) {
    (us % 2 == 0 ? a : b).record(us);
    both.record(us);
  }
  a.merge(b);
  CHECK(a.count() == both.count());
  CHECK(a.max_us() == both.max_us());
  CHECK(a.mean_us() == both.mean_us());
  for (const double percent : {5.0, 50.0, 99.0})
    CHECK(a.percentile_us(percent) == both.percentile_us(percent));
}

TEST_CASE("durations beyond the last bucket still count", "[bench][histogram]") {
  Histogram histogram;
  histogram.record(std::int64_t{1} << 50);
  histogram.record(-5);
  CHECK(histogram.count() == 2);
  CHECK(histogram.max_us() == std::int64_t{1} << 50);
  CHECK(histogram.percentile_us(50) == 0);
}

}  // namespace pinwheel::tpcc
