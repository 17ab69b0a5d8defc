#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/arena.h"
#include "protocol/writer.h"
#include "sql/execute/slot.h"
#include "sql/session/client.h"
#include "sql/types/eval_context.h"
#include "sql/types/type_info.h"

namespace pinwheel::server {

/// Turns rows into DataRow messages. Set up once per result; integers and text take short cuts, everything
/// else goes through its type's output or send function.
class RowEncoder final : public sql::RowReceiver {
 public:
  /// Called after each row, so that the owner can send a full buffer.
  using AfterRow = void (*)(void* owner);

  RowEncoder(protocol::MessageWriter& out, sql::EvalContext& eval, AfterRow after_row, void* owner)
      : out_{out}, eval_{eval}, after_row_{after_row}, owner_{owner} {}

  /// Errors: 42883 for a type without a binary form that was asked for as binary.
  void prepare(std::span<const sql::ResultColumn> columns, sql::Formats formats);
  void row(const sql::Slot& slot) override;

 private:
  enum class Way : std::uint8_t {
    kInt2,
    kInt4,
    kInt8,
    kText,
    kBool,
    kOutput,
    kSend,
    kBinaryInt2,
    kBinaryInt4,
    kBinaryInt8,
    kUserType
  };
  struct Column {
    Way way = Way::kOutput;
    Oid type;
    int typmod = -1;
    const sql::TypeInfo* info = nullptr;
  };
  void write_value(const Column& column, sql::Datum value);
  void write_through_function(const Column& column, sql::Datum value);

  protocol::MessageWriter& out_;
  sql::EvalContext& eval_;
  AfterRow after_row_;
  void* owner_;
  std::vector<Column> columns_;
  std::string scratch_;
  Arena arena_;
};

}  // namespace pinwheel::server
