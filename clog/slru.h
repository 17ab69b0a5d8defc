#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/ids.h"
#include "shm/lwlock.h"
#include "shm/process.h"
#include "shm/segment.h"
#include "shm/statistics.h"

namespace pinwheel::wal {
class Log;
}

namespace pinwheel::clog {

/// Pages in one file of an SLRU, as in PostgreSQL: 256 KiB.
inline constexpr std::uint64_t kPagesPerSegment = 32;

/// What tells one SLRU from another. Constant while the server runs.
struct SlruOptions {
  /// As pg_stat_slru shows it: "Xact", "Subtrans", "MultiXactOffset", "MultiXactMember".
  std::string_view name;
  /// Folder of its files, absolute or relative to the working directory.
  std::string directory;
  /// What a failed access says it could not do: "could not access status of transaction 123".
  std::string_view subject;
  shm::Tranche tranche;
  std::uint32_t buffers;  // rounded up to a multiple of banks
  std::uint32_t banks;    // each with its own latch; at most `buffers`
  /// Words per page that remember the LSN which must be durable before the page is written; 0 = none.
  std::uint32_t lsn_groups = 0;
  shm::Counter hits = shm::Counter::kClogHits;
  shm::Counter reads = shm::Counter::kClogReads;
};

/// LSN words of a page, first and last.
struct GroupRange {
  std::uint32_t first = 0, last = 0;
};

/// What pg_stat_slru shows.
struct SlruStats {
  std::uint64_t zeroed, read, written, exists, flushes, truncates;
  std::uint64_t hits = 0;        // only where the processes are given
  std::int64_t reset_at_us = 0;  // since 2000-01-01; 0 = never
};

/// A small cache of pages over numbered files ("simple LRU"), for data that is indexed by an ever growing
/// number. Pages have no header and no checksum; entries are aligned words that are read without any latch.
///
/// To...                      hold...
/// read a word                nothing: SlruReader, which revalidates the slot's tag
/// change a word in place     the page's bank latch, shared (the change is one atomic operation) or exclusive
/// change a slot's tag        the bank latch, exclusive
/// read or write the file     the slot's `io` word, no latch
///
/// If the process dies anywhere the segment is thrown away; what is on disk is then old or new per word,
/// and redo of the log brings every word whose change was logged.
class Slru {
 public:
  /// Adds the region of this SLRU.
  static void declare(shm::RegionBuilder& builder, const SlruOptions& options);
  /// `log` is asked to flush before a page with an LSN is written; may be null when lsn_groups is 0.
  Slru(const shm::Segment& segment, SlruOptions options, wal::Log* log);
  Slru(const Slru&) = delete;
  Slru& operator=(const Slru&) = delete;

  /// The word at `word_index` (of 8 bytes) of `page`, brought into the cache if need be. Takes no latch when
  /// the page is cached. `subject_id` is the number that an error names. Errors: 58P01, 58030, XX001 as
  /// "could not access status of ...".
  std::uint64_t read_word(std::uint64_t page, std::uint32_t word_index, std::uint64_t subject_id);

  /// Same, and the LSN of group `group` read with it.
  std::uint64_t read_word(std::uint64_t page, std::uint32_t word_index, std::uint64_t subject_id,
                          std::uint32_t group, Lsn& lsn);

  /// Runs `change(words)` on the page under its bank latch, held in `Mode`, and leaves the page dirty. In
  /// shared mode `change` must use atomic read-modify-writes only. If `lsn` is valid the page does not reach
  /// disk before it is durable, and the words of `groups` remember it. Errors as read_word, before `change`
  /// runs.
  template <shm::LatchMode Mode, class Change>
  void update(std::uint64_t page, std::uint64_t subject_id, Lsn lsn, GroupRange groups, Change change) {
    shm::LwLockGuard<Mode> guard;
    apply(find_latched<Mode>(page, subject_id, guard), lsn, groups, change);
  }
  template <shm::LatchMode Mode, class Change>
  void update(std::uint64_t page, std::uint64_t subject_id, Change change) {
    update<Mode>(page, subject_id, kInvalidLsn, {}, change);
  }

  /// read_word under the bank latch, held shared, as servers did before readers went without.
  std::uint64_t read_word_latched(std::uint64_t page, std::uint32_t word_index, std::uint64_t subject_id,
                                  std::uint32_t group, Lsn& lsn);

  /// The latch that protects `page`'s slot.
  shm::LwLock& bank_latch(std::uint64_t page) const noexcept { return banks_[bank_of(page)].latch; }
  std::uint32_t bank_of(std::uint64_t page) const noexcept {
    return static_cast<std::uint32_t>(page % bank_count_);
  }
  /// As update, for callers that hold bank_latch(page) exclusively through `guard`. The latch may be released
  /// and taken again while the page is brought in.
  template <class Change>
  void update_with_latch(std::uint64_t page, std::uint64_t subject_id, Lsn lsn, GroupRange groups,
                         shm::ExclusiveGuard& guard, Change change) {
    apply(bring_in(page, subject_id, guard), lsn, groups, change);
  }

  /// Puts an all-zero, dirty page in the cache without reading the file.
  void zero_page(std::uint64_t page);
  /// True when the file holds the whole page.
  bool exists_on_disk(std::uint64_t page) const;

  /// Pages from this one on may be missing on disk and are then zeroes; a missing page before it is an
  /// error. 0 = any page may be missing.
  void set_new_from(std::uint64_t page) noexcept;
  std::uint64_t new_from() const noexcept;

