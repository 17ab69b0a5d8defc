#include "shm/statistics_view.h"

namespace pinwheel::shm {
namespace {

constexpr std::string_view kBaselinesRegion = "Statistics Baselines";
constexpr std::size_t kGroups = static_cast<std::size_t>(StatisticsGroup::kCount);
constexpr std::size_t kKinds = static_cast<std::size_t>(ProcessKind::kBackend) + 1;
constexpr std::size_t kLwLockWords = 4 + kWaitBuckets;

constexpr std::size_t index_of(StatisticsGroup group) noexcept { return static_cast<std::size_t>(group); }

/// A reset that races with counting may leave a baseline that is a little ahead.
std::uint64_t since(std::uint64_t now, std::uint64_t baseline) noexcept {
  return now < baseline ? 0 : now - baseline;
}

}  // namespace

/// Written by whoever resets, read by all; each word by itself.
struct StatisticsView::Baselines {
  std::atomic<std::int64_t> reset_at_us[kGroups];
  std::atomic<std::uint64_t> counters[kGroups][kCounterCount];
  std::atomic<std::uint64_t> io[kKinds][kCounterCount];
  std::atomic<std::uint64_t> lwlocks[kTrancheCount][kLwLockWords];
};

void StatisticsView::declare(RegionBuilder& builder) { builder.add_array<Baselines>(kBaselinesRegion, 1); }

StatisticsView::StatisticsView(const Segment& segment, const ProcessTable& processes)
    : processes_{processes}, baselines_{segment.as<Baselines>(kBaselinesRegion)} {}

std::uint64_t StatisticsView::total(StatisticsGroup group, Counter counter) const noexcept {
  const auto& baseline = baselines_->counters[index_of(group)][static_cast<std::size_t>(counter)];
  return since(processes_.sum(counter), baseline.load(std::memory_order_relaxed));
}

std::uint64_t StatisticsView::io_total(Counter counter, ProcessKind kind) const noexcept {
  const auto& baseline = baselines_->io[static_cast<std::size_t>(kind)][static_cast<std::size_t>(counter)];
  return since(processes_.sum(counter, kind), baseline.load(std::memory_order_relaxed));
}

LwLockTotals StatisticsView::lwlock_since_start(Tranche tranche) const noexcept {
  LwLockTotals total;
  for (std::size_t i = 0; i < processes_.capacity(); ++i) {
    const LwLockStats& stats =
        processes_.stats(ProcessIndex{static_cast<std::uint16_t>(i)}).lwlocks[shm::index_of(tranche)];
    total.acquired += stats.acquired.read();
    total.waited += stats.waited.read();
    total.spun += stats.spun.read();
    total.wait_ns += stats.wait_ns.read();
    for (std::size_t bucket = 0; bucket < kWaitBuckets; ++bucket)
      total.histogram[bucket] += stats.histogram[bucket].read();
  }
  return total;
}

LwLockTotals StatisticsView::lwlock(Tranche tranche) const noexcept {
  LwLockTotals total = lwlock_since_start(tranche);
  const auto& words = baselines_->lwlocks[shm::index_of(tranche)];
  const auto take = [&](std::uint64_t& value, std::size_t word) {
    value = since(value, words[word].load(std::memory_order_relaxed));
  };
  take(total.acquired, 0);
  take(total.waited, 1);
  take(total.spun, 2);
  take(total.wait_ns, 3);
  for (std::size_t bucket = 0; bucket < kWaitBuckets; ++bucket) take(total.histogram[bucket], 4 + bucket);
  return total;
}

void StatisticsView::reset(StatisticsGroup group, std::int64_t now_us) noexcept {
  if (group == StatisticsGroup::kLwLocks) {
    for (const TrancheInfo& info : kTranches) {
      const LwLockTotals total = lwlock_since_start(info.tranche);
      auto& words = baselines_->lwlocks[shm::index_of(info.tranche)];
      const std::uint64_t first[] = {total.acquired, total.waited, total.spun, total.wait_ns};
      for (std::size_t i = 0; i < 4; ++i) words[i].store(first[i], std::memory_order_relaxed);
      for (std::size_t i = 0; i < kWaitBuckets; ++i)
        words[4 + i].store(total.histogram[i], std::memory_order_relaxed);
    }
  }
  for (std::size_t i = 0; i < kCounterCount; ++i) {
    const auto counter = static_cast<Counter>(i);
    baselines_->counters[index_of(group)][i].store(processes_.sum(counter), std::memory_order_relaxed);
    if (group != StatisticsGroup::kIo) continue;
    for (std::size_t kind = 0; kind < kKinds; ++kind)
      baselines_->io[kind][i].store(processes_.sum(counter, static_cast<ProcessKind>(kind)),
                                    std::memory_order_relaxed);
  }
  baselines_->reset_at_us[index_of(group)].store(now_us, std::memory_order_relaxed);
}

std::int64_t StatisticsView::reset_at_us(StatisticsGroup group) const noexcept {
  return baselines_->reset_at_us[index_of(group)].load(std::memory_order_relaxed);
}

}  // namespace pinwheel::shm
