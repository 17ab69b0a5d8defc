#include "bench/tpcc/checks.h"

#include <fmt/core.h>

#include <array>
#include <cstdio>
#include <string_view>

#include "bench/tpcc/postgres.h"
#include "bench/tpcc/schema.h"

namespace pinwheel::tpcc {
namespace {

struct Condition {
  std::string_view name;
  /// Its rows are the violations. $DELIVERED stands for the number of orders of a district that the load
  /// delivered, $CUSTOMERS for that of its customers.
  std::string_view sql;
};

// The numbers in the names are TPC-C's: 3.3.2.1 to 3.3.2.12 (11 holds for a fresh load only and is
// generalised).
constexpr std::array kConditions{
    Condition{"1: w_ytd is the sum of d_ytd",
              "SELECT w_id, w_ytd, total FROM warehouse LEFT JOIN "
              "(SELECT d_w_id, sum(d_ytd) AS total FROM district GROUP BY d_w_id) d ON d_w_id = w_id "
              "WHERE w_ytd IS DISTINCT FROM total"},
    Condition{
        "2: d_next_o_id - 1 is the greatest o_id and no_o_id",
        "SELECT d_w_id, d_id, d_next_o_id, last_order, last_new FROM district LEFT JOIN "
        "(SELECT o_w_id, o_d_id, max(o_id) AS last_order FROM orders GROUP BY o_w_id, o_d_id) o "
        "ON o_w_id = d_w_id AND o_d_id = d_id LEFT JOIN "
        "(SELECT no_w_id, no_d_id, max(no_o_id) AS last_new FROM new_order GROUP BY no_w_id, no_d_id) n "
        "ON no_w_id = d_w_id AND no_d_id = d_id "
        "WHERE d_next_o_id - 1 IS DISTINCT FROM last_order OR d_next_o_id - 1 <> last_new"},
    Condition{"3: no_o_id has no gaps",
              "SELECT no_w_id, no_d_id, min(no_o_id), max(no_o_id), count(*) FROM new_order "
              "GROUP BY no_w_id, no_d_id HAVING max(no_o_id) - min(no_o_id) + 1 <> count(*)"},
    Condition{
        "4: sum of o_ol_cnt is the number of order lines of a district",
        "SELECT o_w_id, o_d_id, announced, found FROM "
        "(SELECT o_w_id, o_d_id, sum(o_ol_cnt) AS announced FROM orders GROUP BY o_w_id, o_d_id) o FULL JOIN "
        "(SELECT ol_w_id, ol_d_id, count(*) AS found FROM order_line GROUP BY ol_w_id, ol_d_id) l "
        "ON ol_w_id = o_w_id AND ol_d_id = o_d_id WHERE announced IS DISTINCT FROM found"},
    Condition{"5: an order has no carrier exactly while it is in new_order",
              "SELECT o_w_id, o_d_id, o_id, o_carrier_id, no_w_id, no_d_id, no_o_id FROM orders FULL JOIN "
              "new_order "
              "ON no_w_id = o_w_id AND no_d_id = o_d_id AND no_o_id = o_id "
              "WHERE o_id IS NULL OR (o_carrier_id IS NULL) <> (no_o_id IS NOT NULL)"},
    Condition{
        "6: o_ol_cnt is the number of the order's lines",
        "SELECT o_w_id, o_d_id, o_id, o_ol_cnt, found FROM orders FULL JOIN "
        "(SELECT ol_w_id, ol_d_id, ol_o_id, count(*) AS found FROM order_line "
        "GROUP BY ol_w_id, ol_d_id, ol_o_id) l "
        "ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id WHERE o_ol_cnt IS DISTINCT FROM found"},
    Condition{"7: a line has a delivery date exactly when its order has a carrier",
              "SELECT ol_w_id, ol_d_id, ol_o_id, ol_number, ol_delivery_d, o_carrier_id FROM order_line JOIN "
              "orders "
              "ON o_w_id = ol_w_id AND o_d_id = ol_d_id AND o_id = ol_o_id "
              "WHERE (ol_delivery_d IS NULL) <> (o_carrier_id IS NULL)"},
    Condition{"8: w_ytd is the sum of h_amount",
              "SELECT w_id, w_ytd, total FROM warehouse LEFT JOIN "
              "(SELECT h_w_id, sum(h_amount) AS total FROM history GROUP BY h_w_id) h ON h_w_id = w_id "
              "WHERE w_ytd IS DISTINCT FROM total"},
    Condition{"9: d_ytd is the sum of h_amount",
              "SELECT d_w_id, d_id, d_ytd, total FROM district LEFT JOIN "
              "(SELECT h_w_id, h_d_id, sum(h_amount) AS total FROM history GROUP BY h_w_id, h_d_id) h "
              "ON h_w_id = d_w_id AND h_d_id = d_id WHERE d_ytd IS DISTINCT FROM total"},
    Condition{"10: c_balance is delivered amounts less payments",
              "SELECT c_w_id, c_d_id, c_id, c_balance, delivered, paid FROM customer LEFT JOIN "
              "(SELECT o_w_id, o_d_id, o_c_id, sum(ol_amount) AS delivered FROM orders JOIN order_line "
              "ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id WHERE ol_delivery_d IS NOT NULL "
              "GROUP BY o_w_id, o_d_id, o_c_id) o ON o_w_id = c_w_id AND o_d_id = c_d_id AND o_c_id = c_id "
              "LEFT JOIN "
              "(SELECT h_c_w_id, h_c_d_id, h_c_id, sum(h_amount) AS paid FROM history "
              "GROUP BY h_c_w_id, h_c_d_id, h_c_id) h "
              "ON h_c_w_id = c_w_id AND h_c_d_id = c_d_id AND h_c_id = c_id "
              "WHERE c_balance <> coalesce(delivered, 0) - coalesce(paid, 0)"},
    Condition{
        "11: delivered orders are the load's and those that c_delivery_cnt counts",
        "SELECT c_w_id, c_d_id, counted, delivered FROM "
        "(SELECT c_w_id, c_d_id, sum(c_delivery_cnt) + $DELIVERED AS counted FROM customer "
        "GROUP BY c_w_id, c_d_id) c LEFT JOIN "
        "(SELECT o_w_id, o_d_id, count(o_carrier_id) AS delivered FROM orders GROUP BY o_w_id, o_d_id) o "
        "ON o_w_id = c_w_id AND o_d_id = c_d_id WHERE counted IS DISTINCT FROM delivered"},
    Condition{"12: c_balance and c_ytd_payment add up to delivered amounts",
              "SELECT c_w_id, c_d_id, c_id, c_balance, c_ytd_payment, delivered FROM customer LEFT JOIN "
              "(SELECT o_w_id, o_d_id, o_c_id, sum(ol_amount) AS delivered FROM orders JOIN order_line "
              "ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id WHERE ol_delivery_d IS NOT NULL "
              "GROUP BY o_w_id, o_d_id, o_c_id) o ON o_w_id = c_w_id AND o_d_id = c_d_id AND o_c_id = c_id "
              "WHERE c_balance + c_ytd_payment <> coalesce(delivered, 0)"},
    Condition{
        "payments: c_payment_cnt and c_ytd_payment agree with history",
        "SELECT c_w_id, c_d_id, c_id, c_payment_cnt, payments, c_ytd_payment, paid FROM customer LEFT JOIN "
        "(SELECT h_c_w_id, h_c_d_id, h_c_id, count(*) AS payments, sum(h_amount) AS paid FROM history "
        "GROUP BY h_c_w_id, h_c_d_id, h_c_id) h "
        "ON h_c_w_id = c_w_id AND h_c_d_id = c_d_id AND h_c_id = c_id "
        "WHERE c_payment_cnt IS DISTINCT FROM payments OR c_ytd_payment IS DISTINCT FROM paid"},
    Condition{"stock: s_order_cnt, s_ytd and s_remote_cnt agree with the lines ordered since the load",
              "SELECT s_w_id, s_i_id, s_order_cnt, lines, s_ytd, quantity, s_remote_cnt, remote FROM stock "
              "LEFT JOIN "
              "(SELECT ol_supply_w_id, ol_i_id, count(*) AS lines, sum(ol_quantity) AS quantity, "
              "sum(CASE WHEN ol_w_id <> ol_supply_w_id THEN 1 ELSE 0 END) AS remote FROM order_line "
              "WHERE ol_o_id > $CUSTOMERS GROUP BY ol_supply_w_id, ol_i_id) l "
              "ON ol_supply_w_id = s_w_id AND ol_i_id = s_i_id "
              "WHERE s_order_cnt <> coalesce(lines, 0) OR s_ytd <> coalesce(quantity, 0) "
              "OR s_remote_cnt <> coalesce(remote, 0)"},
    Condition{"stock: s_quantity stays between 10 and 100",
              "SELECT s_w_id, s_i_id, s_quantity FROM stock WHERE s_quantity < 10 OR s_quantity > 100"},
};

std::string fill_in(std::string_view sql, const Scale& scale) {
  std::string filled{sql};
  const auto replace = [&filled](std::string_view name, int value) {
    if (const auto at = filled.find(name); at != std::string::npos)
      filled.replace(at, name.size(), std::to_string(value));
  };
  replace("$DELIVERED", scale.delivered_orders());
  replace("$CUSTOMERS", scale.customers);
  return filled;
}

void print_first_row(const Result& rows) {
  std::string line;
  for (int column = 0; column < rows.columns(); ++column)
    line += fmt::format("{}{}={}", column == 0 ? "" : ", ", rows.column_name(column),
                        rows.is_null(0, column) ? "null" : rows.text(0, column));
  fmt::print("          first: {}\n", line);
}

}  // namespace

int check(const std::string& dsn) {
  Connection connection{dsn};
  const Scale scale = loaded_scale(connection);
  connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY");
  int violated = 0;
  for (const Condition& condition : kConditions) {
    const Result rows = connection.execute(fill_in(condition.sql, scale));
    if (rows.rows() == 0) {
      fmt::print("ok        {}\n", condition.name);
    } else {
      ++violated;
      fmt::print("VIOLATED  {}: {} row(s)\n", condition.name, rows.rows());
      print_first_row(rows);
    }
    std::fflush(stdout);
  }
  connection.execute("COMMIT");
  fmt::print("{} conditions hold, {} violated\n", kConditions.size() - static_cast<std::size_t>(violated),
             violated);
  return violated;
}

}  // namespace pinwheel::tpcc
