#pragma once

#include "sql/types/type_info.h"

/// The input, output, receive, send and typmod functions that the type table joins; private to sql/types and
/// the functions that share them.
namespace pinwheel::sql::io {

#define PINWHEEL_TYPE_IO(name)                                         \
  Datum name##_in(std::string_view text, const IoContext& io);         \
  void name##_out(Datum value, const IoContext& io, std::string& out); \
  Datum name##_recv(std::string_view bytes, const IoContext& io);      \
  void name##_send(Datum value, const IoContext& io, std::string& out);

// number_io.cc
PINWHEEL_TYPE_IO(bool)
PINWHEEL_TYPE_IO(int2)
PINWHEEL_TYPE_IO(int4)
PINWHEEL_TYPE_IO(int8)
PINWHEEL_TYPE_IO(oid)
PINWHEEL_TYPE_IO(xid)
PINWHEEL_TYPE_IO(xid8)
PINWHEEL_TYPE_IO(cid)
PINWHEEL_TYPE_IO(float4)
PINWHEEL_TYPE_IO(float8)
// text_io.cc
PINWHEEL_TYPE_IO(char)
PINWHEEL_TYPE_IO(name)
PINWHEEL_TYPE_IO(text)
PINWHEEL_TYPE_IO(bpchar)
PINWHEEL_TYPE_IO(varchar)
PINWHEEL_TYPE_IO(bytea)
PINWHEEL_TYPE_IO(cstring)
PINWHEEL_TYPE_IO(unknown)
PINWHEEL_TYPE_IO(json)
PINWHEEL_TYPE_IO(jsonb)
int char_typmod_in(std::span<const std::string_view> parts);
int varchar_typmod_in(std::span<const std::string_view> parts);
std::string char_typmod_out(int typmod);
// numeric_io.cc
PINWHEEL_TYPE_IO(numeric)
int numeric_typmod_in(std::span<const std::string_view> parts);
std::string numeric_typmod_out(int typmod);
// datetime_io.cc
PINWHEEL_TYPE_IO(date)
PINWHEEL_TYPE_IO(time)
PINWHEEL_TYPE_IO(timetz)
PINWHEEL_TYPE_IO(timestamp)
PINWHEEL_TYPE_IO(timestamptz)
int time_typmod_in(std::span<const std::string_view> parts);
int timetz_typmod_in(std::span<const std::string_view> parts);
int timestamp_typmod_in(std::span<const std::string_view> parts);
int timestamptz_typmod_in(std::span<const std::string_view> parts);
std::string time_typmod_out(int typmod);
std::string timetz_typmod_out(int typmod);
// interval_io.cc
PINWHEEL_TYPE_IO(interval)
int interval_typmod_in(std::span<const std::string_view> parts);
std::string interval_typmod_out(int typmod);
// misc_io.cc
PINWHEEL_TYPE_IO(uuid)
PINWHEEL_TYPE_IO(tid)
PINWHEEL_TYPE_IO(pg_lsn)
PINWHEEL_TYPE_IO(void)
PINWHEEL_TYPE_IO(pseudo)
PINWHEEL_TYPE_IO(aclitem)
PINWHEEL_TYPE_IO(reg)
// record_io.cc
PINWHEEL_TYPE_IO(record)
// bit_io.cc
PINWHEEL_TYPE_IO(bit)
PINWHEEL_TYPE_IO(varbit)
int bit_typmod_in(std::span<const std::string_view> parts);
std::string bit_typmod_out(int typmod);
// array_io.cc
PINWHEEL_TYPE_IO(array)
PINWHEEL_TYPE_IO(int2vector)
PINWHEEL_TYPE_IO(oidvector)

#undef PINWHEEL_TYPE_IO

}  // namespace pinwheel::sql::io
