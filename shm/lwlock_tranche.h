#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "shm/lock_level.h"

namespace pinwheel::shm {

/// A group of LwLocks that protect the same kind of thing: the unit of statistics and of lock order.
enum class Tranche : std::uint8_t {
  kBufferMapping,
  kBufferContent,  // page latches: not LwLocks, but counted and ordered like them
  kBufferFreelist,
  kBufferStrategy,
  kClog,
  kClogBank,
  kSubtrans,
  kMultixactGen,
  kMultixactOffset,
  kMultixactMember,
  kXidGen,
  kProcArray,
  kSnapshot,
  kLockManager,
  kLockFastPath,
  kPredicateLocks,
  kWalInsert,
  kWalWrite,
  kWalMapping,
  kControlFile,
  kCatalogInvalidation,
  kStats,
  kAutovacuum,
  kRelationExtension,
  kRelationFiles,
  kSyncRequests,
  kCheckpoint,
  kSessionTable,
  kCommitOrder,
  kSequence,
  kTest,
  kCount,
};
inline constexpr std::size_t kTrancheCount = static_cast<std::size_t>(Tranche::kCount);

struct TrancheInfo {
  Tranche tranche;
  std::string_view name;  // as pg_stat_activity and pg_stat_lwlocks show it
  LockLevel level;
};

/// One row per tranche, in the order of the enum.
inline constexpr TrancheInfo kTranches[] = {
    {Tranche::kBufferMapping, "BufferMapping", LockLevel::kBufferMapping},
    {Tranche::kBufferContent, "BufferContent", LockLevel::kBufferContent},
    {Tranche::kBufferFreelist, "BufferFreelist", LockLevel::kBufferFreelist},
    {Tranche::kBufferStrategy, "BufferStrategy", LockLevel::kBufferFreelist},
    {Tranche::kClog, "XactSLRU", LockLevel::kClog},
    {Tranche::kClogBank, "XactBuffer", LockLevel::kClog},
    {Tranche::kSubtrans, "SubtransSLRU", LockLevel::kSubtrans},
    {Tranche::kMultixactGen, "MultiXactGen", LockLevel::kMultixactGen},
    {Tranche::kMultixactOffset, "MultiXactOffsetSLRU", LockLevel::kMultixact},
    {Tranche::kMultixactMember, "MultiXactMemberSLRU", LockLevel::kMultixact},
    {Tranche::kXidGen, "XidGen", LockLevel::kXidGen},
    {Tranche::kProcArray, "ProcArray", LockLevel::kProcArray},
    {Tranche::kSnapshot, "Snapshot", LockLevel::kSnapshot},
    {Tranche::kLockManager, "LockManager", LockLevel::kLockManager},
    {Tranche::kLockFastPath, "LockFastPath", LockLevel::kLockManager},
    {Tranche::kPredicateLocks, "PredicateLockManager", LockLevel::kPredicateLocks},
    {Tranche::kWalInsert, "WALInsert", LockLevel::kWalInsert},
    {Tranche::kWalWrite, "WALWrite", LockLevel::kWalWrite},
    {Tranche::kWalMapping, "WALBufMapping", LockLevel::kWalMapping},
    {Tranche::kControlFile, "ControlFile", LockLevel::kControlFile},
    {Tranche::kCatalogInvalidation, "SInvalWrite", LockLevel::kCatalogInvalidation},
    {Tranche::kStats, "PgStatsData", LockLevel::kStats},
    {Tranche::kAutovacuum, "Autovacuum", LockLevel::kAutovacuum},
    {Tranche::kRelationExtension, "RelationExtension", LockLevel::kRelationExtension},
    {Tranche::kRelationFiles, "RelationFiles", LockLevel::kRelationFiles},
    {Tranche::kSyncRequests, "CheckpointerComm", LockLevel::kSyncRequests},
    {Tranche::kCheckpoint, "Checkpoint", LockLevel::kCheckpoint},
    {Tranche::kSessionTable, "SessionTable", LockLevel::kSessionTable},
    {Tranche::kCommitOrder, "CommitOrder", LockLevel::kSnapshot},
    {Tranche::kSequence, "Sequence", LockLevel::kStats},
    {Tranche::kTest, "Test", LockLevel::kLeaf},
};
static_assert(sizeof(kTranches) / sizeof(kTranches[0]) == kTrancheCount, "one row per tranche");
static_assert(
    [] {
      for (std::size_t i = 0; i < kTrancheCount; ++i) {
        if (static_cast<std::size_t>(kTranches[i].tranche) != i) return false;
      }
      return true;
    }(),
    "rows stand in the order of the enum");

constexpr std::size_t index_of(Tranche tranche) noexcept { return static_cast<std::size_t>(tranche); }
constexpr const TrancheInfo& tranche_info(Tranche tranche) noexcept { return kTranches[index_of(tranche)]; }

}  // namespace pinwheel::shm
