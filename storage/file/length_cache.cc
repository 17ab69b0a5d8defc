#include "storage/file/length_cache.h"

#include <algorithm>
#include <bit>

namespace pinwheel::storage {

namespace {
constexpr std::string_view kRegion = "Relation Lengths";

std::uint64_t file_word(FileId file) noexcept {
  return static_cast<std::uint64_t>(file.database.value) << 32 | file.relation.value;
}
}  // namespace

void LengthCache::declare(shm::RegionBuilder& builder, std::size_t entries) {
  builder.add_array<Set>(kRegion, std::bit_ceil(std::max<std::size_t>(entries / kWays, 16)));
}

LengthCache::LengthCache(const shm::Segment& segment)
    : sets_{segment.as<Set>(kRegion), segment.size_of(kRegion) / sizeof(Set)} {}

LengthCache::Set& LengthCache::set_of(FileId file, Fork fork) const noexcept {
  std::uint64_t hash = (file_word(file) + static_cast<std::uint64_t>(fork)) * 0x9E3779B97F4A7C15ull;
  hash ^= hash >> 32;
  return sets_[hash & (sets_.size() - 1)];
}

bool LengthCache::is(const Entry& entry, FileId file, Fork fork) noexcept {
  return entry.file.load(std::memory_order_relaxed) == file_word(file) &&
         entry.fork.load(std::memory_order_relaxed) == static_cast<std::uint32_t>(fork) + 1;
}

LengthCache::Entry* LengthCache::find_in(Set& set, FileId file, Fork fork) noexcept {
  for (Entry& entry : set.entries) {
    if (is(entry, file, fork)) return &entry;
  }
  return nullptr;
}

void LengthCache::fill(Entry& entry, FileId file, Fork fork, Length length) noexcept {
  entry.file.store(file_word(file), std::memory_order_relaxed);
  entry.fork.store(static_cast<std::uint32_t>(fork) + 1, std::memory_order_relaxed);
  entry.pages.store(length.pages, std::memory_order_relaxed);
  entry.reserved.store(length.pages, std::memory_order_relaxed);
  entry.exists.store(length.exists ? 1 : 0, std::memory_order_relaxed);
}

LengthCache::Entry& LengthCache::choose(Set& set, Evicted& evicted) noexcept {
  for (Entry& entry : set.entries) {
    if (entry.fork.load(std::memory_order_relaxed) == 0) return entry;
  }
  Entry& victim = set.entries[set.next_victim++ % kWays];
  const std::uint64_t file = victim.file.load(std::memory_order_relaxed);
  evicted.any = true;
  evicted.file = {Oid{static_cast<std::uint32_t>(file >> 32)}, Oid{static_cast<std::uint32_t>(file)}};
  evicted.fork = static_cast<Fork>(victim.fork.load(std::memory_order_relaxed) - 1);
  evicted.length = {victim.pages.load(std::memory_order_relaxed),
                    victim.exists.load(std::memory_order_relaxed) != 0};
  victim.fork.store(0, std::memory_order_relaxed);
  return victim;
}

bool LengthCache::find(FileId file, Fork fork, Length& length) const noexcept {
  Set& set = set_of(file, fork);
  for (int attempt = 0; attempt < 64; ++attempt) {
    const std::uint32_t version = set.version.load(std::memory_order_acquire);
    if ((version & 1) != 0) {
      shm::cpu_pause();
      continue;
    }
    bool found = false;
    for (const Entry& entry : set.entries) {
      if (!is(entry, file, fork)) continue;
      length = {entry.pages.load(std::memory_order_relaxed),
                entry.exists.load(std::memory_order_relaxed) != 0};
      found = true;
      break;
    }
    std::atomic_thread_fence(std::memory_order_acquire);
    if (set.version.load(std::memory_order_relaxed) == version) return found;
  }
  shm::SpinGuard guard{set.lock};
  const Entry* entry = find_in(set, file, fork);
  if (entry == nullptr) return false;
  length = {entry->pages.load(std::memory_order_relaxed), entry->exists.load(std::memory_order_relaxed) != 0};
  return true;
}

bool LengthCache::add(FileId file, Fork fork, std::uint32_t count, std::uint32_t limit, std::uint32_t& first,
                      std::uint32_t& reserved) noexcept {
  Set& set = set_of(file, fork);
  shm::SpinGuard guard{set.lock};
  Entry* entry = find_in(set, file, fork);
  if (entry == nullptr || entry->exists.load(std::memory_order_relaxed) == 0) return false;
  // One word changes: readers need no version step.
  first = entry->pages.load(std::memory_order_relaxed);
  if (first > limit - count) {
    first = UINT32_MAX;
    return true;
  }
  entry->pages.store(first + count, std::memory_order_release);
  reserved = entry->reserved.load(std::memory_order_relaxed);
  return true;
}

void LengthCache::note_reserved(FileId file, Fork fork, std::uint32_t reserved) noexcept {
  Set& set = set_of(file, fork);
  shm::SpinGuard guard{set.lock};
  Entry* entry = find_in(set, file, fork);
  if (entry != nullptr && entry->reserved.load(std::memory_order_relaxed) < reserved) {
    entry->reserved.store(reserved, std::memory_order_relaxed);
  }
}

bool LengthCache::raise(FileId file, Fork fork, std::uint32_t pages) noexcept {
  Set& set = set_of(file, fork);
  shm::SpinGuard guard{set.lock};
  Entry* entry = find_in(set, file, fork);
  if (entry == nullptr || entry->exists.load(std::memory_order_relaxed) == 0) return false;
  if (entry->pages.load(std::memory_order_relaxed) < pages)
    entry->pages.store(pages, std::memory_order_release);
  return true;
}

void LengthCache::forget(FileId file, Fork fork) noexcept {
  Set& set = set_of(file, fork);
  Writer writer{set};
  if (Entry* entry = find_in(set, file, fork)) entry->fork.store(0, std::memory_order_relaxed);
}

void LengthCache::forget_database(Oid database) noexcept {
  for (Set& set : sets_) {
    Writer writer{set};
    for (Entry& entry : set.entries) {
      if (entry.file.load(std::memory_order_relaxed) >> 32 == database.value) {
        entry.fork.store(0, std::memory_order_relaxed);
      }
    }
  }
}

std::vector<LengthCache::Evicted> LengthCache::all() const {
  std::vector<Evicted> result;
  for (Set& set : sets_) {
    shm::SpinGuard guard{set.lock};
    for (const Entry& entry : set.entries) {
      const std::uint32_t fork = entry.fork.load(std::memory_order_relaxed);
      if (fork == 0) continue;
      const std::uint64_t file = entry.file.load(std::memory_order_relaxed);
      result.push_back(
          {{Oid{static_cast<std::uint32_t>(file >> 32)}, Oid{static_cast<std::uint32_t>(file)}},
           static_cast<Fork>(fork - 1),
           {entry.pages.load(std::memory_order_relaxed), entry.exists.load(std::memory_order_relaxed) != 0},
           true});
    }
  }
  return result;
}

}  // namespace pinwheel::storage
