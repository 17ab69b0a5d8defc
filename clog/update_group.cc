// clog_update = group: who does not get the bank's latch joins a list; the first on the list leads, takes the
// latch once and sets the statuses of all, as PostgreSQL does from version 11 on.
#include "base/error.h"
#include "clog/transaction_status_internal.h"
#include "shm/futex.h"
#include "shm/interrupts.h"
#include "shm/process.h"

namespace pinwheel::clog {

void TransactionStatus::set_page_group(const PageUpdate& update) {
  shm::LwLock& latch = slru_.bank_latch(update.page);
  auto free_latch = shm::ExclusiveGuard::try_acquire(latch);
  if (free_latch) return apply_exclusive(update, free_latch);
  // A list member carries one xid; several go alone, as with many subxids in PostgreSQL.
  if (update.xids.size() != 1) return set_page_locked(update);

  const std::uint32_t me = shm::self().index.value;
  DB_ASSERT(me < options_.process_count);
  GroupMember& member = members_[me];
  member.xid = update.xids[0].value;
  member.lsn = update.lsn.value;
  member.status = update.status;
  member.done.store(0, std::memory_order_relaxed);

  std::atomic<std::uint32_t>& head = group_heads_[slru_.bank_of(update.page)].first;
  std::uint32_t first = head.load(std::memory_order_relaxed);
  do {
    member.next.store(first, std::memory_order_relaxed);
  } while (!head.compare_exchange_weak(first, me + 1, std::memory_order_acq_rel));
  if (first != 0) {
    // The leader died with us waiting? Then the launcher stops this process too.
    const shm::WaitEventScope waiting{shm::WaitEvent::kClogGroupUpdate};
    while (member.done.load(std::memory_order_acquire) == 0) shm::futex_wait(member.done, 0);
    return;
  }
  lead_group(latch, head);
}

void TransactionStatus::lead_group(shm::LwLock& latch, std::atomic<std::uint32_t>& head) {
  shm::ExclusiveGuard guard{latch};
  const std::uint32_t list = head.exchange(0, std::memory_order_acq_rel);
  std::uint64_t members = 0;
  for (std::uint32_t at = list; at != 0; at = members_[at - 1].next.load(std::memory_order_relaxed)) {
    const GroupMember& member = members_[at - 1];
    const Xid xid{member.xid};
    apply_exclusive({page_of(xid), {&xid, 1}, member.status, Lsn{member.lsn}}, guard);
    ++members;
  }
  guard.release();
  shm::count(shm::Counter::kClogGroupUpdates);
  shm::count(shm::Counter::kClogGroupMembers, members);
  const std::uint32_t me = shm::self().index.value + 1u;
  for (std::uint32_t at = list; at != 0;) {
    GroupMember& member = members_[at - 1];
    // Before `done`: from then on the member may push itself again.
    const std::uint32_t next = member.next.load(std::memory_order_relaxed);
    if (at != me) {
      member.done.store(1, std::memory_order_release);
      shm::futex_wake(member.done, 1);
    }
    at = next;
  }
}

}  // namespace pinwheel::clog
