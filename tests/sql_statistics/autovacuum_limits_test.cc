#include <catch2/catch.hpp>

#include "base/parameters.h"
#include "server/autovacuum_choice.h"

namespace pinwheel::server {
namespace {

sql::TableActivity with(std::int64_t dead, std::int64_t inserted, std::int64_t changed) {
  sql::TableActivity activity;
  activity.dead = dead;
  activity.inserted_unvacuumed = inserted;
  activity.changed = changed;
  return activity;
}

}  // namespace

TEST_CASE("a table is due once its counters pass threshold and share of its rows", "[server][autovacuum]") {
  const ServerSettings settings;
  const AutovacuumLimits limits{settings, {}};
  // PostgreSQL's defaults: 50 + 20% dead, 1000 + 20% inserted, 50 + 10% changed.
  CHECK_FALSE(limits.needs_vacuum(with(250, 0, 0), 1000));
  CHECK(limits.needs_vacuum(with(251, 0, 0), 1000));
  CHECK_FALSE(limits.needs_vacuum(with(0, 1200, 0), 1000));
  CHECK(limits.needs_vacuum(with(0, 1201, 0), 1000));
  CHECK_FALSE(limits.needs_analyze(with(0, 0, 150), 1000));
  CHECK(limits.needs_analyze(with(0, 0, 151), 1000));
}

TEST_CASE("a table that was never counted has no rows to take a share of", "[server][autovacuum]") {
  const ServerSettings settings;
  const AutovacuumLimits limits{settings, {}};
  CHECK(limits.needs_vacuum(with(51, 0, 0), -1));
  CHECK_FALSE(limits.needs_vacuum(with(50, 0, 0), -1));
}

TEST_CASE("storage parameters of the table overrule the settings", "[server][autovacuum]") {
  const ServerSettings settings;
  const AutovacuumLimits off{settings, {"autovacuum_enabled=false"}};
  CHECK_FALSE(off.needs_vacuum(with(1'000'000, 0, 0), 10));
  CHECK_FALSE(off.needs_analyze(with(0, 0, 1'000'000), 10));
  const AutovacuumLimits own{
      settings,
      {"fillfactor=70", "autovacuum_vacuum_threshold=5", "autovacuum_vacuum_scale_factor=0.5",
       "autovacuum_vacuum_insert_threshold=-1", "autovacuum_analyze_scale_factor=0"}};
  CHECK(own.needs_vacuum(with(11, 0, 0), 10));
  CHECK_FALSE(own.needs_vacuum(with(10, 0, 0), 10));
  CHECK_FALSE(own.needs_vacuum(with(0, 1'000'000, 0), 10));
  CHECK(own.needs_analyze(with(0, 0, 51), 1000));
}

}  // namespace pinwheel::server
