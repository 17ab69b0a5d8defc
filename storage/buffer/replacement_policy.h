#pragma once

#include <cstdint>
#include <memory>

#include "base/ids.h"
#include "shm/segment.h"
#include "storage/buffer/descriptor.h"

namespace pinwheel::storage {

enum class Replacement : std::uint8_t;

/// Chooses which frame to reuse when the freelist is empty (and which the background writer frees ahead).
/// One class per file; chosen at start.
class ReplacementPolicy {
 public:
  virtual ~ReplacementPolicy() = default;
  /// A frame that nobody uses, pinned once for the caller; it may hold a page, clean or dirty. Errors: 53000
  /// `no unpinned buffers available`.
  virtual BufferId claim_victim() = 0;
  /// Where the search stands, for cleaning ahead of it.
  virtual std::uint32_t position() const noexcept = 0;
};

/// What the clock does at one frame: claims it if unused, ages it if not.
enum class ClockStep : std::uint8_t { kClaimed, kAged, kPinned };
ClockStep clock_step(BufferDescriptor& descriptor) noexcept;

void declare_replacement(shm::RegionBuilder& builder);
std::unique_ptr<ReplacementPolicy> make_atomic_clock(const shm::Segment& segment,
                                                     BufferDescriptor* descriptors, std::size_t frames);
std::unique_ptr<ReplacementPolicy> make_locked_clock(const shm::Segment& segment,
                                                     BufferDescriptor* descriptors, std::size_t frames);

/// Errors: 53000 always.
[[noreturn]] void throw_no_unpinned_buffers();

/// Shared words of the clocks.
struct ClockShared {
  /// Frames looked at since start; the hand is this modulo the frame count.
  alignas(kCacheLine) std::atomic<std::uint64_t> hand{0};
};
inline constexpr std::string_view kClockRegion = "Buffer Clock";
inline constexpr std::string_view kClockLockRegion = "Buffer Clock Lock";

}  // namespace pinwheel::storage
