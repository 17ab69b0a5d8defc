#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/ids.h"
#include "shm/parking.h"
#include "shm/process.h"
#include "shm/segment.h"
#include "wal/builder.h"
#include "wal/checkpoint.h"
#include "wal/segment_files.h"

namespace pinwheel::wal {

struct LogShared;
struct InsertionSlot;

/// How inserting processes share the log (setting wal_insert).
enum class InsertMethod : std::uint8_t {
  kReserve,     // lock-free: one fetch-add
  kSlots,       // insertion locks and a spin-locked reservation, as in PostgreSQL 9.4 and later
  kSingleLock,  // one lock over checksum and copy, as before 9.4
};

/// Fixed when the segment is made; equal in all processes.
struct LogOptions {
  std::string data_directory;
  std::uint64_t system_identifier = 0;
  std::uint32_t segment_bytes = 16u << 20;
  std::uint32_t buffer_pages = 512;  // wal_buffers in pages of 8 KiB, at least 4
  InsertMethod insert_method = InsertMethod::kReserve;
  std::uint32_t insert_locks = 8;  // for kSlots
  SyncMethod sync_method = SyncMethod::kFdatasync;
  std::uint32_t process_capacity = 1;
  std::uint32_t session_capacity = 1;
};

/// May change at a reload; each process has its own copy.
struct LogSettings {
  ImageCompression compression = ImageCompression::kNone;
  std::int32_t commit_delay_us = 0;
  std::int32_t commit_siblings = 5;
  /// Log in the buffers after which the walwriter syncs though nobody waits (wal_writer_flush_after).
  std::uint64_t flush_after_bytes = 1u << 20;
  /// WAL volume after which a checkpoint is asked for: max_wal_size / (1 + completion target).
  std::uint64_t checkpoint_after_bytes = 512u << 20;
  std::uint64_t min_wal_bytes = 80u << 20;
  std::uint64_t max_wal_bytes = 1u << 30;
  /// Log before the insert position that checkpoints leave alone (wal_keep_size).
  std::uint64_t keep_wal_bytes = 0;
  bool recycle_segments = true;  // wal_recycle
};

/// wal_buffers = -1: a 32nd of shared_buffers, from 8 pages to one segment; other values are raised to 4.
std::uint32_t choose_buffer_pages(std::int64_t setting, std::uint64_t shared_buffers_pages,
                                  std::uint32_t segment_bytes) noexcept;

/// Who carries out the flush that a commit waits for.
enum class FlushBy : std::uint8_t {
  kFlusher,     // park until the walwriter has done it: other sessions of this process run meanwhile
  kSelfIfIdle,  // this process has nothing else to run: sync here, unless a flush is running already
};

/// Handle of one process to the write-ahead log: insertion, flush and group commit, positions.
///
/// Positions are byte positions in an endless log. A record's LSN, and a page's, is the END of the record: a
/// position is durable when everything before it is on disk. In recovery (before start_after_recovery)
/// nothing may be inserted and every position counts as durable.
///
/// Single-threaded like its process. Writing or syncing that fails is a panic.
class Log {
 public:
  /// Adds the regions "WAL control" and "WAL buffers".
  static void declare(shm::RegionBuilder& builder, const LogOptions& options);

  /// Attaches this process (after ProcessTable::attach). `processes` and `sessions` are used to wake waiters;
  /// null in tests and single-process tools, which then wait by flushing themselves.
  Log(const shm::Segment& segment, const LogOptions& options, shm::ProcessTable* processes,
      const shm::SessionTable* sessions);
  ~Log();
  Log(const Log&) = delete;
  Log& operator=(const Log&) = delete;

  LogSettings& settings() noexcept { return settings_; }
  SegmentFiles& files() noexcept { return files_; }

  // ---- Insertion ----

