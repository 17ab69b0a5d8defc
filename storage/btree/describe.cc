#include <fmt/format.h>

#include "storage/btree/btree_wal.h"
#include "storage/btree/redo.h"
#include "wal/record.h"

namespace pinwheel::storage {

std::string btree_describe(const wal::RecordView& record) {
  switch (static_cast<BTreeRecord>(record.kind())) {
    case BTreeRecord::kInsertLeaf:
      return fmt::format("INSERT_LEAF off: {}", record.data_as<BTreeInsertRecord>().slot);
    case BTreeRecord::kInsertUpper:
      return fmt::format("INSERT_UPPER off: {}", record.data_as<BTreeInsertRecord>().slot);
    case BTreeRecord::kSplit: {
      const auto data = record.data_as<BTreeSplitRecord>();
      return fmt::format("SPLIT level: {}, first right: {}, new item: {}{}", data.level, data.first_right,
                         data.new_index, data.new_is_left != 0 ? " (left)" : " (right)");
    }
    case BTreeRecord::kDelete:
      return fmt::format("DELETE count: {}", record.data_as<BTreeDeleteRecord>().count);
    case BTreeRecord::kHalfDead:
      return fmt::format("MARK_PAGE_HALFDEAD parent off: {}", record.data_as<BTreeHalfDeadRecord>().slot);
    case BTreeRecord::kUnlink: {
      const auto data = record.data_as<BTreeUnlinkRecord>();
      return fmt::format("UNLINK_PAGE left: {}, right: {}, safexid: {}", data.previous, data.next,
                         data.safe_xid);
    }
    case BTreeRecord::kNewRoot: {
      const auto data = record.data_as<BTreeNewRootRecord>();
      return fmt::format("NEWROOT root: {}, level: {}", data.root, data.level);
    }
    case BTreeRecord::kMeta:
      return fmt::format("META_CLEANUP deleted pages: {}", record.data_as<BTreeMetaRecord>().deleted_pages);
    case BTreeRecord::kRecyclable:
      return "RECYCLABLE";
  }
  return fmt::format("UNKNOWN kind: {:#04x}", record.kind());
}

}  // namespace pinwheel::storage
