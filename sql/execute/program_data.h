#pragma once

#include "sql/execute/program.h"
#include "sql/types/array.h"
#include "sql/types/compare.h"

namespace pinwheel::sql {

struct TypeInfo;
struct Step;

/// Operands of the steps that need more than registers (private to compile.cc and program.cc).

struct MinMaxData {
  int count;
  Datum* values;
  bool* nulls;
  bool greatest;
  Oid collation;
  CompareFn compare;
};

struct ScalarArrayData {
  FunctionCall* call;
  FunctionPtr function;
  bool strict;
  bool any;
  bool integer_equal;  ///< elements and left side compare by their bits
  bool array_is_constant;
  int element_length;
  bool by_value;
  Datum left{};
  bool left_null = false;
  Datum array{};
  bool array_null = false;
  // constant arrays
  int constant_count = 0;
  Datum* constant_values = nullptr;
  bool* constant_nulls = nullptr;
  bool constant_has_null = false;
  bool sorted = false;  ///< constant_values ascend, nulls left out: binary search
};
/// Takes a constant array apart once.
void prepare_constant_array(ScalarArrayData& data, Arena& arena);

struct BuiltinArrayShape {
  int length;
  bool by_value;
};
BuiltinArrayShape element_shape(Oid array_type);

struct ArrayData {
  int count;
  Datum* values;
  bool* nulls;
  Oid element;
  bool nested;
};

struct SubscriptData {
  int count;
  bool slice;
  bool assigning;
  Oid element;
  Datum container{};
  bool container_null = false;
  Datum upper[kMaxDimensions], lower[kMaxDimensions];
  bool upper_null[kMaxDimensions]{}, lower_null[kMaxDimensions]{};
  bool upper_given[kMaxDimensions]{}, lower_given[kMaxDimensions]{};
  Datum assigned{};
  bool assigned_null = false;
};
Datum evaluate_subscript(SubscriptData& data, Arena& arena, EvalContext& eval, bool* is_null);
Datum evaluate_array(const ArrayData& data, Arena& arena, EvalContext& eval);

struct RowData {
  Oid type;
  int count;
  Datum* values;
  bool* nulls;
  Oid* types;
};

struct RowCompareData {
  CompareFn compare;
  Oid collation;
  Datum values[2]{};
  bool nulls[2]{};
};

struct IoCoerceData {
  Oid from, to;
  std::int32_t typmod;
  const TypeInfo* from_info;
  const TypeInfo* to_info;
  Datum value{};
  bool is_null = false;
};

struct ArrayCoerceData {
  bool only_relabel;
  Oid element;
  Datum array{};
  bool array_null = false;
  Datum value{};
  bool value_null = false;
  Datum result{};
  bool result_null = false;
  const Step* steps;
  int step_count;
};

/// CURRENT_DATE and its kin.
Datum sql_value(SqlValue which, std::int32_t typmod, EvalContext& eval, Arena& arena, bool* is_null);

}  // namespace pinwheel::sql
