#include "bench/tpcc/load.h"

#include <fmt/core.h>

#include <cstdio>
#include <utility>

#include "base/clock.h"
#include "bench/tpcc/copy_rows.h"
#include "bench/tpcc/schema.h"
#include "bench/tpcc/table_rows.h"

namespace pinwheel::tpcc {
namespace {

/// Prints how long has passed since the last step.
class StepClock {
 public:
  void print(std::string_view step) {
    const std::int64_t now = monotonic_ns();
    fmt::print("{:<12} {:8.2f} s\n", step, static_cast<double>(now - std::exchange(last_, now)) / 1e9);
    std::fflush(stdout);
  }

 private:
  std::int64_t last_ = monotonic_ns();
};

void fill(Connection& connection, const TableDefinition& table, const LoadOptions& options) {
  const int copies = table.table == Table::kItem ? 1 : options.scale.warehouses;
  for (int warehouse = 1; warehouse <= copies; ++warehouse) {
    CopyRows rows{connection, table.name, options.fast};
    write_rows(table.table, rows, options.scale, warehouse, options.seed);
    rows.finish();
  }
}

}  // namespace

void load(const LoadOptions& options) {
  Connection connection{options.dsn};
  StepClock clock;
  if (options.fast) connection.execute("BEGIN");
  create_tables(connection, options.unlogged);
  for (const TableDefinition& table : kTables) {
    fill(connection, table, options);
    clock.print(table.name);
  }
  if (options.fast) connection.execute("COMMIT");
  create_indexes(connection);
  clock.print("indexes");
  for (const TableDefinition& table : kTables)
    connection.execute(fmt::format("VACUUM ANALYZE {}", table.name));
  clock.print("vacuum");
}

}  // namespace pinwheel::tpcc
