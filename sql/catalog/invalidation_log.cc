#include "sql/catalog/invalidation_log.h"

#include <atomic>

#include "shm/lwlock.h"
#include "shm/segment.h"

namespace pinwheel::sql {
namespace {
constexpr std::uint64_t kRingSize = 4096;
constexpr const char* kRegion = "Catalog Invalidations";
}  // namespace

struct InvalidationLog::Shared {
  /// Written under `latch` held exclusively, after the messages; read by anyone.
  alignas(kCacheLine) std::atomic<std::uint64_t> position{0};
  alignas(kCacheLine) mutable shm::LwLock latch{shm::Tranche::kCatalogInvalidation};
  /// Written under `latch` exclusive, read under `latch` shared.
  InvalidationMessage ring[kRingSize]{};
};

void InvalidationLog::declare(shm::RegionBuilder& builder) { builder.add_array<Shared>(kRegion, 1); }

InvalidationLog::InvalidationLog(const shm::Segment& segment) : shared_{segment.as<Shared>(kRegion)} {}
InvalidationLog::InvalidationLog() : own_{std::make_unique<Shared>()} { shared_ = own_.get(); }
InvalidationLog::~InvalidationLog() = default;

std::uint64_t InvalidationLog::position() const noexcept {
  return shared_->position.load(std::memory_order_acquire);
}

void InvalidationLog::append(std::span<const InvalidationMessage> messages) noexcept {
  shm::LwLockGuard<shm::LatchMode::kExclusive> guard{shared_->latch};
  std::uint64_t at = shared_->position.load(std::memory_order_relaxed);
  for (const InvalidationMessage& message : messages) shared_->ring[at++ % kRingSize] = message;
  shared_->position.store(at, std::memory_order_release);
}

bool InvalidationLog::read(std::uint64_t from, std::vector<InvalidationMessage>& out,
                           std::uint64_t* next) const {
  shm::LwLockGuard<shm::LatchMode::kShared> guard{shared_->latch};
  const std::uint64_t to = shared_->position.load(std::memory_order_relaxed);
  *next = to;
  if (to - from > kRingSize) return false;
  for (std::uint64_t i = from; i < to; ++i) out.push_back(shared_->ring[i % kRingSize]);
  return true;
}

}  // namespace pinwheel::sql
