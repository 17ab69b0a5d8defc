#include "sql/functions/tables.h"
#include "sql/types/compare.h"
#include "sql/types/io_errors.h"
#include "sql/types/type_info.h"

/// Hash support functions, callable from SQL. Their values are our own (XXH3 and integer mixing), not
/// stock's.
namespace pinwheel::sql::functions {

namespace {

template <std::uint32_t Type>
std::uint64_t hash_of(FunctionCall& c) {
  static const HashFn hash = find_hash(Oid{Type});
  return hash(c.args[0], {c.collation, c.arena, c.context ? c.context->detoaster : nullptr});
}
template <std::uint32_t Type>
Datum short_hash(FunctionCall& c) {
  return Datum::from_int32(static_cast<std::int32_t>(hash_of<Type>(c)));
}
template <std::uint32_t Type>
Datum seeded_hash(FunctionCall& c) {
  return Datum::from_int64(
      static_cast<std::int64_t>(hash_of<Type>(c) ^ c.args[1].bits * 0x9E3779B97F4A7C15u));
}

constexpr BuiltinFunction kHashesFunctions[] = {
    {"hashint2", short_hash<kInt2Type.value>},
    {"hashint4", short_hash<kInt4Type.value>},
    {"hashint8", short_hash<kInt8Type.value>},
    {"hashfloat4", short_hash<kFloat4Type.value>},
    {"hashfloat8", short_hash<kFloat8Type.value>},
    {"hashoid", short_hash<kOidType.value>},
    {"hashchar", short_hash<kCharType.value>},
    {"hashname", short_hash<kNameType.value>},
    {"hashtext", short_hash<kTextType.value>},
    {"hashvarlena", short_hash<kByteaType.value>},
    {"hashbpchar", short_hash<kBpCharType.value>},
    {"hash_numeric", short_hash<kNumericType.value>},
    {"hash_array", short_hash<kAnyArrayType.value>},
    {"hashoidvector", short_hash<kAnyArrayType.value>},
    {"hash_record", short_hash<kRecordType.value>},
    {"hashtid", short_hash<kTidType.value>},
    {"time_hash", short_hash<kTimeType.value>},
    {"timetz_hash", short_hash<kTimeTzType.value>},
    {"timestamp_hash", short_hash<kTimestampType.value>},
    {"interval_hash", short_hash<kIntervalType.value>},
    {"uuid_hash", short_hash<kUuidType.value>},
    {"pg_lsn_hash", short_hash<kPgLsnType.value>},
    {"hashint2extended", seeded_hash<kInt2Type.value>},
    {"hashint4extended", seeded_hash<kInt4Type.value>},
    {"hashint8extended", seeded_hash<kInt8Type.value>},
    {"hashfloat4extended", seeded_hash<kFloat4Type.value>},
    {"hashfloat8extended", seeded_hash<kFloat8Type.value>},
    {"hashoidextended", seeded_hash<kOidType.value>},
    {"hashcharextended", seeded_hash<kCharType.value>},
    {"hashnameextended", seeded_hash<kNameType.value>},
    {"hashtextextended", seeded_hash<kTextType.value>},
    {"hashvarlenaextended", seeded_hash<kByteaType.value>},
    {"hashbpcharextended", seeded_hash<kBpCharType.value>},
    {"hash_numeric_extended", seeded_hash<kNumericType.value>},
    {"hash_array_extended", seeded_hash<kAnyArrayType.value>},
    {"hashoidvectorextended", seeded_hash<kAnyArrayType.value>},
    {"hash_record_extended", seeded_hash<kRecordType.value>},
    {"hashtidextended", seeded_hash<kTidType.value>},
    {"time_hash_extended", seeded_hash<kTimeType.value>},
    {"timetz_hash_extended", seeded_hash<kTimeTzType.value>},
    {"timestamp_hash_extended", seeded_hash<kTimestampType.value>},
    {"interval_hash_extended", seeded_hash<kIntervalType.value>},
    {"uuid_hash_extended", seeded_hash<kUuidType.value>},
    {"pg_lsn_hash_extended", seeded_hash<kPgLsnType.value>},
};

}  // namespace

std::span<const BuiltinFunction> hash_functions() { return kHashesFunctions; }

}  // namespace pinwheel::sql::functions
