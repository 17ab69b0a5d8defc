#include "clog/subtransactions.h"

#include "base/error.h"

namespace pinwheel::clog {

SlruOptions Subtransactions::options(const std::string& data_directory) {
  return {.name = "Subtrans",
          .directory = data_directory + "/pg_subtrans",
          .subject = "transaction",
          .tranche = shm::Tranche::kSubtrans,
          .buffers = 32,
          .banks = 2,
          .hits = shm::Counter::kSubtransHits,
          .reads = shm::Counter::kSubtransReads};
}

void Subtransactions::declare(shm::RegionBuilder& builder, const std::string& data_directory) {
  Slru::declare(builder, options(data_directory));
}

Subtransactions::Subtransactions(const shm::Segment& segment, const std::string& data_directory)
    : slru_{segment, options(data_directory), nullptr} {}

void Subtransactions::set_parent(Xid xid, Xid parent) {
  DB_ASSERT(parent < xid);
  slru_.update<shm::LatchMode::kShared>(
      xid.value / kParentsPerPage, xid.value, [&](std::span<std::atomic<std::uint64_t>> words) {
        words[xid.value % kParentsPerPage].store(parent.value, std::memory_order_release);
      });
}

Xid Subtransactions::parent(Xid xid) {
  if (!is_normal(xid)) return kInvalidXid;
  return Xid{slru_.read_word(xid.value / kParentsPerPage,
                             static_cast<std::uint32_t>(xid.value % kParentsPerPage), xid.value)};
}

Xid Subtransactions::top(Xid xid, Xid stop_before) {
  for (;;) {
    const Xid up = parent(xid);
    if (!is_valid(up) || up < stop_before) return xid;
    // Parents are always older; a page of garbage must not make a loop.
    if (up >= xid) {
      DB_PANIC("pg_subtrans contains an entry that points to itself or forward");
    }
    xid = up;
  }
}

}  // namespace pinwheel::clog
