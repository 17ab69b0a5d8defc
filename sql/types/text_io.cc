#include <charconv>

#include "sql/types/io_errors.h"
#include "sql/types/io_functions.h"
#include "sql/types/numbers.h"
#include "sql/types/text_values.h"
#include "sql/types/utf8.h"
#include "sql/types/varlena.h"

namespace pinwheel::sql::io {

namespace {

std::string_view plain_view(Datum value, const IoContext& io) {
  return needs_detoast(value) ? var_view(detoast(value, io.arena, io.eval.detoaster)) : var_view(value);
}

int length_typmod(std::span<const std::string_view> parts, std::string_view type) {
  int length = 0;
  if (parts.size() != 1) throw SqlError{sqlstate::kInvalidParameterValue, "invalid type modifier"};
  length = parse_int4(parts[0]);
  if (length < 1) {
    throw SqlError{sqlstate::kInvalidParameterValue,
                   "length for type " + std::string{type} + " must be at least 1"};
  }
  if (length > kMaxCharLength) {
    throw SqlError{sqlstate::kInvalidParameterValue, "length for type " + std::string{type} +
                                                         " cannot exceed " + std::to_string(kMaxCharLength)};
  }
  return length + kCharTypmodBase;
}

}  // namespace

Datum char_in(std::string_view text, const IoContext&) {
  return Datum::from_char(text.empty() ? '\0' : text.front());
}
void char_out(Datum value, const IoContext&, std::string& out) {
  if (value.as_char() != '\0') out += value.as_char();
}
Datum char_recv(std::string_view bytes, const IoContext&) {
  if (bytes.size() != 1) throw_bad_binary();
  return Datum::from_char(bytes.front());
}
void char_send(Datum value, const IoContext&, std::string& out) { out += value.as_char(); }

Datum name_in(std::string_view text, const IoContext& io) { return make_name(io.arena, text); }
void name_out(Datum value, const IoContext&, std::string& out) { out += name_view(value); }
Datum name_recv(std::string_view bytes, const IoContext& io) {
  check_utf8(bytes);
  if (bytes.size() >= kNameSize) {
    throw SqlError{sqlstate::kNameTooLong, "identifier too long"}.detail(
        "Identifier must be less than 64 characters.");
  }
  return make_name(io.arena, bytes);
}
void name_send(Datum value, const IoContext&, std::string& out) { out += name_view(value); }

Datum text_in(std::string_view text, const IoContext& io) { return make_var(io.arena, text); }
void text_out(Datum value, const IoContext& io, std::string& out) { out += plain_view(value, io); }
Datum text_recv(std::string_view bytes, const IoContext& io) {
  check_utf8(bytes);
  return make_var(io.arena, bytes);
}
void text_send(Datum value, const IoContext& io, std::string& out) { out += plain_view(value, io); }

Datum bpchar_in(std::string_view text, const IoContext& io) {
  return coerce_bpchar(io.arena, text, io.typmod, false);
}
void bpchar_out(Datum value, const IoContext& io, std::string& out) { out += plain_view(value, io); }
Datum bpchar_recv(std::string_view bytes, const IoContext& io) {
  check_utf8(bytes);
  return bpchar_in(bytes, io);
}
void bpchar_send(Datum value, const IoContext& io, std::string& out) { out += plain_view(value, io); }

Datum varchar_in(std::string_view text, const IoContext& io) {
  return coerce_varchar(io.arena, text, io.typmod, false);
}
void varchar_out(Datum value, const IoContext& io, std::string& out) { out += plain_view(value, io); }
Datum varchar_recv(std::string_view bytes, const IoContext& io) {
  check_utf8(bytes);
  return varchar_in(bytes, io);
}
void varchar_send(Datum value, const IoContext& io, std::string& out) { out += plain_view(value, io); }

int char_typmod_in(std::span<const std::string_view> parts) { return length_typmod(parts, "char"); }
int varchar_typmod_in(std::span<const std::string_view> parts) { return length_typmod(parts, "varchar"); }
std::string char_typmod_out(int typmod) {
  return typmod > kCharTypmodBase ? "(" + std::to_string(typmod - kCharTypmodBase) + ")" : "";
}

Datum bytea_in(std::string_view text, const IoContext& io) { return make_var(io.arena, parse_bytea(text)); }
void bytea_out(Datum value, const IoContext& io, std::string& out) {
  if (io.eval.bytea_output == ByteaOutput::kHex) {
    append_bytea_hex(out, plain_view(value, io));
  } else {
    append_bytea_escaped(out, plain_view(value, io));
  }
}
Datum bytea_recv(std::string_view bytes, const IoContext& io) { return make_var(io.arena, bytes); }
void bytea_send(Datum value, const IoContext& io, std::string& out) { out += plain_view(value, io); }

Datum cstring_in(std::string_view text, const IoContext& io) { return make_cstring(io.arena, text); }
void cstring_out(Datum value, const IoContext&, std::string& out) { out += cstring_view(value); }
Datum cstring_recv(std::string_view bytes, const IoContext& io) {
  check_utf8(bytes);
  return make_cstring(io.arena, bytes);
}
void cstring_send(Datum value, const IoContext&, std::string& out) { out += cstring_view(value); }

Datum unknown_in(std::string_view text, const IoContext& io) { return cstring_in(text, io); }
void unknown_out(Datum value, const IoContext& io, std::string& out) { cstring_out(value, io, out); }
Datum unknown_recv(std::string_view bytes, const IoContext& io) { return cstring_recv(bytes, io); }
void unknown_send(Datum value, const IoContext& io, std::string& out) { cstring_send(value, io, out); }

Datum json_in(std::string_view text, const IoContext& io) {
  check_json(text);
  return make_var(io.arena, text);
}
void json_out(Datum value, const IoContext& io, std::string& out) { out += plain_view(value, io); }
Datum json_recv(std::string_view bytes, const IoContext& io) {
  check_utf8(bytes);
  return json_in(bytes, io);
}
void json_send(Datum value, const IoContext& io, std::string& out) { out += plain_view(value, io); }

Datum jsonb_in(std::string_view, const IoContext&) { throw_unsupported("type jsonb is not supported yet"); }
void jsonb_out(Datum, const IoContext&, std::string&) {
  throw_unsupported("type jsonb is not supported yet");
}
Datum jsonb_recv(std::string_view, const IoContext&) { throw_unsupported("type jsonb is not supported yet"); }
void jsonb_send(Datum, const IoContext&, std::string&) {
  throw_unsupported("type jsonb is not supported yet");
}

}  // namespace pinwheel::sql::io
