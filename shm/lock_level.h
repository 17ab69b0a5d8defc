#pragma once

#include <cstdint>

namespace pinwheel::shm {

/// Order in which latches may be taken: each new one has a greater level than all that are held, unless its
/// level allows several at once (`allows_same_level`). docs/lock_order.md explains the steps. Debug builds
/// check it on every acquisition.
enum class LockLevel : std::uint8_t {
  kCheckpoint = 10,
  kAutovacuum = 20,
  kRelationExtension = 30,
  kLockManager = 40,
  kPredicateLocks = 45,
  kBufferContent = 60,
  kBufferMapping = 70,
  kBufferFreelist = 80,
  kRelationFiles = 85,
  kSyncRequests = 90,
  kMultixactGen = 100,
  kMultixact = 105,
  kXidGen = 110,
  kSubtrans = 115,
  kClog = 120,
  kProcArray = 130,
  kSnapshot = 135,
  kWalInsert = 140,
  kWalMapping = 150,
  kWalWrite = 160,
  kControlFile = 170,
  kCatalogInvalidation = 180,
  kStats = 190,
  kSessionTable = 200,
  kLeaf = 250,
};

/// Levels of which one process may hold several: pages are latched in the order their access method defines,
/// partitions in rising order of index.
constexpr bool allows_same_level(LockLevel level) noexcept {
  return level == LockLevel::kBufferContent || level == LockLevel::kBufferMapping ||
         level == LockLevel::kLockManager || level == LockLevel::kPredicateLocks ||
         level == LockLevel::kWalInsert;
}

// The held stack. Empty functions unless PINWHEEL_DEBUG_CHECKS; a process runs one thread and nobody parks
// while latched, so one stack per process serves all its sessions.
#ifdef PINWHEEL_DEBUG_CHECKS
/// Panics when `level` breaks the order. `what` identifies the latch for the matching release.
void note_acquire(LockLevel level, const void* what) noexcept;
/// For a try that cannot wait and so cannot deadlock: pushed without the order check.
void note_acquire_unordered(LockLevel level, const void* what) noexcept;
void note_release(LockLevel level, const void* what) noexcept;
/// Panics when anything is held: called before every park.
void assert_nothing_latched() noexcept;
/// True when `what` is on the held stack.
bool is_latched_by_me(const void* what) noexcept;
#else
inline void note_acquire(LockLevel, const void*) noexcept {}
inline void note_acquire_unordered(LockLevel, const void*) noexcept {}
inline void note_release(LockLevel, const void*) noexcept {}
inline void assert_nothing_latched() noexcept {}
inline bool is_latched_by_me(const void*) noexcept { return true; }
#endif

}  // namespace pinwheel::shm
