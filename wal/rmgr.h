#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/ids.h"

namespace pinwheel::wal {

class RecordView;

/// Who owns a kind of record: its redo handler knows what the bytes mean. On disk: never renumber. Numbers
/// and names as in PostgreSQL 15 where one exists.
enum class RmgrId : std::uint8_t {
  kXlog = 0,         // the log itself: checkpoints, padding, full-page images, next oid
  kTransaction = 1,  // commit, abort
  kStorage = 2,      // relation files: create, truncate
  kClog = 3,         // transaction status pages
  kDatabase = 4,
  kTablespace = 5,
  kMultixact = 6,
  kRelationMap = 7,
  kStandby = 8,
  kHeap2 = 9,  // more kinds of the heap: prune, freeze, multi-insert
  kHeap = 10,
  kBtree = 11,
  kHash = 12,
  kGin = 13,
  kGist = 14,
  kSequence = 15,
  kFreeSpace = 16,
  kBrin = 17,
  kGeneric = 20,
  kLogicalMessage = 21,
};
inline constexpr std::size_t kRmgrCount = 32;

/// What a redo handler needs beside the record: the owner it was registered with.
struct RedoContext {
  /// The `owner` of the handler's ResourceManager (a buffer pool, a CLOG...).
  void* owner = nullptr;

  template <class Owner>
  Owner& owner_as() const noexcept {
    return *static_cast<Owner*>(owner);
  }
};

/// Applies one record. Idempotent: recovery may be killed and run again, so a handler compares page LSNs (or
/// writes the same bytes again). Errors: SqlError, which ends recovery with the record's description.
using RedoFunction = void (*)(RedoContext& context, const RecordView& record);
/// One line about a record's content, "INSERT off: 3, flags: 0x00", for waldump and error contexts.
using DescribeFunction = std::string (*)(const RecordView& record);

/// One owner of records. `redo` may be null for owners that are only described (waldump).
struct ResourceManager {
  RmgrId id;
  std::string_view name;  // "Heap"
  RedoFunction redo = nullptr;
  DescribeFunction describe = nullptr;
  void* owner = nullptr;
};

/// Joins record owners with replay and waldump; filled by server/recovery, so that wal sees none of them.
class RmgrRegistry {
 public:
  /// Registers or replaces the manager of `manager.id`.
  void add(const ResourceManager& manager) noexcept { managers_[index(manager.id)] = manager; }
  /// Null when nobody has registered.
  const ResourceManager* find(RmgrId id) const noexcept {
    const std::size_t at = index(id);
    return at < kRmgrCount && !managers_[at].name.empty() ? &managers_[at] : nullptr;
  }

 private:
  static constexpr std::size_t index(RmgrId id) noexcept { return static_cast<std::size_t>(id); }
  std::array<ResourceManager, kRmgrCount> managers_{};
};

/// "Heap", "Btree"...; "???" for an unknown id.
std::string_view rmgr_name(RmgrId id) noexcept;

/// Kinds of RmgrId::kXlog records. On disk: never reuse. Numbers as in PostgreSQL 15 where one exists.
enum class XlogKind : std::uint8_t {
  kCheckpointShutdown = 0x00,
  kCheckpointOnline = 0x10,
  kNoop = 0x20,     // padding: reserved space that was given up, and segment switches
  kNextOid = 0x30,  // u32: object ids up to it may be given out; redo belongs to the id allocator
  kParameterChange = 0x60,
  kFullPageWrites = 0x80,  // u8: the setting from here on
  kEndOfRecovery = 0x90,
  kFullPageImage = 0xB0,  // blocks with images to restore, nothing else; redo belongs to storage
  kFullPageImageForHint = 0xA0,
  kCheckpointRedo = 0xE0,  // stands at the redo point of a checkpoint
};
std::string_view xlog_kind_name(XlogKind kind) noexcept;

}  // namespace pinwheel::wal
