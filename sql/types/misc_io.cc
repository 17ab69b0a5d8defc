#include <charconv>

#include "base/bytes.h"
#include "sql/types/acl.h"
#include "sql/types/binary_io.h"
#include "sql/types/io_errors.h"
#include "sql/types/io_functions.h"
#include "sql/types/numbers.h"
#include "sql/types/text_values.h"
#include "sql/types/tid.h"

namespace pinwheel::sql::io {

namespace {

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

std::string_view type_name(const IoContext& io) {
  const TypeInfo* type = find_type(io.type);
  return type ? type->name : "record";
}

}  // namespace

/// Hexadecimal digits in pairs, a hyphen allowed after each four, braces around.
Datum uuid_in(std::string_view text, const IoContext& io) {
  std::string_view rest = text;
  const bool braces = !rest.empty() && rest.front() == '{';
  if (braces) rest.remove_prefix(1);
  auto* to = static_cast<std::uint8_t*>(io.arena.allocate(16, 8));
  std::size_t at = 0;
  for (int i = 0; i < 16; ++i) {
    if (at + 1 >= rest.size() || hex_digit(rest[at]) < 0 || hex_digit(rest[at + 1]) < 0) {
      throw_bad_syntax("uuid", text);
    }
    to[i] = static_cast<std::uint8_t>(hex_digit(rest[at]) << 4 | hex_digit(rest[at + 1]));
    at += 2;
    if (i % 2 == 1 && i < 15 && at < rest.size() && rest[at] == '-') ++at;
  }
  if (braces) {
    if (at >= rest.size() || rest[at] != '}') throw_bad_syntax("uuid", text);
    ++at;
  }
  if (at != rest.size()) throw_bad_syntax("uuid", text);
  return Datum::from_pointer(to);
}
void uuid_out(Datum value, const IoContext&, std::string& out) {
  for (int i = 0; i < 16; ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) out += '-';
    append_hex(out, {value.as_chars() + i, 1});
  }
}
Datum uuid_recv(std::string_view bytes, const IoContext& io) {
  if (bytes.size() != 16) throw_bad_binary();
  return Datum::from_pointer(io.arena.copy(bytes).data());
}
void uuid_send(Datum value, const IoContext&, std::string& out) { out.append(value.as_chars(), 16); }

Datum tid_in(std::string_view text, const IoContext& io) {
  const auto number = [&](std::size_t from, std::size_t to, std::uint64_t most) {
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data() + from, text.data() + to, value);
    if (error != std::errc{} || end != text.data() + to || value > most) throw_bad_syntax("tid", text);
    return value;
  };
  const std::size_t comma = text.find(',');
  if (text.size() < 5 || text.front() != '(' || text.back() != ')' || comma == std::string_view::npos) {
    throw_bad_syntax("tid", text);
  }
  TupleId tid;
  tid.page = PageNumber{static_cast<std::uint32_t>(number(1, comma, UINT32_MAX))};
  tid.slot = static_cast<std::uint16_t>(number(comma + 1, text.size() - 1, UINT16_MAX));
  return make_tid(io.arena, tid);
}
void tid_out(Datum value, const IoContext&, std::string& out) {
  const TupleId tid = load_tid(value);
  out += '(';
  append_uint(out, tid.page.value);
  out += ',';
  append_uint(out, tid.slot);
  out += ')';
}
Datum tid_recv(std::string_view bytes, const IoContext& io) {
  if (bytes.size() != kTidSize) throw_bad_binary();
  TupleId tid;
  tid.page = PageNumber{load_network<std::uint32_t>(bytes.data())};
  tid.slot = load_network<std::uint16_t>(bytes.data() + 4);
  return make_tid(io.arena, tid);
}
void tid_send(Datum value, const IoContext&, std::string& out) {
  const TupleId tid = load_tid(value);
  append_network(out, tid.page.value);
  append_network(out, tid.slot);
}

