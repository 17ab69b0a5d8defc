#include "sql/types/compare.h"

#include <xxhash.h>

#include <bit>
#include <cmath>
#include <cstring>

#include "sql/types/array.h"
#include "sql/types/bits.h"
#include "sql/types/collation.h"
#include "sql/types/datetime.h"
#include "sql/types/io_errors.h"
#include "sql/types/numeric.h"
#include "sql/types/orderings.h"
#include "sql/types/row_value.h"
#include "sql/types/text_values.h"
#include "sql/types/tid.h"
#include "sql/types/type_info.h"
#include "sql/types/varlena.h"

namespace pinwheel::sql {

namespace orderings {

using Context = const CompareContext&;

template <class T>
static int order(T a, T b) {
  return a < b ? -1 : a > b;
}

static Datum plain(Datum v, Context context) {
  return needs_detoast(v) ? detoast(v, *context.arena, context.detoaster) : v;
}
static std::string_view bytes_of(Datum v, Context context) { return var_view(plain(v, context)); }

static int compare_bytes(std::string_view a, std::string_view b) {
  const std::size_t common = std::min(a.size(), b.size());
  if (common > 0) {
    if (const int c = std::memcmp(a.data(), b.data(), common)) return c;
  }
  return order(a.size(), b.size());
}

static std::uint64_t hash_bytes(std::string_view bytes) { return XXH3_64bits(bytes.data(), bytes.size()); }
static std::uint64_t hash_word(std::uint64_t word) {
  // One multiply-xorshift round (splitmix64's finaliser): cheap and spreads to all bits.
  word ^= word >> 30;
  word *= 0xBF58476D1CE4E5B9u;
  word ^= word >> 27;
  word *= 0x94D049BB133111EBu;
  return word ^ word >> 31;
}

// By-value signed types are sign-extended, so one function orders int2, int4, int8, date, time and
// timestamps, and any two of the integer types.
int compare_signed(Datum a, Datum b, Context) { return order(a.as_int64(), b.as_int64()); }
static bool equal_bits(Datum a, Datum b, Context) { return a.bits == b.bits; }
static std::uint64_t hash_bits(Datum v, Context) { return hash_word(v.bits); }

int compare_unsigned(Datum a, Datum b, Context) { return order(a.bits, b.bits); }
int compare_oid(Datum a, Datum b, Context) { return order(a.as_oid().value, b.as_oid().value); }
int compare_char(Datum a, Datum b, Context) {
  return order(static_cast<unsigned char>(a.as_char()), static_cast<unsigned char>(b.as_char()));
}

/// NaN is greater than all and equal to itself; -0 equals 0.
static int compare_double(double a, double b) {
  if (std::isnan(a)) return std::isnan(b) ? 0 : 1;
  if (std::isnan(b)) return -1;
  return order(a, b);
}
int compare_float4(Datum a, Datum b, Context) { return compare_double(a.as_float4(), b.as_float4()); }
int compare_float8(Datum a, Datum b, Context) { return compare_double(a.as_float8(), b.as_float8()); }
int compare_float48(Datum a, Datum b, Context) { return compare_double(a.as_float4(), b.as_float8()); }
int compare_float84(Datum a, Datum b, Context) { return compare_double(a.as_float8(), b.as_float4()); }
static std::uint64_t hash_double(double v) {
  if (v == 0) v = 0;  // folds -0
  if (std::isnan(v)) v = std::numeric_limits<double>::quiet_NaN();
  return hash_word(std::bit_cast<std::uint64_t>(v));
}
static std::uint64_t hash_float4(Datum v, Context) { return hash_double(v.as_float4()); }
static std::uint64_t hash_float8(Datum v, Context) { return hash_double(v.as_float8()); }

int compare_text(Datum a, Datum b, Context context) {
  if (context.collation.value > kPosixCollation.value) [[unlikely]] {
    return compare_collated(bytes_of(a, context), bytes_of(b, context), context.collation);
  }
  return compare_bytes(bytes_of(a, context), bytes_of(b, context));
}
bool equal_text(Datum a, Datum b, Context context) {
  // Sizes are known without detoasting.
  if (var_raw_size(a) != var_raw_size(b)) return false;
  return bytes_of(a, context) == bytes_of(b, context);
}
static std::uint64_t hash_text(Datum v, Context context) { return hash_bytes(bytes_of(v, context)); }

int compare_bpchar(Datum a, Datum b, Context context) {
  if (context.collation.value > kPosixCollation.value) [[unlikely]] {
    return compare_collated(trim_blanks(bytes_of(a, context)), trim_blanks(bytes_of(b, context)),
                            context.collation);
  }
  return compare_bytes(trim_blanks(bytes_of(a, context)), trim_blanks(bytes_of(b, context)));
}
static std::uint64_t hash_bpchar(Datum v, Context context) {
  return hash_bytes(trim_blanks(bytes_of(v, context)));
}

int compare_name(Datum a, Datum b, Context) { return compare_bytes(name_view(a), name_view(b)); }
static std::uint64_t hash_name(Datum v, Context) { return hash_bytes(name_view(v)); }
int compare_name_text(Datum a, Datum b, Context context) {
  return compare_bytes(name_view(a), bytes_of(b, context));
}
int compare_text_name(Datum a, Datum b, Context context) {
  return compare_bytes(bytes_of(a, context), name_view(b));
}

int compare_numeric(Datum a, Datum b, Context context) {
  return numeric_compare(plain(a, context), plain(b, context));
}
static std::uint64_t hash_numeric(Datum v, Context context) { return numeric_hash(plain(v, context)); }

int compare_uuid(Datum a, Datum b, Context) { return std::memcmp(a.as_pointer(), b.as_pointer(), 16); }
static std::uint64_t hash_uuid(Datum v, Context) { return hash_bytes({v.as_chars(), 16}); }

int compare_tid(Datum a, Datum b, Context) {
  const TupleId x = load_tid(a);
  const TupleId y = load_tid(b);
  return x.page != y.page ? order(x.page.value, y.page.value) : order(x.slot, y.slot);
}
static std::uint64_t hash_tid(Datum v, Context) { return hash_bytes({v.as_chars(), kTidSize}); }

int compare_interval(Datum a, Datum b, Context) {
  return order(interval_length(load_interval(a)), interval_length(load_interval(b)));
}
static std::uint64_t hash_interval(Datum v, Context) {
  const Int128 length = interval_length(load_interval(v));
  return hash_word(static_cast<std::uint64_t>(length));
}

int compare_timetz(Datum a, Datum b, Context) {
  const TimeTz x = load_timetz(a);
  const TimeTz y = load_timetz(b);
  // By the moment; equal moments by zone, so that only identical values are equal.
  const int c = order(x.us + x.zone_s * kUsPerSecond, y.us + y.zone_s * kUsPerSecond);
  return c != 0 ? c : order(x.zone_s, y.zone_s);
}
static std::uint64_t hash_timetz(Datum v, Context) {
  const TimeTz t = load_timetz(v);
  return hash_word(static_cast<std::uint64_t>(t.us)) ^ hash_word(static_cast<std::uint64_t>(t.zone_s) + 1);
}

int compare_date_timestamp(Datum a, Datum b, Context) {
  const std::int32_t date = a.as_int32();
  // Dates beyond timestamp's range are after all finite timestamps.
  const std::int64_t moment = date == kDateInfinity               ? kTimestampInfinity
                              : date == kDateMinusInfinity        ? kTimestampMinusInfinity
                              : date >= kEndTimestamp / kUsPerDay ? kTimestampInfinity - 1
                                                                  : date * kUsPerDay;
  return order(moment, b.as_int64());
}
int compare_timestamp_date(Datum a, Datum b, Context context) {
  return -compare_date_timestamp(b, a, context);
}

int compare_bits(Datum a, Datum b, Context context) {
  const BitsView x = view_bits(plain(a, context));
  const BitsView y = view_bits(plain(b, context));
  const auto size = [](const BitsView& v) { return (static_cast<std::size_t>(v.count) + 7) / 8; };
  const int c = std::memcmp(x.bytes, y.bytes, std::min(size(x), size(y)));
  return c != 0 ? c : order(x.count, y.count);
}

int compare_array(Datum a, Datum b, Context context) {
  const ArrayView x = view_array(plain(a, context));
  const ArrayView y = view_array(plain(b, context));
  if (x.element != y.element) {
    throw SqlError{sqlstate::kDatatypeMismatch, "cannot compare arrays of different element types"};
  }
  const CompareFn compare = find_compare(x.element);
  if (!compare) {
    throw SqlError{sqlstate::kUndefinedFunction, "could not identify a comparison function for type " +
                                                     format_builtin_type(x.element, -1, false)};
  }
  ArrayReader left{x};
  ArrayReader right{y};
  Datum l, r;
  bool l_null, r_null;
  while (left.next(&l, &l_null) && right.next(&r, &r_null)) {
    if (l_null && r_null) continue;
    if (l_null) return 1;  // nulls are greater
    if (r_null) return -1;
    if (const int c = compare(l, r, context)) return c;
  }
  if (x.count != y.count) return order(x.count, y.count);
  if (x.ndim != y.ndim) return order(x.ndim, y.ndim);
  for (int i = 0; i < x.ndim; ++i) {
    if (x.lengths[i] != y.lengths[i]) return order(x.lengths[i], y.lengths[i]);
  }
  for (int i = 0; i < x.ndim; ++i) {
    if (x.lower[i] != y.lower[i]) return order(x.lower[i], y.lower[i]);
  }
  return 0;
}

/// Equality of arrays whose elements have no order.
static bool equal_array(Datum a, Datum b, Context context) {
  const ArrayView x = view_array(plain(a, context));
  const ArrayView y = view_array(plain(b, context));
  if (x.element != y.element || x.ndim != y.ndim) return false;
  for (int i = 0; i < x.ndim; ++i) {
    if (x.lengths[i] != y.lengths[i] || x.lower[i] != y.lower[i]) return false;
  }
  const EqualFn equal = find_equal(x.element);
  ArrayReader left{x};
  ArrayReader right{y};
  Datum l, r;
  bool l_null, r_null;
  while (left.next(&l, &l_null) && right.next(&r, &r_null)) {
    if (l_null != r_null || (!l_null && !equal(l, r, context))) return false;
  }
  return true;
}

static std::uint64_t hash_array(Datum v, Context context) {
  const ArrayView view = view_array(plain(v, context));
  const HashFn hash = find_hash(view.element);
  if (!hash) {
    throw SqlError{sqlstate::kUndefinedFunction, "could not identify a hash function for type " +
                                                     format_builtin_type(view.element, -1, false)};
  }
  ArrayReader reader{view};
  std::uint64_t result = 1;
  Datum item;
  bool is_null;
  while (reader.next(&item, &is_null)) result = result * 31 + (is_null ? 0 : hash(item, context));
  return result;
}

namespace {
/// The fields of a row, unpacked into an arena.
struct Fields {
  int count;
  Oid* types;
  Datum* values;
  bool* nulls;

