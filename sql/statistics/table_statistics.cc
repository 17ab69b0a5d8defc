#include "sql/statistics/table_statistics.h"

#include <array>
#include <atomic>
#include <bit>

#include "shm/segment.h"

namespace pinwheel::sql {
namespace {

constexpr const char* kRegion = "Table Statistics";
/// Places looked at before a key counts as absent, or the table as full.
constexpr std::size_t kProbes = 64;
constexpr std::uint64_t kFree = 0;
constexpr std::uint64_t kForgotten = ~std::uint64_t{0};

constexpr std::int64_t TableActivity::*kCounters[] = {
    &TableActivity::sequential_scans,
    &TableActivity::sequential_tuples,
    &TableActivity::index_scans,
    &TableActivity::index_tuples,
    &TableActivity::inserted,
    &TableActivity::updated,
    &TableActivity::deleted,
    &TableActivity::hot_updated,
    &TableActivity::live,
    &TableActivity::dead,
    &TableActivity::changed,
    &TableActivity::inserted_unvacuumed,
};
constexpr std::size_t kCounterCount = std::size(kCounters);
constexpr std::size_t kLive = 8, kDead = 9, kChanged = 10, kInsertedUnvacuumed = 11;

constexpr std::int64_t TableReport::*kFacts[] = {
    &TableReport::last_vacuum_us,      &TableReport::last_autovacuum_us, &TableReport::last_analyze_us,
    &TableReport::last_autoanalyze_us, &TableReport::vacuum_count,       &TableReport::autovacuum_count,
    &TableReport::analyze_count,       &TableReport::autoanalyze_count,
};
constexpr std::size_t kFactCount = std::size(kFacts);

std::uint64_t word_of(TableKey key) noexcept {
  return static_cast<std::uint64_t>(key.database.value) << 32 | key.relation.value;
}
std::size_t hash_of(std::uint64_t word) noexcept {
  return static_cast<std::size_t>((word ^ word >> 29) * 0x9E3779B97F4A7C15ull >> 20);
}

}  // namespace

struct TableStatistics::Entry {
  /// kFree until the first use; then a table's key, or kForgotten.
  std::atomic<std::uint64_t> key{kFree};
  std::array<std::atomic<std::int64_t>, kCounterCount> counters{};
  std::array<std::atomic<std::int64_t>, kFactCount> facts{};

