// Segments around checkpoints: when one is due, what it frees, what stands ready.

#include <algorithm>

#include "wal/log.h"
#include "wal/log_shared.h"

namespace pinwheel::wal {

bool Log::checkpoint_due() const noexcept {
  if (in_recovery()) return false;
  return insert_position() - redo_position() >= settings_.checkpoint_after_bytes;
}

bool Log::prepare_segments() {
  if (in_recovery()) return false;
  const Lsn written = written_position();
  const std::uint64_t segment_bytes = files_.segment_bytes();
  if (written.value % segment_bytes < segment_bytes / 2) return false;
  const SegmentNumber next = files_.segment_of(written) + 1;
  return !files_.exists(next) && files_.create(next);
}

SegmentFiles::Recycled Log::finish_checkpoint(Lsn redo) {
  // As PostgreSQL estimates: follow a growing distance at once, a shrinking one slowly.
  const std::uint64_t distance = redo.value > last_redo_ ? redo.value - last_redo_ : 0;
  last_redo_ = redo.value;
  checkpoint_distance_ =
      distance > checkpoint_distance_ ? distance : (checkpoint_distance_ * 9 + distance) / 10;
  // The next checkpoint will free segments when it ends, about two distances after this redo point.
  const std::uint64_t ahead =
      std::clamp<std::uint64_t>(checkpoint_distance_ * 21 / 10, settings_.min_wal_bytes,
                                std::max(settings_.min_wal_bytes, settings_.max_wal_bytes));
  const SegmentNumber current = files_.segment_of(written_position());
  const SegmentNumber last_spare = files_.segment_of(redo + ahead);
  unsigned spare = last_spare > current ? static_cast<unsigned>(last_spare - current) : 1;
  if (!settings_.recycle_segments) spare = 0;
  const std::uint64_t end = written_position().value;
  const Lsn kept{end > settings_.keep_wal_bytes ? end - settings_.keep_wal_bytes : 0};
  return files_.recycle(files_.segment_of(std::min(redo, kept)), current, spare);
}

}  // namespace pinwheel::wal
