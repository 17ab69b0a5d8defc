#include "sql/execute/index_handle.h"

#include "sql/types/type_oids.h"

namespace pinwheel::sql {

int compare_keys(std::uint64_t a, std::uint64_t b, const void* comparison) {
  const auto* c = static_cast<const KeyComparison*>(comparison);
  return c->compare(Datum{a}, Datum{b}, c->context);
}

storage::KeyOrder key_order_of(Oid type) {
  switch (type.value) {
    case 16:    // bool
    case 20:    // int8
    case 21:    // int2
    case 23:    // int4
    case 1082:  // date
    case 1083:  // time
    case 1114:  // timestamp
    case 1184:  // timestamptz
      return storage::KeyOrder::kSigned;
    case 26:  // oid and its kin
    case 24:
    case 2202:
    case 2203:
    case 2204:
    case 2205:
    case 2206:
    case 4089:
    case 4096:
      return storage::KeyOrder::kUnsigned;
    default:
      return storage::KeyOrder::kFunction;
  }
}

}  // namespace pinwheel::sql
