#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/ids.h"

namespace pinwheel::shm {
class RegionBuilder;
class Segment;
}  // namespace pinwheel::shm

namespace pinwheel::sql {

enum class InvalidationKind : std::uint32_t {
  kRelation,    // object = pg_class oid, 0 = all of the database; also drops names and statistics
  kType,        // object = pg_type oid
  kSchema,      // schemas of the database
  kShared,      // roles, memberships, databases
  kStatistics,  // object = pg_class oid: column statistics only
};

/// One committed change that caches must forget. Also the bytes of the commit record's payload.
struct InvalidationMessage {
  Oid database;  // 0 = all
  InvalidationKind kind;
  Oid object;
};
static_assert(sizeof(InvalidationMessage) == 12);

/// The shared ring of what committed transactions changed in the catalogs.
///
/// Writers append under the log's latch (SInvalWrite) and then advance `position`. Readers need one load to
/// learn that nothing happened. A reader that has fallen more than the ring's length behind must drop
/// everything.
///
/// If a process dies while it appends, the segment is rebuilt and with it all caches.
class InvalidationLog {
 public:
  static void declare(shm::RegionBuilder& builder);
  explicit InvalidationLog(const shm::Segment& segment);
  /// A private one, for single-process use (bootstrap, tests).
  InvalidationLog();
  ~InvalidationLog();
  InvalidationLog(const InvalidationLog&) = delete;
  InvalidationLog& operator=(const InvalidationLog&) = delete;

  /// Messages ever appended.
  std::uint64_t position() const noexcept;
  void append(std::span<const InvalidationMessage> messages) noexcept;
  /// Copies the messages from `from` on into `out` and returns the position after them; nothing else changes.
  /// False when some are overwritten already (then `*next` is where to go on).
  bool read(std::uint64_t from, std::vector<InvalidationMessage>& out, std::uint64_t* next) const;

 private:
  struct Shared;
  Shared* shared_;
  std::unique_ptr<Shared> own_;
};

}  // namespace pinwheel::sql
