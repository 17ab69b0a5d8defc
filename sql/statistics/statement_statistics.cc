#include "sql/statistics/statement_statistics.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <new>

#include "shm/lwlock.h"
#include "shm/segment.h"

namespace pinwheel::sql {
namespace {

constexpr const char* kStatementsHeaderRegion = "Statement Statistics Control";
constexpr const char* kStatementBucketsRegion = "Statement Statistics Index";
constexpr const char* kStatementsRegion = "Statement Statistics";

}  // namespace

void StatementUse::add(const StatementUse& other) noexcept {
  if (other.calls == 0) return;
  min_ms = calls == 0 ? other.min_ms : std::min(min_ms, other.min_ms);
  max_ms = std::max(max_ms, other.max_ms);
  total_ms += other.total_ms;
  sum_of_squares += other.sum_of_squares;
  calls += other.calls;
  rows += other.rows;
  pages_hit += other.pages_hit;
  pages_read += other.pages_read;
  pages_dirtied += other.pages_dirtied;
  pages_written += other.pages_written;
  wal_records += other.wal_records;
  wal_bytes += other.wal_bytes;
}

double StatementUse::deviation_ms() const noexcept {
  if (calls == 0) return 0;
  const double mean = mean_ms();
  return std::sqrt(std::max(0.0, sum_of_squares / static_cast<double>(calls) - mean * mean));
}

/// Everything below `lock` is protected by it.
struct StatementStatistics::Header {
  mutable shm::LwLock lock{shm::Tranche::kStats};
  std::uint32_t used = 0;  // entries that were ever taken
  std::uint32_t free = 0;  // chain of entries that were given up: index + 1
  std::uint64_t clock = 0;
  std::uint64_t evictions = 0;
  std::int64_t reset_at_us = 0;
};

struct StatementStatistics::Entry {
  StatementKey key;
  StatementUse use;
  std::uint64_t last_use;
  std::uint32_t next;  // of the chain: index + 1
  std::uint32_t in_use;
  std::uint32_t text_bytes;
  char text[kTextBytes];
};

void StatementStatistics::declare(shm::RegionBuilder& builder, std::size_t statements) {
  builder.add_array<Header>(kStatementsHeaderRegion, 1);
  builder.add_array<std::uint32_t>(kStatementBucketsRegion, std::bit_ceil(statements * 2));
  // Zeroes are what an entry begins with: memory that is never used is never touched.
  builder.add_region(kStatementsRegion, sizeof(Entry) * statements, alignof(Entry));
}

StatementStatistics::StatementStatistics(const shm::Segment& segment)
    : header_{segment.as<Header>(kStatementsHeaderRegion)},
      buckets_{segment.as<std::uint32_t>(kStatementBucketsRegion)},
      entries_{segment.as<Entry>(kStatementsRegion)},
      capacity_{segment.size_of(kStatementsRegion) / sizeof(Entry)} {}

std::size_t StatementStatistics::bucket_of(const StatementKey& key) const noexcept {
  const std::uint64_t word =
      key.query_id ^ (static_cast<std::uint64_t>(key.user.value) << 32 | key.database.value);
  return static_cast<std::size_t>(word * 0x9E3779B97F4A7C15ull >> 32) & (std::bit_ceil(capacity_ * 2) - 1);
}

std::uint32_t StatementStatistics::find(const StatementKey& key) const noexcept {
  std::uint32_t at = buckets_[bucket_of(key)];
  while (at != 0 && entries_[at - 1].key != key) at = entries_[at - 1].next;
  return at;
}

void StatementStatistics::unlink(std::uint32_t index) noexcept {
  std::uint32_t* link = &buckets_[bucket_of(entries_[index].key)];
  while (*link != index + 1) link = &entries_[*link - 1].next;
  *link = entries_[index].next;
  entries_[index].in_use = 0;
}

StatementStatistics::Entry& StatementStatistics::take_place(const Delta& delta) noexcept {
  std::uint32_t index;
  if (header_->free != 0) {
    index = header_->free - 1;
    header_->free = entries_[index].next;
  } else if (header_->used < capacity_) {
    index = header_->used++;
  } else {
    index = 0;
    for (std::uint32_t i = 1; i < capacity_; ++i) {
      if (entries_[i].last_use < entries_[index].last_use) index = i;
    }
    unlink(index);
    ++header_->evictions;
  }
  Entry& entry = entries_[index];
  entry.key = delta.key;
  entry.use = {};
  entry.in_use = 1;
  entry.text_bytes = static_cast<std::uint32_t>(std::min(delta.text.size(), kTextBytes));
  // Cut between characters.
  while (entry.text_bytes < delta.text.size() && entry.text_bytes > 0 &&
         (static_cast<unsigned char>(delta.text[entry.text_bytes]) & 0xC0) == 0x80) {
    --entry.text_bytes;
  }
  std::memcpy(entry.text, delta.text.data(), entry.text_bytes);
  std::uint32_t& head = buckets_[bucket_of(delta.key)];
  entry.next = head;
  head = index + 1;
  return entry;
}

void StatementStatistics::add(const std::vector<Delta>& deltas) noexcept {
  const shm::ExclusiveGuard guard{header_->lock};
  ++header_->clock;
  for (const Delta& delta : deltas) {
    const std::uint32_t known = find(delta.key);
    Entry& entry = known != 0 ? entries_[known - 1] : take_place(delta);
    entry.use.add(delta.use);
    entry.last_use = header_->clock;
  }
}

std::vector<StatementReport> StatementStatistics::list() const {
  std::vector<StatementReport> reports;
  // Memory first: nothing is allocated while the lock is held.
  std::vector<Entry> copies(capacity_);
  std::size_t count = 0;
  {
    const shm::SharedGuard guard{header_->lock};
    for (std::uint32_t i = 0; i < header_->used; ++i) {
      if (entries_[i].in_use != 0) copies[count++] = entries_[i];
    }
  }
  for (std::size_t i = 0; i < count; ++i) {
    reports.push_back({copies[i].key, copies[i].use, std::string{copies[i].text, copies[i].text_bytes}});
  }
  return reports;
}

void StatementStatistics::reset(Oid user, Oid database, std::uint64_t query_id,
                                std::int64_t now_us) noexcept {
  const shm::ExclusiveGuard guard{header_->lock};
  for (std::uint32_t i = 0; i < header_->used; ++i) {
    Entry& entry = entries_[i];
    if (entry.in_use == 0 || (is_valid(user) && entry.key.user != user) ||
        (is_valid(database) && entry.key.database != database) ||
        (query_id != 0 && entry.key.query_id != query_id)) {
      continue;
    }
    unlink(i);
    entry.next = header_->free;
    header_->free = i + 1;
  }
  if (is_valid(user) || is_valid(database) || query_id != 0) return;
  header_->evictions = 0;
  header_->reset_at_us = now_us;
}

std::uint64_t StatementStatistics::evictions() const noexcept {
  const shm::SharedGuard guard{header_->lock};
  return header_->evictions;
}

std::int64_t StatementStatistics::reset_at_us() const noexcept {
  const shm::SharedGuard guard{header_->lock};
  return header_->reset_at_us;
}

StatementLog::Pending& StatementLog::find_or_make(StatementTicket& ticket, const StatementKey& key,
                                                  std::string_view text) {
  std::size_t at = 0;
  while (at < pending_.size() && pending_[at].key != key) ++at;
  if (at == pending_.size()) {
    if (at == kMostPending) {
      flush();
      pending_.clear();
      ++epoch_;
      at = 0;
    }
    pending_.push_back({key, {}, std::string{text.substr(0, StatementStatistics::kTextBytes + 1)}});
  }
  ticket = {static_cast<std::uint32_t>(at), epoch_};
  return pending_[at];
}

void StatementLog::flush() noexcept {
  if (!any_) return;
  any_ = false;
  deltas_.clear();
  for (Pending& each : pending_) {
    if (each.use.calls == 0) continue;
    deltas_.push_back({each.key, each.use, each.text});
    each.use = {};
  }
  statistics_->add(deltas_);
}

}  // namespace pinwheel::sql
