#include "server/client_session.h"

#include <fmt/format.h>

#include <new>

#include "base/log.h"
#include "base/parameters.h"
#include "base/sqlstate.h"
#include "protocol/report.h"
#include "server/authentication.h"
#include "server/backend.h"
#include "sql/types/utf8.h"

namespace pinwheel::server {

using protocol::Backend;
using protocol::Frame;
using protocol::FrameState;
using protocol::Frontend;
using protocol::MessageReader;

namespace {

sql::SessionEnd end_of(const SqlError& fatal) {
  if (fatal.state() == sqlstate::kAdminShutdown) return sql::SessionEnd::kKilled;
  if (fatal.state() == sqlstate::kConnectionFailure) return sql::SessionEnd::kAbandoned;
  return sql::SessionEnd::kFatal;
}

}  // namespace

ClientSession::ClientSession(BackendProcess& backend, int fd)
    : Fiber{backend.scheduler()}, backend_{backend}, socket_{fd, *this} {}

ClientSession::~ClientSession() = default;

template <class Step>
std::optional<SqlError> ClientSession::guarded(Step step) {
  std::optional<SqlError> error;
  try {
    step();
  } catch (SqlError& caught) {
    error = std::move(caught);
  } catch (const std::bad_alloc&) {
    error = SqlError{sqlstate::kOutOfMemory, "out of memory"};
  } catch (const std::exception& caught) {
    error = SqlError{sqlstate::kInternalError, caught.what()};
  }
  return error;
}

void ClientSession::run() {
  std::optional<SqlError> error;
  bool started = false;
  error = guarded([&] { started = start_session(); });
  if (error) {
    log(LogLevel::kFatal, "{}", error->message());
    report(std::move(*error).fatal());
    flush();
  } else if (started) {
    serve();
  }
  close_session();
}

// ---- start of a session ----

bool ClientSession::start_session() {
  const auto packet = read_startup();
  if (!packet) return false;
  if (packet->kind == protocol::StartupKind::kCancel) {
    cancel(*packet);
    return false;
  }
  open_session(*packet);
  greet(*packet);
  return true;
}

std::optional<protocol::StartupPacket> ClientSession::read_startup() {
  const Deadline deadline =
      Deadline::after_ms(backend_.settings().get_int(param::kAuthenticationTimeout) * 1000);
  // Each kind of encryption may be asked for once, in either order; neither is offered.
  for (int attempts = 0; attempts < 3; ++attempts) {
    Frame frame;
    if (socket_.read_frame(frame, /*startup=*/true, deadline) != ClientSocket::ReadResult::kFrame)
      return std::nullopt;
    if (frame.state != FrameState::kComplete) {
      throw SqlError{sqlstate::kProtocolViolation, "invalid length of startup packet"}.fatal();
    }
    protocol::StartupPacket packet = protocol::parse_startup(frame.payload);
    if (packet.kind != protocol::StartupKind::kSslRequest &&
        packet.kind != protocol::StartupKind::kGssEncRequest) {
      return packet;
    }
    if (!socket_.send("N")) return std::nullopt;
  }
  throw SqlError{sqlstate::kProtocolViolation, "too many encryption requests"}.fatal();
}

void ClientSession::cancel(const protocol::StartupPacket& packet) {
  const shm::SessionTable& sessions = backend_.sessions();
  const shm::SessionIndex index = sessions.find_by_backend_pid(packet.cancel_pid);
  if (index == shm::kNoSession) {
    log(LogLevel::kLog, "PID {} in cancel request did not match any process", packet.cancel_pid);
    return;
  }
  const shm::SessionSlot& slot = sessions.slot(index);
  if (slot.cancel_secret.load(std::memory_order_acquire) !=
      static_cast<std::uint32_t>(packet.cancel_secret)) {
    log(LogLevel::kLog, "wrong key in cancel request for process {}", packet.cancel_pid);
    return;
  }
  backend_.interrupt(index, shm::kInterruptCancel);
}

void ClientSession::open_session(const protocol::StartupPacket& packet) {
  if (packet.replication) {
    throw SqlError{sqlstate::kFeatureNotSupported, "replication connections are not supported"}.fatal();
  }
  const shm::SessionIndex index = backend_.acquire_slot();
  if (index == shm::kNoSession) {
    throw SqlError{sqlstate::kTooManyConnections, "sorry, too many clients already"}.fatal();
  }
  bind_slot(index, &backend_.sessions().slot(index));
  backend_.name_session(slot(), index);
  authenticate(packet);
  sql::SessionIdentity identity;
  identity.user = packet.user;
  identity.database = packet.database;
  identity.index = index;
  identity.backend_pid = slot().backend_pid.load(std::memory_order_relaxed);
  {
    shm::ActivityWriter activity{slot()};
    activity->client_port = socket_.peer().port;
    activity.set_client_address(socket_.peer().address);
  }
  session_ =
      std::make_unique<sql::Session>(backend_.services(), std::move(identity), *this, *this, packet.settings);
  const auto reserved =
      static_cast<std::size_t>(backend_.settings().get_int(param::kSuperuserReservedConnections));
  const shm::SessionTable& sessions = backend_.sessions();
  if (!session_->is_superuser() && sessions.clients_in_use() + reserved > sessions.client_capacity()) {
    throw SqlError{sqlstate::kTooManyConnections,
                   "remaining connection slots are reserved for non-replication superuser connections"}
        .fatal();
  }
  encoder_ = std::make_unique<RowEncoder>(
      out_, session_->eval(), [](void* owner) { static_cast<ClientSession*>(owner)->flush_if_full(); }, this);
}

void ClientSession::authenticate(const protocol::StartupPacket& packet) {
  check_host_based_access(backend_.data_directory(), packet.user, packet.database, socket_.peer(),
                          socket_.fd());
}

void ClientSession::greet(const protocol::StartupPacket& packet) {
  if (packet.minor_version > 0 || !packet.unknown_extensions.empty()) {
    out_.begin(Backend::kNegotiateProtocolVersion);
    out_.int32(0);
    out_.int32(static_cast<std::int32_t>(packet.unknown_extensions.size()));
    for (const std::string& name : packet.unknown_extensions) out_.string(name);
    out_.end();
  }
  out_.begin(Backend::kAuthentication);
  out_.int32(0);
  out_.end();
  for (const auto& [name, value] : session_->settings().all_reports())
    protocol::write_parameter_status(out_, name, value);
  session_->settings().take_reports();
  out_.begin(Backend::kBackendKeyData);
  out_.int32(slot().backend_pid.load(std::memory_order_relaxed));
  out_.int32(static_cast<std::int32_t>(slot().cancel_secret.load(std::memory_order_relaxed)));
  out_.end();
  ready_for_query();
}

// ---- the loop ----

void ClientSession::serve() {
  while (!done_ && serve_one()) {
  }
}

bool ClientSession::serve_one() {
  Frame frame;
  if (!socket_.frame_buffered(/*startup=*/false)) {
    if (!flush()) return false;
    session_->become_idle();
    if (reload_pending_) {
      reload_pending_ = false;
      session_->settings_reloaded();
    }
  }
  switch (socket_.read_frame(frame, /*startup=*/false)) {
    case ClientSocket::ReadResult::kClosed:
      session_->count_end(sql::SessionEnd::kAbandoned);
      return false;
    case ClientSocket::ReadResult::kInterrupted:
    case ClientSocket::ReadResult::kTimeout:
      if (auto fatal = pending_fatal()) {
        session_->count_end(end_of(*fatal));
        log(LogLevel::kFatal, "{}", fatal->message());
        report(*fatal);
        flush();
        return false;
      }
      return true;
    case ClientSocket::ReadResult::kFrame:
      break;
  }
  if (frame.state != FrameState::kComplete) {
    const bool bad_type = frame.state == FrameState::kBadType;
    report(SqlError{
        sqlstate::kProtocolViolation,
        bad_type ? fmt::format("invalid frontend message type {}", static_cast<unsigned char>(frame.type))
                 : std::string{"invalid message length"}}
               .fatal());
    flush();
    return false;
  }
  if (skip_to_sync_ && frame.type != static_cast<char>(Frontend::kSync) &&
      frame.type != static_cast<char>(Frontend::kTerminate)) {
    return true;
  }
  auto error = guarded([&] { handle(frame.type, frame.payload); });
  if (error) {
    session_->handle_error();
    report(*error);
    if (error->severity() == Severity::kFatal) {
      session_->count_end(end_of(*error));
      flush();
      return false;
    }
    if (frame.type == static_cast<char>(Frontend::kQuery) ||
        frame.type == static_cast<char>(Frontend::kFunctionCall)) {
      awaiting_ready_ = true;
    } else {
      skip_to_sync_ = true;
    }
  }
  if (awaiting_ready_) ready_for_query();
  return true;
}

/// Interrupts that arrive while the session waits for its client.
std::optional<SqlError> ClientSession::pending_fatal() {
  // A cancel that finds nothing running is forgotten.
  const std::uint32_t bits =
      slot().interrupts.fetch_and(~(shm::kCancellingInterrupts | shm::kInterruptReload |
                                    shm::kInterruptCatalog | shm::kInterruptYield | shm::kInterruptBarrier),
                                  std::memory_order_acq_rel);
  if ((bits & shm::kInterruptReload) != 0) session_->settings_reloaded();
  if ((bits & shm::kInterruptTerminate) != 0) {
    return SqlError{sqlstate::kAdminShutdown, "terminating connection due to administrator command"}.fatal();
  }
  if ((bits & shm::kInterruptIdleInTransaction) != 0) {
    return SqlError{sqlstate::kIdleInTransactionSessionTimeout,
                    "terminating connection due to idle-in-transaction timeout"}
        .fatal();
  }
  if ((bits & shm::kInterruptIdleSession) != 0) {
    return SqlError{sqlstate::kIdleSessionTimeout, "terminating connection due to idle-session timeout"}
        .fatal();
  }
  if ((bits & shm::kInterruptClientGone) != 0) {
    return SqlError{sqlstate::kConnectionFailure, "connection to client lost"}.fatal();
  }
  return std::nullopt;
}

void ClientSession::handle(char type, std::string_view payload) {
  switch (static_cast<Frontend>(type)) {
    case Frontend::kQuery: {
      MessageReader reader{payload};
      const std::string_view text = reader.string();
      reader.expect_end();
      awaiting_ready_ = true;
      sql::check_utf8(text);
      session_->simple_query(text);
      break;
    }
    case Frontend::kParse:
      return handle_parse(payload);
    case Frontend::kBind:
      return handle_bind(payload);
    case Frontend::kDescribe:
      return handle_describe(payload);
    case Frontend::kExecute:
      return handle_execute(payload);
    case Frontend::kClose:
      return handle_close(payload);
    case Frontend::kFlush:
      flush();
      break;
    case Frontend::kSync:
      skip_to_sync_ = false;
      awaiting_ready_ = true;
      session_->sync();
      break;
    case Frontend::kTerminate:
      done_ = true;
      break;
    case Frontend::kFunctionCall:
      awaiting_ready_ = true;
      throw SqlError{sqlstate::kFeatureNotSupported, "function call protocol messages are not supported"};
    case Frontend::kCopyData:
    case Frontend::kCopyDone:
    case Frontend::kCopyFail:
      break;  // the rest of a COPY that failed: drained
    case Frontend::kPassword:
      throw SqlError{sqlstate::kProtocolViolation, "unexpected password message"}.fatal();
  }
}

void ClientSession::handle_parse(std::string_view payload) {
  MessageReader reader{payload};
  const std::string_view name = reader.string();
  const std::string_view text = reader.string();
  const std::int16_t count = reader.int16();
  std::vector<Oid> types;
  for (std::int16_t i = 0; i < count; ++i) types.emplace_back(static_cast<std::uint32_t>(reader.int32()));
  reader.expect_end();
  sql::check_utf8(text);
  session_->parse(name, text, types);
  out_.empty_message(Backend::kParseComplete);
}

void ClientSession::handle_bind(std::string_view payload) {
  MessageReader reader{payload};
  const std::string_view portal = reader.string();
  const std::string_view statement = reader.string();
  const auto read_formats = [&reader](std::vector<std::int16_t>& formats) {
    formats.clear();
    const std::int16_t count = reader.int16();
    for (std::int16_t i = 0; i < count; ++i) {
      const std::int16_t format = reader.int16();
      if (format != 0 && format != 1) {
        throw SqlError{sqlstate::kInvalidParameterValue, fmt::format("unsupported format code: {}", format)};
      }
      formats.push_back(format);
    }
  };
  read_formats(parameter_formats_);
  bind_values_.clear();
  const auto count = static_cast<std::uint16_t>(reader.int16());
  for (std::uint16_t i = 0; i < count; ++i) {
    const std::int32_t length = reader.int32();
    sql::BindValue value;
    value.is_null = length == -1;
    if (length < -1) throw SqlError{sqlstate::kProtocolViolation, "invalid message format"};
    if (length > 0) value.bytes = reader.bytes(static_cast<std::size_t>(length));
    bind_values_.push_back(value);
  }
  read_formats(result_formats_);
  reader.expect_end();
  if (parameter_formats_.size() > 1 && parameter_formats_.size() != bind_values_.size()) {
    throw SqlError{sqlstate::kProtocolViolation,
                   fmt::format("bind message has {} parameter formats but {} parameters",
                               parameter_formats_.size(), bind_values_.size())};
  }
  session_->bind(portal, statement, parameter_formats_, bind_values_, result_formats_);
  out_.empty_message(Backend::kBindComplete);
}

void ClientSession::handle_describe(std::string_view payload) {
  MessageReader reader{payload};
  const std::uint8_t kind = reader.byte();
  const std::string_view name = reader.string();
  reader.expect_end();
  if (kind == 'S') return session_->describe_statement(name);
  if (kind == 'P') return session_->describe_portal(name);
  throw SqlError{sqlstate::kProtocolViolation, fmt::format("invalid DESCRIBE message subtype {}", kind)};
}

void ClientSession::handle_close(std::string_view payload) {
  MessageReader reader{payload};
  const std::uint8_t kind = reader.byte();
  const std::string_view name = reader.string();
  reader.expect_end();
  if (kind == 'S') {
    session_->close_statement(name);
  } else if (kind == 'P') {
    session_->close_portal(name);
  } else {
    throw SqlError{sqlstate::kProtocolViolation, fmt::format("invalid CLOSE message subtype {}", kind)};
  }
  out_.empty_message(Backend::kCloseComplete);
}

void ClientSession::handle_execute(std::string_view payload) {
  MessageReader reader{payload};
  const std::string_view portal = reader.string();
  const std::int32_t max_rows = reader.int32();
  reader.expect_end();
  session_->execute(portal, max_rows);
}

void ClientSession::report(const SqlError& error) {
  protocol::write_error(out_, error);
  if (session_ == nullptr || error.severity() == Severity::kFatal) return;
  if (log_enabled(LogLevel::kError)) log(LogLevel::kError, "{}", error.message());
}

void ClientSession::ready_for_query() {
  awaiting_ready_ = false;
  send_reports();
  protocol::write_ready_for_query(out_, session_->transaction_status());
}

void ClientSession::send_reports() {
  if (!session_->settings().has_reports()) return;
  for (const auto& [name, value] : session_->settings().take_reports())
    protocol::write_parameter_status(out_, name, value);
}

bool ClientSession::flush() {
  if (out_.size() == 0) return true;
  const bool sent = socket_.send(out_.pending());
  out_.clear();
  out_.shrink(kSendBytes);
  return sent;
}

void ClientSession::close_session() {
  if (session_ != nullptr) {
    session_->end();
    session_.reset();
  }
  if (session_index() != shm::kNoSession) {
    const shm::SessionIndex index = session_index();
    bind_slot(shm::kNoSession, nullptr);
    backend_.release_slot(*this, index);
  }
}

}  // namespace pinwheel::server
