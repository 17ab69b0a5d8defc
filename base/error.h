#pragma once

#include <cstdint>
#include <exception>
#include <string>
#include <string_view>

namespace pinwheel {

/// The five characters of an SQLSTATE, as clients see them. Known codes stand in base/sqlstate.h.
struct SqlState {
  char code[6];

  constexpr SqlState() : code{'0', '0', '0', '0', '0', '\0'} {}
  constexpr explicit SqlState(const char (&text)[6])
      : code{text[0], text[1], text[2], text[3], text[4], '\0'} {}
  constexpr std::string_view view() const { return {code, 5}; }
  constexpr bool operator==(const SqlState& other) const { return view() == other.view(); }
};

/// What the protocol's ErrorResponse carries beyond severity, SQLSTATE and message.
struct ErrorFields {
  std::string detail;
  std::string hint;
  std::string context;
  /// 1-based character offset in the query text; 0 = none. psql draws its caret from it.
  int position = 0;
  std::string schema_name, table_name, column_name, data_type_name, constraint_name;
};

/// kError ends the statement, kFatal the session. A broken invariant is no exception but panic().
enum class Severity : std::uint8_t { kError, kFatal };

/// The user's fault or a failed statement. Only the session loop catches it (to report it and abort the
/// transaction); everything between releases what it holds through guards.
class SqlError : public std::exception {
 public:
  SqlError(SqlState state, std::string message) : state_{state}, message_{std::move(message)} {}

  SqlError&& detail(std::string text) && {
    fields_.detail = std::move(text);
    return std::move(*this);
  }
  SqlError&& hint(std::string text) && {
    fields_.hint = std::move(text);
    return std::move(*this);
  }
  SqlError&& context(std::string text) && {
    fields_.context = std::move(text);
    return std::move(*this);
  }
  SqlError&& position(int offset) && {
    fields_.position = offset;
    return std::move(*this);
  }
  SqlError&& table(std::string schema, std::string name) && {
    fields_.schema_name = std::move(schema);
    fields_.table_name = std::move(name);
    return std::move(*this);
  }
  SqlError&& column(std::string name) && {
    fields_.column_name = std::move(name);
    return std::move(*this);
  }
  SqlError&& data_type(std::string name) && {
    fields_.data_type_name = std::move(name);
    return std::move(*this);
  }
  SqlError&& constraint(std::string name) && {
    fields_.constraint_name = std::move(name);
    return std::move(*this);
  }
  SqlError&& fatal() && {
    severity_ = Severity::kFatal;
    return std::move(*this);
  }

  Severity severity() const noexcept { return severity_; }
  SqlState state() const noexcept { return state_; }
  const std::string& message() const noexcept { return message_; }
  const ErrorFields& fields() const noexcept { return fields_; }
  /// For code that adds what only it knows on the way up (a COPY line, a statement's position).
  ErrorFields& fields() noexcept { return fields_; }
  const char* what() const noexcept override { return message_.c_str(); }

 private:
  Severity severity_ = Severity::kError;
  SqlState state_;
  std::string message_;
  ErrorFields fields_;
};

/// Logs `message` with file and line to stderr and aborts the process, which makes the launcher restart the
/// cluster through recovery. For broken invariants and failed fsyncs; never for user input.
[[noreturn]] void panic(const char* file, int line, std::string_view message) noexcept;

}  // namespace pinwheel

#define DB_PANIC(message) ::pinwheel::panic(__FILE__, __LINE__, (message))

/// Stays on in release builds: use it where it is cheap.
#define DB_ASSERT(condition)              \
  (static_cast<bool>(condition) ? void(0) \
                                : ::pinwheel::panic(__FILE__, __LINE__, "assertion failed: " #condition))

#ifdef PINWHEEL_DEBUG_CHECKS
#define DB_DEBUG_ASSERT(condition) DB_ASSERT(condition)
#else
#define DB_DEBUG_ASSERT(condition) void(0)
#endif
