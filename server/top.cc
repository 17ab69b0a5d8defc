#include "server/top.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "base/clock.h"
#include "sql/types/utf8.h"

namespace pinwheel::server {
namespace {

constexpr std::string_view kTotalsQuery =
    "SELECT current_setting('server_version'), sum(d.xact_commit), sum(d.xact_rollback), sum(d.blks_hit), "
    "sum(d.blks_read), (SELECT wal_bytes FROM pg_stat_wal), (SELECT wal_sync FROM pg_stat_wal), "
    "(SELECT taken FROM pg_stat_snapshots), "
    "(SELECT checkpoints_timed + checkpoints_req FROM pg_stat_bgwriter) FROM pg_stat_database d";
constexpr std::string_view kSessionsQuery =
    "SELECT pid, usename, datname, state, coalesce(wait_event_type || ':' || wait_event, ''), "
    "extract(epoch FROM clock_timestamp() - CASE WHEN state = 'active' THEN query_start ELSE state_change "
    "END)"
    "::numeric(12, 1), query FROM pg_stat_activity "
    "WHERE backend_type = 'client backend' AND pid <> pg_backend_pid() "
    "ORDER BY state <> 'active', state, query_start";
constexpr std::string_view kWaitsQuery =
    "SELECT wait_event_type || ':' || wait_event, count(*) FROM pg_stat_activity "
    "WHERE wait_event IS NOT NULL AND state <> 'idle' AND pid <> pg_backend_pid() "
    "GROUP BY 1 ORDER BY 2 DESC, 1";
constexpr std::string_view kLatchesQuery =
    "SELECT tranche, acquired, waited, wait_time FROM pg_stat_lwlocks WHERE waited > 0 "
    "ORDER BY wait_time DESC";

std::int64_t number(const std::optional<std::string>& field) {
  return field ? std::strtoll(field->c_str(), nullptr, 10) : 0;
}

/// At most `width` bytes, cut between characters; line ends become spaces.
std::string fitted(std::string text, int width) {
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < ' ' || c == 127) c = ' ';
  }
  const auto limit = static_cast<std::size_t>(std::max(width, 0));
  if (text.size() > limit) text.resize(sql::clip_to_characters(text, limit));
  return text;
}

std::string with_unit(double bytes) {
  constexpr const char* kUnits[] = {"B", "kB", "MB", "GB", "TB"};
  std::size_t unit = 0;
  for (; bytes >= 1024 && unit + 1 < std::size(kUnits); ++unit) bytes /= 1024;
  return fmt::format("{:.1f} {}", bytes, kUnits[unit]);
}

/// Lines up to a height.
class Screen {
 public:
  Screen(int width, int height) : width_{width}, height_{height} {}
  void line(std::string text) {
    if (height_ > 0 && lines_ >= height_) return;
    out_ += fitted(std::move(text), width_) + "\n";
    ++lines_;
  }
  bool full() const { return height_ > 0 && lines_ >= height_; }
  std::string take() { return std::move(out_); }

 private:
  int width_, height_;
  int lines_ = 0;
  std::string out_;
};

}  // namespace

TopSample take_top_sample(WireClient& client) {
  TopSample sample;
  const WireRow totals = client.query(kTotalsQuery).at(0);
  sample.taken_ns = monotonic_ns();
  sample.server_version = totals[0].value_or("");
  sample.commits = number(totals[1]);
  sample.rollbacks = number(totals[2]);
  sample.pages_hit = number(totals[3]);
  sample.pages_read = number(totals[4]);
  sample.log_bytes = number(totals[5]);
  sample.log_syncs = number(totals[6]);
  sample.snapshots_taken = number(totals[7]);
  sample.checkpoints = number(totals[8]);
  for (const WireRow& row : client.query(kSessionsQuery)) {
    sample.sessions.push_back({row[0].value_or(""), row[1].value_or(""), row[2].value_or(""),
                               row[3].value_or(""), row[4].value_or(""), row[5].value_or(""),
                               row[6].value_or("")});
  }
  for (const WireRow& row : client.query(kWaitsQuery))
    sample.waits.push_back({row[0].value_or(""), number(row[1])});
  for (const WireRow& row : client.query(kLatchesQuery)) {
    sample.latches.push_back({row[0].value_or(""), number(row[1]), number(row[2]),
                              row[3] ? std::strtod(row[3]->c_str(), nullptr) : 0});
  }
  return sample;
}

std::string render_top(const TopSample& before, const TopSample& now, int width, int height) {
  Screen screen{width, height};
  const double seconds = static_cast<double>(now.taken_ns - before.taken_ns) / 1e9;
  const auto rate = [&](std::int64_t from, std::int64_t to) {
    return static_cast<double>(to - from) / seconds;
  };
  const auto shown_rate = [&](std::int64_t from, std::int64_t to) {
    return seconds <= 0 ? std::string{"-"} : fmt::format("{:.1f}", rate(from, to));
  };
  const auto active = std::ranges::count(now.sessions, "active", &TopSample::Session::state);
  screen.line(fmt::format("pinwheel top   server {}   sessions {}   active {}   checkpoints {}",
                          now.server_version, now.sessions.size(), active, now.checkpoints));
  const std::int64_t hit = now.pages_hit - before.pages_hit, read = now.pages_read - before.pages_read;
  const std::string hit_rate =
      hit + read > 0
          ? fmt::format("{:.2f} %", 100.0 * static_cast<double>(hit) / static_cast<double>(hit + read))
          : "-";
  screen.line(fmt::format("tps {}   rollbacks/s {}   snapshots/s {}   buffer hits {}   pages read/s {}",
                          shown_rate(before.commits, now.commits),
                          shown_rate(before.rollbacks, now.rollbacks),
                          shown_rate(before.snapshots_taken, now.snapshots_taken), hit_rate,
                          shown_rate(before.pages_read, now.pages_read)));
  screen.line(fmt::format("log {}/s   log syncs/s {}",
                          seconds <= 0 ? std::string{"-"} : with_unit(rate(before.log_bytes, now.log_bytes)),
                          shown_rate(before.log_syncs, now.log_syncs)));
  std::string waits = "waits now:";
  for (const TopSample::Wait& wait : now.waits) waits += fmt::format("  {} {}", wait.name, wait.sessions);
  screen.line(now.waits.empty() ? waits + "  none" : waits);
  std::string latches = "latch waits:";
  std::size_t shown = 0;
  for (const TopSample::Latch& latch : now.latches) {
    if (shown++ == 4) break;
    latches += fmt::format("  {} {} ({:.1f} ms)", latch.tranche, latch.waited, latch.wait_ms);
  }
  screen.line(now.latches.empty() ? latches + "  none" : latches);
  screen.line("");
  screen.line(fmt::format("{:>9} {:<12} {:<12} {:<20} {:<26} {:>8}  {}", "PID", "USER", "DATABASE", "STATE",
                          "WAIT", "SECONDS", "QUERY"));
  for (const TopSample::Session& session : now.sessions) {
    if (screen.full()) break;
    screen.line(fmt::format("{:>9} {:<12} {:<12} {:<20} {:<26} {:>8}  {}", session.pid,
                            fitted(session.user, 12), fitted(session.database, 12), fitted(session.state, 20),
                            fitted(session.wait, 26), session.seconds, session.query));
  }
  return screen.take();
}

}  // namespace pinwheel::server
