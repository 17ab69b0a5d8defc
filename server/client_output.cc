// ClientSession's side towards sql: what results, notices and COPY data look like on the wire.

#include "base/error.h"
#include "base/sqlstate.h"
#include "protocol/report.h"
#include "server/client_session.h"
#include "sql/types/type_info.h"

namespace pinwheel::server {

using protocol::Backend;
using protocol::Frame;
using protocol::FrameState;
using protocol::Frontend;

void ClientSession::row_description(std::span<const sql::ResultColumn> columns, sql::Formats formats) {
  out_.begin(Backend::kRowDescription);
  out_.int16(static_cast<std::int16_t>(columns.size()));
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const sql::ResultColumn& column = columns[i];
    const sql::TypeInfo* type = sql::find_type(column.type);
    out_.string(column.name);
    out_.int32(static_cast<std::int32_t>(column.origin_table.value));
    out_.int16(column.origin_attribute);
    out_.int32(static_cast<std::int32_t>(column.type.value));
    out_.int16(type != nullptr ? type->length : std::int16_t{-1});
    out_.int32(column.type_modifier);
    out_.int16(formats.empty() ? std::int16_t{0} : formats.size() == 1 ? formats[0] : formats[i]);
  }
  out_.end();
}

void ClientSession::parameter_description(std::span<const Oid> types) {
  out_.begin(Backend::kParameterDescription);
  out_.int16(static_cast<std::int16_t>(types.size()));
  for (const Oid type : types) out_.int32(static_cast<std::int32_t>(type.value));
  out_.end();
}

void ClientSession::no_data() { out_.empty_message(Backend::kNoData); }

sql::RowReceiver& ClientSession::rows(std::span<const sql::ResultColumn> columns, sql::Formats formats) {
  encoder_->prepare(columns, formats);
  return *encoder_;
}

void ClientSession::command_complete(std::string_view tag) { protocol::write_command_complete(out_, tag); }

void ClientSession::portal_suspended() { out_.empty_message(Backend::kPortalSuspended); }

void ClientSession::empty_query() { out_.empty_message(Backend::kEmptyQueryResponse); }

void ClientSession::notice(sql::NoticeLevel level, const SqlError& notice) {
  static constexpr std::string_view kNames[] = {"DEBUG", "LOG", "INFO", "NOTICE", "WARNING"};
  protocol::write_notice(out_, kNames[static_cast<int>(level)], notice);
}

// ---- COPY ----

void ClientSession::copy_in_begin(bool binary, int column_count) {
  out_.begin(Backend::kCopyInResponse);
  out_.byte(binary ? 1 : 0);
  out_.int16(static_cast<std::int16_t>(column_count));
  for (int i = 0; i < column_count; ++i) out_.int16(binary ? 1 : 0);
  out_.end();
  flush();
}

bool ClientSession::copy_in_read(std::string_view& data) {
  while (true) {
    Frame frame;
    switch (socket_.read_frame(frame, /*startup=*/false)) {
      case ClientSocket::ReadResult::kClosed:
        throw SqlError{sqlstate::kConnectionFailure,
                       "unexpected EOF on client connection with an open transaction"}
            .fatal();
      case ClientSocket::ReadResult::kInterrupted:
      case ClientSocket::ReadResult::kTimeout:
        shm::service_interrupts();
        continue;
      case ClientSocket::ReadResult::kFrame:
        break;
    }
    if (frame.state != FrameState::kComplete) {
      throw SqlError{sqlstate::kProtocolViolation, "invalid message during COPY from stdin"}.fatal();
    }
    switch (static_cast<Frontend>(frame.type)) {
      case Frontend::kCopyData:
        data = frame.payload;
        return true;
      case Frontend::kCopyDone:
        return false;
      case Frontend::kCopyFail: {
        protocol::MessageReader reader{frame.payload};
        throw SqlError{sqlstate::kQueryCanceled, "COPY from stdin failed: " + std::string{reader.string()}};
      }
      case Frontend::kFlush:
      case Frontend::kSync:
        continue;
      default:
        throw SqlError{sqlstate::kProtocolViolation,
                       "unexpected message type 0x" +
                           std::string{"0123456789ABCDEF"[(frame.type >> 4) & 15]} +
                           "0123456789ABCDEF"[frame.type & 15] + " during COPY from stdin"};
    }
  }
}

void ClientSession::copy_out_begin(bool binary, int column_count) {
  out_.begin(Backend::kCopyOutResponse);
  out_.byte(binary ? 1 : 0);
  out_.int16(static_cast<std::int16_t>(column_count));
  for (int i = 0; i < column_count; ++i) out_.int16(binary ? 1 : 0);
  out_.end();
}

void ClientSession::copy_out_data(std::string_view line) {
  out_.begin(Backend::kCopyData);
  out_.bytes(line);
  out_.end();
  flush_if_full();
}

void ClientSession::copy_out_end() { out_.empty_message(Backend::kCopyDone); }

}  // namespace pinwheel::server
