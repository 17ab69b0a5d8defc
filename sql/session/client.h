#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "base/error.h"
#include "sql/execute/execution_context.h"
#include "sql/plan/cached_plan.h"

namespace pinwheel::sql {

/// Wire formats of result columns: 0 text, 1 binary. Empty = all text, one entry = that for all.
using Formats = std::span<const std::int16_t>;

enum class NoticeLevel : std::uint8_t { kDebug, kLog, kInfo, kNotice, kWarning };

/// What a session tells its client, and asks of it. Implemented over the protocol by the server; what is said
/// goes into a buffer and is sent when the statement's turn is over or the buffer is full.
class Client {
 public:
  virtual ~Client() = default;

  virtual void row_description(std::span<const ResultColumn> columns, Formats formats) = 0;
  virtual void parameter_description(std::span<const Oid> types) = 0;
  virtual void no_data() = 0;
  /// Receives rows of these columns until the next call. The spans outlive the rows.
  virtual RowReceiver& rows(std::span<const ResultColumn> columns, Formats formats) = 0;
  virtual void command_complete(std::string_view tag) = 0;
  virtual void portal_suspended() = 0;
  virtual void empty_query() = 0;
  virtual void notice(NoticeLevel level, const SqlError& notice) = 0;

  // COPY. Between copy_in_begin and the end of data the client sends CopyData.
  virtual void copy_in_begin(bool binary, int column_count) = 0;
  /// The next piece of data; valid until the next call. False at CopyDone. Errors: 57014 `COPY from stdin
  /// failed: ...` after CopyFail, 08P01 for another message, 08006 when the client is gone.
  virtual bool copy_in_read(std::string_view& data) = 0;
  virtual void copy_out_begin(bool binary, int column_count) = 0;
  virtual void copy_out_data(std::string_view line) = 0;
  virtual void copy_out_end() = 0;
};

}  // namespace pinwheel::sql
