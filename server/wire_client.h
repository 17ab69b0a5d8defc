#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pinwheel::server {

/// Where a server listens and as whom to log in.
struct ConnectionTarget {
  std::string socket_directory;
  int port = 5432;
  std::string user;
  std::string database = "postgres";
  std::string application_name = "pinwheel";
};

/// One row of a result: text, or nothing for NULL.
using WireRow = std::vector<std::optional<std::string>>;

/// A small client for the server's own tools: the simple protocol over a Unix socket, without passwords
/// (trust or peer). Blocking; one per tool.
///
/// Errors: SqlError 08006 when it cannot connect or the connection is lost, and what the server
/// reports.
class WireClient {
 public:
  explicit WireClient(const ConnectionTarget& target);
  ~WireClient();
  WireClient(const WireClient&) = delete;
  WireClient& operator=(const WireClient&) = delete;

  /// Runs one statement; all its rows.
  std::vector<WireRow> query(std::string_view text);

 private:
  struct Message {
    char type;
    std::string payload;
  };
  void connect(const std::string& path);
  void send(std::string_view bytes);
  Message read_message();
  void read(char* into, std::size_t count);

  int fd_ = -1;
};

}  // namespace pinwheel::server