  /// Appends the record and returns its end: what goes into the LSN of the pages it touches. Does not wait
  /// for disk unless the ring of WAL buffers is full. Level: kWalInsert (called under page latches). Rules of
  /// insertion: wal/README.md. Never fails; out of memory is a panic.
  Lsn insert(const RecordBuilder& record, Xid xid) noexcept;

  /// Where the next record will start.
  Lsn insert_position() const noexcept;

  /// Pads the rest of the current segment (pg_switch_wal). Returns the end of what was in it before, or the
  /// current position if the segment is still empty.
  Lsn switch_segment() noexcept;

  // ---- Durability ----

  /// Everything before this is on disk.
  Lsn flushed_position() const noexcept;
  /// Everything before this was handed to the operating system.
  Lsn written_position() const noexcept;

  /// True when `lsn` is on disk. Cheap: reads a shared word only when the answer may have changed.
  bool is_durable(Lsn lsn) const noexcept { return lsn.value <= known_flushed_ || is_durable_slow(lsn); }

  /// Returns when `lsn` is on disk; stops the process meanwhile. For write-back of a dirty page (before it is
  /// written) and for processes without sessions. `lsn` is the end of a record inserted completely.
  void flush_to(Lsn lsn) noexcept;

  /// Parks the session until `lsn` is on disk: group commit. Not interruptible (the commit has happened);
  /// cancel and termination stay pending. Nothing may be latched.
  void wait_durable(Lsn lsn, shm::SessionIndex session, shm::Parker& parker, FlushBy by);

  /// Asks the walwriter to make `lsn` durable soon and returns at once.
  void request_flush(Lsn lsn) noexcept;

  // ---- Walwriter ----

  /// In the walwriter, at its start: requests go to this process from now on.
  void become_flusher() noexcept;

  /// One round: honours commit_delay, writes and syncs what was requested (with `everything`, all that is in
  /// the buffers: asynchronous commits), wakes the sessions whose position is durable now, one eventfd write
  /// per process at most. True when it synced something. The caller loops: run until false, then
  /// shm::wait_for_requests(kWalWriterMain, wal_writer_delay), then a round with `everything`.
  bool run_flusher_once(bool everything) noexcept;

  /// Counts transactions that are active now (for commit_siblings); without one the waiting sessions count.
  using SiblingCounter = int (*)(void* owner);
  void set_sibling_counter(SiblingCounter counter, void* owner) noexcept;

  // ---- Checkpoints (driven by server/checkpointer) ----

  /// Makes a redo point: from now on the first change of each page carries an image. Returns it; the record
  /// there is CHECKPOINT_REDO. All changes logged before it were marked dirty before it (rules of insertion),
  /// so flushing what is dirty now covers them.
  Lsn begin_checkpoint() noexcept;
  /// The current redo point.
  Lsn redo_position() const noexcept;

  /// Logs the checkpoint record (online or shutdown) and makes it durable. `data.redo` is begin_checkpoint's.
  struct CheckpointPosition {
    Lsn start;  // goes into the control file
    Lsn end;
  };
  CheckpointPosition log_checkpoint(const CheckpointData& data, bool shutdown) noexcept;

  /// After the control file names the new checkpoint: removes or recycles segments before its redo point.
  SegmentFiles::Recycled finish_checkpoint(Lsn redo);

  /// In the checkpointer, at its start: it gets kRequestWork after every half segment, to look at
  /// checkpoint_due() and prepare_segments().
  void become_checkpointer() noexcept;
  /// So much log since the redo point that a checkpoint should begin (max_wal_size).
  bool checkpoint_due() const noexcept;

  /// Makes the next segment's file in advance when the current one is more than half full; the checkpointer
  /// calls it in its loop so that no commit waits for 16 MB of zeros. True when one was made.
  bool prepare_segments();

  /// Setting wal_sync_method, for all processes; called by the walwriter at start and reload. Flushes all
  /// there is by the old method first.
  void set_sync_method(SyncMethod method) noexcept;