  void clear() noexcept {
    for (auto& counter : counters) counter.store(0, std::memory_order_relaxed);
    for (auto& fact : facts) fact.store(0, std::memory_order_relaxed);
  }
  void note(std::size_t when, std::size_t count, std::int64_t now_us) noexcept {
    facts[when].store(now_us, std::memory_order_relaxed);
    facts[count].fetch_add(1, std::memory_order_relaxed);
  }
  void set_rows(std::int64_t live, std::int64_t dead) noexcept {
    counters[kLive].store(live, std::memory_order_relaxed);
    counters[kDead].store(dead, std::memory_order_relaxed);
  }
};

void TableActivity::add(const TableActivity& other) noexcept {
  for (const auto counter : kCounters) this->*counter += other.*counter;
}

void TableStatistics::declare(shm::RegionBuilder& builder, std::size_t tables) {
  // Zeroes are what an entry begins with: memory that is never used is never touched.
  builder.add_region(kRegion, sizeof(Entry) * std::bit_ceil(tables), alignof(Entry));
}

TableStatistics::TableStatistics(const shm::Segment& segment)
    : entries_{segment.as<Entry>(kRegion)},
      mask_{std::bit_floor(segment.size_of(kRegion) / sizeof(Entry)) - 1} {}

TableStatistics::Entry* TableStatistics::find_entry(TableKey key) const noexcept {
  const std::uint64_t word = word_of(key);
  const std::size_t start = hash_of(word);
  for (std::size_t i = 0; i < kProbes; ++i) {
    Entry& entry = entries_[(start + i) & mask_];
    const std::uint64_t found = entry.key.load(std::memory_order_acquire);
    if (found == word) return &entry;
    if (found == kFree) return nullptr;
  }
  return nullptr;
}

TableStatistics::Entry* TableStatistics::find_or_make(TableKey key) noexcept {
  if (Entry* known = find_entry(key)) return known;
  const std::uint64_t word = word_of(key);
  const std::size_t start = hash_of(word);
  for (std::size_t i = 0; i < kProbes; ++i) {
    Entry& entry = entries_[(start + i) & mask_];
    std::uint64_t found = entry.key.load(std::memory_order_acquire);
    // Two that enter one table at once may make it twice: the first place is found from then on, and what the
    // second holds until it is forgotten is lost. Statistics bear that.
    while (found == kFree || found == kForgotten) {
      if (entry.key.compare_exchange_weak(found, word, std::memory_order_acq_rel)) return &entry;
    }
    if (found == word) return &entry;
  }
  return nullptr;
}

void TableStatistics::add(TableKey key, const TableActivity& delta) noexcept {
  Entry* entry = find_or_make(key);
  if (entry == nullptr) return;
  for (std::size_t i = 0; i < kCounterCount; ++i) {
    const std::int64_t value = delta.*kCounters[i];
    if (value != 0) entry->counters[i].fetch_add(value, std::memory_order_relaxed);
  }
}

std::optional<TableReport> TableStatistics::find(TableKey key) const noexcept {
  const Entry* entry = find_entry(key);
  if (entry == nullptr) return std::nullopt;
  TableReport report;
  for (std::size_t i = 0; i < kCounterCount; ++i) {
    std::int64_t value = entry->counters[i].load(std::memory_order_relaxed);
    // Rows may be counted away before they are counted in.
    if ((i == kLive || i == kDead) && value < 0) value = 0;
    report.activity.*kCounters[i] = value;
  }
  for (std::size_t i = 0; i < kFactCount; ++i)
    report.*kFacts[i] = entry->facts[i].load(std::memory_order_relaxed);
  return report;
}

void TableStatistics::note_vacuum(TableKey key, std::int64_t live, std::int64_t dead, bool automatic,
                                  std::int64_t now_us) noexcept {
  Entry* entry = find_or_make(key);
  if (entry == nullptr) return;
  entry->set_rows(live, dead);
  entry->counters[kInsertedUnvacuumed].store(0, std::memory_order_relaxed);
  entry->note(automatic ? 1 : 0, automatic ? 5 : 4, now_us);
}

void TableStatistics::note_analyze(TableKey key, std::int64_t live, std::int64_t dead, bool automatic,
                                   std::int64_t now_us) noexcept {
  Entry* entry = find_or_make(key);
  if (entry == nullptr) return;
  entry->set_rows(live, dead);
  entry->counters[kChanged].store(0, std::memory_order_relaxed);
  entry->note(automatic ? 3 : 2, automatic ? 7 : 6, now_us);
}

void TableStatistics::reset(TableKey key) noexcept {
  if (Entry* entry = find_entry(key)) entry->clear();
}

void TableStatistics::forget(TableKey key) noexcept {
  Entry* entry = find_entry(key);
  if (entry == nullptr) return;
  entry->clear();
  entry->key.store(kForgotten, std::memory_order_release);
}

std::vector<std::pair<TableKey, TableReport>> TableStatistics::list(Oid database) const {
  std::vector<std::pair<TableKey, TableReport>> all;
  for (std::size_t i = 0; i <= mask_; ++i) {
    const std::uint64_t word = entries_[i].key.load(std::memory_order_acquire);
    if (word == kFree || word == kForgotten) continue;
    const TableKey key{Oid{static_cast<std::uint32_t>(word >> 32)}, Oid{static_cast<std::uint32_t>(word)}};
    if (key.database != database) continue;
    if (const auto report = find(key)) all.emplace_back(key, *report);
  }
  return all;
}

}  // namespace pinwheel::sql
