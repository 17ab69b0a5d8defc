#include "server/authentication.h"

#include <arpa/inet.h>
#include <pwd.h>
#include <sys/socket.h>

#include <cstring>
#include <sstream>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "base/log.h"
#include "base/sqlstate.h"

namespace pinwheel::server {
namespace {

/// One line of pg_hba.conf, split.
struct HbaLine {
  std::string type;
  std::vector<std::string> databases;
  std::vector<std::string> users;
  std::string address;
  std::string mask;
  std::string method;
  int number = 0;
};

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::string part;
  std::istringstream stream{text};
  while (std::getline(stream, part, separator)) {
    if (!part.empty()) parts.push_back(part);
  }
  return parts;
}

/// Fields of a line: separated by space, "quoted" ones taken whole, # begins a comment.
std::vector<std::string> fields_of(const std::string& line) {
  std::vector<std::string> fields;
  std::string field;
  bool quoted = false, any = false;
  for (const char c : line + " ") {
    if (c == '"') {
      quoted = !quoted;
      any = true;
    } else if (c == '#' && !quoted) {
      break;
    } else if ((c == ' ' || c == '\t') && !quoted) {
      if (any) fields.push_back(field);
      field.clear();
      any = false;
    } else {
      field += c;
      any = true;
    }
  }
  if (any) fields.push_back(field);
  return fields;
}

std::vector<HbaLine> read_lines(const std::string& path) {
  std::vector<HbaLine> lines;
  std::istringstream stream{read_file(path)};
  std::string text;
  for (int number = 1; std::getline(stream, text); ++number) {
    const std::vector<std::string> fields = fields_of(text);
    if (fields.empty()) continue;
    const bool local = fields[0] == "local";
    if (fields.size() < (local ? 4u : 5u)) {
      log(LogLevel::kLog, "line {} of configuration file \"{}\" is not complete: ignored", number, path);
      continue;
    }
    HbaLine line;
    line.number = number;
    line.type = fields[0];
    line.databases = split(fields[1], ',');
    line.users = split(fields[2], ',');
    std::size_t next = 3;
    if (!local) {
      line.address = fields[next++];
      const bool has_mask = line.address.find('/') == std::string::npos &&
                            std::isdigit(static_cast<unsigned char>(line.address[0])) &&
                            fields.size() > next + 1;
      if (has_mask) line.mask = fields[next++];
    }
    line.method = fields[next];
    lines.push_back(std::move(line));
  }
  return lines;
}

bool matches_name(const std::vector<std::string>& names, const std::string& name, bool database,
                  const std::string& user) {
  for (const std::string& candidate : names) {
    if (candidate == "all" || candidate == name) return true;
    if (database && (candidate == "sameuser") && name == user) return true;
  }
  return false;
}

/// Address bytes of either family; empty when it is none.
std::vector<unsigned char> address_bytes(const std::string& text) {
  std::vector<unsigned char> bytes(16);
  if (::inet_pton(AF_INET, text.c_str(), bytes.data()) == 1) {
    bytes.resize(4);
    return bytes;
  }
  if (::inet_pton(AF_INET6, text.c_str(), bytes.data()) == 1) return bytes;
  return {};
}

bool matches_address(const HbaLine& line, const PeerInfo& peer) {
  if (line.address == "all") return true;
  const std::vector<unsigned char> actual = address_bytes(peer.address);
  if (line.address == "samehost" || line.address == "samenet") {
    return peer.address.starts_with("127.") || peer.address == "::1";
  }
  const std::size_t slash = line.address.find('/');
  const std::vector<unsigned char> wanted = address_bytes(line.address.substr(0, slash));
  if (wanted.empty() || wanted.size() != actual.size()) return false;
  std::vector<unsigned char> mask(wanted.size(), 0xFF);
  if (!line.mask.empty()) {
    mask = address_bytes(line.mask);
    if (mask.size() != wanted.size()) return false;
  } else if (slash != std::string::npos) {
    int bits = std::atoi(line.address.c_str() + slash + 1);
    for (unsigned char& byte : mask) {
      byte = bits >= 8 ? 0xFF : bits <= 0 ? 0 : static_cast<unsigned char>(0xFF << (8 - bits));
      bits -= 8;
    }
  }
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if ((wanted[i] & mask[i]) != (actual[i] & mask[i])) return false;
  }
  return true;
}

bool matches(const HbaLine& line, const std::string& user, const std::string& database,
             const PeerInfo& peer) {
  if (line.type == "local") {
    if (!peer.local) return false;
  } else if (line.type == "host" || line.type == "hostnossl") {
    if (peer.local || !matches_address(line, peer)) return false;
  } else {
    return false;  // hostssl, hostgssenc: such connections do not exist here
  }
  return matches_name(line.databases, database, true, user) && matches_name(line.users, user, false, user);
}

/// Name of the operating system's user at the other end of a Unix socket.
std::string peer_user(int fd) {
  ucred credentials{};
  socklen_t length = sizeof credentials;
  if (::getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &credentials, &length) != 0) return {};
  const passwd* entry = ::getpwuid(credentials.uid);
  return entry != nullptr ? entry->pw_name : "";
}

SqlError refused(const std::string& message) {
  return SqlError{sqlstate::kInvalidAuthorizationSpecification, message}.fatal();
}

}  // namespace

void check_host_based_access(const std::string& data_directory, const std::string& user,
                             const std::string& database, const PeerInfo& peer, int fd) {
  const std::string host = peer.local ? "[local]" : peer.address;
  for (const HbaLine& line : read_lines(data_directory + "/pg_hba.conf")) {
    if (!matches(line, user, database, peer)) continue;
    if (line.method == "trust") return;
    if (line.method == "reject") {
      throw refused("pg_hba.conf rejects connection for host \"" + host + "\", user \"" + user +
                    "\", database \"" + database + "\", no encryption");
    }
    if (line.method == "peer") {
      if (peer_user(fd) == user) return;
      throw refused("Peer authentication failed for user \"" + user + "\"");
    }
    throw refused("authentication method \"" + line.method + "\" of line " + std::to_string(line.number) +
                  " of pg_hba.conf is not supported");
  }
  throw refused("no pg_hba.conf entry for host \"" + host + "\", user \"" + user + "\", database \"" +
                database + "\", no encryption");
}

}  // namespace pinwheel::server
