#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace pinwheel::tpcc {

enum class StatementId : std::uint8_t {
  kCommit,
  kRollback,
  kCustomersByLastName,
  kNewOrderWarehouse,
  kNewOrderDistrict,
  kNewOrderCustomer,
  kInsertOrder,
  kInsertNewOrder,
  kItem,
  kUpdateStock,
  kInsertOrderLine,
  kPaymentWarehouse,
  kPaymentDistrict,
  kPaymentCustomer,
  kCustomerData,
  kUpdateCustomerData,
  kInsertHistory,
  kOrderStatusCustomer,
  kLastOrder,
  kOrderLines,
  kOldestNewOrder,
  kDeleteNewOrder,
  kDeliverOrder,
  kDeliverLines,
  kCreditCustomer,
  kStockLevelDistrict,
  kLowStock,
};

struct StatementDefinition {
  StatementId id;
  const char* name;  // of the prepared statement
  const char* sql;
};

/// In the order of StatementId. Plain SQL of every PostgreSQL server; parameter types follow from the
/// columns.
inline constexpr std::array kStatements{
    StatementDefinition{StatementId::kCommit, "commit", "COMMIT"},
    StatementDefinition{StatementId::kRollback, "rollback", "ROLLBACK"},
    StatementDefinition{
        StatementId::kCustomersByLastName, "customers_by_last_name",
        "SELECT c_id FROM customer WHERE c_w_id = $1 AND c_d_id = $2 AND c_last = $3 ORDER BY c_first"},
    StatementDefinition{StatementId::kNewOrderWarehouse, "new_order_warehouse",
                        "SELECT w_tax FROM warehouse WHERE w_id = $1"},
    StatementDefinition{StatementId::kNewOrderDistrict, "new_order_district",
                        "UPDATE district SET d_next_o_id = d_next_o_id + 1 WHERE d_w_id = $1 AND d_id = $2 "
                        "RETURNING d_next_o_id - 1, d_tax"},
    StatementDefinition{StatementId::kNewOrderCustomer, "new_order_customer",
                        "SELECT c_discount, c_last, c_credit FROM customer "
                        "WHERE c_w_id = $1 AND c_d_id = $2 AND c_id = $3"},
    StatementDefinition{StatementId::kInsertOrder, "insert_order",
                        "INSERT INTO orders (o_id, o_d_id, o_w_id, o_c_id, o_entry_d, o_ol_cnt, o_all_local) "
                        "VALUES ($1, $2, $3, $4, localtimestamp, $5, $6)"},
    StatementDefinition{StatementId::kInsertNewOrder, "insert_new_order",
                        "INSERT INTO new_order (no_o_id, no_d_id, no_w_id) VALUES ($1, $2, $3)"},
    StatementDefinition{StatementId::kItem, "item",
                        "SELECT i_price, i_name, i_data FROM item WHERE i_id = $1"},
    StatementDefinition{
        StatementId::kUpdateStock, "update_stock",
        "UPDATE stock SET s_quantity = CASE WHEN s_quantity >= $3 + 10 THEN s_quantity - $3 "
        "ELSE s_quantity - $3 + 91 END, s_ytd = s_ytd + $3, s_order_cnt = s_order_cnt + 1, "
        "s_remote_cnt = s_remote_cnt + $4 WHERE s_w_id = $1 AND s_i_id = $2 "
        "RETURNING s_quantity, s_data, CASE $5::int WHEN 1 THEN s_dist_01 WHEN 2 THEN s_dist_02 WHEN 3 THEN "
        "s_dist_03 "
        "WHEN 4 THEN s_dist_04 WHEN 5 THEN s_dist_05 WHEN 6 THEN s_dist_06 WHEN 7 THEN s_dist_07 "
        "WHEN 8 THEN s_dist_08 WHEN 9 THEN s_dist_09 ELSE s_dist_10 END"},
    StatementDefinition{
        StatementId::kInsertOrderLine, "insert_order_line",
        "INSERT INTO order_line (ol_o_id, ol_d_id, ol_w_id, ol_number, ol_i_id, ol_supply_w_id, "
        "ol_quantity, ol_amount, ol_dist_info) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)"},
    StatementDefinition{StatementId::kPaymentWarehouse, "payment_warehouse",
                        "UPDATE warehouse SET w_ytd = w_ytd + $2 WHERE w_id = $1 "
                        "RETURNING w_name, w_street_1, w_street_2, w_city, w_state, w_zip"},
    StatementDefinition{StatementId::kPaymentDistrict, "payment_district",
                        "UPDATE district SET d_ytd = d_ytd + $3 WHERE d_w_id = $1 AND d_id = $2 "
                        "RETURNING d_name, d_street_1, d_street_2, d_city, d_state, d_zip"},
    StatementDefinition{
        StatementId::kPaymentCustomer, "payment_customer",
        "UPDATE customer SET c_balance = c_balance - $4, c_ytd_payment = c_ytd_payment + $4, "
        "c_payment_cnt = c_payment_cnt + 1 WHERE c_w_id = $1 AND c_d_id = $2 AND c_id = $3 "
        "RETURNING c_credit, c_first, c_middle, c_last, c_street_1, c_street_2, c_city, c_state, "
        "c_zip, c_phone, c_since, c_credit_lim, c_discount, c_balance"},
    StatementDefinition{StatementId::kCustomerData, "customer_data",
                        "SELECT c_data FROM customer WHERE c_w_id = $1 AND c_d_id = $2 AND c_id = $3"},
    StatementDefinition{StatementId::kUpdateCustomerData, "update_customer_data",
                        "UPDATE customer SET c_data = $4 WHERE c_w_id = $1 AND c_d_id = $2 AND c_id = $3"},
    StatementDefinition{
        StatementId::kInsertHistory, "insert_history",
        "INSERT INTO history (h_c_id, h_c_d_id, h_c_w_id, h_d_id, h_w_id, h_date, h_amount, h_data) "
        "VALUES ($1, $2, $3, $4, $5, localtimestamp, $6, $7)"},
    StatementDefinition{StatementId::kOrderStatusCustomer, "order_status_customer",
                        "SELECT c_balance, c_first, c_middle, c_last FROM customer "
                        "WHERE c_w_id = $1 AND c_d_id = $2 AND c_id = $3"},
    StatementDefinition{StatementId::kLastOrder, "last_order",
                        "SELECT o_id, o_entry_d, o_carrier_id FROM orders "
                        "WHERE o_w_id = $1 AND o_d_id = $2 AND o_c_id = $3 ORDER BY o_id DESC LIMIT 1"},
    StatementDefinition{
        StatementId::kOrderLines, "order_lines",
        "SELECT ol_i_id, ol_supply_w_id, ol_quantity, ol_amount, ol_delivery_d FROM order_line "
        "WHERE ol_w_id = $1 AND ol_d_id = $2 AND ol_o_id = $3"},
    StatementDefinition{StatementId::kOldestNewOrder, "oldest_new_order",
                        "SELECT no_o_id FROM new_order WHERE no_w_id = $1 AND no_d_id = $2 "
                        "ORDER BY no_o_id LIMIT 1 FOR UPDATE"},
    StatementDefinition{StatementId::kDeleteNewOrder, "delete_new_order",
                        "DELETE FROM new_order WHERE no_w_id = $1 AND no_d_id = $2 AND no_o_id = $3"},
    StatementDefinition{StatementId::kDeliverOrder, "deliver_order",
                        "UPDATE orders SET o_carrier_id = $4 WHERE o_w_id = $1 AND o_d_id = $2 AND o_id = $3 "
                        "RETURNING o_c_id"},
    StatementDefinition{StatementId::kDeliverLines, "deliver_lines",
                        "UPDATE order_line SET ol_delivery_d = localtimestamp "
                        "WHERE ol_w_id = $1 AND ol_d_id = $2 AND ol_o_id = $3 RETURNING ol_amount"},
    StatementDefinition{StatementId::kCreditCustomer, "credit_customer",
                        "UPDATE customer SET c_balance = c_balance + $4, c_delivery_cnt = c_delivery_cnt + 1 "
                        "WHERE c_w_id = $1 AND c_d_id = $2 AND c_id = $3"},
    StatementDefinition{StatementId::kStockLevelDistrict, "stock_level_district",
                        "SELECT d_next_o_id FROM district WHERE d_w_id = $1 AND d_id = $2"},
    StatementDefinition{StatementId::kLowStock, "low_stock",
                        "SELECT count(DISTINCT s_i_id) FROM order_line JOIN stock "
                        "ON s_w_id = ol_w_id AND s_i_id = ol_i_id WHERE ol_w_id = $1 AND ol_d_id = $2 "
                        "AND ol_o_id < $3 AND ol_o_id >= $3 - 20 AND s_quantity < $4"},
};

constexpr const StatementDefinition& definition(StatementId id) noexcept {
  return kStatements[static_cast<std::size_t>(id)];
}

static_assert(
    [] {
      for (std::size_t i = 0; i < kStatements.size(); ++i)
        if (static_cast<std::size_t>(kStatements[i].id) != i) return false;
      return true;
    }(),
    "kStatements stands in the order of StatementId");

}  // namespace pinwheel::tpcc
