#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "protocol/startup.h"
#include "protocol/writer.h"
#include "server/client_socket.h"
#include "server/row_encoder.h"
#include "server/scheduler.h"
#include "sql/session/client.h"
#include "sql/session/session.h"

namespace pinwheel::server {

class BackendProcess;

/// One client connection: a fiber that speaks the protocol over its socket and feeds an sql::Session.
class ClientSession final : public Fiber, public sql::Client {
 public:
  ClientSession(BackendProcess& backend, int fd);
  ~ClientSession() override;

  /// The configuration files were read again: acted on between statements.
  void note_reload() { reload_pending_ = true; }

  // sql::Client
  void row_description(std::span<const sql::ResultColumn> columns, sql::Formats formats) override;
  void parameter_description(std::span<const Oid> types) override;
  void no_data() override;
  sql::RowReceiver& rows(std::span<const sql::ResultColumn> columns, sql::Formats formats) override;
  void command_complete(std::string_view tag) override;
  void portal_suspended() override;
  void empty_query() override;
  void notice(sql::NoticeLevel level, const SqlError& notice) override;
  void copy_in_begin(bool binary, int column_count) override;
  bool copy_in_read(std::string_view& data) override;
  void copy_out_begin(bool binary, int column_count) override;
  void copy_out_data(std::string_view line) override;
  void copy_out_end() override;

 protected:
  void run() override;

 private:
  /// Runs `step`; an SqlError (or running out of memory) becomes the result. Never parks while an exception
  /// is in flight.
  template <class Step>
  std::optional<SqlError> guarded(Step step);

  bool start_session();
  std::optional<protocol::StartupPacket> read_startup();
  void cancel(const protocol::StartupPacket& packet);
  void open_session(const protocol::StartupPacket& packet);
  void authenticate(const protocol::StartupPacket& packet);
  void greet(const protocol::StartupPacket& packet);
  void serve();
  bool serve_one();
  std::optional<SqlError> pending_fatal();
  void handle(char type, std::string_view payload);
  void handle_parse(std::string_view payload);
  void handle_bind(std::string_view payload);
  void handle_describe(std::string_view payload);
  void handle_close(std::string_view payload);
  void handle_execute(std::string_view payload);
  void report(const SqlError& error);
  void ready_for_query();
  void send_reports();
  bool flush();
  void flush_if_full() {
    if (out_.size() >= kSendBytes) flush();
  }
  void close_session();

  static constexpr std::size_t kSendBytes = 64 * 1024;

  BackendProcess& backend_;
  ClientSocket socket_;
  protocol::MessageWriter out_;
  std::unique_ptr<sql::Session> session_;
  std::unique_ptr<RowEncoder> encoder_;
  bool skip_to_sync_ = false;
  bool awaiting_ready_ = false;
  bool done_ = false;
  bool reload_pending_ = false;
  std::vector<sql::BindValue> bind_values_;
  std::vector<std::int16_t> parameter_formats_, result_formats_;
};

}  // namespace pinwheel::server
