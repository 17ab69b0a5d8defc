#pragma once

namespace pinwheel::server {

/// The channel over which the launcher passes accepted sockets to a pooled backend: a SOCK_SEQPACKET pair.
struct HandoverChannel {
  int launcher_end = -1;
  int backend_end = -1;
};

/// Errors: SqlError 53000.
HandoverChannel make_handover_channel();

/// Passes a descriptor (SCM_RIGHTS); the sender keeps its own copy and closes it. False when the backend is
/// gone.
bool send_descriptor(int channel, int fd);

/// The next descriptor passed; -1 when there is none now, -2 when the launcher is gone.
int receive_descriptor(int channel);

}  // namespace pinwheel::server
