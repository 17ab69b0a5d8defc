#include "base/bytes.h"
#include "sql/types/io_errors.h"
#include "sql/types/io_functions.h"
#include "sql/types/numbers.h"
#include "sql/types/row_value.h"
#include "sql/types/type_info.h"

namespace pinwheel::sql::io {

Datum record_in(std::string_view, const IoContext&) {
  throw_unsupported("input of anonymous composite types is not implemented");
}

void record_out(Datum value, const IoContext& io, std::string& out) {
  const Datum plain = needs_detoast(value) ? detoast(value, io.arena, io.eval.detoaster) : value;
  const RowView view = view_row(plain);
  auto* types = io.arena.make_array<Oid>(static_cast<std::size_t>(view.count));
  auto* values = io.arena.make_array<Datum>(static_cast<std::size_t>(view.count));
  auto* nulls = io.arena.make_array<bool>(static_cast<std::size_t>(view.count));
  read_row(view, types, values, nulls);
  std::string item;
  out += '(';
  for (int i = 0; i < view.count; ++i) {
    if (i > 0) out += ',';
    if (nulls[i]) continue;
    item.clear();
    const Oid type = types[i];
    if (const TypeInfo* info = find_type(type)) {
      info->output(values[i], IoContext{io.arena, io.eval, type, -1}, item);
    } else {
      io.eval.catalog->output_user_type(type, values[i], item);
    }
    bool quote = item.empty();
    for (char c : item) quote |= c == '"' || c == '\\' || c == '(' || c == ')' || c == ',' || is_space(c);
    if (!quote) {
      out += item;
      continue;
    }
    out += '"';
    for (char c : item) {
      if (c == '"' || c == '\\') out += c;
      out += c;
    }
    out += '"';
  }
  out += ')';
}

Datum record_recv(std::string_view, const IoContext&) {
  throw_unsupported("input of anonymous composite types is not implemented");
}

/// Wire form: int32 columns; per column type, int32 length (-1 NULL), bytes.
void record_send(Datum value, const IoContext& io, std::string& out) {
  const Datum plain = needs_detoast(value) ? detoast(value, io.arena, io.eval.detoaster) : value;
  const RowView view = view_row(plain);
  auto* types = io.arena.make_array<Oid>(static_cast<std::size_t>(view.count));
  auto* values = io.arena.make_array<Datum>(static_cast<std::size_t>(view.count));
  auto* nulls = io.arena.make_array<bool>(static_cast<std::size_t>(view.count));
  read_row(view, types, values, nulls);
  const auto append_int32 = [&](std::uint32_t v) {
    char buffer[4];
    store_network<std::uint32_t>(buffer, v);
    out.append(buffer, 4);
  };
  append_int32(static_cast<std::uint32_t>(view.count));
  for (int i = 0; i < view.count; ++i) {
    const Oid type = types[i];
    append_int32(type.value);
    if (nulls[i]) {
      append_int32(~0u);
      continue;
    }
    const TypeInfo* info = find_type(type);
    if (!info || !info->send)
      throw_unsupported("no binary output function available for a column of the row");
    const std::size_t length_at = out.size();
    append_int32(0);
    info->send(values[i], IoContext{io.arena, io.eval, type, -1}, out);
    store_network<std::uint32_t>(out.data() + length_at,
                                 static_cast<std::uint32_t>(out.size() - length_at - 4));
  }
}

}  // namespace pinwheel::sql::io