Datum pg_lsn_in(std::string_view text, const IoContext&) {
  const std::size_t slash = text.find('/');
  const auto half = [&](std::string_view digits) {
    std::uint32_t value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
    if (error != std::errc{} || end != digits.data() + digits.size() || digits.size() > 8) {
      throw_bad_syntax("pg_lsn", text);
    }
    return std::uint64_t{value};
  };
  if (slash == std::string_view::npos) throw_bad_syntax("pg_lsn", text);
  return Datum{half(text.substr(0, slash)) << 32 | half(text.substr(slash + 1))};
}
void pg_lsn_out(Datum value, const IoContext&, std::string& out) {
  char buffer[32];
  const int size = std::snprintf(buffer, sizeof buffer, "%X/%X", static_cast<unsigned>(value.bits >> 32),
                                 static_cast<unsigned>(value.bits));
  out.append(buffer, static_cast<std::size_t>(size));
}
Datum pg_lsn_recv(std::string_view bytes, const IoContext&) {
  if (bytes.size() != 8) throw_bad_binary();
  return Datum{load_network<std::uint64_t>(bytes.data())};
}
void pg_lsn_send(Datum value, const IoContext&, std::string& out) { append_network(out, value.bits); }

Datum void_in(std::string_view, const IoContext&) { return Datum{}; }
void void_out(Datum, const IoContext&, std::string&) {}
Datum void_recv(std::string_view, const IoContext&) { return Datum{}; }
void void_send(Datum, const IoContext&, std::string&) {}

Datum pseudo_in(std::string_view, const IoContext& io) {
  throw_unsupported("cannot accept a value of type " + std::string{type_name(io)});
}
void pseudo_out(Datum value, const IoContext& io, std::string& out) {
  if (io.type == kAnyArrayType || io.type == kAnyCompatibleArrayType) return array_out(value, io, out);
  throw_unsupported("cannot display a value of type " + std::string{type_name(io)});
}
Datum pseudo_recv(std::string_view, const IoContext& io) {
  throw_unsupported("cannot accept a value of type " + std::string{type_name(io)});
}
void pseudo_send(Datum, const IoContext& io, std::string&) {
  throw_unsupported("cannot display a value of type " + std::string{type_name(io)});
}

namespace {

void append_role(std::string& out, Oid role, const IoContext& io) {
  if (role.value == 0) return;
  const std::string name = io.eval.catalog ? io.eval.catalog->object_name(kRegRoleType, role) : std::string{};
  if (name.empty()) {
    append_uint(out, role.value);
  } else {
    out += name;
  }
}

Oid role_named(std::string_view name, const IoContext& io) {
  if (name.empty()) return Oid{};
  const Oid role = io.eval.catalog ? io.eval.catalog->find_role(name) : Oid{};
  if (role.value == 0) {
    throw SqlError{sqlstate::kUndefinedObject, "role \"" + std::string{name} + "\" does not exist"};
  }
  return role;
}

}  // namespace

/// grantee=letters/grantor; a star after a letter is its grant option.
Datum aclitem_in(std::string_view text, const IoContext& io) {
  const auto bad = [&](std::string message) {
    throw SqlError{sqlstate::kInvalidTextRepresentation, std::move(message)};
  };
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos) bad("missing \"=\" sign");
  std::size_t slash = text.find('/', equals);
  if (slash == std::string_view::npos) slash = text.size();
  AclItem item;
  std::string_view letters = text.substr(equals + 1, slash - equals - 1);
  std::uint32_t last = 0;
  for (char c : letters) {
    if (c == '*') {
      item.rights |= last << 16;
      continue;
    }
    const std::size_t bit = kAclLetters.find(c);
    if (bit == std::string_view::npos) {
      bad("invalid mode character: must be one of \"" + std::string{kAclLetters} + "\"");
    }
    last = 1u << bit;
    item.rights |= last;
  }
  const auto unquote = [](std::string_view name) {
    return name.size() > 1 && name.front() == '"' ? name.substr(1, name.size() - 2) : name;
  };
  item.grantee = role_named(unquote(text.substr(0, equals)), io);
  item.grantor = slash < text.size() ? role_named(unquote(text.substr(slash + 1)), io) : Oid{10};
  return Datum::from_pointer(io.arena.make<AclItem>(item));
}
void aclitem_out(Datum value, const IoContext& io, std::string& out) {
  const AclItem item = load_acl_item(value);
  append_role(out, item.grantee, io);
  out += '=';
  for (std::size_t bit = 0; bit < kAclLetters.size(); ++bit) {
    if (item.rights & 1u << bit) out += kAclLetters[bit];
    if (item.rights & 1u << (16 + bit)) out += '*';
  }
  out += '/';
  append_role(out, item.grantor, io);
}
Datum aclitem_recv(std::string_view bytes, const IoContext& io) { return aclitem_in(bytes, io); }
void aclitem_send(Datum value, const IoContext& io, std::string& out) { aclitem_out(value, io, out); }

