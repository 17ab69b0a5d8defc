#pragma once

#include <libpq-fe.h>

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

#include "bench/tpcc/cents.h"

namespace pinwheel::tpcc {

/// A statement that the server refused, or a connection that is lost (SQLSTATE 08006).
class StatementError : public std::runtime_error {
 public:
  StatementError(std::string sqlstate, const std::string& message)
      : std::runtime_error{message}, sqlstate_{std::move(sqlstate)} {}
  const std::string& sqlstate() const noexcept { return sqlstate_; }

 private:
  std::string sqlstate_;
};

/// The rows of one statement, as text.
class Result {
 public:
  Result() = default;
  /// Takes the result over. Throws StatementError when it is not of a statement that succeeded.
  Result(PGconn* connection, PGresult* result);

  int rows() const noexcept { return PQntuples(result_.get()); }
  int columns() const noexcept { return PQnfields(result_.get()); }
  const char* column_name(int column) const noexcept { return PQfname(result_.get(), column); }
  bool is_null(int row, int column) const noexcept { return PQgetisnull(result_.get(), row, column) != 0; }
  std::string_view text(int row, int column) const noexcept;
  int integer(int row, int column) const noexcept;
  Cents cents(int row, int column) const noexcept { return parse_cents(text(row, column)); }
  /// Rows that an INSERT, UPDATE or DELETE touched.
  int affected() const noexcept;

 private:
  struct Clear {
    void operator()(PGresult* result) const noexcept { PQclear(result); }
  };
  std::unique_ptr<PGresult, Clear> result_;
};

/// One connection, used one statement at a time, waiting for each.
class Connection {
 public:
  /// `dsn`: libpq's connection string; what it leaves out comes from libpq's environment variables. Throws
  /// StatementError.
  explicit Connection(const std::string& dsn);

  Result execute(const std::string& sql);
  void prepare(const char* name, const char* sql);

  /// Between these, copy_data() sends bytes of COPY's text format.
  void begin_copy(const std::string& sql);
  void copy_data(std::string_view data);
  void end_copy();

  /// For what waits by itself (AsyncSession). Stays owned here.
  PGconn* native() const noexcept { return connection_.get(); }

 private:
  struct Finish {
    void operator()(PGconn* connection) const noexcept { PQfinish(connection); }
  };
  std::unique_ptr<PGconn, Finish> connection_;
};

/// libpq's last message without its line end.
std::string last_message(PGconn* connection);

}  // namespace pinwheel::tpcc
