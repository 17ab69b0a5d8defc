#include <fmt/core.h>

#include <cstring>
#include <vector>

#include "base/error.h"
#include "base/sqlstate.h"
#include "txn/transaction_manager.h"
#include "txn/transaction_record.h"
#include "wal/record.h"

namespace pinwheel::txn {

namespace {

struct DecodedEnd {
  EndKind kind;
  EndRecord header;
  std::vector<Xid> subxids;
  std::vector<FileId> files;
};

/// Errors: XX001.
DecodedEnd decode(const wal::RecordView& record) {
  DecodedEnd end{static_cast<EndKind>(record.kind()), record.data_as<EndRecord>(), {}, {}};
  if (end.kind != EndKind::kCommit && end.kind != EndKind::kAbort) {
    throw SqlError{sqlstate::kDataCorrupted,
                   fmt::format("unknown transaction record kind {}", record.kind())};
  }
  const std::span<const std::byte> rest = record.data().subspan(sizeof(EndRecord));
  const std::uint64_t subxid_bytes = std::uint64_t{end.header.subxid_count} * sizeof(Xid);
  const std::uint64_t file_bytes = std::uint64_t{end.header.file_count} * sizeof(FileId);
  if (subxid_bytes + file_bytes + end.header.payload_bytes != rest.size()) {
    throw SqlError{sqlstate::kDataCorrupted, "transaction record has the wrong length"};
  }
  end.subxids.resize(end.header.subxid_count);
  end.files.resize(end.header.file_count);
  if (subxid_bytes != 0) std::memcpy(end.subxids.data(), rest.data(), subxid_bytes);
  if (file_bytes != 0) std::memcpy(end.files.data(), rest.data() + subxid_bytes, file_bytes);
  return end;
}

}  // namespace

void redo_transaction(wal::RedoContext& context, const wal::RecordView& record) {
  TransactionManager& manager = context.owner_as<TransactionManager>();
  const DecodedEnd end = decode(record);
  clog::Clog& clog = manager.clog();
  clog.xids.observe(record.xid());
  for (const Xid xid : end.subxids) clog.xids.observe(xid);
  const clog::XidStatus status =
      end.kind == EndKind::kCommit ? clog::XidStatus::kCommitted : clog::XidStatus::kAborted;
  // Idempotent: the same bits again if an earlier recovery came past here.
  clog.status.set(record.xid(), end.subxids, status, kInvalidLsn);
  if (!end.files.empty() && manager.file_dropper() != nullptr) manager.file_dropper()->drop_files(end.files);
}

std::string describe_transaction(const wal::RecordView& record) {
  const DecodedEnd end = decode(record);
  std::string text =
      fmt::format("{} time_us: {}", end.kind == EndKind::kCommit ? "COMMIT" : "ABORT", end.header.time_us);
  if (!end.files.empty()) {
    text += "; rels:";
    for (const FileId& file : end.files) {
      text += fmt::format(" base/{}/{}", file.database.value, file.relation.value);
    }
  }
  if (!end.subxids.empty()) {
    text += "; subxacts:";
    for (const Xid xid : end.subxids) text += fmt::format(" {}", xid.value);
  }
  if (end.header.payload_bytes != 0) text += fmt::format("; inval bytes: {}", end.header.payload_bytes);
  return text;
}

}  // namespace pinwheel::txn
