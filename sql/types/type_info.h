#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/arena.h"
#include "base/ids.h"
#include "sql/types/datum.h"
#include "sql/types/eval_context.h"
#include "sql/types/type_oids.h"

namespace pinwheel::sql {

/// What an input, output, send or receive function may need besides the value.
struct IoContext {
  Arena& arena;
  EvalContext& eval;
  /// The type meant: arrays, varchar and composites share functions.
  Oid type;
  int typmod = -1;
};

/// Text to value, in PostgreSQL's words when refused (22P02, 22003, 22007, 22008...). Applies io.typmod.
using InputFn = Datum (*)(std::string_view text, const IoContext& io);
/// Appends the value's text to `out`. The value may be toasted.
using OutputFn = void (*)(Datum value, const IoContext& io, std::string& out);
/// Wire bytes to value. Errors: 22P03, 08P01.
using ReceiveFn = Datum (*)(std::string_view bytes, const IoContext& io);
/// Appends the wire form (network order, without the length word).
using SendFn = void (*)(Datum value, const IoContext& io, std::string& out);
/// -1: no typmod. Strings are what stands in the parentheses. Errors: 22023.
using TypmodInFn = int (*)(std::span<const std::string_view> parts);
/// "(10)" and the like; "" for -1.
using TypmodOutFn = std::string (*)(int typmod);

/// One built-in type: the facts of its pg_type row and its code.
struct TypeInfo {
  Oid oid;
  std::string_view name;
  std::int16_t length;  // bytes; -1 varlena, -2 cstring
  bool by_value;
  char align;     // c s i d
  char storage;   // p e m x
  char kind;      // b base, p pseudo
  char category;  // pg_type.typcategory
  bool preferred;
  char delimiter;
  Oid element;    // of arrays, and of name, int2vector, oidvector
  Oid array;      // its array type, 0 none
  Oid collation;  // 100 default, 950 C, 0 not collatable
  InputFn input;
  OutputFn output;
  ReceiveFn receive;  // null: no binary form
  SendFn send;
  TypmodInFn typmod_in;  // null: takes no modifier
  TypmodOutFn typmod_out;

  /// True for types whose values are ArrayViews with subscripting (category A and the two vectors).
  bool is_array() const { return length == -1 && element.value != 0; }
};

/// Null when `oid` is not a built-in type. One array load.
const TypeInfo* find_type(Oid oid);
/// By pg_type name ("int4", "_text"), not by SQL spelling.
const TypeInfo* find_type(std::string_view name);
/// As find_type, but panics: for oids known to be built in.
const TypeInfo& type_info(Oid oid);
/// Every built-in type, by oid.
std::span<const TypeInfo> builtin_types();

/// The built-in type and typmod that an SQL spelling names ("integer", "character varying(10)", "timestamp(3)
/// with time zone", "int4[]"); 0 when none. For format_type's inverse and regtype.
Oid parse_builtin_type_name(std::string_view spelling, int* typmod);
/// As format_type() prints a built-in type; "" when not built in. typmod -1 = none given.
std::string format_builtin_type(Oid type, int typmod, bool with_typmod);

Datum input_value(const TypeInfo& type, std::string_view text, Arena& arena, EvalContext& eval,
                  int typmod = -1);
std::string output_value(const TypeInfo& type, Datum value, Arena& arena, EvalContext& eval);

/// Copies a by-reference value into `arena`; by-value datums come back as they are.
Datum copy_datum(Datum value, int length, bool by_value, Arena& arena);
/// Bytes of the value as stored: length, or the varlena's or cstring's own.
std::size_t datum_size(Datum value, int length);

}  // namespace pinwheel::sql
