#include "shm/progress.h"

#include "shm/interrupts.h"

namespace pinwheel::shm {

Progress* shown_progress(ProgressCommand command) noexcept {
  Progress& progress = current_session.slot->progress;
  return progress.command.load(std::memory_order_relaxed) == static_cast<std::uint8_t>(command) ? &progress
                                                                                                : nullptr;
}

ProgressScope::ProgressScope(ProgressCommand command, Oid relation) noexcept
    : mine_{&current_session.slot->progress} {
  if (mine_->command.load(std::memory_order_relaxed) != 0) {
    mine_ = nullptr;
    return;
  }
  for (auto& parameter : mine_->parameters) parameter.store(0, std::memory_order_relaxed);
  mine_->relation.store(relation.value, std::memory_order_relaxed);
  mine_->command.store(static_cast<std::uint8_t>(command), std::memory_order_release);
}

ProgressScope::~ProgressScope() {
  if (mine_ != nullptr) mine_->command.store(0, std::memory_order_release);
}

}  // namespace pinwheel::shm
