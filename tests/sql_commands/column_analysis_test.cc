#include "sql/commands/column_analysis.h"

#include <catch2/catch.hpp>
#include <memory>

#include "sql/types/type_oids.h"

namespace pinwheel::sql {
namespace {

/// A column of int4 values; INT_MIN stands for null.
class IntColumn {
 public:
  static constexpr int kNull = -2147483647 - 1;

  explicit IntColumn(const std::vector<int>& values)
      : values_(values.size()), nulls_{std::make_unique<bool[]>(values.size() + 1)} {
    for (std::size_t i = 0; i < values.size(); ++i) {
      values_[i] = Datum::from_int32(values[i]);
      nulls_[i] = values[i] == kNull;
    }
  }
  ColumnSample sample(double total_rows) const {
    return {kInt4Type, {}, 4, true, values_.data(), nulls_.get(), values_.size(), total_rows};
  }

 private:
  std::vector<Datum> values_;
  std::unique_ptr<bool[]> nulls_;
};

std::vector<int> ints(const std::vector<Datum>& values) {
  std::vector<int> out;
  for (const Datum value : values) out.push_back(value.as_int32());
  return out;
}

}  // namespace

TEST_CASE("a key column is all different, with a histogram and full correlation", "[sql_commands][analyze]") {
  std::vector<int> values;
  for (int i = 0; i < 1000; ++i) values.push_back(i);
  const ColumnAnalysis found = analyze_column(IntColumn{values}.sample(1000), 10);
  CHECK(found.distinct == -1.0F);
  CHECK(found.most_common.empty());
  CHECK(ints(found.histogram) == std::vector<int>{0, 99, 199, 299, 399, 499, 599, 699, 799, 899, 999});
  CHECK(found.has_correlation);
  CHECK(found.correlation == Approx(1.0));
  CHECK(found.width == 4);
}

TEST_CASE("a falling column has correlation -1", "[sql_commands][analyze]") {
  std::vector<int> values;
  for (int i = 0; i < 100; ++i) values.push_back(-i);
  CHECK(analyze_column(IntColumn{values}.sample(100), 10).correlation == Approx(-1.0));
}

TEST_CASE("few values that all come again are all kept as most common", "[sql_commands][analyze]") {
  std::vector<int> values;
  for (int i = 0; i < 60; ++i) values.push_back(i < 30 ? 7 : i < 50 ? 8 : 9);
  const ColumnAnalysis found = analyze_column(IntColumn{values}.sample(6000), 100);
  CHECK(found.distinct == 3.0F);
  CHECK(ints(found.most_common) == std::vector<int>{7, 8, 9});
  CHECK(found.frequencies[0] == Approx(0.5));
  CHECK(found.histogram.empty());
}

TEST_CASE("one frequent value among many rare ones is most common, the rest a histogram",
          "[sql_commands][analyze]") {
  std::vector<int> values;
  for (int i = 0; i < 3000; ++i) values.push_back(i % 3 == 0 ? -1 : i);
  const ColumnAnalysis found = analyze_column(IntColumn{values}.sample(300000), 10);
  CHECK(ints(found.most_common) == std::vector<int>{-1});
  CHECK(found.frequencies[0] == Approx(1.0 / 3).epsilon(0.01));
  CHECK(found.histogram.size() == 11);
  // n d / (n - f1 + f1 n / N) with n = 3000, d = 2001, f1 = 2000, N = 300000
  CHECK(found.distinct == Approx(5885));
}

TEST_CASE("nulls count as part of the rows", "[sql_commands][analyze]") {
  const int null = IntColumn::kNull;
  const ColumnAnalysis some = analyze_column(IntColumn{{1, null, 2, null}}.sample(4), 10);
  CHECK(some.null_fraction == 0.5F);
  CHECK(some.distinct == -0.5F);
  const ColumnAnalysis all = analyze_column(IntColumn{{null, null}}.sample(2), 10);
  CHECK(all.null_fraction == 1.0F);
  CHECK(all.distinct == 0.0F);
  CHECK_FALSE(all.has_correlation);
}

TEST_CASE("an empty sample says nothing", "[sql_commands][analyze]") {
  const ColumnAnalysis found = analyze_column(IntColumn{{}}.sample(0), 10);
  CHECK(found.null_fraction == 0.0F);
  CHECK(found.most_common.empty());
}

TEST_CASE("wide values are kept only as far as they fit a page", "[sql_commands][analyze]") {
  constexpr std::size_t kWidth = 400;  // of a fixed length, so that no header is needed
  std::vector<std::string> texts;
  std::vector<Datum> values;
  for (int i = 0; i < 600; ++i)
    texts.push_back(std::string(kWidth, static_cast<char>('a' + i % 20)) + std::to_string(i));
  for (std::string& text : texts) values.push_back(Datum::from_pointer(text.data()));
  const auto nulls = std::make_unique<bool[]>(values.size());
  // Type uuid compares the first 16 bytes: 20 different values, all of which come again.
  const ColumnSample sample{kUuidType, {}, kWidth, false, values.data(), nulls.get(), values.size(), 600};
  const ColumnAnalysis found = analyze_column(sample, 100);
  CHECK(found.distinct == 20.0F);
  CHECK(found.most_common.size() == found.frequencies.size());
  CHECK_FALSE(found.most_common.empty());
  CHECK((found.most_common.size() + found.histogram.size()) * kWidth < 8000);
}

}  // namespace pinwheel::sql
