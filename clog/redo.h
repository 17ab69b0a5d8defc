#pragma once

#include <string>

#include "wal/rmgr.h"

namespace pinwheel::wal {
class RecordView;
}

namespace pinwheel::clog {

class Clog;

/// Kinds of RmgrId::kMultixact records. On disk: never reuse.
enum class MultixactKind : std::uint8_t { kCreate = 0x20 };

/// Redo of multixact records; RedoContext::owner is a Clog.
void redo_multixact(wal::RedoContext& context, const wal::RecordView& record);
std::string describe_multixact(const wal::RecordView& record);

/// XlogKind::kNextOid: the manager of kXlog hands it over.
void redo_next_oid(Clog& clog, const wal::RecordView& record);

}  // namespace pinwheel::clog
