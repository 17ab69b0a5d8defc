#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "base/ids.h"
#include "base/parameter_enums.h"
#include "clog/slru.h"

namespace pinwheel::clog {

/// How a transaction ended, in two bits on disk: never renumber. kInProgress also means "was running when the
/// server crashed": only who knows that it does not run now may read it as aborted. kSubCommitted is
/// reserved: it is never written, since readers ask the running set before the status and so never see a
/// commit half done.
enum class XidStatus : std::uint8_t { kInProgress = 0, kCommitted = 1, kAborted = 2, kSubCommitted = 3 };

/// Statuses in one 8 KiB page of pg_xact: 4 a byte, 32 a word.
inline constexpr std::uint64_t kXidsPerPage = kPageSize * 4;
inline constexpr std::uint64_t kXidsPerWord = 32;
/// Xids that share one remembered commit LSN: as in PostgreSQL, 32.
inline constexpr std::uint32_t kLsnGroupsPerPage = kXidsPerPage / 32;

struct TransactionStatusOptions {
  std::string data_directory;
  std::uint32_t buffers = 128;
  std::uint32_t banks = 8;
  ClogUpdate update = ClogUpdate::kAtomic;
  std::size_t process_count = 0;  // capacity of the process table, for group updates
};

/// The commit log: two bits for each xid ever given (docs/formats/clog.md).
///
/// `update` chooses how statuses are set, as the experiments need: kLocked takes the bank latch exclusively
/// (before PostgreSQL 11), kGroup lets one process set the statuses of all that wait for the latch (11 on),
/// kAtomic changes words in place under a shared latch. With the first two, readers take the latch shared as
/// they did then; with kAtomic they take none.
class TransactionStatus {
 public:
  static void declare(shm::RegionBuilder& builder, const TransactionStatusOptions& options);
  TransactionStatus(const shm::Segment& segment, TransactionStatusOptions options, wal::Log& log);

  /// Status of a transaction that the caller knows not to run (or to be its own). Bootstrap and frozen xids
  /// are committed. Errors: as Slru::read_word.
  XidStatus status(Xid xid);

  /// The same, and for kCommitted the LSN that must be durable before the commit may be relied on after a
  /// crash (kInvalidLsn when it is known to be): hint bits wait for it.
  XidStatus status(Xid xid, Lsn& commit_lsn);

  /// Sets one outcome for a transaction and its subtransactions. `lsn` is the end of the commit record when
  /// it may not be durable yet, else kInvalidLsn. Idempotent. An I/O failure panics: the log already says
  /// "committed".
  void set(Xid xid, std::span<const Xid> subxids, XidStatus status, Lsn lsn) noexcept;

  /// Makes the page of `first_xid` (first of its page) exist, all in progress.
  void extend(Xid first_xid) { slru_.zero_page(page_of(first_xid)); }

  /// At the end of recovery: erases statuses from `next_xid` on, which transactions that left no trace in the
  /// log may have set, and makes every page from `first_unchecked` to next_xid's exist.
  void trim(Xid first_unchecked, Xid next_xid);
  void set_new_from(Xid xid) noexcept { slru_.set_new_from(page_of(xid)); }

  void flush() { slru_.flush(); }
  /// Forgets statuses of xids before `oldest` (whole segments).
  void truncate(Xid oldest) { slru_.truncate(page_of(oldest)); }
  const Slru& slru() const noexcept { return slru_; }

  static constexpr std::uint64_t page_of(Xid xid) noexcept { return xid.value / kXidsPerPage; }

 private:
  struct GroupMember;
  struct GroupHead;

  // One page's worth of a set: all xids on `page`.
  struct PageUpdate {
    std::uint64_t page;
    std::span<const Xid> xids;
    XidStatus status;
    Lsn lsn;
  };
  void set_page(const PageUpdate& update);
  void set_page_locked(const PageUpdate& update);
  void set_page_group(const PageUpdate& update);
  void set_page_atomic(const PageUpdate& update);
  void apply_exclusive(const PageUpdate& update, shm::ExclusiveGuard& guard);
  void lead_group(shm::LwLock& latch, std::atomic<std::uint32_t>& head);
  /// First and last LSN group that xids of one page, in rising order, belong to.
  static GroupRange lsn_groups_of(std::span<const Xid> xids) noexcept {
    return {static_cast<std::uint32_t>(xids.front().value % kXidsPerPage / 32),
            static_cast<std::uint32_t>(xids.back().value % kXidsPerPage / 32)};
  }

  TransactionStatusOptions options_;
  Slru slru_;
  GroupHead* group_heads_ = nullptr;
  GroupMember* members_ = nullptr;
};

}  // namespace pinwheel::clog
