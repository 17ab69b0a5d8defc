#include "server/row_encoder.h"

#include <charconv>

#include "base/error.h"
#include "base/sqlstate.h"
#include "sql/types/type_oids.h"
#include "sql/types/varlena.h"

namespace pinwheel::server {
namespace {

/// Longest decimal form of an int64.
constexpr std::size_t kIntegerChars = 20;

void write_integer(protocol::MessageWriter& out, std::int64_t value) {
  char* at = out.room(4 + kIntegerChars);
  const auto end = std::to_chars(at + 4, at + 4 + kIntegerChars, value).ptr;
  const auto length = static_cast<std::uint32_t>(end - (at + 4));
  const std::uint32_t swapped = __builtin_bswap32(length);
  std::memcpy(at, &swapped, 4);
  out.advance(4 + length);
}

}  // namespace

void RowEncoder::prepare(std::span<const sql::ResultColumn> columns, sql::Formats formats) {
  columns_.clear();
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const std::int16_t format = formats.empty()       ? std::int16_t{0}
                                : formats.size() == 1 ? formats[0]
                                                      : formats[i];
    Column column;
    column.type = columns[i].type;
    column.typmod = columns[i].type_modifier;
    column.info = sql::find_type(column.type);
    if (column.info == nullptr) {
      column.way = Way::kUserType;
    } else if (format == 1) {
      if (column.info->send == nullptr) {
        throw SqlError{sqlstate::kUndefinedFunction, "no binary output function available for type " +
                                                         sql::format_builtin_type(column.type, -1, false)};
      }
      column.way = column.type == sql::kInt4Type   ? Way::kBinaryInt4
                   : column.type == sql::kInt8Type ? Way::kBinaryInt8
                   : column.type == sql::kInt2Type ? Way::kBinaryInt2
                                                   : Way::kSend;
    } else {
      column.way = column.type == sql::kInt4Type   ? Way::kInt4
                   : column.type == sql::kInt8Type ? Way::kInt8
                   : column.type == sql::kInt2Type ? Way::kInt2
                   : column.type == sql::kBoolType ? Way::kBool
                   : column.type == sql::kTextType || column.type == sql::kVarCharType ||
                           column.type == sql::kBpCharType
                       ? Way::kText
                       : Way::kOutput;
    }
    columns_.push_back(column);
  }
}

void RowEncoder::row(const sql::Slot& slot) {
  out_.begin(protocol::Backend::kDataRow);
  out_.int16(static_cast<std::int16_t>(columns_.size()));
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    if (slot.nulls[i]) {
      out_.int32(-1);
    } else {
      write_value(columns_[i], slot.values[i]);
    }
  }
  out_.end();
  after_row_(owner_);
}

void RowEncoder::write_value(const Column& column, sql::Datum value) {
  switch (column.way) {
    case Way::kInt2:
    case Way::kInt4:
    case Way::kInt8:
      write_integer(out_, value.as_int64());
      return;
    case Way::kBool:
      out_.counted(value.as_bool() ? "t" : "f");
      return;
    case Way::kText:
      if (sql::needs_detoast(value)) break;
      out_.counted(sql::var_view(value));
      return;
    case Way::kBinaryInt2:
      out_.int32(2);
      out_.int16(value.as_int16());
      return;
    case Way::kBinaryInt4:
      out_.int32(4);
      out_.int32(value.as_int32());
      return;
    case Way::kBinaryInt8:
      out_.int32(8);
      out_.int32(static_cast<std::int32_t>(value.as_int64() >> 32));
      out_.int32(static_cast<std::int32_t>(value.as_int64()));
      return;
    default:
      break;
  }
  write_through_function(column, value);
}

void RowEncoder::write_through_function(const Column& column, sql::Datum value) {
  scratch_.clear();
  if (column.way == Way::kUserType) {
    eval_.catalog->output_user_type(column.type, value, scratch_);
  } else {
    const sql::IoContext io{arena_, eval_, column.type, column.typmod};
    if (column.way == Way::kSend) {
      column.info->send(value, io, scratch_);
    } else {
      column.info->output(value, io, scratch_);
    }
    arena_.reset();
  }
  out_.counted(scratch_);
}

}  // namespace pinwheel::server