  Fields(Datum row, Arena& arena) {
    const RowView view = view_row(row);
    count = view.count;
    types = arena.make_array<Oid>(static_cast<std::size_t>(count));
    values = arena.make_array<Datum>(static_cast<std::size_t>(count));
    nulls = arena.make_array<bool>(static_cast<std::size_t>(count));
    read_row(view, types, values, nulls);
  }
};
}  // namespace

int compare_record(Datum a, Datum b, Context context) {
  Arena local;
  Arena& arena = context.arena ? *context.arena : local;
  const Fields x{plain(a, context), arena};
  const Fields y{plain(b, context), arena};
  for (int i = 0; i < std::min(x.count, y.count); ++i) {
    const CompareFn compare = find_cross_compare(x.types[i], y.types[i]);
    if (!compare) {
      throw SqlError{sqlstate::kDatatypeMismatch, "cannot compare dissimilar column types " +
                                                      format_builtin_type(x.types[i], -1, false) + " and " +
                                                      format_builtin_type(y.types[i], -1, false) +
                                                      " at record column " + std::to_string(i + 1)};
    }
    if (x.nulls[i] && y.nulls[i]) continue;
    if (x.nulls[i]) return 1;
    if (y.nulls[i]) return -1;
    if (const int c = compare(x.values[i], y.values[i], context)) return c;
  }
  if (x.count != y.count) {
    throw SqlError{sqlstate::kDatatypeMismatch,
                   "cannot compare record types with different numbers of columns"};
  }
  return 0;
}

static std::uint64_t hash_record(Datum v, Context context) {
  Arena local;
  const Fields fields{plain(v, context), local};
  std::uint64_t result = 1;
  for (int i = 0; i < fields.count; ++i) {
    const HashFn hash = find_hash(fields.types[i]);
    result = result * 31 + (fields.nulls[i] || !hash ? 0 : hash(fields.values[i], context));
  }
  return result;
}

}  // namespace orderings

namespace {

using namespace orderings;

/// Equality where equal bytes are not enough: through the order.
template <CompareFn Compare>
bool equal_by_order(Datum a, Datum b, Context context) {
  return Compare(a, b, context) == 0;
}

struct Ordering {
  CompareFn compare;
  EqualFn equal;
  HashFn hash;
};

const Ordering* ordering_of(Oid type) {
  static constexpr Ordering kSigned{compare_signed, equal_bits, hash_bits};
  static constexpr Ordering kUnsigned{compare_unsigned, equal_bits, hash_bits};
  static constexpr Ordering kEqualOnly{nullptr, equal_bits, hash_bits};
  static constexpr Ordering kOid{compare_oid, equal_bits, hash_bits};
  static constexpr Ordering kChar{compare_char, equal_bits, hash_bits};
  static constexpr Ordering kFloat4{compare_float4, equal_by_order<compare_float4>, hash_float4};
  static constexpr Ordering kFloat8{compare_float8, equal_by_order<compare_float8>, hash_float8};
  static constexpr Ordering kText{compare_text, equal_text, hash_text};
  static constexpr Ordering kBpChar{compare_bpchar, equal_by_order<compare_bpchar>, hash_bpchar};
  static constexpr Ordering kName{compare_name, equal_by_order<compare_name>, hash_name};
  static constexpr Ordering kNumeric{compare_numeric, equal_by_order<compare_numeric>, hash_numeric};
  static constexpr Ordering kUuid{compare_uuid, equal_by_order<compare_uuid>, hash_uuid};
  static constexpr Ordering kTid{compare_tid, equal_by_order<compare_tid>, hash_tid};
  static constexpr Ordering kInterval{compare_interval, equal_by_order<compare_interval>, hash_interval};
  static constexpr Ordering kTimeTz{compare_timetz, equal_by_order<compare_timetz>, hash_timetz};
  static constexpr Ordering kBits{compare_bits, equal_by_order<compare_bits>, hash_text};
  static constexpr Ordering kArray{compare_array, equal_by_order<compare_array>, hash_array};
  static constexpr Ordering kEqualOnlyArray{nullptr, equal_array, hash_array};
  static constexpr Ordering kRecord{compare_record, equal_by_order<compare_record>, hash_record};
  switch (type.value) {
    case kBoolType.value:
    case kInt2Type.value:
    case kInt4Type.value:
    case kInt8Type.value:
    case kDateType.value:
    case kTimeType.value:
    case kTimestampType.value:
    case kTimestampTzType.value:
      return &kSigned;
    case kXid8Type.value:
    case kPgLsnType.value:
      return &kUnsigned;
    case kXidType.value:
    case kCidType.value:
      return &kEqualOnly;
    case kOidType.value:
    case kRegProcType.value:
    case kRegProcedureType.value:
    case kRegOperType.value:
    case kRegOperatorType.value:
    case kRegClassType.value:
    case kRegTypeType.value:
    case kRegNamespaceType.value:
    case kRegRoleType.value:
    case kRegCollationType.value:
      return &kOid;
    case kCharType.value:
      return &kChar;
    case kFloat4Type.value:
      return &kFloat4;
    case kFloat8Type.value:
      return &kFloat8;
    case kTextType.value:
    case kVarCharType.value:
    case kByteaType.value:
      return &kText;
    case kBpCharType.value:
      return &kBpChar;
    case kNameType.value:
      return &kName;
    case kNumericType.value:
      return &kNumeric;
    case kUuidType.value:
      return &kUuid;
    case kTidType.value:
      return &kTid;
    case kIntervalType.value:
      return &kInterval;
    case kTimeTzType.value:
      return &kTimeTz;
    case kBitType.value:
    case kVarBitType.value:
      return &kBits;
    case kRecordType.value:
      return &kRecord;
    case kAnyArrayType.value:
      return &kArray;
    default:
      break;
  }
  const TypeInfo* info = find_type(type);
  // An array can do what its elements can.
  if (info == nullptr || !info->is_array()) return nullptr;
  const Ordering* element = ordering_of(info->element);
  if (element == nullptr) return nullptr;
  return element->compare != nullptr ? &kArray : &kEqualOnlyArray;
}

bool is_integer(Oid type) { return type == kInt2Type || type == kInt4Type || type == kInt8Type; }
bool is_text(Oid type) { return type == kTextType || type == kVarCharType; }
bool is_stamp(Oid type) { return type == kTimestampType || type == kTimestampTzType; }

}  // namespace

CompareFn find_compare(Oid type) {
  const Ordering* ordering = ordering_of(type);
  return ordering ? ordering->compare : nullptr;
}
HashFn find_hash(Oid type) {
  const Ordering* ordering = ordering_of(type);
  return ordering ? ordering->hash : nullptr;
}
EqualFn find_equal(Oid type) {
  const Ordering* ordering = ordering_of(type);
  return ordering ? ordering->equal : nullptr;
}

CompareFn find_cross_compare(Oid left, Oid right) {
  if (left == right || (is_integer(left) && is_integer(right)) || (is_text(left) && is_text(right))) {
    return find_compare(left);
  }
  if (left == kFloat4Type && right == kFloat8Type) return compare_float48;
  if (left == kFloat8Type && right == kFloat4Type) return compare_float84;
  if (left == kNameType && is_text(right)) return compare_name_text;
  if (is_text(left) && right == kNameType) return compare_text_name;
  if (left == kDateType && right == kTimestampType) return compare_date_timestamp;
  if (left == kTimestampType && right == kDateType) return compare_timestamp_date;
  if (is_stamp(left) && left == right) return compare_signed;
  if (find_compare(left) == compare_oid && find_compare(right) == compare_oid) return compare_oid;
  return nullptr;
}

CompareFn find_compare_procedure(Oid procedure) {
  switch (procedure.value) {
    case 350:   // btint2cmp
    case 351:   // btint4cmp
    case 842:   // btint8cmp
    case 2188:  // btint48cmp
    case 2189:  // btint84cmp
    case 2190:  // btint24cmp
    case 2191:  // btint42cmp
    case 2192:  // btint28cmp
    case 2193:  // btint82cmp
    case 1693:  // btboolcmp
    case 1092:  // date_cmp
    case 1107:  // time_cmp
    case 2045:  // timestamp_cmp
    case 1314:  // timestamptz_cmp
      return compare_signed;
    case 354:
      return compare_float4;
    case 355:
      return compare_float8;
    case 2194:
      return compare_float48;
    case 2195:
      return compare_float84;
    case 356:
      return compare_oid;
    case 358:
      return compare_char;
    case 359:
      return compare_name;
    case 246:
      return compare_name_text;
    case 253:
      return compare_text_name;
    case 360:   // bttextcmp
    case 2166:  // bttext_pattern_cmp
    case 1954:  // byteacmp
      return compare_text;
    case 1078:  // bpcharcmp
    case 2180:  // btbpchar_pattern_cmp
      return compare_bpchar;
    case 1358:
      return compare_timetz;
    case 1315:
      return compare_interval;
    case 1769:
      return compare_numeric;
    case 2960:
      return compare_uuid;
    case 2794:
      return compare_tid;
    case 1596:  // bitcmp
    case 1672:  // varbitcmp
      return compare_bits;
    case 382:  // btarraycmp
    case 404:  // btoidvectorcmp
      return compare_array;
    case 2987:
      return compare_record;
    case 3251:  // pg_lsn_cmp
    case 5096:  // xid8cmp
      return compare_unsigned;
    case 2344:
      return compare_date_timestamp;
    case 2370:
      return compare_timestamp_date;
    default:
      return nullptr;
  }
}

namespace {
std::uint64_t leading_bytes(std::string_view bytes) {
  std::uint64_t word = 0;
  std::memcpy(&word, bytes.data(), std::min<std::size_t>(bytes.size(), 8));
  return swap_bytes(word);
}
std::uint64_t ordered_double(double v) {
  if (std::isnan(v)) return ~std::uint64_t{0};
  if (v == 0) v = 0;
  const auto bits = std::bit_cast<std::uint64_t>(v);
  return bits >> 63 ? ~bits : bits | std::uint64_t{1} << 63;
}
}  // namespace

bool abbreviated_key(Oid type, Datum value, const CompareContext& context, std::uint64_t* key) {
  const CompareFn compare = find_compare(type);
  *key = 0;
  if (compare == compare_signed) {
    *key = value.bits ^ std::uint64_t{1} << 63;
    return true;
  }
  if (compare == compare_unsigned) {
    *key = value.bits;
    return true;
  }
  if (compare == compare_oid) {
    *key = value.as_oid().value;
    return true;
  }
  if (compare == compare_char) {
    *key = static_cast<unsigned char>(value.as_char());
    return true;
  }
  if (compare == compare_float4 || compare == compare_float8) {
    *key = ordered_double(compare == compare_float4 ? value.as_float4() : value.as_float8());
    return true;
  }
  if (context.collation.value > kPosixCollation.value) return false;
  if (compare == compare_text) {
    *key = leading_bytes(bytes_of(value, context));
  } else if (compare == compare_bpchar) {
    *key = leading_bytes(trim_blanks(bytes_of(value, context)));
  } else if (compare == compare_name) {
    *key = leading_bytes(name_view(value));
  } else if (compare == compare_uuid) {
    *key = leading_bytes({value.as_chars(), 16});
  }
  return false;
}

}  // namespace pinwheel::sql
