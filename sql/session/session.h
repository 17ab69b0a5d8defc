#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/settings.h"
#include "shm/parking.h"
#include "shm/session_slot.h"
#include "sql/session/client.h"

namespace pinwheel::sql {

struct SessionServices;
struct SessionState;
struct EvalContext;

/// Who a session is, after authentication.
struct SessionIdentity {
  std::string user;
  std::string database;
  std::int32_t backend_pid = 0;
  shm::SessionIndex index;
};

/// One parameter of Bind.
struct BindValue {
  bool is_null = false;
  std::string_view bytes;
};

/// How a session ends, for pg_stat_database.
enum class SessionEnd : std::uint8_t {
  kNormal,
  kAbandoned,  // the connection was lost
  kFatal,      // an error ended it
  kKilled,     // an administrator did
};

/// One connection's SQL side: transaction, prepared statements, portals, settings. The server feeds it
/// decoded messages; results go to its Client. Everything runs on the session's fiber.
///
/// Errors: every function but those marked may throw SqlError; the server then calls handle_error(), reports
/// it, and, in the extended protocol, skips to Sync.
class Session {
 public:
  /// Looks up role and database. Errors: FATAL 28000 `role "x" does not exist`, 3D000 `database "x" does not
  /// exist`, 28000 when the role may not log in, 53300 for connection limits; 22023 and 42704 for start-up
  /// settings.
  Session(SessionServices& services, SessionIdentity identity, shm::Parker& parker, Client& client,
          std::span<const std::pair<std::string, std::string>> startup_settings);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // ---- simple protocol ----
  /// Runs all statements of the text as one implicit transaction, unless they say otherwise.
  void simple_query(std::string_view text);

  // ---- extended protocol ----
  void parse(std::string_view name, std::string_view text, std::span<const Oid> parameter_types);
  void bind(std::string_view portal, std::string_view statement, Formats parameter_formats,
            std::span<const BindValue> values, Formats result_formats);
  void describe_statement(std::string_view name);
  void describe_portal(std::string_view name);
  /// `max_rows` 0 = all.
  void execute(std::string_view portal, std::int32_t max_rows);
  void close_statement(std::string_view name);
  void close_portal(std::string_view name);
  /// Ends the implicit transaction of a pipeline.
  void sync();

  // ---- errors, interrupts, end ----
  /// After an error left any of the above: aborts what must be aborted. Does not throw.
  void handle_error() noexcept;
  /// 'I', 'T' or 'E' for ReadyForQuery.
  char transaction_status() const noexcept;
  /// Tells pg_stat_activity and the timers that the session waits for its client.
  void become_idle();
  /// The configuration files were read again.
  void settings_reloaded();
  /// Counts the session's end in its database's statistics; the first call counts. end() counts a normal one.
  void count_end(SessionEnd how) noexcept;
  /// Aborts what is open; drops temporary objects. Before destruction.
  void end() noexcept;

  SessionSettings& settings() noexcept;
  EvalContext& eval() noexcept;
  bool is_superuser() const noexcept;

 private:
  std::unique_ptr<SessionState> state_;
};

}  // namespace pinwheel::sql
