#include <cmath>

#include "sql/functions/tables.h"
#include "sql/types/array.h"
#include "sql/types/io_errors.h"
#include "sql/types/type_oids.h"

/// Averages, variances, correlation and regression over double precision: states are float8[] of running
/// sums, kept by the update of Youngs and Cramer (1971), which loses no digits to cancellation.
namespace pinwheel::sql::functions {

namespace {

[[noreturn]] void throw_overflow() {
  throw SqlError{sqlstate::kNumericValueOutOfRange, "value out of range: overflow"};
}

/// The sums of a state, loaded to locals and stored back in place (or into a new array outside an aggregate).
template <int Count>
struct Sums {
  double v[Count];

  static Sums read(Datum state) {
    const ArrayView view = view_array(state);
    if (view.count != Count || view.has_nulls || view.element != kFloat8Type) {
      throw SqlError{sqlstate::kInternalError, "expected " + std::to_string(Count) + "-element float8 array"};
    }
    Sums sums;
    std::memcpy(sums.v, view.data, sizeof sums.v);
    return sums;
  }
  Datum write(FunctionCall& call, Datum state) const {
    if (!call.group_arena) state = copy_var(*call.arena, state);
    std::memcpy(const_cast<std::uint8_t*>(view_array(state).data), v, sizeof v);
    return state;
  }
};

double argument(const FunctionCall& call, int i, bool narrow) {
  return narrow ? call.args[i].as_float4() : call.args[i].as_float8();
}

/// {N, Sx, Sxx}
template <bool Float4>
Datum accumulate(FunctionCall& call) {
  const Datum state = call.plain(0);
  Sums<3> s = Sums<3>::read(state);
  const double value = argument(call, 1, Float4);
  const double old_sum = s.v[1];
  const double n = ++s.v[0];
  s.v[1] += value;
  if (n > 1) {
    const double gap = value * n - s.v[1];
    s.v[2] += gap * gap / (n * (n - 1));
    if (std::isinf(s.v[1]) || std::isinf(s.v[2])) {
      if (!std::isinf(old_sum) && !std::isinf(value)) throw_overflow();
      s.v[2] = std::nan("");
    }
  } else if (std::isnan(value) || std::isinf(value)) {
    s.v[2] = std::nan("");
  }
  return s.write(call, state);
}

/// {N, Sx, Sxx, Sy, Syy, Sxy}; the aggregate's first argument is y.
Datum accumulate_pair(FunctionCall& call) {
  const Datum state = call.plain(0);
  Sums<6> s = Sums<6>::read(state);
  const double y = call.args[1].as_float8();
  const double x = call.args[2].as_float8();
  const double old_x = s.v[1];
  const double old_y = s.v[3];
  const double n = ++s.v[0];
  s.v[1] += x;
  s.v[3] += y;
  if (n > 1) {
    const double gap_x = x * n - s.v[1];
    const double gap_y = y * n - s.v[3];
    const double scale = 1.0 / (n * (n - 1));
    s.v[2] += gap_x * gap_x * scale;
    s.v[4] += gap_y * gap_y * scale;
    s.v[5] += gap_x * gap_y * scale;
    const bool was_finite = !std::isinf(old_x) && !std::isinf(x) && !std::isinf(old_y) && !std::isinf(y);
    for (int i = 1; i < 6; ++i) {
      if (std::isinf(s.v[i]) && was_finite) throw_overflow();
    }
    for (int i : {2, 4, 5}) {
      if (std::isinf(s.v[i])) s.v[i] = std::nan("");
    }
  } else {
    const auto odd = [](double v) { return std::isnan(v) || std::isinf(v); };
    if (odd(x)) s.v[2] = s.v[5] = std::nan("");
    if (odd(y)) s.v[4] = s.v[5] = std::nan("");
  }
  return s.write(call, state);
}

template <double (*Compute)(const double*), int Least>
Datum single_final(FunctionCall& call) {
  const Sums<3> s = Sums<3>::read(call.plain(0));
  return s.v[0] < Least ? call.make_null() : Datum::from_float8(Compute(s.v));
}
/// `Compute` may say NULL by returning false.
template <bool (*Compute)(const double*, double*), int Least>
Datum pair_final(FunctionCall& call) {
  const Sums<6> s = Sums<6>::read(call.plain(0));
  double result;
  if (s.v[0] < Least || !Compute(s.v, &result)) return call.make_null();
  return Datum::from_float8(result);
}

double average(const double* v) { return v[1] / v[0]; }
double variance_population(const double* v) { return v[2] / v[0]; }
double variance_sample(const double* v) { return v[2] / (v[0] - 1.0); }
double deviation_population(const double* v) { return std::sqrt(v[2] / v[0]); }
double deviation_sample(const double* v) { return std::sqrt(v[2] / (v[0] - 1.0)); }

template <int Index>
bool plain_sum(const double* v, double* result) {
  *result = v[Index];
  return true;
}
template <int Index>
bool plain_average(const double* v, double* result) {
  *result = v[Index] / v[0];
  return true;
}
bool covariance_population(const double* v, double* result) {
  *result = v[5] / v[0];
  return true;
}
bool covariance_sample(const double* v, double* result) {
  *result = v[5] / (v[0] - 1.0);
  return true;
}
bool correlation(const double* v, double* result) {
  if (v[2] == 0 || v[4] == 0) return false;
  *result = v[5] / std::sqrt(v[2] * v[4]);
  return true;
}
bool determination(const double* v, double* result) {
  if (v[2] == 0) return false;
  *result = v[4] == 0 ? 1.0 : v[5] * v[5] / (v[2] * v[4]);
  return true;
}
bool slope(const double* v, double* result) {
  if (v[2] == 0) return false;
  *result = v[5] / v[2];
  return true;
}
bool intercept(const double* v, double* result) {
  if (v[2] == 0) return false;
  *result = (v[3] - v[1] * v[5] / v[2]) / v[0];
  return true;
}

constexpr BuiltinFunction kStatisticsFunctions[] = {
    {"float4_accum", accumulate<true>},
    {"float8_accum", accumulate<false>},
    {"float8_avg", single_final<average, 1>},
    {"float8_var_pop", single_final<variance_population, 1>},
    {"float8_var_samp", single_final<variance_sample, 2>},
    {"float8_stddev_pop", single_final<deviation_population, 1>},
    {"float8_stddev_samp", single_final<deviation_sample, 2>},
    {"float8_regr_accum", accumulate_pair},
    {"float8_regr_sxx", pair_final<plain_sum<2>, 1>},
    {"float8_regr_syy", pair_final<plain_sum<4>, 1>},
    {"float8_regr_sxy", pair_final<plain_sum<5>, 1>},
    {"float8_regr_avgx", pair_final<plain_average<1>, 1>},
    {"float8_regr_avgy", pair_final<plain_average<3>, 1>},
    {"float8_covar_pop", pair_final<covariance_population, 1>},
    {"float8_covar_samp", pair_final<covariance_sample, 2>},
    {"float8_corr", pair_final<correlation, 1>},
    {"float8_regr_r2", pair_final<determination, 1>},
    {"float8_regr_slope", pair_final<slope, 1>},
    {"float8_regr_intercept", pair_final<intercept, 1>},
};

}  // namespace

std::span<const BuiltinFunction> statistics_functions() { return kStatisticsFunctions; }

}  // namespace pinwheel::sql::functions
