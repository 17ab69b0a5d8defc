#include <cstring>

#include "sql/execute/program.h"
#include "sql/execute/run_state.h"
#include "sql/execute/table_state.h"
#include "storage/heap/tuple_layout.h"

namespace pinwheel::sql {

Slot* make_slot(Arena& arena, int count) {
  auto* slot = arena.make<Slot>();
  slot->count = count;
  slot->values = arena.make_array<Datum>(static_cast<std::size_t>(count) + 1);
  slot->nulls = arena.make_array<bool>(static_cast<std::size_t>(count) + 1);
  return slot;
}

void deform_slot(Slot& slot, int upto) {
  if (slot.layout == nullptr) return;  // a made row: complete
  storage::DeformState state;
  state.attribute = static_cast<std::uint32_t>(slot.valid);
  state.offset = slot.deform_offset;
  static_assert(sizeof(Datum) == sizeof(std::uint64_t));
  storage::deform_more(tuple_view(slot), *static_cast<const storage::TupleLayout*>(slot.layout),
                       static_cast<std::size_t>(upto), state, reinterpret_cast<std::uint64_t*>(slot.values),
                       slot.nulls);
  slot.valid = upto;
  slot.deform_offset = state.offset;
}

Datum system_column(const Slot& slot, int attribute, Arena& arena, bool* is_null) {
  *is_null = false;
  if (attribute == kRowIdentityAttribute) return Datum{pack_identity(slot.tid)};
  if (attribute == kTableOidAttribute) return Datum::from_oid(slot.table);
  if (slot.tuple == nullptr) {
    *is_null = true;
    return Datum{};
  }
  const storage::HeapTupleView tuple = tuple_view(slot);
  switch (attribute) {
    case kTidAttribute: {
      // type tid: u32 page, u16 slot
      auto* bytes = static_cast<std::uint8_t*>(arena.allocate(6, 2));
      std::memcpy(bytes, &slot.tid.page.value, 4);
      std::memcpy(bytes + 4, &slot.tid.slot, 2);
      return Datum::from_pointer(bytes);
    }
    case kXminAttribute:
      return Datum{tuple.xmin().value};
    case kXmaxAttribute:
      return Datum{tuple.xmax().value};
    case kCminAttribute:
      return Datum::from_int32(static_cast<std::int32_t>(tuple.header().cmin));
    default:
      return Datum::from_int32(static_cast<std::int32_t>(tuple.header().cmax));
  }
}

}  // namespace pinwheel::sql
