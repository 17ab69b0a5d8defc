#include "bench/tpcc/schema.h"

#include <fmt/core.h>

#include <stdexcept>

namespace pinwheel::tpcc {
namespace {

struct IndexDefinition {
  std::string_view name, table, columns;
};

/// Beside the primary keys: customers by last name in the order of first names, and a customer's newest
/// order.
constexpr std::array kIndexes{
    IndexDefinition{"customer_last", "customer", "c_w_id, c_d_id, c_last, c_first"},
    IndexDefinition{"orders_customer", "orders", "o_w_id, o_d_id, o_c_id, o_id"},
};

constexpr const char* kUndefinedTable = "42P01";

int count(Connection& connection, const std::string& sql) {
  const Result result = connection.execute(sql);
  return result.is_null(0, 0) ? 0 : result.integer(0, 0);
}

}  // namespace

void create_tables(Connection& connection, bool unlogged) {
  for (const TableDefinition& table : kTables)
    connection.execute(
        fmt::format("CREATE {}TABLE {} ({})", unlogged ? "UNLOGGED " : "", table.name, table.columns));
}

void create_indexes(Connection& connection) {
  for (const TableDefinition& table : kTables)
    if (!table.primary_key.empty())
      connection.execute(fmt::format("ALTER TABLE {} ADD PRIMARY KEY ({})", table.name, table.primary_key));
  for (const IndexDefinition& index : kIndexes)
    connection.execute(fmt::format("CREATE INDEX {} ON {} ({})", index.name, index.table, index.columns));
}

void drop_tables(Connection& connection) {
  for (const TableDefinition& table : kTables)
    connection.execute(fmt::format("DROP TABLE IF EXISTS {}", table.name));
}

Scale loaded_scale(Connection& connection) {
  Scale scale;
  try {
    scale.warehouses = count(connection, "SELECT count(*) FROM warehouse");
    scale.items = count(connection, "SELECT max(i_id) FROM item");
    scale.customers = count(connection, "SELECT max(c_id) FROM customer WHERE c_w_id = 1 AND c_d_id = 1");
  } catch (const StatementError& error) {
    if (error.sqlstate() != kUndefinedTable) throw;
    throw std::runtime_error{fmt::format("{}: run \"pw-tpcc load\" first", error.what())};
  }
  if (scale.warehouses < 1 || scale.items < 1 || scale.customers < 1)
    throw std::runtime_error{"the tables are empty: run \"pw-tpcc drop\" and \"pw-tpcc load\""};
  return scale;
}

}  // namespace pinwheel::tpcc
