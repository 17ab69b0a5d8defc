#pragma once

#include <atomic>
#include <cstdint>

#include "base/ids.h"

namespace pinwheel::shm {

/// Commands that tell how far they are, as pg_stat_get_progress_info names them.
enum class ProgressCommand : std::uint8_t { kNone, kVacuum, kAnalyze, kCluster, kCreateIndex, kCopy };

inline constexpr std::size_t kProgressParameters = 20;

/// How far a session's command is. Written by the session's process only, one word at a time; readers see
/// each word as it stands. What the parameters mean depends on the command: see the enums below, which count
/// as PostgreSQL's views do.
struct alignas(kCacheLine) Progress {
  std::atomic<std::uint8_t> command{0};  // ProgressCommand; kNone = nothing to show
  std::atomic<std::uint32_t> relation{0};
  std::atomic<std::int64_t> parameters[kProgressParameters]{};
};

/// Indexes of `parameters`. Phases are numbered as in PostgreSQL 15; system_views.sql names them.
enum class VacuumProgress : std::uint8_t {
  kPhase,
  kBlocksTotal,
  kBlocksScanned,
  kBlocksVacuumed,
  kIndexPasses,
  kMaxDeadTuples,
  kDeadTuples,
};
enum class AnalyzeProgress : std::uint8_t { kPhase, kBlocksTotal, kBlocksScanned };
enum class ClusterProgress : std::uint8_t {
  kCommand,
  kPhase,
  kIndex,
  kTuplesScanned,
  kTuplesWritten,
  kBlocksTotal,
  kBlocksScanned,
  kIndexesRebuilt,
};
enum class CreateIndexProgress : std::uint8_t {
  kCommand = 0,
  kIndex = 6,
  kPhase = 9,
  kSubphase = 10,
  kTuplesTotal = 11,
  kTuplesDone = 12,
  kBlocksTotal = 15,
  kBlocksDone = 16,
};
enum class CopyProgress : std::uint8_t {
  kBytesProcessed,
  kBytesTotal,
  kTuplesProcessed,
  kTuplesExcluded,
  kCommand,
  kType,
};

constexpr ProgressCommand progress_command_of(VacuumProgress) noexcept { return ProgressCommand::kVacuum; }
constexpr ProgressCommand progress_command_of(AnalyzeProgress) noexcept { return ProgressCommand::kAnalyze; }
constexpr ProgressCommand progress_command_of(ClusterProgress) noexcept { return ProgressCommand::kCluster; }
constexpr ProgressCommand progress_command_of(CreateIndexProgress) noexcept {
  return ProgressCommand::kCreateIndex;
}
constexpr ProgressCommand progress_command_of(CopyProgress) noexcept { return ProgressCommand::kCopy; }

/// The running session's progress, or null when another command is shown (or none). Two loads.
Progress* shown_progress(ProgressCommand command) noexcept;

/// Sets a parameter of the running session's command; nothing when another command is shown: the index builds
/// of a VACUUM FULL do not disturb its row.
template <class Parameter>
void set_progress(Parameter parameter, std::int64_t value) noexcept {
  if (Progress* shown = shown_progress(progress_command_of(parameter)))
    shown->parameters[static_cast<std::size_t>(parameter)].store(value, std::memory_order_relaxed);
}
/// Raises a parameter. One writer: no locked instruction.
template <class Parameter>
void add_progress(Parameter parameter, std::int64_t n = 1) noexcept {
  Progress* shown = shown_progress(progress_command_of(parameter));
  if (shown == nullptr) return;
  std::atomic<std::int64_t>& word = shown->parameters[static_cast<std::size_t>(parameter)];
  word.store(word.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
}

/// While it lives the running session shows a row of its command, unless it shows another one already. Begins
/// and ends on the same session.
class [[nodiscard]] ProgressScope {
 public:
  ProgressScope(ProgressCommand command, Oid relation) noexcept;
  ~ProgressScope();
  ProgressScope(const ProgressScope&) = delete;
  ProgressScope& operator=(const ProgressScope&) = delete;

 private:
  Progress* mine_;
};

}  // namespace pinwheel::shm
