#pragma once

#include <string>
#include <utility>
#include <vector>

namespace pinwheel::server {

/// Options that every subcommand shares.
struct CommonOptions {
  std::string data_directory;         ///< -D, else PGDATA
  std::vector<std::string> settings;  ///< -c name=value
};

struct StartOptions {
  CommonOptions common;
  std::string port, socket_directory, listen_addresses;  ///< -p, -k, -h
  std::string shared_buffers, max_connections;           ///< -B, -N
  std::string log_file;                                  ///< -l
  std::string profile;                                   ///< --profile
  bool no_fsync = false;                                 ///< -F
  bool wait = false;                                     ///< -w
  int timeout_s = 60;                                    ///< -t
};

struct StopOptions {
  CommonOptions common;
  std::string mode = "fast";  ///< -m
  bool wait = true;           ///< -W turns it off
  int timeout_s = 60;
};

struct TopCommandOptions {
  CommonOptions common;               ///< a directory names its server's socket
  std::string host;                   ///< directory of the Unix socket
  int port = 5432;                    ///< -p
  std::string user;                   ///< -U; by default the account's name
  std::string database = "postgres";  ///< -d
  int interval_s = 1;                 ///< -s
  bool once = false;                  ///< one frame as plain text
};

/// Subcommands of `pinwheel`; each returns the process's exit status and prints errors as PostgreSQL's tools
/// do.
int command_start(const StartOptions& options);
int command_stop(const StopOptions& options);
int command_restart(const StopOptions& stop, const StartOptions& start);
int command_reload(const CommonOptions& options);
int command_status(const CommonOptions& options);
int command_controldata(const CommonOptions& options);
int command_waldump(const CommonOptions& options, const std::string& from, const std::string& to);
int command_check(const CommonOptions& options);
int command_top(const TopCommandOptions& options);

}  // namespace pinwheel::server
