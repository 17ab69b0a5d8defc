#pragma once

#include <string>

#include "server/client_socket.h"

namespace pinwheel::server {

/// Decides by DIR/pg_hba.conf (PostgreSQL's syntax; the first line that matches counts) whether this peer may
/// be this user. Methods: trust, reject, peer (Unix sockets: the operating system's user name must equal the
/// role's).
///
/// Errors: FATAL 28000 in PostgreSQL's words when refused, when no line matches, and for methods that are not
/// supported.
void check_host_based_access(const std::string& data_directory, const std::string& user,
                             const std::string& database, const PeerInfo& peer, int fd);

}  // namespace pinwheel::server
