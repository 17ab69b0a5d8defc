#include "clog/clog.h"

#include "base/error.h"

#include "base/file.h"

namespace pinwheel::clog {

void Clog::declare(shm::RegionBuilder& builder, const TransactionStatusOptions& options) {
  TransactionStatus::declare(builder, options);
  XidAllocator::declare(builder);
  Subtransactions::declare(builder, options.data_directory);
  Multixacts::declare(builder, options.data_directory);
}

Clog::Clog(const shm::Segment& segment, const TransactionStatusOptions& options, wal::Log& log)
    : status{segment, options, log},
      xids{segment, status, log},
      subtransactions{segment, options.data_directory},
      multixacts{segment, options.data_directory, log} {}

void Clog::create_directories(const std::string& data_directory) {
  for (const char* name :
       {"/pg_xact", "/pg_subtrans", "/pg_multixact", "/pg_multixact/offsets", "/pg_multixact/members"}) {
    make_directory(data_directory + name);
  }
}

void Clog::begin_recovery(const wal::CheckpointData& checkpoint) {
  DB_ASSERT(is_normal(Xid{checkpoint.next_xid}));
  subtransactions.reset();
  xids.start(Xid{checkpoint.next_xid}, Oid{checkpoint.next_oid});
  multixacts.start(MultiXactId{checkpoint.next_multixact}, checkpoint.next_multixact_member);
}

void Clog::finish_recovery() { xids.finish_recovery(); }

void Clog::describe_ids(wal::CheckpointData& checkpoint, bool shutdown) const noexcept {
  checkpoint.next_xid = xids.next_xid().value;
  checkpoint.next_oid = xids.next_oid(shutdown).value;
  checkpoint.next_multixact = multixacts.next_id().value;
  checkpoint.next_multixact_member = multixacts.next_offset();
}

void Clog::flush() {
  status.flush();
  multixacts.flush();
}

}  // namespace pinwheel::clog
