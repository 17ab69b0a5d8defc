#include "clog/xid_allocator.h"

#include <algorithm>
#include <climits>
#include <new>

#include "base/error.h"
#include "clog/transaction_status.h"
#include "shm/futex.h"
#include "wal/log.h"

namespace pinwheel::clog {

namespace {
/// OIDs below are for built-in objects; a counter that wrapped starts again above them.
constexpr std::uint32_t kFirstBootstrapOid = 10'000;

/// Where the status page of `xid` ends.
constexpr Xid end_of_page(Xid xid) noexcept { return Xid{(xid.value / kXidsPerPage + 1) * kXidsPerPage}; }
}  // namespace

void XidAllocator::declare(shm::RegionBuilder& builder) {
  builder.add_region("Transaction ids", sizeof(Shared), alignof(Shared),
                     [](std::byte* at) { ::new (at) Shared(); });
}

XidAllocator::XidAllocator(const shm::Segment& segment, TransactionStatus& status, wal::Log& log)
    : shared_{segment.as<Shared>("Transaction ids")}, status_{status}, log_{log} {}

void XidAllocator::extend() {
  // One process extends, without a latch since the page may have to push another to disk; the rest sleep.
  std::atomic<std::uint32_t>& extending = shared_->extending;
  std::uint32_t seen = 0;
  if (!extending.compare_exchange_strong(seen, 1, std::memory_order_acquire)) {
    if (seen == 2 || extending.compare_exchange_strong(seen, 2)) shm::futex_wait(extending, 2);
    return;
  }
  const auto finish = [&extending] {
    if (extending.exchange(0, std::memory_order_release) == 2) shm::futex_wake(extending, INT_MAX);
  };
  try {
    const Xid first{shared_->extended_until.load(std::memory_order_relaxed)};
    if (next_xid() >= first) {
      // The page exists before any xid on it is given. Dying here leaves a zero page that nobody misses.
      if (first.value % kXidsPerPage == 0) status_.extend(first);
      Xid until = end_of_page(first);
      if (extender_ != nullptr) until = std::min(until, extender_->extend(first));
      shared_->extended_until.store(until.value, std::memory_order_release);
    }
  } catch (...) {
    finish();
    throw;
  }
  finish();
}

Oid XidAllocator::allocate_oid() {
  shm::ExclusiveGuard guard{shared_->oid_latch};
  if (shared_->next_oid < kFirstBootstrapOid) {
    shared_->next_oid = kFirstNormalOid.value;
    shared_->oids_logged = 0;
  }
  if (shared_->oids_logged == 0) {
    // Not flushed: whatever bears one of these ids is logged after this record.
    const std::uint32_t upto = shared_->next_oid + kOidPrefetch;
    wal::RecordBuilder record{wal::RmgrId::kXlog, wal::XlogKind::kNextOid};
    record.data(&upto, sizeof upto);
    log_.insert(record, kInvalidXid);
    shared_->oids_logged = kOidPrefetch;
  }
  --shared_->oids_logged;
  return Oid{shared_->next_oid++};
}

Oid XidAllocator::next_oid(bool exact) const noexcept {
  shm::SharedGuard guard{shared_->oid_latch};
  // Ids given from a logged block are covered by its record only if that is replayed; one before the redo
  // point is not, so the checkpoint names the end of the block.
  return Oid{shared_->next_oid + (exact ? 0 : shared_->oids_logged)};
}

void XidAllocator::set_next_oid(Oid oid) noexcept {
  shm::ExclusiveGuard guard{shared_->oid_latch};
  shared_->next_oid = oid.value;
  shared_->oids_logged = 0;
}

void XidAllocator::start(Xid next_xid, Oid next_oid) noexcept {
  shared_->next_xid.store(next_xid.value, std::memory_order_release);
  shared_->checkpoint_xid = next_xid.value;
  status_.set_new_from(next_xid);
  set_next_oid(next_oid);
}

void XidAllocator::redo_next_oid(Oid next) noexcept { set_next_oid(next); }

void XidAllocator::finish_recovery() {
  const Xid next = next_xid();
  status_.trim(Xid{shared_->checkpoint_xid}, next);
  Xid until = end_of_page(next);
  if (extender_ != nullptr) until = std::min(until, extender_->start(next));
  shared_->extended_until.store(until.value, std::memory_order_release);
}

}  // namespace pinwheel::clog
