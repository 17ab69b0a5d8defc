#pragma once

#include "base/arena.h"
#include "base/ids.h"
#include "sql/types/datum.h"

namespace pinwheel::sql {

/// tid values: by pointer, u32 page then u16 slot.
inline constexpr std::size_t kTidSize = 6;

inline TupleId load_tid(Datum v) {
  TupleId tid;
  tid.page = PageNumber{load<std::uint32_t>(v.as_pointer())};
  tid.slot = load<std::uint16_t>(v.as_pointer() + 4);
  return tid;
}

inline Datum make_tid(Arena& arena, TupleId tid) {
  auto* to = static_cast<std::uint8_t*>(arena.allocate(kTidSize, 4));
  store<std::uint32_t>(to, tid.page.value);
  store<std::uint16_t>(to + 4, tid.slot);
  return Datum::from_pointer(to);
}

}  // namespace pinwheel::sql
