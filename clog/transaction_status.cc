#include "clog/transaction_status.h"

#include "base/error.h"
#include "clog/transaction_status_internal.h"
#include "wal/log.h"

namespace pinwheel::clog {

namespace {
SlruOptions slru_options(const TransactionStatusOptions& options) {
  return {.name = "Xact",
          .directory = options.data_directory + "/pg_xact",
          .subject = "transaction",
          .tranche = shm::Tranche::kClogBank,
          .buffers = options.buffers,
          .banks = options.banks,
          .lsn_groups = kLsnGroupsPerPage,
          .hits = shm::Counter::kClogHits,
          .reads = shm::Counter::kClogReads};
}
}  // namespace

void TransactionStatus::declare(shm::RegionBuilder& builder, const TransactionStatusOptions& options) {
  Slru::declare(builder, slru_options(options));
  builder.add_array<GroupHead>("CLOG group heads", options.banks);
  builder.add_array<GroupMember>("CLOG group members", options.process_count);
}

TransactionStatus::TransactionStatus(const shm::Segment& segment, TransactionStatusOptions options,
                                     wal::Log& log)
    : options_{std::move(options)},
      slru_{segment, slru_options(options_), &log},
      group_heads_{segment.as<GroupHead>("CLOG group heads")},
      members_{segment.as<GroupMember>("CLOG group members")} {}

XidStatus TransactionStatus::status(Xid xid) {
  Lsn ignored;
  return status(xid, ignored);
}

XidStatus TransactionStatus::status(Xid xid, Lsn& commit_lsn) {
  commit_lsn = kInvalidLsn;
  if (!is_normal(xid)) return is_valid(xid) ? XidStatus::kCommitted : XidStatus::kAborted;
  const StatusPosition at{xid};
  const std::uint64_t word =
      options_.update == ClogUpdate::kAtomic
          ? slru_.read_word(at.page, at.word, xid.value, at.lsn_group, commit_lsn)
          : slru_.read_word_latched(at.page, at.word, xid.value, at.lsn_group, commit_lsn);
  return static_cast<XidStatus>(word >> at.shift & 3);
}

void TransactionStatus::set(Xid xid, std::span<const Xid> subxids, XidStatus status, Lsn lsn) noexcept {
  try {
    // Page by page, the transaction itself last. Nobody looks before it has left the running set, so a reader
    // never sees some of it committed and some not.
    while (!subxids.empty()) {
      std::size_t count = 1;
      while (count < subxids.size() && page_of(subxids[count]) == page_of(subxids[0])) ++count;
      set_page({page_of(subxids[0]), subxids.first(count), status, lsn});
      subxids = subxids.subspan(count);
    }
    set_page({page_of(xid), {&xid, 1}, status, lsn});
  } catch (const SqlError& error) {
    DB_PANIC(error.message() + ": " + error.fields().detail);
  }
}

void TransactionStatus::set_page(const PageUpdate& update) {
  switch (options_.update) {
    case ClogUpdate::kAtomic:
      return set_page_atomic(update);
    case ClogUpdate::kGroup:
      return set_page_group(update);
    case ClogUpdate::kLocked:
      return set_page_locked(update);
  }
}

void TransactionStatus::trim(Xid first_unchecked, Xid next_xid) {
  const std::uint64_t last_page = page_of(next_xid);
  slru_.discard_from(last_page + 1);
  for (std::uint64_t page = page_of(first_unchecked); page <= last_page; ++page) {
    // Left dirty, so that it exists on disk after the next checkpoint even if nothing on it is ever set.
    slru_.update<shm::LatchMode::kExclusive>(page, page * kXidsPerPage, [&](auto words) {
      if (page != last_page) return;
      const StatusPosition at{next_xid};
      const std::uint64_t kept = (std::uint64_t{1} << at.shift) - 1;
      words[at.word].store(words[at.word].load(std::memory_order_relaxed) & kept, std::memory_order_relaxed);
      for (std::size_t i = at.word + 1; i < words.size(); ++i) words[i].store(0, std::memory_order_relaxed);
    });
  }
}

}  // namespace pinwheel::clog
