#pragma once

#include <cstdint>

#include "bench/canned/sockets.h"

namespace pinwheel::canned {

/// Serves one client on a blocking socket until it leaves: the process-per-connection model.
void serve_client(FileDescriptor client, std::int32_t id, std::int64_t burn_us);

/// Serves all clients whose sockets come over `channel`, in one epoll loop, until the channel ends: the
/// pooled model.
void serve_pool(FileDescriptor channel, std::int64_t burn_us);

}  // namespace pinwheel::canned
