#include <strings.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstring>
#include <random>

#include "sql/functions/tables.h"
#include "sql/types/acl.h"
#include "sql/types/array.h"
#include "sql/types/int128.h"
#include "sql/types/io_errors.h"
#include "sql/types/numbers.h"
#include "sql/types/numeric.h"
#include "sql/types/type_info.h"
#include "sql/types/utf8.h"

/// Session facts, types by name, sizes for people, identifiers at random.
namespace pinwheel::sql::functions {

namespace {

Datum text(const FunctionCall& c, std::string_view value) { return make_text(*c.arena, value); }
Datum name(const FunctionCall& c, std::string_view value) { return make_name(*c.arena, value); }

Datum format_type(FunctionCall& c) {
  if (c.nulls[0]) return c.make_null();
  const Oid type = c.args[0].as_oid();
  const bool with_typmod = !c.nulls[1];
  if (type.value == 0) return text(c, "-");
  const std::string built_in =
      format_builtin_type(type, with_typmod ? c.args[1].as_int32() : -1, with_typmod);
  if (!built_in.empty()) return text(c, built_in);
  const std::string user = c.context->catalog ? c.context->catalog->object_name(kRegTypeType, type) : "";
  return text(c, user.empty() ? "???" : user);
}

Datum column_size(FunctionCall& c) {
  const TypeInfo* info = find_type(c.arg_types[0]);
  return Datum::from_int32(static_cast<std::int32_t>(datum_size(c.args[0], info ? info->length : -1)));
}

/// num_nulls(VARIADIC any) and its opposite.
Datum count_nulls(FunctionCall& c, bool wanted) {
  std::int32_t count = 0;
  if (c.variadic_array) {
    if (c.nulls[0]) return c.make_null();
    const ArrayView view = view_array(c.plain(0));
    for (int i = 0; i < view.count; ++i) count += view.is_null(i) == wanted;
  } else {
    for (int i = 0; i < c.nargs; ++i) count += c.nulls[i] == wanted;
  }
  return Datum::from_int32(count);
}

Datum random_uuid(FunctionCall& c) {
  std::random_device device;
  auto* bytes = static_cast<std::uint8_t*>(c.arena->allocate(16, 8));
  for (int i = 0; i < 16; i += 4) store<std::uint32_t>(bytes + i, device());
  bytes[6] = static_cast<std::uint8_t>((bytes[6] & 0x0F) | 0x40);  // version 4
  bytes[8] = static_cast<std::uint8_t>((bytes[8] & 0x3F) | 0x80);  // RFC 4122 variant
  return Datum::from_pointer(bytes);
}

/// to_regclass() and the like: NULL instead of an error.
template <std::uint32_t Kind>
Datum to_registered(FunctionCall& c) {
  const std::string_view spelling = c.text(0);
  const Oid type{Kind};
  try {
    const Datum object = type_info(type).input(spelling, IoContext{*c.arena, *c.context, type, -1});
    if (!spelling.empty() && spelling[0] >= '0' && spelling[0] <= '9') return object;
    return object.as_oid().value == 0 ? c.make_null() : object;
  } catch (const SqlError& error) {
    // Anything but "no such object" (bad syntax, say) is still an error.
    const SqlState state = error.state();
    if (state == sqlstate::kUndefinedTable || state == sqlstate::kUndefinedObject ||
        state == sqlstate::kUndefinedFunction || state == sqlstate::kInvalidSchemaName ||
        state == sqlstate::kAmbiguousFunction) {
      return c.make_null();
    }
    throw;
  }
}

constexpr std::string_view kSizeUnits[] = {"bytes", "kB", "MB", "GB", "TB", "PB"};

Datum size_pretty(FunctionCall& c) {
  std::int64_t size = c.args[0].as_int64();
  // Units change at 10 * 1024 - 1; the last bit of each shift is kept for rounding.
  constexpr std::uint64_t kLimit = 10 * 1024;
  const auto magnitude = [](std::int64_t v) {
    return v < 0 ? 0 - static_cast<std::uint64_t>(v) : static_cast<std::uint64_t>(v);
  };
  std::size_t unit = 0;
  bool half_kept = false;
  while (unit + 1 < std::size(kSizeUnits) && magnitude(size) >= (half_kept ? 2 * kLimit - 1 : kLimit)) {
    size /= std::int64_t{1} << (10 - (half_kept ? 0 : 1));
    half_kept = true;
    ++unit;
  }
  if (half_kept) size = (size < 0 ? size - 1 : size + 1) / 2;
  return text(c, std::to_string(size) + " " + std::string{kSizeUnits[unit]});
}

Datum size_pretty_numeric(FunctionCall& c) {
  Arena& arena = *c.arena;
  Datum size = c.plain(0);
  const auto at_least = [&](Datum v, std::int64_t limit) {
    const Datum magnitude = numeric_sign(v) < 0 ? numeric_negate(arena, v) : v;
    return numeric_compare(magnitude, numeric_from_int64(arena, limit)) >= 0;
  };
  constexpr std::int64_t kLimit = 10 * 1024;
  std::size_t unit = 0;
  bool half_kept = false;
  while (unit + 1 < std::size(kSizeUnits) && at_least(size, half_kept ? 2 * kLimit - 1 : kLimit)) {
    size = numeric_div_trunc(arena, size, numeric_from_int64(arena, half_kept ? 1024 : 512));
    half_kept = true;
    ++unit;
  }
  if (half_kept) {
    size = numeric_add(arena, size, numeric_from_int64(arena, numeric_sign(size) < 0 ? -1 : 1));
    size = numeric_div_trunc(arena, size, numeric_from_int64(arena, 2));
  }
  std::string shown;
  append_numeric(shown, size);
  return text(c, shown + " " + std::string{kSizeUnits[unit]});
}

Datum size_bytes(FunctionCall& c) {
  const std::string_view all = c.text(0);
  const std::string_view body = trim_space(all);
  std::size_t at = 0;
  if (at < body.size() && (body[at] == '+' || body[at] == '-')) ++at;
  const std::size_t digits = at;
  while (at < body.size() && (body[at] == '.' || (body[at] >= '0' && body[at] <= '9'))) ++at;
  const auto bad = [&] {
    throw SqlError{sqlstate::kInvalidParameterValue, "invalid size: \"" + std::string{all} + "\""};
  };
  if (at == digits) bad();
  if (at + 1 < body.size() && (body[at] == 'e' || body[at] == 'E')) {
    std::size_t exponent = at + 1;
    if (body[exponent] == '+' || body[exponent] == '-') ++exponent;
    if (exponent < body.size() && body[exponent] >= '0' && body[exponent] <= '9') {
      while (exponent < body.size() && body[exponent] >= '0' && body[exponent] <= '9') ++exponent;
      at = exponent;
    }
  }
  Datum value = parse_numeric(*c.arena, body.substr(0, at));
  const std::string_view unit = trim_space(body.substr(at));
  if (!unit.empty()) {
    std::int64_t factor = 1;
    bool found = false;
    for (std::string_view known : kSizeUnits) {
      if (known.size() == unit.size() && strncasecmp(known.data(), unit.data(), unit.size()) == 0) {
        found = true;
        break;
      }
      factor *= 1024;
    }
    if (!found) {
      throw SqlError{sqlstate::kInvalidParameterValue, "invalid size: \"" + std::string{all} + "\""}
          .detail("Invalid size unit: \"" + std::string{unit} + "\".")
          .hint("Valid units are \"bytes\", \"kB\", \"MB\", \"GB\", \"TB\", and \"PB\".");
    }
    value = numeric_mul(*c.arena, value, numeric_from_int64(*c.arena, factor));
  }
  return Datum::from_int64(numeric_to_int64(value, "bigint", INT64_MIN, INT64_MAX));
}

Datum oidvector_types(FunctionCall& c) {
  const ArrayView view = view_array(c.plain(0));
  ArrayReader reader{view};
  std::string out;
  Datum item;
  bool is_null;
  while (reader.next(&item, &is_null)) {
    if (!out.empty()) out += ", ";
    std::string shown = format_builtin_type(item.as_oid(), -1, false);
    if (shown.empty() && c.context->catalog)
      shown = c.context->catalog->object_name(kRegTypeType, item.as_oid());
    out += shown.empty() ? "???" : shown;
  }
  return text(c, out);
}

// Encodings: UTF8 is the server's only one; the numbers are stock's.

constexpr std::string_view kEncodings[] = {
    "SQL_ASCII",     "EUC_JP",  "EUC_CN",  "EUC_KR",  "EUC_TW",     "EUC_JIS_2004", "UTF8",
    "MULE_INTERNAL", "LATIN1",  "LATIN2",  "LATIN3",  "LATIN4",     "LATIN5",       "LATIN6",
    "LATIN7",        "LATIN8",  "LATIN9",  "LATIN10", "WIN1256",    "WIN1258",      "WIN866",
    "WIN874",        "KOI8R",   "WIN1251", "WIN1252", "ISO_8859_5", "ISO_8859_6",   "ISO_8859_7",
    "ISO_8859_8",    "WIN1250", "WIN1253", "WIN1254", "WIN1255",    "WIN1257",      "KOI8U",
    "SJIS",          "BIG5",    "GBK",     "UHC",     "GB18030",    "JOHAB",        "SHIFT_JIS_2004"};

Datum encoding_name(FunctionCall& c) {
  const std::int32_t number = c.args[0].as_int32();
  return name(c, number >= 0 && number < static_cast<std::int32_t>(std::size(kEncodings))
                     ? kEncodings[static_cast<std::size_t>(number)]
                     : std::string_view{});
}
Datum encoding_number(FunctionCall& c) {
  const std::string_view wanted = name_view(c.args[0]);
  const auto plain = [](std::string_view s) {
    std::string result;
    for (char ch : s) {
      if (std::isalnum(static_cast<unsigned char>(ch)))
        result += static_cast<char>(std::tolower(static_cast<unsigned char>(ch)));
    }
    return result;
  };
  for (std::size_t i = 0; i < std::size(kEncodings); ++i) {
    if (plain(kEncodings[i]) == plain(wanted)) return Datum::from_int32(static_cast<std::int32_t>(i));
  }
  return Datum::from_int32(plain(wanted) == "unicode" ? 6 : -1);
}

// pg_lsn arithmetic

Datum lsn_difference(FunctionCall& c) {
  return numeric_from_int128(*c.arena,
                             static_cast<Int128>(c.args[0].bits) - static_cast<Int128>(c.args[1].bits));
}
Datum lsn_shift(FunctionCall& c, int lsn_at, int by_at, bool subtract) {
  const Datum base = numeric_from_int128(*c.arena, static_cast<Int128>(c.args[lsn_at].bits));
  const Datum by = c.plain(by_at);
  if (numeric_is_nan(by)) {
    throw SqlError{sqlstate::kNumericValueOutOfRange,
                   subtract ? "cannot subtract NaN from pg_lsn" : "cannot add NaN to pg_lsn"};
  }
  const Datum sum = subtract ? numeric_sub(*c.arena, base, by) : numeric_add(*c.arena, base, by);
  std::string shown;
  append_numeric(shown, numeric_round(*c.arena, sum, 0));
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(shown.data(), shown.data() + shown.size(), value);
  if (error != std::errc{} || end != shown.data() + shown.size()) throw_out_of_range("pg_lsn");
  return Datum{value};
}

// Access control items

Datum make_acl_item(FunctionCall& c) {
  AclItem item;
  item.grantee = c.args[0].as_oid();
  item.grantor = c.args[1].as_oid();
  static constexpr std::string_view kNames[] = {"INSERT",     "SELECT",  "UPDATE",  "DELETE",      "TRUNCATE",
                                                "REFERENCES", "TRIGGER", "EXECUTE", "USAGE",       "CREATE",
                                                "TEMPORARY",  "CONNECT", "SET",     "ALTER SYSTEM"};
  for (std::string_view word : split_text(c.text(2), ",", false)) {
    word = trim_space(word);
    const bool temporary = word.size() == 4 && strncasecmp(word.data(), "TEMP", 4) == 0;
    std::uint32_t bit = temporary ? 1u << 10 : 0;
    for (std::size_t i = 0; i < std::size(kNames); ++i) {
      if (word.size() == kNames[i].size() && strncasecmp(word.data(), kNames[i].data(), word.size()) == 0)
        bit = 1u << i;
    }
    if (bit == 0) {
      throw SqlError{sqlstate::kInvalidParameterValue,
                     "unrecognized privilege type: \"" + std::string{word} + "\""};
    }
    item.rights |= bit;
  }
  if (c.args[3].as_bool()) item.rights |= item.rights << 16;
  return Datum::from_pointer(c.arena->make<AclItem>(item));
}
Datum acl_contains(FunctionCall& c) {
  const AclItem wanted = load_acl_item(c.args[1]);
  const ArrayView view = view_array(c.plain(0));
  ArrayReader reader{view};
  Datum item;
  bool is_null;
  while (reader.next(&item, &is_null)) {
    if (is_null) continue;
    const AclItem have = load_acl_item(item);
    if (have.grantee == wanted.grantee && have.grantor == wanted.grantor &&
        (wanted.rights & have.rights) == wanted.rights) {
      return Datum::from_bool(true);
    }
  }
  return Datum::from_bool(false);
}
Datum acl_equal(FunctionCall& c) {
  return Datum::from_bool(std::memcmp(c.args[0].as_pointer(), c.args[1].as_pointer(), sizeof(AclItem)) == 0);
}

/// \XXXX, \+XXXXXX, \uXXXX and \UXXXXXXXX to characters.
Datum unescape(FunctionCall& c) {
  const std::string_view source = c.text(0);
  std::string out;
  std::uint32_t high = 0;
  const auto bad_pair = [] { throw SqlError{sqlstate::kSyntaxError, "invalid Unicode surrogate pair"}; };
  for (std::size_t at = 0; at < source.size();) {
    if (source[at] != '\\') {
      if (high != 0) bad_pair();
      out += source[at++];
      continue;
    }
    if (source.substr(at, 2) == "\\\\") {
      if (high != 0) bad_pair();
      out += '\\';
      at += 2;
      continue;
    }
    const char kind = at + 1 < source.size() ? source[at + 1] : '\0';
    const std::size_t skip = kind == '+' || kind == 'u' || kind == 'U' ? 2 : 1;
    const std::size_t digits = kind == '+' ? 6 : kind == 'U' ? 8 : 4;
    std::uint32_t code = 0;
    const std::string_view hex = source.substr(std::min(at + skip, source.size()), digits);
    const auto [end, error] = std::from_chars(hex.data(), hex.data() + hex.size(), code, 16);
    if (error != std::errc{} || hex.size() != digits || end != hex.data() + hex.size()) {
      throw SqlError{sqlstate::kSyntaxError, "invalid Unicode escape"}.hint(
          "Unicode escapes must be \\XXXX, \\+XXXXXX, \\uXXXX, or \\UXXXXXXXX.");
    }
    at += skip + digits;
    if (code >= 0xD800 && code < 0xDC00) {
      if (high != 0) bad_pair();
      high = code;
      continue;
    }
    if (code >= 0xDC00 && code < 0xE000) {
      if (high == 0) bad_pair();
      code = 0x10000 + ((high - 0xD800) << 10) + (code - 0xDC00);
      high = 0;
    } else if (high != 0) {
      bad_pair();
    }
    if (code == 0 || code > 0x10FFFF) {
      throw SqlError{sqlstate::kInvalidParameterValue, "invalid Unicode code point: " + std::string{hex}};
    }
    append_utf8(out, code);
  }
  if (high != 0) bad_pair();
  return text(c, out);
}

constexpr BuiltinFunction kMiscellanyFunctions[] = {
    {"pgsql_version",
     [](FunctionCall& c) {
       return text(c, "PostgreSQL 15.18 (Pinwheel 0.1.0) on x86_64-pc-linux-gnu, compiled by g++, 64-bit");
     }},
    {"pg_typeof", [](FunctionCall& c) { return Datum::from_oid(c.arg_types[0]); }},
    {"format_type", format_type},
    {"pg_backend_pid", [](FunctionCall& c) { return Datum::from_int32(c.context->backend_pid); }},
    {"current_database", [](FunctionCall& c) { return name(c, c.context->database_name); }},
    {"current_user", [](FunctionCall& c) { return name(c, c.context->user_name); }},
    {"session_user", [](FunctionCall& c) { return name(c, c.context->session_user_name); }},
    {"pg_client_encoding", [](FunctionCall& c) { return name(c, "UTF8"); }},
    {"getdatabaseencoding", [](FunctionCall& c) { return name(c, "UTF8"); }},
    {"PG_encoding_to_char", encoding_name},
    {"PG_char_to_encoding", encoding_number},
    {"pg_encoding_max_length_sql",
     [](FunctionCall& c) { return c.args[0].as_int32() == 6 ? Datum::from_int32(4) : c.make_null(); }},
    {"pg_column_size", column_size},
    {"pg_column_compression",
     [](FunctionCall& c) {
       const TypeInfo* info = find_type(c.arg_types[0]);
       if (!info || info->length != -1 || !needs_detoast(c.args[0])) return c.make_null();
       if (is_external(c.args[0].as_pointer()) && external_pointer(c.args[0]).compression == 0)
         return c.make_null();
       return text(c, "lz4");
     }},
    {"pg_num_nulls", [](FunctionCall& c) { return count_nulls(c, true); }},
    {"pg_num_nonnulls", [](FunctionCall& c) { return count_nulls(c, false); }},
    {"gen_random_uuid", random_uuid},
    {"text_regclass",
     [](FunctionCall& c) {
       return type_info(kRegClassType).input(c.text(0), IoContext{*c.arena, *c.context, kRegClassType, -1});
     }},
    {"to_regclass", to_registered<kRegClassType.value>},
    {"to_regtype", to_registered<kRegTypeType.value>},
    {"to_regproc", to_registered<kRegProcType.value>},
    {"to_regprocedure", to_registered<kRegProcedureType.value>},
    {"to_regoper", to_registered<kRegOperType.value>},
    {"to_regoperator", to_registered<kRegOperatorType.value>},
    {"to_regnamespace", to_registered<kRegNamespaceType.value>},
    {"to_regrole", to_registered<kRegRoleType.value>},
    {"to_regcollation", to_registered<kRegCollationType.value>},
    {"pg_size_pretty", size_pretty},
    {"pg_size_pretty_numeric", size_pretty_numeric},
    {"pg_size_bytes", size_bytes},
    {"oidvectortypes", oidvector_types},
    {"pg_lsn_mi", lsn_difference},
    {"pg_wal_lsn_diff", lsn_difference},
    {"pg_lsn_pli", [](FunctionCall& c) { return lsn_shift(c, 0, 1, false); }},
    {"numeric_pl_pg_lsn", [](FunctionCall& c) { return lsn_shift(c, 1, 0, false); }, Oid{5023}},
    {"pg_lsn_mii", [](FunctionCall& c) { return lsn_shift(c, 0, 1, true); }},
    {"makeaclitem", make_acl_item},
    {"aclcontains", acl_contains},
    {"aclitem_eq", acl_equal},
    {"unistr", unescape},
    {"xid8toxid", [](FunctionCall& c) { return c.args[0]; }},
    {"pg_jit_available", [](FunctionCall&) { return Datum::from_bool(false); }},
};

}  // namespace

std::span<const BuiltinFunction> misc_functions() { return kMiscellanyFunctions; }

}  // namespace pinwheel::sql::functions
