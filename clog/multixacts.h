#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/ids.h"
#include "clog/slru.h"

namespace pinwheel::clog {

/// Id of a set of transactions that hold one row. 64 bits, so it never wraps. Stands in a tuple's xmax with
/// an infomask bit that tells it from an xid. 0 = none.
using MultiXactId = StrongId<struct MultiXactIdTag, std::uint64_t>;
inline constexpr MultiXactId kInvalidMultiXact{0};
inline constexpr MultiXactId kFirstMultiXact{1};

/// What a member does to the row, weakest first. On disk in three bits: never renumber.
enum class MemberStatus : std::uint8_t {
  kForKeyShare = 0,
  kForShare = 1,
  kForNoKeyUpdate = 2,
  kForUpdate = 3,
  kNoKeyUpdate = 4,  // has updated the row without changing a key
  kUpdate = 5,       // has updated a key, or deleted the row
};
/// True for the two that made a new version (or deleted).
constexpr bool is_update(MemberStatus status) noexcept { return status >= MemberStatus::kNoKeyUpdate; }

struct MultiXactMember {
  Xid xid;
  MemberStatus status;
  friend bool operator==(const MultiXactMember&, const MultiXactMember&) = default;
};

/// Most members of one set; more raise 54000.
inline constexpr std::size_t kMaxMultiXactMembers = 65'535;

/// Sets of row lockers, immutable once made, persistent and logged (docs/formats/clog.md).
class Multixacts {
 public:
  static void declare(shm::RegionBuilder& builder, const std::string& data_directory);
  Multixacts(const shm::Segment& segment, const std::string& data_directory, wal::Log& log);

  /// Makes a set (at least one member) and logs it as part of `xid`'s work; the record precedes any that puts
  /// the id on a page. The same members in the same order asked for again by this process give the same id.
  MultiXactId create(std::span<const MultiXactMember> members, Xid xid);

  /// Members of `id`, into `members` (cleared first). Errors: XX001 for an id that was never given.
  void read(MultiXactId id, std::vector<MultiXactMember>& members);

  MultiXactId next_id() const noexcept;
  std::uint64_t next_offset() const noexcept;

  // Recovery, single process.
  void start(MultiXactId next_id, std::uint64_t next_offset) noexcept;
  /// CREATE record: writes the set again.
  void redo_create(MultiXactId id, std::uint64_t offset, std::span<const MultiXactMember> members);

  void flush();
  const Slru& offsets() const noexcept { return offsets_; }
  const Slru& members() const noexcept { return members_; }

 private:
  struct Shared;
  void remember(MultiXactId id, std::span<const MultiXactMember> members);
  void store(MultiXactId id, std::uint64_t offset, std::span<const MultiXactMember> members);

  Shared* shared_;
  Slru offsets_;
  Slru members_;
  wal::Log& log_;
  /// Sets this process made or read lately, newest first; sets never change, so no invalidation.
  struct Cached {
    MultiXactId id;
    std::vector<MultiXactMember> members;
  };
  std::vector<Cached> cache_;
};

}  // namespace pinwheel::clog
