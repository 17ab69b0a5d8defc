#pragma once

#include <cstdint>
#include <string>

#include "base/ids.h"
#include "clog/multixacts.h"
#include "clog/subtransactions.h"
#include "clog/transaction_status.h"
#include "clog/xid_allocator.h"
#include "wal/checkpoint.h"

namespace pinwheel::clog {

/// Everything of this room, made once per process after the segment is mapped.
///
/// Life of a server: begin_recovery(the last checkpoint); redo, which calls xids.observe() for every record's
/// xid and the handlers of clog/redo.h; finish_recovery(); then service. A checkpoint calls describe_ids()
/// after it has fixed its redo point, and flush() later.
class Clog {
 public:
  /// Declares all regions.
  static void declare(shm::RegionBuilder& builder, const TransactionStatusOptions& options);
  Clog(const shm::Segment& segment, const TransactionStatusOptions& options, wal::Log& log);

  /// `init`: makes the folders pg_xact, pg_subtrans, pg_multixact/offsets, pg_multixact/members.
  static void create_directories(const std::string& data_directory);

  void begin_recovery(const wal::CheckpointData& checkpoint);
  /// Also after a clean shutdown, where nothing was redone.
  void finish_recovery();

  /// Fills next_xid, next_oid, next_multixact and next_multixact_member.
  void describe_ids(wal::CheckpointData& checkpoint, bool shutdown) const noexcept;
  /// Makes all statuses and multixacts durable that were set before the call. WAL first.
  void flush();

  TransactionStatus status;
  XidAllocator xids;
  Subtransactions subtransactions;
  Multixacts multixacts;
};

}  // namespace pinwheel::clog