  /// Writes every dirty page, then syncs the files written since the last call. For checkpoints.
  void flush();
  /// Forgets pages before `cutoff` and removes the files that hold only such pages.
  void truncate(std::uint64_t cutoff);
  /// Removes all files and forgets all pages: for data that does not outlive the server.
  void reset();
  /// Drops pages >= `first` from cache and disk (zeroing the rest of the segment file). Start-up only.
  void discard_from(std::uint64_t first);

  SlruStats stats() const noexcept;
  /// With what all processes found in the cache.
  SlruStats stats(const shm::ProcessTable& processes) const noexcept;
  /// The shared counts begin anew (the handle stays as it is). What others count meanwhile may be lost.
  void reset_stats(const shm::ProcessTable& processes, std::int64_t now_us) const noexcept;
  const SlruOptions& options() const noexcept { return options_; }

 private:
  struct Header;
  struct SlotMeta;
  struct alignas(kCacheLine) Bank {
    explicit Bank(shm::Tranche tranche) noexcept : latch{tranche} {}
    shm::LwLock latch;
    /// Ticks at each use of another page; orders slots by recency. Racy: it only guides replacement.
    std::atomic<std::uint32_t> clock{0};
  };
  static constexpr std::uint32_t kNoSlot = ~std::uint32_t{0};

  struct Shape;

  std::span<std::atomic<std::uint64_t>> words(std::uint32_t slot) const noexcept {
    return {pages_ + std::size_t{slot} * (kPageSize / 8), kPageSize / 8};
  }
  /// A page found in the cache, as long as `tag` stays its slot's tag.
  struct Location {
    std::uint32_t slot;
    std::uint64_t tag;
  };
  bool find_cached(std::uint64_t page, Location& location) noexcept;
  bool still_there(const Location& location) const noexcept {
    std::atomic_thread_fence(std::memory_order_acquire);
    return tags_[location.slot].load(std::memory_order_relaxed) == location.tag;
  }
  /// The slot of `page`, brought in if need be, with its bank latch in `guard`. Specialised in slru.cc.
  template <shm::LatchMode Mode>
  std::uint32_t find_latched(std::uint64_t page, std::uint64_t subject_id, shm::LwLockGuard<Mode>& guard);
  std::uint32_t bring_in(std::uint64_t page, std::uint64_t subject_id, shm::ExclusiveGuard& guard);
  /// The slot that holds `page`, or one that was emptied for it (`fresh`): tagged as loading, its io word
  /// taken, both by this process.
  std::uint32_t claim_slot(std::uint64_t page, shm::ExclusiveGuard& guard, bool& fresh);
  std::uint32_t find_in_bank(std::uint64_t page, std::uint64_t& tag) const noexcept;
  std::uint32_t choose_victim(std::uint32_t bank) const noexcept;
  void finish_loading(std::uint32_t slot, std::uint64_t page, const std::byte* bytes) noexcept;
  void drop_slots(std::uint64_t from, std::uint64_t to);
  void note_written(std::uint64_t segment) noexcept;
  void wait_for_io(std::uint32_t slot, shm::ExclusiveGuard& guard) noexcept;
  void end_io(std::uint32_t slot) noexcept;
  void set_tag(std::uint32_t slot, std::uint64_t page, std::uint64_t state) noexcept;
  void empty_slot(std::uint32_t slot) noexcept { set_tag(slot, 0, 0); }
  std::uint64_t page_of_slot(std::uint32_t slot) const noexcept;
  bool slot_is_valid(std::uint32_t slot) const noexcept;
  Lsn read_lsn(std::uint32_t slot, std::uint32_t group) const noexcept;
  void touch(std::uint32_t slot) noexcept;
  template <class Change>
  void apply(std::uint32_t slot, Lsn lsn, GroupRange groups, Change& change) noexcept {
    // Before the change: whoever reads the new words must find the LSN too.
    if (is_valid(lsn)) raise_lsn(slot, groups, lsn);
    change(words(slot));
    mark_dirty(slot);
  }
  void mark_dirty(std::uint32_t slot) noexcept;
  void raise_lsn(std::uint32_t slot, GroupRange groups, Lsn lsn) noexcept;
  /// Writes the slot's page; `guard` is released during the write. The slot's io word must be free.
  void write_slot(std::uint32_t slot, shm::ExclusiveGuard& guard);
  void read_page_from_file(std::uint64_t page, std::span<std::byte> bytes, std::uint64_t subject_id);
  void write_page_to_file(std::uint64_t page, std::span<const std::byte> bytes);
  std::string segment_path(std::uint64_t segment) const;
  [[noreturn]] void throw_access_error(SqlState state, std::string detail, std::uint64_t subject_id) const;

  SlruOptions options_;
  wal::Log* log_;
  Header* header_ = nullptr;
  Bank* banks_ = nullptr;
  /// One word per slot; see slru.cc. Dense, so that a bank's tags are found in one or two lines.
  std::atomic<std::uint64_t>* tags_ = nullptr;
  SlotMeta* meta_ = nullptr;
  std::atomic<std::uint64_t>* lsns_ = nullptr;
  std::atomic<std::uint64_t>* pages_ = nullptr;
  std::uint32_t bank_count_ = 0;
  std::uint32_t bank_size_ = 0;
  /// Where this process found its last page: most reads ask for the same page again.
  Location last_{0, 0};  // tag 0 = an empty slot: never a hit
};

template <>
std::uint32_t Slru::find_latched<shm::LatchMode::kExclusive>(std::uint64_t page, std::uint64_t subject_id,
                                                             shm::ExclusiveGuard& guard);
template <>
std::uint32_t Slru::find_latched<shm::LatchMode::kShared>(std::uint64_t page, std::uint64_t subject_id,
                                                          shm::SharedGuard& guard);

}  // namespace pinwheel::clog
