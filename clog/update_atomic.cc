// clog_update = atomic: statuses are set in place. The bank latch is held shared only to keep the page in its
// slot: updaters never wait for each other, and cost one fetch-or on the word beside the latch's two
// operations.
#include "clog/transaction_status_internal.h"

namespace pinwheel::clog {

void TransactionStatus::set_page_atomic(const PageUpdate& update) {
  slru_.update<shm::LatchMode::kShared>(update.page, update.xids[0].value, update.lsn,
                                        lsn_groups_of(update.xids), [&](auto words) {
                                          for (const Xid xid : update.xids)
                                            set_status_bits(words, xid, update.status);
                                        });
}

}  // namespace pinwheel::clog
