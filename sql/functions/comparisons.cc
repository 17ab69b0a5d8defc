#include <cmath>

#include "sql/functions/tables.h"
#include "sql/types/datetime.h"
#include "sql/types/orderings.h"
#include "sql/types/time_zone.h"

/// The comparison operators of every type. The by-value integer-like types share one set, since their datums
/// are sign-extended.
namespace pinwheel::sql::functions {

namespace {

struct Eq {
  template <class T>
  static bool test(T a, T b) {
    return a == b;
  }
  static bool test(int c) { return c == 0; }
};
struct Ne {
  template <class T>
  static bool test(T a, T b) {
    return a != b;
  }
  static bool test(int c) { return c != 0; }
};
struct Lt {
  template <class T>
  static bool test(T a, T b) {
    return a < b;
  }
  static bool test(int c) { return c < 0; }
};
struct Gt {
  template <class T>
  static bool test(T a, T b) {
    return a > b;
  }
  static bool test(int c) { return c > 0; }
};
struct Le {
  template <class T>
  static bool test(T a, T b) {
    return a <= b;
  }
  static bool test(int c) { return c <= 0; }
};
struct Ge {
  template <class T>
  static bool test(T a, T b) {
    return a >= b;
  }
  static bool test(int c) { return c >= 0; }
};

CompareContext context_of(const FunctionCall& call) {
  return {call.collation, call.arena, call.context ? call.context->detoaster : nullptr};
}

template <class Op>
Datum on_signed(FunctionCall& call) {
  return Datum::from_bool(Op::test(call.args[0].as_int64(), call.args[1].as_int64()));
}
template <class Op>
Datum on_unsigned(FunctionCall& call) {
  return Datum::from_bool(Op::test(call.args[0].bits, call.args[1].bits));
}
template <class Op>
Datum on_oid(FunctionCall& call) {
  return Datum::from_bool(Op::test(call.args[0].as_oid().value, call.args[1].as_oid().value));
}
template <class Op, CompareFn Compare>
Datum on_order(FunctionCall& call) {
  return Datum::from_bool(Op::test(Compare(call.args[0], call.args[1], context_of(call))));
}

template <CompareFn Compare>
Datum sign_of_order(FunctionCall& call) {
  const int c = Compare(call.args[0], call.args[1], context_of(call));
  return Datum::from_int32(c < 0 ? -1 : c > 0);
}
template <CompareFn Compare>
Datum larger(FunctionCall& call) {
  return Compare(call.args[0], call.args[1], context_of(call)) > 0 ? call.args[0] : call.args[1];
}
template <CompareFn Compare>
Datum smaller(FunctionCall& call) {
  return Compare(call.args[0], call.args[1], context_of(call)) < 0 ? call.args[0] : call.args[1];
}

Datum text_equal(FunctionCall& call) {
  return Datum::from_bool(orderings::equal_text(call.args[0], call.args[1], context_of(call)));
}
Datum text_not_equal(FunctionCall& call) {
  return Datum::from_bool(!orderings::equal_text(call.args[0], call.args[1], context_of(call)));
}

// Comparing across time zones needs the session's zone, so these are no plain orderings.

std::int64_t moment(Datum v, bool date, bool local, const TimeZone& zone) {
  std::int64_t t = v.as_int64();
  if (date) {
    const std::int32_t d = v.as_int32();
    if (d == kDateInfinity) return kTimestampInfinity;
    if (d == kDateMinusInfinity) return kTimestampMinusInfinity;
    if (d >= kEndTimestamp / kUsPerDay) return kTimestampInfinity - 1;
    t = d * kUsPerDay;
  }
  if (!local || !is_finite_timestamp(t)) return t;
  return t - zone.offset_of_local(t) * kUsPerSecond;
}
/// Left and right: 'd' date, 'l' timestamp, 'z' timestamptz.
template <char Left, char Right>
int compare_moments(const FunctionCall& call) {
  const TimeZone& zone = zone_of(*call.context);
  const std::int64_t a = moment(call.args[0], Left == 'd', Left != 'z', zone);
  const std::int64_t b = moment(call.args[1], Right == 'd', Right != 'z', zone);
  return a < b ? -1 : a > b;
}
template <class Op, char Left, char Right>
Datum on_moments(FunctionCall& call) {
  return Datum::from_bool(Op::test(compare_moments<Left, Right>(call)));
}
template <char Left, char Right>
Datum sign_of_moments(FunctionCall& call) {
  return Datum::from_int32(compare_moments<Left, Right>(call));
}

#define SIX_NAMES(before, after, code)                                                         \
  {before "eq" after, code(Eq)}, {before "ne" after, code(Ne)}, {before "lt" after, code(Lt)}, \
      {before "gt" after, code(Gt)}, {before "le" after, code(Le)}, {                          \
    before "ge" after, code(Ge)                                                                \
  }

#define SIGNED(op) on_signed<op>
#define UNSIGNED(op) on_unsigned<op>
#define OID(op) on_oid<op>
#define CHAR(op) on_order<op, orderings::compare_char>
#define FLOAT4(op) on_order<op, orderings::compare_float4>
#define FLOAT8(op) on_order<op, orderings::compare_float8>
#define FLOAT48(op) on_order<op, orderings::compare_float48>
#define FLOAT84(op) on_order<op, orderings::compare_float84>
#define BPCHAR(op) on_order<op, orderings::compare_bpchar>
#define NAME(op) on_order<op, orderings::compare_name>
#define NAME_TEXT(op) on_order<op, orderings::compare_name_text>
#define TEXT_NAME(op) on_order<op, orderings::compare_text_name>
#define TEXT(op) on_order<op, orderings::compare_text>
#define NUMERIC(op) on_order<op, orderings::compare_numeric>
#define UUID(op) on_order<op, orderings::compare_uuid>
#define TID(op) on_order<op, orderings::compare_tid>
#define INTERVAL(op) on_order<op, orderings::compare_interval>
#define TIMETZ(op) on_order<op, orderings::compare_timetz>
#define BITS(op) on_order<op, orderings::compare_bits>
#define ARRAY(op) on_order<op, orderings::compare_array>
#define RECORD(op) on_order<op, orderings::compare_record>
#define DATE_STAMP(op) on_order<op, orderings::compare_date_timestamp>
#define STAMP_DATE(op) on_order<op, orderings::compare_timestamp_date>
#define DATE_STAMPTZ(op) on_moments<op, 'd', 'z'>
#define STAMPTZ_DATE(op) on_moments<op, 'z', 'd'>
#define STAMP_STAMPTZ(op) on_moments<op, 'l', 'z'>
#define STAMPTZ_STAMP(op) on_moments<op, 'z', 'l'>

constexpr BuiltinFunction kComparisonsFunctions[] = {
    SIX_NAMES("int2", "", SIGNED),
    SIX_NAMES("int4", "", SIGNED),
    SIX_NAMES("int8", "", SIGNED),
    SIX_NAMES("int24", "", SIGNED),
    SIX_NAMES("int42", "", SIGNED),
    SIX_NAMES("int28", "", SIGNED),
    SIX_NAMES("int82", "", SIGNED),
    SIX_NAMES("int48", "", SIGNED),
    SIX_NAMES("int84", "", SIGNED),
    SIX_NAMES("bool", "", SIGNED),
    SIX_NAMES("date_", "", SIGNED),
    SIX_NAMES("time_", "", SIGNED),
    SIX_NAMES("timestamp_", "", SIGNED),
    SIX_NAMES("char", "", CHAR),
    SIX_NAMES("oid", "", OID),
    SIX_NAMES("xid8", "", UNSIGNED),
    SIX_NAMES("pg_lsn_", "", UNSIGNED),
    {"xideq", on_unsigned<Eq>},
    {"xidneq", on_unsigned<Ne>},
    {"cideq", on_unsigned<Eq>},
    SIX_NAMES("float4", "", FLOAT4),
    SIX_NAMES("float8", "", FLOAT8),
    SIX_NAMES("float48", "", FLOAT48),
    SIX_NAMES("float84", "", FLOAT84),
    {"texteq", text_equal},
    {"textne", text_not_equal},
    {"text_lt", on_order<Lt, orderings::compare_text>},
    {"text_le", on_order<Le, orderings::compare_text>},
    {"text_gt", on_order<Gt, orderings::compare_text>},
    {"text_ge", on_order<Ge, orderings::compare_text>},
    {"text_pattern_lt", on_order<Lt, orderings::compare_text>},
    {"text_pattern_le", on_order<Le, orderings::compare_text>},
    {"text_pattern_gt", on_order<Gt, orderings::compare_text>},
    {"text_pattern_ge", on_order<Ge, orderings::compare_text>},
    {"bpchar_pattern_lt", on_order<Lt, orderings::compare_bpchar>},
    {"bpchar_pattern_le", on_order<Le, orderings::compare_bpchar>},
    {"bpchar_pattern_gt", on_order<Gt, orderings::compare_bpchar>},
    {"bpchar_pattern_ge", on_order<Ge, orderings::compare_bpchar>},
    SIX_NAMES("bpchar", "", BPCHAR),
    SIX_NAMES("bytea", "", TEXT),
    SIX_NAMES("name", "", NAME),
    SIX_NAMES("name", "text", NAME_TEXT),
    SIX_NAMES("text", "name", TEXT_NAME),
    SIX_NAMES("numeric_", "", NUMERIC),
    SIX_NAMES("uuid_", "", UUID),
    SIX_NAMES("tid", "", TID),
    SIX_NAMES("interval_", "", INTERVAL),
    SIX_NAMES("timetz_", "", TIMETZ),
    SIX_NAMES("bit", "", BITS),
    SIX_NAMES("array_", "", ARRAY),
    SIX_NAMES("oidvector", "", ARRAY),
    SIX_NAMES("record_", "", RECORD),
    SIX_NAMES("record_image_", "", RECORD),
    SIX_NAMES("date_", "_timestamp", DATE_STAMP),
    SIX_NAMES("timestamp_", "_date", STAMP_DATE),
    SIX_NAMES("date_", "_timestamptz", DATE_STAMPTZ),
    SIX_NAMES("timestamptz_", "_date", STAMPTZ_DATE),
    SIX_NAMES("timestamp_", "_timestamptz", STAMP_STAMPTZ),
    SIX_NAMES("timestamptz_", "_timestamp", STAMPTZ_STAMP),

    {"btboolcmp", sign_of_order<orderings::compare_signed>},
    {"btint2cmp", sign_of_order<orderings::compare_signed>},
    {"btint4cmp", sign_of_order<orderings::compare_signed>},
    {"btint8cmp", sign_of_order<orderings::compare_signed>},
    {"btint48cmp", sign_of_order<orderings::compare_signed>},
    {"btint84cmp", sign_of_order<orderings::compare_signed>},
    {"btint24cmp", sign_of_order<orderings::compare_signed>},
    {"btint42cmp", sign_of_order<orderings::compare_signed>},
    {"btint28cmp", sign_of_order<orderings::compare_signed>},
    {"btint82cmp", sign_of_order<orderings::compare_signed>},
    {"date_cmp", sign_of_order<orderings::compare_signed>},
    {"time_cmp", sign_of_order<orderings::compare_signed>},
    {"timestamp_cmp", sign_of_order<orderings::compare_signed>},
    {"btfloat4cmp", sign_of_order<orderings::compare_float4>},
    {"btfloat8cmp", sign_of_order<orderings::compare_float8>},
    {"btfloat48cmp", sign_of_order<orderings::compare_float48>},
    {"btfloat84cmp", sign_of_order<orderings::compare_float84>},
    {"btoidcmp", sign_of_order<orderings::compare_oid>},
    {"btcharcmp", sign_of_order<orderings::compare_char>},
    {"btnamecmp", sign_of_order<orderings::compare_name>},
    {"btnametextcmp", sign_of_order<orderings::compare_name_text>},
    {"bttextnamecmp", sign_of_order<orderings::compare_text_name>},
    {"bttextcmp", sign_of_order<orderings::compare_text>},
    {"bttext_pattern_cmp", sign_of_order<orderings::compare_text>},
    {"btbpchar_pattern_cmp", sign_of_order<orderings::compare_bpchar>},
    {"byteacmp", sign_of_order<orderings::compare_text>},
    {"bpcharcmp", sign_of_order<orderings::compare_bpchar>},
    {"numeric_cmp", sign_of_order<orderings::compare_numeric>},
    {"uuid_cmp", sign_of_order<orderings::compare_uuid>},
    {"bttidcmp", sign_of_order<orderings::compare_tid>},
    {"interval_cmp", sign_of_order<orderings::compare_interval>},
    {"timetz_cmp", sign_of_order<orderings::compare_timetz>},
    {"bitcmp", sign_of_order<orderings::compare_bits>},
    {"btarraycmp", sign_of_order<orderings::compare_array>},
    {"btoidvectorcmp", sign_of_order<orderings::compare_array>},
    {"btrecordcmp", sign_of_order<orderings::compare_record>},
    {"btrecordimagecmp", sign_of_order<orderings::compare_record>},
    {"pg_lsn_cmp", sign_of_order<orderings::compare_unsigned>},
    {"xid8cmp", sign_of_order<orderings::compare_unsigned>},
    {"date_cmp_timestamp", sign_of_order<orderings::compare_date_timestamp>},
    {"timestamp_cmp_date", sign_of_order<orderings::compare_timestamp_date>},
    {"date_cmp_timestamptz", sign_of_moments<'d', 'z'>},
    {"timestamptz_cmp_date", sign_of_moments<'z', 'd'>},
    {"timestamp_cmp_timestamptz", sign_of_moments<'l', 'z'>},
    {"timestamptz_cmp_timestamp", sign_of_moments<'z', 'l'>},

    {"int2larger", larger<orderings::compare_signed>},
    {"int2smaller", smaller<orderings::compare_signed>},
    {"int4larger", larger<orderings::compare_signed>},
    {"int4smaller", smaller<orderings::compare_signed>},
    {"int8larger", larger<orderings::compare_signed>},
    {"int8smaller", smaller<orderings::compare_signed>},
    {"date_larger", larger<orderings::compare_signed>},
    {"date_smaller", smaller<orderings::compare_signed>},
    {"time_larger", larger<orderings::compare_signed>},
    {"time_smaller", smaller<orderings::compare_signed>},
    {"timestamp_larger", larger<orderings::compare_signed>},
    {"timestamp_smaller", smaller<orderings::compare_signed>},
    {"timetz_larger", larger<orderings::compare_timetz>},
    {"timetz_smaller", smaller<orderings::compare_timetz>},
    {"interval_larger", larger<orderings::compare_interval>},
    {"interval_smaller", smaller<orderings::compare_interval>},
    {"float4larger", larger<orderings::compare_float4>},
    {"float4smaller", smaller<orderings::compare_float4>},
    {"float8larger", larger<orderings::compare_float8>},
    {"float8smaller", smaller<orderings::compare_float8>},
    {"numeric_larger", larger<orderings::compare_numeric>},
    {"numeric_smaller", smaller<orderings::compare_numeric>},
    {"text_larger", larger<orderings::compare_text>},
    {"text_smaller", smaller<orderings::compare_text>},
    {"bpchar_larger", larger<orderings::compare_bpchar>},
    {"bpchar_smaller", smaller<orderings::compare_bpchar>},
    {"oidlarger", larger<orderings::compare_oid>},
    {"oidsmaller", smaller<orderings::compare_oid>},
    {"array_larger", larger<orderings::compare_array>},
    {"array_smaller", smaller<orderings::compare_array>},
    {"tidlarger", larger<orderings::compare_tid>},
    {"tidsmaller", smaller<orderings::compare_tid>},
    {"pg_lsn_larger", larger<orderings::compare_unsigned>},
    {"pg_lsn_smaller", smaller<orderings::compare_unsigned>},
    {"xid8_larger", larger<orderings::compare_unsigned>},
    {"xid8_smaller", smaller<orderings::compare_unsigned>},
};

}  // namespace

std::span<const BuiltinFunction> comparison_functions() { return kComparisonsFunctions; }

}  // namespace pinwheel::sql::functions
