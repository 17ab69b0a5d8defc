#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

#include "base/ids.h"
#include "shm/segment.h"
#include "shm/spin_lock.h"

namespace pinwheel::storage {

/// Lengths of relation forks in shared memory: a set-associative table. An entry is the truth while it is
/// there: it may run ahead of the file (RelationFiles::extend), so it leaves only after the file was made as
/// long (see `Evicted`). A plain handle.
class LengthCache {
 public:
  struct Length {
    std::uint32_t pages = 0;
    bool exists = false;
  };
  struct Evicted {
    FileId file;
    Fork fork{};
    Length length;
    bool any = false;
  };

  static void declare(shm::RegionBuilder& builder, std::size_t entries);
  explicit LengthCache(const shm::Segment& segment);

  /// Reads without a latch; false when there is no entry.
  bool find(FileId file, Fork fork, Length& length) const noexcept;

  /// Adds `count` pages and returns the first's number and how far disk space is reserved; false when there
  /// is no entry. Fails (returns true, first = UINT32_MAX) when the fork would pass `limit`.
  bool add(FileId file, Fork fork, std::uint32_t count, std::uint32_t limit, std::uint32_t& first,
           std::uint32_t& reserved) noexcept;
  void note_reserved(FileId file, Fork fork, std::uint32_t reserved) noexcept;

  /// What `measure()` (a look at the file) says becomes an entry unless another process was first. A file is
  /// measured and entered under the set's latch, so that no extension comes in between. `settle(Evicted)`
  /// is called, under that latch, for an entry that has to leave.
  template <class Measure, class Settle>
  Length enter(FileId file, Fork fork, Measure measure, Settle settle);

  /// The fork's file was just made or found: enters `length` unless an entry says already that it exists.
  template <class Settle>
  void appear(FileId file, Fork fork, Length length, Settle settle);
  /// Sets an entry whatever it was.
  template <class Settle>
  void set(FileId file, Fork fork, Length length, Settle settle);
  /// Raises the length to `pages`; false when there is no entry.
  bool raise(FileId file, Fork fork, std::uint32_t pages) noexcept;
  void forget(FileId file, Fork fork) noexcept;
  void forget_database(Oid database) noexcept;
  /// All entries, a snapshot.
  std::vector<Evicted> all() const;

 private:
  /// One fork. Fields change under the set's lock, `version` odd meanwhile; readers validate `version`.
  struct Entry {
    std::atomic<std::uint64_t> file{0};  // database << 32 | relation
    std::atomic<std::uint32_t> fork{0};  // fork + 1; 0 = free
    std::atomic<std::uint32_t> pages{0};
    std::atomic<std::uint32_t> reserved{0};  // pages for which disk space was reserved
    std::atomic<std::uint32_t> exists{0};
  };
  static constexpr std::size_t kWays = 8;
  struct alignas(kCacheLine) Set {
    shm::SpinLock lock;  // held across system calls when an entry is made or leaves: rare
    std::atomic<std::uint32_t> version{0};
    std::uint32_t next_victim = 0;
    Entry entries[kWays];
  };
  class Writer;

  Set& set_of(FileId file, Fork fork) const noexcept;
  static Entry* find_in(Set& set, FileId file, Fork fork) noexcept;
  static bool is(const Entry& entry, FileId file, Fork fork) noexcept;
  static void fill(Entry& entry, FileId file, Fork fork, Length length) noexcept;
  static Entry& choose(Set& set, Evicted& evicted) noexcept;

  std::span<Set> sets_;
};

/// Scope of a change to one set.
class LengthCache::Writer {
 public:
  explicit Writer(Set& set) noexcept : set_{set} {
    set.lock.lock();
    set.version.store(set.version.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_release);
  }
  ~Writer() {
    set_.version.store(set_.version.load(std::memory_order_relaxed) + 1, std::memory_order_release);
    set_.lock.unlock();
  }
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

 private:
  Set& set_;
};

template <class Measure, class Settle>
LengthCache::Length LengthCache::enter(FileId file, Fork fork, Measure measure, Settle settle) {
  Set& set = set_of(file, fork);
  Writer writer{set};
  if (Entry* entry = find_in(set, file, fork)) {
    return {entry->pages.load(std::memory_order_relaxed), entry->exists.load(std::memory_order_relaxed) != 0};
  }
  const Length length = measure();
  Evicted evicted;
  Entry& entry = choose(set, evicted);
  if (evicted.any) settle(evicted);
  fill(entry, file, fork, length);
  return length;
}

template <class Settle>
void LengthCache::appear(FileId file, Fork fork, Length length, Settle settle) {
  Set& set = set_of(file, fork);
  Writer writer{set};
  Entry* entry = find_in(set, file, fork);
  if (entry != nullptr && entry->exists.load(std::memory_order_relaxed) != 0) return;
  if (entry == nullptr) {
    Evicted evicted;
    entry = &choose(set, evicted);
    if (evicted.any) settle(evicted);
  }
  fill(*entry, file, fork, length);
}

template <class Settle>
void LengthCache::set(FileId file, Fork fork, Length length, Settle settle) {
  Set& set = set_of(file, fork);
  Writer writer{set};
  Entry* entry = find_in(set, file, fork);
  if (entry == nullptr) {
    Evicted evicted;
    entry = &choose(set, evicted);
    if (evicted.any) settle(evicted);
  }
  fill(*entry, file, fork, length);
}

}  // namespace pinwheel::storage