namespace {

[[noreturn]] void throw_missing(Oid kind, std::string_view text) {
  const std::string quoted = "\"" + std::string{text} + "\"";
  switch (kind.value) {
    case kRegClassType.value:
      throw SqlError{sqlstate::kUndefinedTable, "relation " + quoted + " does not exist"};
    case kRegTypeType.value:
      throw SqlError{sqlstate::kUndefinedObject, "type " + quoted + " does not exist"};
    case kRegProcType.value:
    case kRegProcedureType.value:
      throw SqlError{sqlstate::kUndefinedFunction, "function " + quoted + " does not exist"};
    case kRegOperType.value:
    case kRegOperatorType.value:
      throw SqlError{sqlstate::kUndefinedFunction, "operator does not exist: " + std::string{text}};
    case kRegNamespaceType.value:
      throw SqlError{sqlstate::kInvalidSchemaName, "schema " + quoted + " does not exist"};
    case kRegRoleType.value:
      throw SqlError{sqlstate::kUndefinedObject, "role " + quoted + " does not exist"};
    default:
      throw SqlError{sqlstate::kUndefinedObject,
                     "collation " + quoted + " for encoding \"UTF8\" does not exist"};
  }
}

Oid find_object(Oid kind, std::string_view text, const IoContext& io) {
  CatalogHooks* catalog = io.eval.catalog;
  if (!catalog) {
    return kind == kRegTypeType ? parse_builtin_type_name(text, nullptr) : Oid{};
  }
  switch (kind.value) {
    case kRegClassType.value:
      return catalog->find_relation(text);
    case kRegTypeType.value:
      return catalog->find_type(text, nullptr);
    case kRegProcType.value:
      return catalog->find_procedure(text);
    case kRegProcedureType.value:
      return catalog->find_procedure_signature(text);
    case kRegOperType.value:
      return catalog->find_operator(text);
    case kRegOperatorType.value:
      return catalog->find_operator_signature(text);
    case kRegNamespaceType.value:
      return catalog->find_namespace(text);
    case kRegRoleType.value:
      return catalog->find_role(text);
    default:
      return catalog->find_collation(text);
  }
}

}  // namespace

Datum reg_in(std::string_view text, const IoContext& io) {
  if (text == "-") return Datum::from_oid(Oid{});
  if (!text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos) {
    return Datum::from_oid(Oid{parse_uint32(text, "oid")});
  }
  const Oid object = find_object(io.type, text, io);
  if (object.value == 0) throw_missing(io.type, text);
  return Datum::from_oid(object);
}
void reg_out(Datum value, const IoContext& io, std::string& out) {
  const Oid object = value.as_oid();
  if (object.value == 0) {
    out += '-';
    return;
  }
  std::string name;
  if (io.eval.catalog) {
    name = io.eval.catalog->object_name(io.type, object);
  } else if (io.type == kRegTypeType) {
    name = format_builtin_type(object, -1, false);
  }
  if (name.empty()) {
    append_uint(out, object.value);
  } else {
    out += name;
  }
}
Datum reg_recv(std::string_view bytes, const IoContext& io) { return oid_recv(bytes, io); }
void reg_send(Datum value, const IoContext& io, std::string& out) { oid_send(value, io, out); }

}  // namespace pinwheel::sql::io
