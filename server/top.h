#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "server/wire_client.h"

namespace pinwheel::server {

/// What `pinwheel top` reads of a server at one moment. Counts are since the server's start.
struct TopSample {
  std::int64_t taken_ns = 0;  // monotonic
  std::string server_version;
  std::int64_t commits = 0, rollbacks = 0;
  std::int64_t pages_hit = 0, pages_read = 0;
  std::int64_t log_bytes = 0, log_syncs = 0;
  std::int64_t snapshots_taken = 0;
  std::int64_t checkpoints = 0;
  struct Session {
    std::string pid, user, database, state, wait, seconds, query;
  };
  std::vector<Session> sessions;  // busy ones first
  struct Wait {
    std::string name;
    std::int64_t sessions = 0;
  };
  std::vector<Wait> waits;  // what sessions wait for now, most first
  struct Latch {
    std::string tranche;
    std::int64_t acquired = 0, waited = 0;
    double wait_ms = 0;
  };
  std::vector<Latch> latches;  // those that somebody waited for
};

/// Errors: those of WireClient.
TopSample take_top_sample(WireClient& client);

/// One frame as plain lines of at most `width` columns, `height` lines (0 = all). Rates are those between the
/// samples; when both are the same there are none yet, and they show as "-".
std::string render_top(const TopSample& before, const TopSample& now, int width, int height);

struct TopOptions {
  ConnectionTarget target;
  int interval_s = 1;
  bool once = false;
};

/// `pinwheel top`: redraws until q, Ctrl-C or the end of its input, and leaves the terminal as it was. With
/// `once` it prints one frame, over one interval. Returns the exit status.
int run_top(const TopOptions& options);

}  // namespace pinwheel::server
