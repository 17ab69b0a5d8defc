#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "bench/tpcc/postgres.h"

namespace pinwheel::tpcc {

/// One COPY into a table: fields one after another, in COPY's text format, sent in large pieces. Fields must
/// hold nothing that the format escapes.
class CopyRows {
 public:
  CopyRows(Connection& connection, std::string_view table, bool freeze) : connection_{connection} {
    std::string sql = "COPY ";
    sql += table;
    sql += freeze ? " FROM STDIN WITH (FREEZE)" : " FROM STDIN";
    connection_.begin_copy(sql);
  }

  CopyRows& field(std::string_view value) {
    separate();
    buffer_ += value;
    return *this;
  }
  CopyRows& field(int value) { return field(std::to_string(value)); }
  CopyRows& field(Cents value) {
    separate();
    append_cents(buffer_, value);
    return *this;
  }
  CopyRows& field(std::optional<int> value) { return value ? field(*value) : field("\\N"); }
  /// For a field that is made in place: what the caller appends is the field.
  std::string& open_field() {
    separate();
    return buffer_;
  }

  void end_row() {
    buffer_ += '\n';
    in_row_ = false;
    if (buffer_.size() >= kPieceBytes) send();
  }

  /// Without it the COPY stays open, and the connection unusable.
  void finish() {
    send();
    connection_.end_copy();
  }

 private:
  static constexpr std::size_t kPieceBytes = 256 * 1024;

  void separate() {
    if (in_row_) buffer_ += '\t';
    in_row_ = true;
  }
  void send() {
    connection_.copy_data(buffer_);
    buffer_.clear();
  }

  Connection& connection_;
  std::string buffer_;
  bool in_row_ = false;
};

}  // namespace pinwheel::tpcc
