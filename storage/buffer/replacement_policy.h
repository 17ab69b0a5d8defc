#pragma once

#include <cstdint>
#include <memory>

#include "base/ids.h"
#include "shm/segment.h"
#include "storage/buffer/descriptor.h"

namespace pinwheel::storage {

/// Setting buffer_replacement; a row of kPolicies in replacement_policy.cc for each.
enum class Replacement : std::uint8_t { kAtomicClock, kLockedClock, kBatchedClock, kS3Fifo };

/// Chooses which frame to reuse when the freelist is empty (and which the background writer frees ahead).
/// One class per file; chosen at start, one object per process. Hits never come here: a policy learns of them
/// from the usage count in the frame's state. How to add one: docs/adding-a-policy.md.
class ReplacementPolicy {
 public:
  virtual ~ReplacementPolicy() = default;
  /// A frame that nobody uses, pinned once for the caller; it may hold a page, clean or dirty. Errors: 53000
  /// `no unpinned buffers available`.
  virtual BufferId claim_victim() = 0;
  /// A frame from claim_victim() keeps its page after all, and is unpinned: somebody wanted it meanwhile, or
  /// it could not be written.
  virtual void put_back(BufferId) noexcept {}
  /// A frame that the caller has pinned got a page, whose MappingTable::hash is `hash`.
  virtual void page_installed(BufferId, std::uint32_t /*hash*/) noexcept {}
  /// The frame that will be looked at after `ahead` others: a guess, for cleaning ahead of the search.
  virtual BufferId upcoming(std::size_t ahead) const noexcept = 0;
  /// Frames looked at since start.
  virtual std::uint64_t progress() const noexcept = 0;
};

/// What the clock does at one frame: claims it if unused, ages it if not.
enum class ClockStep : std::uint8_t { kClaimed, kAged, kPinned };
ClockStep clock_step(BufferDescriptor& descriptor) noexcept;

/// What one process's policy works on.
struct PolicyContext {
  const shm::Segment& segment;
  BufferDescriptor* descriptors;
  std::size_t frames;
};

/// Adds the shared regions that the policy needs.
void declare_replacement(shm::RegionBuilder& builder, Replacement replacement, std::size_t frames);
std::unique_ptr<ReplacementPolicy> make_replacement(Replacement replacement, const PolicyContext& context);

// One pair or function per policy's file, for the table in replacement_policy.cc.
std::unique_ptr<ReplacementPolicy> make_atomic_clock(const PolicyContext& context);
std::unique_ptr<ReplacementPolicy> make_locked_clock(const PolicyContext& context);
std::unique_ptr<ReplacementPolicy> make_batched_clock(const PolicyContext& context);
void declare_s3_fifo(shm::RegionBuilder& builder, std::size_t frames);
std::unique_ptr<ReplacementPolicy> make_s3_fifo(const PolicyContext& context);

/// Errors: 53000 always.
[[noreturn]] void throw_no_unpinned_buffers();

/// Shared words of the clocks.
struct ClockShared {
  /// Frames looked at since start; the hand is this modulo the frame count.
  alignas(kCacheLine) std::atomic<std::uint64_t> hand{0};
};
inline constexpr std::string_view kClockRegion = "Buffer Clock";
/// One LwLock of tranche BufferStrategy, for the policies that search under a lock.
inline constexpr std::string_view kStrategyLockRegion = "Buffer Strategy Lock";

}  // namespace pinwheel::storage
