#pragma once

#include <string>

#include "wal/record.h"
#include "wal/rmgr.h"

namespace pinwheel::wal {

/// One record as a line in pg_waldump's style:
/// "rmgr: Heap        len (rec/tot):     54/    86, tx:        732, lsn: 0/0150A2C8, desc: INSERT off: 3,
/// blkref #0: rel 5/16384 blk 0 FPW". The description comes from the registry, if its owner has registered
/// one.
std::string describe_record(const RmgrRegistry& registry, const RecordView& record);

/// Description of RmgrId::kXlog records.
std::string describe_xlog(const RecordView& record);

}  // namespace pinwheel::wal
