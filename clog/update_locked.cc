// clog_update = locked: one updater of a bank at a time, as PostgreSQL did before version 11 (with one bank:
// the CLogControlLock).
#include "clog/transaction_status_internal.h"

namespace pinwheel::clog {

void TransactionStatus::set_page_locked(const PageUpdate& update) {
  shm::ExclusiveGuard guard{slru_.bank_latch(update.page)};
  apply_exclusive(update, guard);
}

void TransactionStatus::apply_exclusive(const PageUpdate& update, shm::ExclusiveGuard& guard) {
  slru_.update_with_latch(update.page, update.xids[0].value, update.lsn, lsn_groups_of(update.xids), guard,
                          [&](auto words) {
                            for (const Xid xid : update.xids) set_status_bits(words, xid, update.status);
                          });
}

}  // namespace pinwheel::clog
