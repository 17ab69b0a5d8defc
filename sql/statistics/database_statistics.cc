#include "sql/statistics/database_statistics.h"

#include <atomic>

#include "shm/segment.h"

namespace pinwheel::sql {
namespace {

constexpr const char* kDatabasesRegion = "Database Statistics";
constexpr std::uint32_t kNoDatabase = 0;

}  // namespace

struct DatabaseStatistics::Entry {
  std::atomic<std::uint32_t> database{kNoDatabase};
  std::atomic<std::int64_t> reset_at_us{0};
  std::array<std::atomic<std::int64_t>, kDatabaseCounters> counters{};

  void clear() noexcept {
    for (auto& counter : counters) counter.store(0, std::memory_order_relaxed);
  }
};

void DatabaseStatistics::declare(shm::RegionBuilder& builder, std::size_t databases) {
  builder.add_region(kDatabasesRegion, sizeof(Entry) * databases, alignof(Entry));
}

DatabaseStatistics::DatabaseStatistics(const shm::Segment& segment)
    : entries_{segment.as<Entry>(kDatabasesRegion)},
      count_{segment.size_of(kDatabasesRegion) / sizeof(Entry)} {}

// Databases are few: a walk finds them.
DatabaseStatistics::Entry* DatabaseStatistics::find_entry(Oid database) const noexcept {
  if (!is_valid(database)) return nullptr;
  for (std::size_t i = 0; i < count_; ++i) {
    if (entries_[i].database.load(std::memory_order_acquire) == database.value) return &entries_[i];
  }
  return nullptr;
}

DatabaseStatistics::Entry* DatabaseStatistics::find_or_make(Oid database) noexcept {
  if (Entry* known = find_entry(database)) return known;
  if (!is_valid(database)) return nullptr;
  for (std::size_t i = 0; i < count_; ++i) {
    // Two that enter one database at once may make it twice; what the second holds is lost. Hints bear that.
    std::uint32_t expected = kNoDatabase;
    if (entries_[i].database.compare_exchange_strong(expected, database.value, std::memory_order_acq_rel) ||
        expected == database.value) {
      return &entries_[i];
    }
  }
  return nullptr;
}

void DatabaseStatistics::add(Oid database, const DatabaseActivity& delta) noexcept {
  Entry* entry = find_or_make(database);
  if (entry == nullptr) return;
  for (std::size_t i = 0; i < kDatabaseCounters; ++i) {
    if (delta.counts[i] != 0) entry->counters[i].fetch_add(delta.counts[i], std::memory_order_relaxed);
  }
}

DatabaseActivity DatabaseStatistics::find(Oid database) const noexcept {
  DatabaseActivity found;
  if (const Entry* entry = find_entry(database)) {
    for (std::size_t i = 0; i < kDatabaseCounters; ++i)
      found.counts[i] = entry->counters[i].load(std::memory_order_relaxed);
  }
  return found;
}

void DatabaseStatistics::reset(Oid database, std::int64_t now_us) noexcept {
  Entry* entry = find_or_make(database);
  if (entry == nullptr) return;
  entry->clear();
  entry->reset_at_us.store(now_us, std::memory_order_relaxed);
}

std::int64_t DatabaseStatistics::reset_at_us(Oid database) const noexcept {
  const Entry* entry = find_entry(database);
  return entry == nullptr ? 0 : entry->reset_at_us.load(std::memory_order_relaxed);
}

void DatabaseStatistics::forget(Oid database) noexcept {
  Entry* entry = find_entry(database);
  if (entry == nullptr) return;
  entry->clear();
  entry->reset_at_us.store(0, std::memory_order_relaxed);
  entry->database.store(kNoDatabase, std::memory_order_release);
}

}  // namespace pinwheel::sql
