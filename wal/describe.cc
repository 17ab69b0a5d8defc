#include "wal/describe.h"

#include <fmt/format.h>

#include "base/bytes.h"
#include "wal/checkpoint.h"
#include "wal/reader.h"

namespace pinwheel::wal {
namespace {

std::string describe_checkpoint(const RecordView& record) {
  const auto data = record.data_as<CheckpointData>();
  return fmt::format(
      "redo {}; tli {}; fpw {}; xid {}; oid {}; multi {}; offset {}; oldest xid {} in DB {}; oldest multi "
      "{}; "
      "oldest running xid {}; {}",
      format_lsn(Lsn{data.redo}), data.timeline, data.full_page_writes != 0 ? "true" : "false", data.next_xid,
      data.next_oid, data.next_multixact, data.next_multixact_member, data.oldest_xid,
      data.oldest_xid_database, data.oldest_multixact, data.oldest_active_xid,
      record.is(RmgrId::kXlog, XlogKind::kCheckpointShutdown) ? "shutdown" : "online");
}

std::string_view fork_suffix(Fork fork) {
  switch (fork) {
    case Fork::kMain:
      return "";
    case Fork::kFreeSpace:
      return " fork fsm";
    case Fork::kVisibility:
      return " fork vm";
    case Fork::kInit:
      return " fork init";
  }
  return "";
}

}  // namespace

std::string describe_xlog(const RecordView& record) {
  const auto kind = static_cast<XlogKind>(record.kind());
  std::string text{xlog_kind_name(kind)};
  switch (kind) {
    case XlogKind::kCheckpointShutdown:
    case XlogKind::kCheckpointOnline:
      return text + " " + describe_checkpoint(record);
    case XlogKind::kNextOid:
      return text + " " + std::to_string(record.data_as<std::uint32_t>());
    case XlogKind::kFullPageWrites:
      return text + (record.data_as<std::uint8_t>() != 0 ? " true" : " false");
    default:
      return text;
  }
}

std::string describe_record(const RmgrRegistry& registry, const RecordView& record) {
  std::size_t image_bytes = 0;
  for (const BlockView& block : record.blocks()) image_bytes += block.image.size();
  std::string line = fmt::format(
      "rmgr: {:<11} len (rec/tot): {:6}/{:6}, tx: {:10}, lsn: {:X}/{:08X}, desc: ", rmgr_name(record.rmgr()),
      record.total_length() - image_bytes, record.total_length(), record.xid().value,
      record.start().value >> 32, record.start().value & 0xFFFFFFFFu);
  const ResourceManager* manager = registry.find(record.rmgr());
  if (manager != nullptr && manager->describe != nullptr) {
    line += manager->describe(record);
  } else if (record.rmgr() == RmgrId::kXlog) {
    line += describe_xlog(record);
  } else {
    line += fmt::format("UNKNOWN (0x{:02X})", record.kind());
  }
  for (const BlockView& block : record.blocks()) {
    line += fmt::format(", blkref #{}: rel {}/{}{} blk {}", block.index, block.tag.file.database.value,
                        block.tag.file.relation.value, fork_suffix(block.tag.fork), block.tag.page.value);
    if (block.has_image) line += " FPW";
  }
  return line;
}

}  // namespace pinwheel::wal
