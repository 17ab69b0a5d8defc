#include "wal/rmgr.h"

namespace pinwheel::wal {
namespace {

struct RmgrName {
  RmgrId id;
  std::string_view name;
};
constexpr RmgrName kRmgrNames[] = {
    {RmgrId::kXlog, "XLOG"},           {RmgrId::kTransaction, "Transaction"},
    {RmgrId::kStorage, "Storage"},     {RmgrId::kClog, "CLOG"},
    {RmgrId::kDatabase, "Database"},   {RmgrId::kTablespace, "Tablespace"},
    {RmgrId::kMultixact, "MultiXact"}, {RmgrId::kRelationMap, "RelMap"},
    {RmgrId::kStandby, "Standby"},     {RmgrId::kHeap2, "Heap2"},
    {RmgrId::kHeap, "Heap"},           {RmgrId::kBtree, "Btree"},
    {RmgrId::kHash, "Hash"},           {RmgrId::kGin, "Gin"},
    {RmgrId::kGist, "Gist"},           {RmgrId::kSequence, "Sequence"},
    {RmgrId::kFreeSpace, "FreeSpace"}, {RmgrId::kBrin, "BRIN"},
    {RmgrId::kGeneric, "Generic"},     {RmgrId::kLogicalMessage, "LogicalMessage"},
};

struct KindName {
  XlogKind kind;
  std::string_view name;
};
constexpr KindName kXlogKindNames[] = {
    {XlogKind::kCheckpointShutdown, "CHECKPOINT_SHUTDOWN"},
    {XlogKind::kCheckpointOnline, "CHECKPOINT_ONLINE"},
    {XlogKind::kNoop, "NOOP"},
    {XlogKind::kNextOid, "NEXTOID"},
    {XlogKind::kParameterChange, "PARAMETER_CHANGE"},
    {XlogKind::kFullPageWrites, "FPW_CHANGE"},
    {XlogKind::kEndOfRecovery, "END_OF_RECOVERY"},
    {XlogKind::kFullPageImage, "FPI"},
    {XlogKind::kFullPageImageForHint, "FPI_FOR_HINT"},
    {XlogKind::kCheckpointRedo, "CHECKPOINT_REDO"},
};

}  // namespace

std::string_view rmgr_name(RmgrId id) noexcept {
  for (const RmgrName& row : kRmgrNames) {
    if (row.id == id) return row.name;
  }
  return "???";
}

std::string_view xlog_kind_name(XlogKind kind) noexcept {
  for (const KindName& row : kXlogKindNames) {
    if (row.kind == kind) return row.name;
  }
  return "UNKNOWN";
}

}  // namespace pinwheel::wal
