#include "bench/tpcc/run.h"

#include <fmt/core.h>
#include <signal.h>

#include <atomic>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <thread>

#include "base/clock.h"
#include "bench/tpcc/schema.h"
#include "bench/tpcc/terminal.h"

namespace pinwheel::tpcc {
namespace {

constexpr std::int64_t kNsPerSecond = 1'000'000'000;
constexpr std::size_t kReportedErrors = 10;
/// Streams of Random: the terminals' begin here, the workload's constants use the seed itself.
constexpr std::uint64_t kTerminalStream = 200;

/// A thread with its event loop and its share of the terminals.
class Worker {
 public:
  explicit Worker(const std::atomic<bool>& stop) : loop_{stop} {}

  void add_terminal(const Workload& workload, const RunOptions& options, int client) {
    const Home home{1 + client % workload.scale.warehouses,
                    1 + client / workload.scale.warehouses % kDistrictsPerWarehouse};
    terminals_.push_back(std::make_unique<Terminal>(
        loop_, recorder_, workload, options.dsn, options.isolation, options.think ? options.think_scale : 0,
        home, Random::stream(options.seed, kTerminalStream, static_cast<std::uint64_t>(client))));
  }

  void start() {
    thread_ = std::jthread{[this] {
      for (const auto& terminal : terminals_) terminal->start();
      while (!all_done()) loop_.turn();
      done_.store(true);
    }};
  }

  bool is_done() const noexcept { return done_.load(); }
  Recorder& recorder() noexcept { return recorder_; }

  /// Waits for the thread; returns how many terminals lost their connection.
  int join() {
    thread_.join();
    int lost = 0;
    for (const auto& terminal : terminals_) lost += terminal->take() ? 0 : 1;
    return lost;
  }

 private:
  bool all_done() const {
    for (const auto& terminal : terminals_)
      if (!terminal->is_done()) return false;
    return true;
  }

  EventLoop loop_;
  Recorder recorder_;
  std::vector<std::unique_ptr<Terminal>> terminals_;
  std::atomic<bool> done_ = false;
  std::jthread thread_;
};

using Workers = std::vector<std::unique_ptr<Worker>>;

sigset_t ending_signals() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGTERM);
  return set;
}

/// Sleeps until the time; true when a signal asks for the end before.
bool interrupted_before(std::int64_t at_ns) {
  const sigset_t set = ending_signals();
  while (true) {
    const std::int64_t left = at_ns - monotonic_ns();
    if (left <= 0) return false;
    const timespec timeout{left / kNsPerSecond, left % kNsPerSecond};
    if (sigtimedwait(&set, nullptr, &timeout) > 0) return true;
  }
}

bool all_done(const Workers& workers) {
  for (const auto& worker : workers)
    if (!worker->is_done()) return false;
  return true;
}

Interval drain(const Workers& workers, std::vector<std::string>& errors) {
  Interval interval;
  for (const auto& worker : workers) worker->recorder().drain(interval, errors);
  if (errors.size() > kReportedErrors) errors.resize(kReportedErrors);
  return interval;
}

SeriesPoint summarise(const Interval& interval, double at_s, double length_s) {
  SeriesPoint point{at_s, length_s, {}};
  for (std::size_t i = 0; i < kTransactionTypes; ++i) {
    const Histogram& times = interval.types[i].committed;
    point.types[i] = {times.count(), times.percentile_us(95), times.max_us()};
  }
  return point;
}

void print_progress(const SeriesPoint& point) {
  const SeriesPoint::Type& orders = point.types[index_of(TransactionType::kNewOrder)];
  std::uint64_t committed = 0;
  for (const SeriesPoint::Type& type : point.types) committed += type.committed;
  fmt::print(stderr, "{:6.1f} s  notpm {:9.0f}  tpm {:9.0f}  new_order p95 {:8.2f} ms  max {:8.2f} ms\n",
             point.at_s, static_cast<double>(orders.committed) * 60 / point.length_s,
             static_cast<double>(committed) * 60 / point.length_s, static_cast<double>(orders.p95_us) / 1000,
             static_cast<double>(orders.max_us) / 1000);
}

/// Lets the workers run for the warm-up and the measured seconds, collecting once a second.
void measure(const Workers& workers, const RunOptions& options, RunResult& result) {
  if (interrupted_before(monotonic_ns() + options.warmup_s * kNsPerSecond)) return;
  // Failures count wherever they happen; times and numbers of the warm-up do not.
  const Interval warmup = drain(workers, result.errors);
  for (std::size_t i = 0; i < kTransactionTypes; ++i) result.totals.types[i].failed = warmup.types[i].failed;

  const std::int64_t begin_ns = monotonic_ns();
  std::int64_t last_ns = begin_ns;
  bool over = false;
  for (int second = 1; second <= options.seconds && !over; ++second) {
    over = interrupted_before(begin_ns + second * kNsPerSecond) || all_done(workers);
    const Interval interval = drain(workers, result.errors);
    const std::int64_t now_ns = monotonic_ns();
    result.series.push_back(summarise(interval, static_cast<double>(now_ns - begin_ns) / 1e9,
                                      static_cast<double>(now_ns - last_ns) / 1e9));
    result.totals.merge(interval);
    last_ns = now_ns;
    if (options.progress_s > 0 && second % options.progress_s == 0) print_progress(result.series.back());
  }
  result.measured_s = static_cast<double>(last_ns - begin_ns) / 1e9;
}

}  // namespace

double RunResult::notpm() const noexcept {
  const auto orders = static_cast<double>(totals.of(TransactionType::kNewOrder).committed.count());
  return measured_s > 0 ? orders * 60 / measured_s : 0;
}

double RunResult::tpm() const noexcept {
  return measured_s > 0 ? static_cast<double>(totals.committed()) * 60 / measured_s : 0;
}

RunResult run(const RunOptions& options) {
  RunResult result;
  {
    Connection connection{options.dsn};
    result.scale = loaded_scale(connection);
    result.server_version = connection.execute("SHOW server_version").text(0, 0);
  }
  if (options.warehouses && *options.warehouses != result.scale.warehouses)
    throw std::runtime_error{
        fmt::format("{} warehouses are loaded, not {}", result.scale.warehouses, *options.warehouses)};

  const Workload workload{result.scale, options.seed};
  std::atomic<bool> stop = false;
  Workers workers;
  for (int i = 0; i < options.threads; ++i) workers.push_back(std::make_unique<Worker>(stop));
  for (int client = 0; client < options.clients; ++client)
    workers[static_cast<std::size_t>(client % options.threads)]->add_terminal(workload, options, client);

  // Before the threads exist, so that they inherit it and only interrupted_before() sees the signals.
  const sigset_t set = ending_signals();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  for (const auto& worker : workers) worker->start();
  measure(workers, options, result);
  stop.store(true);
  for (const auto& worker : workers) result.lost_connections += worker->join();
  // What ended after the last second belongs to no second, but a failure is one.
  const Interval late = drain(workers, result.errors);
  for (std::size_t i = 0; i < kTransactionTypes; ++i) result.totals.types[i].failed += late.types[i].failed;
  return result;
}

}  // namespace pinwheel::tpcc
