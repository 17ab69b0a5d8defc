#pragma once

#include <cstdint>
#include <string>
#include <type_traits>

#include "wal/rmgr.h"

namespace pinwheel::txn {

/// Kinds of RmgrId::kTransaction records, PostgreSQL's numbers. On disk: never reuse.
enum class EndKind : std::uint8_t { kCommit = 0x00, kAbort = 0x20 };

/// Main data of COMMIT and ABORT (docs/formats/transaction_record.md). The record's xid is the transaction's
/// (for an ABORT also a rolled back subtransaction's). Followed by the subxids (8 bytes each, rising), the
/// files to drop (database and file number, 4 bytes each), and the payload.
///
///   offset  size  field
///   0       8     time_us        microseconds since 2000-01-01
///   8       4     subxid_count
///   12      4     file_count
///   16      4     payload_bytes  catalog invalidations, for readers of the log
///   20      4     reserved       zero
struct EndRecord {
  std::int64_t time_us;
  std::uint32_t subxid_count;
  std::uint32_t file_count;
  std::uint32_t payload_bytes;
  std::uint32_t reserved;
};
static_assert(sizeof(EndRecord) == 24);
static_assert(std::has_unique_object_representations_v<EndRecord>, "no padding on disk");

/// Redo of commits and aborts; RedoContext::owner is a TransactionManager, whose file dropper is called.
void redo_transaction(wal::RedoContext& context, const wal::RecordView& record);
std::string describe_transaction(const wal::RecordView& record);

}  // namespace pinwheel::txn
