#include <strings.h>

#include <bit>

#include "base/bytes.h"
#include "sql/types/binary_io.h"
#include "sql/types/io_errors.h"
#include "sql/types/io_functions.h"
#include "sql/types/numbers.h"

namespace pinwheel::sql::io {

namespace {

template <class T>
T receive(std::string_view bytes) {
  if (bytes.size() < sizeof(T)) {
    throw SqlError{sqlstate::kProtocolViolation, "insufficient data left in message"};
  }
  if (bytes.size() > sizeof(T)) throw_bad_binary();
  return load_network<T>(bytes.data());
}

/// Any unambiguous start of true, false, yes, no; on, off; 1, 0; in any case.
int parse_bool(std::string_view word) {
  const auto starts = [&](std::string_view full, std::size_t least) {
    return word.size() >= least && word.size() <= full.size() &&
           strncasecmp(word.data(), full.data(), word.size()) == 0;
  };
  if (starts("true", 1) || starts("yes", 1) || starts("on", 2) || word == "1") return 1;
  if (starts("false", 1) || starts("no", 1) || starts("off", 2) || word == "0") return 0;
  return -1;
}

}  // namespace

Datum bool_in(std::string_view text, const IoContext&) {
  const int value = parse_bool(trim_space(text));
  if (value < 0) throw_bad_syntax("boolean", text);
  return Datum::from_bool(value == 1);
}
void bool_out(Datum value, const IoContext&, std::string& out) { out += value.as_bool() ? 't' : 'f'; }
Datum bool_recv(std::string_view bytes, const IoContext&) {
  return Datum::from_bool(receive<std::uint8_t>(bytes) != 0);
}
void bool_send(Datum value, const IoContext&, std::string& out) { out += value.as_bool() ? '\1' : '\0'; }

Datum int2_in(std::string_view text, const IoContext&) { return Datum::from_int16(parse_int2(text)); }
void int2_out(Datum value, const IoContext&, std::string& out) { append_int(out, value.as_int16()); }
Datum int2_recv(std::string_view bytes, const IoContext&) {
  return Datum::from_int16(receive<std::int16_t>(bytes));
}
void int2_send(Datum value, const IoContext&, std::string& out) { append_network(out, value.as_int16()); }

Datum int4_in(std::string_view text, const IoContext&) { return Datum::from_int32(parse_int4(text)); }
void int4_out(Datum value, const IoContext&, std::string& out) { append_int(out, value.as_int32()); }
Datum int4_recv(std::string_view bytes, const IoContext&) {
  return Datum::from_int32(receive<std::int32_t>(bytes));
}
void int4_send(Datum value, const IoContext&, std::string& out) { append_network(out, value.as_int32()); }

Datum int8_in(std::string_view text, const IoContext&) { return Datum::from_int64(parse_int8(text)); }
void int8_out(Datum value, const IoContext&, std::string& out) { append_int(out, value.as_int64()); }
Datum int8_recv(std::string_view bytes, const IoContext&) {
  return Datum::from_int64(receive<std::int64_t>(bytes));
}
void int8_send(Datum value, const IoContext&, std::string& out) { append_network(out, value.as_int64()); }

Datum oid_in(std::string_view text, const IoContext&) {
  return Datum::from_oid(Oid{parse_uint32(text, "oid")});
}
void oid_out(Datum value, const IoContext&, std::string& out) { append_uint(out, value.as_oid().value); }
Datum oid_recv(std::string_view bytes, const IoContext&) {
  return Datum::from_oid(Oid{receive<std::uint32_t>(bytes)});
}
void oid_send(Datum value, const IoContext&, std::string& out) { append_network(out, value.as_oid().value); }

// Xids are 64 bits here; on the wire the type keeps its four bytes, since drivers expect that width.
Datum xid_in(std::string_view text, const IoContext&) { return Datum{parse_uint64(text, "xid")}; }
void xid_out(Datum value, const IoContext&, std::string& out) { append_uint(out, value.bits); }
Datum xid_recv(std::string_view bytes, const IoContext&) {
  return Datum{std::uint64_t{receive<std::uint32_t>(bytes)}};
}
void xid_send(Datum value, const IoContext&, std::string& out) {
  append_network(out, static_cast<std::uint32_t>(value.bits));
}

Datum xid8_in(std::string_view text, const IoContext&) { return Datum{parse_uint64(text, "xid8")}; }
void xid8_out(Datum value, const IoContext&, std::string& out) { append_uint(out, value.bits); }
Datum xid8_recv(std::string_view bytes, const IoContext&) { return Datum{receive<std::uint64_t>(bytes)}; }
void xid8_send(Datum value, const IoContext&, std::string& out) { append_network(out, value.bits); }

Datum cid_in(std::string_view text, const IoContext&) {
  return Datum::from_oid(Oid{parse_uint32(text, "cid")});
}
void cid_out(Datum value, const IoContext&, std::string& out) { append_uint(out, value.as_oid().value); }
Datum cid_recv(std::string_view bytes, const IoContext& io) { return oid_recv(bytes, io); }
void cid_send(Datum value, const IoContext& io, std::string& out) { oid_send(value, io, out); }

Datum float4_in(std::string_view text, const IoContext&) { return Datum::from_float4(parse_float4(text)); }
void float4_out(Datum value, const IoContext& io, std::string& out) {
  append_float4(out, value.as_float4(), io.eval.extra_float_digits);
}
Datum float4_recv(std::string_view bytes, const IoContext&) {
  return Datum::from_int32(static_cast<std::int32_t>(receive<std::uint32_t>(bytes)));
}
void float4_send(Datum value, const IoContext&, std::string& out) {
  append_network(out, static_cast<std::uint32_t>(value.bits));
}

Datum float8_in(std::string_view text, const IoContext&) { return Datum::from_float8(parse_float8(text)); }
void float8_out(Datum value, const IoContext& io, std::string& out) {
  append_float8(out, value.as_float8(), io.eval.extra_float_digits);
}
Datum float8_recv(std::string_view bytes, const IoContext&) { return Datum{receive<std::uint64_t>(bytes)}; }
void float8_send(Datum value, const IoContext&, std::string& out) { append_network(out, value.bits); }

}  // namespace pinwheel::sql::io