  /// Setting full_page_writes, for all processes. Turning it on protects pages only from the next checkpoint
  /// on.
  void set_full_page_writes(bool on) noexcept;
  bool full_page_writes() const noexcept;

  // ---- Start ----

  /// For a new cluster: an empty log that starts at first_lsn(). Makes its first segment.
  void start_new();
  /// In the startup process after replay, or after reading a clean shutdown's checkpoint: clears the log
  /// beyond `end`, reads the last partial block into the buffers and allows insertion from `end` on. `redo`
  /// is the redo point in force. After a clean shutdown nothing can stand beyond `end`: that look is saved.
  void start_after_recovery(Lsn end, Lsn redo, bool clean_shutdown = false);
  bool in_recovery() const noexcept;

  /// Waits until no insertion that started below `lsn` is under way.
  void wait_for_insertions(Lsn lsn) noexcept;

 private:
  // Insertion (log_insert.cc). `Method` is one of wal/insert_*.h.
  template <class Method>
  Lsn insert_by(Method method, const RecordBuilder& record, Xid xid, Lsn& start) noexcept;
  template <class Method>
  Lsn begin_checkpoint_by(Method method) noexcept;
  template <class Method>
  Lsn switch_segment_by(Method method) noexcept;
  template <class Act>
  Lsn with_method(Act act) noexcept;
  std::uint64_t settled_redo_counter() const noexcept;
  void put_sealed(InsertionSlot& slot, std::uint64_t start, std::uint64_t size, std::uint64_t hash) noexcept;
  void fill_with_padding(InsertionSlot& slot, std::uint64_t start, std::uint64_t size) noexcept;
  void copy_to_ring(InsertionSlot& slot, std::uint64_t at, const std::byte* bytes,
                    std::uint64_t size) noexcept;
  void make_room(std::uint64_t at) noexcept;
  void note_progress(std::uint64_t start, std::uint64_t end) noexcept;

  // Flush (log_flush.cc).
  bool is_durable_slow(Lsn lsn) const noexcept;
  std::uint64_t filled_position() const noexcept;
  void wait_filled(std::uint64_t wanted) const noexcept;
  std::uint64_t write_filled(std::uint64_t limit_bytes) noexcept;
  void write_range(std::uint64_t from, std::uint64_t to) noexcept;
  void note_written(std::uint64_t from, std::uint64_t to) noexcept;
  void flush_claimed(std::uint64_t wanted) noexcept;
  void delay_for_siblings() noexcept;
  void wake_waiters() noexcept;
  void park_until_durable(Lsn lsn, shm::SessionIndex session, shm::Parker& parker);
  int count_waiters() const noexcept;
  void request_process(std::uint32_t index) noexcept;
  void set_positions(Lsn end, Lsn redo) noexcept;

  LogSettings settings_;
  SegmentFiles files_;
  LogShared* shared_;
  std::byte* ring_;
  std::uint64_t ring_bytes_;
  InsertionSlot* my_slot_;
  shm::ProcessTable* processes_;
  const shm::SessionTable* sessions_;
  SiblingCounter sibling_counter_ = nullptr;
  void* sibling_owner_ = nullptr;
  InsertMethod method_;
  /// log2 of the part of the ring after whose filling the walwriter is nudged.
  unsigned nudge_shift_;
  /// Insertion lock used last (method `slots`).
  std::uint32_t preferred_lock_ = 0;
  /// Copies of shared words that only grow, so that most calls do not touch the shared line.
  mutable std::uint64_t known_flushed_ = 0;
  std::uint64_t room_until_ = 0;  // ring space below this position is free
  /// Moving estimate of log between checkpoints, for recycling.
  std::uint64_t checkpoint_distance_ = 0;
  std::uint64_t last_redo_ = 0;
  /// The record being assembled; grows to the longest record, then stays.
  std::vector<std::byte> scratch_;
};

}  // namespace pinwheel::wal
