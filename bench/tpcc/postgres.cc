#include "bench/tpcc/postgres.h"

#include <charconv>

namespace pinwheel::tpcc {
namespace {

constexpr const char* kConnectionLost = "08006";

int to_integer(std::string_view text) noexcept {
  int value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

}  // namespace

std::string last_message(PGconn* connection) {
  std::string message = PQerrorMessage(connection);
  while (message.ends_with('\n')) message.pop_back();
  return message;
}

Result::Result(PGconn* connection, PGresult* result) : result_{result} {
  const ExecStatusType status = PQresultStatus(result);
  if (status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK || status == PGRES_COPY_IN) return;
  const char* sqlstate = result == nullptr ? nullptr : PQresultErrorField(result, PG_DIAG_SQLSTATE);
  const char* primary = result == nullptr ? nullptr : PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
  throw StatementError{sqlstate == nullptr ? kConnectionLost : sqlstate,
                       primary == nullptr ? last_message(connection) : primary};
}

std::string_view Result::text(int row, int column) const noexcept {
  return {PQgetvalue(result_.get(), row, column),
          static_cast<std::size_t>(PQgetlength(result_.get(), row, column))};
}

int Result::integer(int row, int column) const noexcept { return to_integer(text(row, column)); }

int Result::affected() const noexcept { return to_integer(PQcmdTuples(result_.get())); }

Connection::Connection(const std::string& dsn) {
  const char* keywords[] = {"dbname", "fallback_application_name", nullptr};
  const char* values[] = {dsn.c_str(), "pw-tpcc", nullptr};
  connection_.reset(PQconnectdbParams(keywords, values, /*expand_dbname=*/1));
  if (PQstatus(connection_.get()) != CONNECTION_OK)
    throw StatementError{kConnectionLost, last_message(connection_.get())};
  // Notices ("table does not exist, skipping") are of no interest here.
  PQsetNoticeProcessor(
      connection_.get(), [](void*, const char*) {}, nullptr);
}

Result Connection::execute(const std::string& sql) { return {native(), PQexec(native(), sql.c_str())}; }

void Connection::prepare(const char* name, const char* sql) {
  Result{native(), PQprepare(native(), name, sql, 0, nullptr)};
}

void Connection::begin_copy(const std::string& sql) { execute(sql); }

void Connection::copy_data(std::string_view data) {
  if (PQputCopyData(native(), data.data(), static_cast<int>(data.size())) != 1)
    throw StatementError{kConnectionLost, last_message(native())};
}

void Connection::end_copy() {
  if (PQputCopyEnd(native(), nullptr) != 1) throw StatementError{kConnectionLost, last_message(native())};
  Result{native(), PQgetResult(native())};
  while (PGresult* rest = PQgetResult(native())) PQclear(rest);
}

}  // namespace pinwheel::tpcc
