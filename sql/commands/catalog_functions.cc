#include "sql/commands/catalog_functions.h"

#include <algorithm>
#include <unordered_map>

#include "base/sqlstate.h"
#include "sql/analyze/expression_source.h"
#include "sql/catalog/builtin.h"
#include "sql/commands/row_input.h"
#include "sql/deparse/deparse.h"
#include "sql/types/type_info.h"
#include "sql/types/type_oids.h"
#include "sql/types/varlena.h"

namespace pinwheel::sql {

std::string_view CatalogFunctions::Call::text(int i) const {
  const BuiltinProc* proc = find_proc(procedure);
  const bool is_name = proc != nullptr && static_cast<std::size_t>(i) < proc->args.size() &&
                       proc->args[static_cast<std::size_t>(i)] == kNameType;
  if (is_name) return name_view(args[i]);
  return var_view(detoast(args[i], arena, catalog.eval().detoaster));
}

Datum CatalogFunctions::Call::make_text_result(std::string_view value) const {
  return make_text(arena, value);
}

std::vector<std::string> split_qualified_name(std::string_view text) {
  std::vector<std::string> parts;
  std::size_t i = 0;
  const auto fail = [] { throw SqlError{sqlstate::kInvalidName, "invalid name syntax"}; };
  while (i < text.size() && text[i] == ' ') ++i;
  if (i == text.size()) fail();
  for (;;) {
    std::string part;
    if (i < text.size() && text[i] == '"') {
      for (++i;; ++i) {
        if (i == text.size()) fail();
        if (text[i] != '"') {
          part += text[i];
        } else if (i + 1 < text.size() && text[i + 1] == '"') {
          part += '"';
          ++i;
        } else {
          ++i;
          break;
        }
      }
    } else {
      for (; i < text.size() && text[i] != '.' && text[i] != ' '; ++i) {
        const char c = text[i];
        part += c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
      }
      if (part.empty()) fail();
    }
    parts.push_back(std::move(part));
    while (i < text.size() && text[i] == ' ') ++i;
    if (i == text.size()) return parts;
    if (text[i] != '.') fail();
    ++i;
  }
}

namespace {

struct SplitName {
  std::string schema;
  std::string name;
};

SplitName schema_and_name(std::string_view text) {
  std::vector<std::string> parts = split_qualified_name(text);
  if (parts.size() > 3) {
    throw SqlError{sqlstate::kSyntaxError,
                   "improper qualified name (too many dotted names): " + std::string{text}};
  }
  SplitName split;
  split.name = std::move(parts.back());
  if (parts.size() > 1) split.schema = std::move(parts[parts.size() - 2]);
  return split;
}

/// Splits "name(arg, arg)" into the name and the types' spellings.
std::vector<std::string> split_signature(std::string_view text, std::string* name) {
  const std::size_t open = text.find('(');
  if (open == std::string_view::npos) {
    throw SqlError{sqlstate::kInvalidTextRepresentation, "expected a left parenthesis"};
  }
  const std::size_t close = text.rfind(')');
  if (close == std::string_view::npos || close < open) {
    throw SqlError{sqlstate::kInvalidTextRepresentation, "expected a right parenthesis"};
  }
  *name = text.substr(0, open);
  while (!name->empty() && name->back() == ' ') name->pop_back();
  std::vector<std::string> types;
  std::string current;
  int depth = 0;
  for (const char c : text.substr(open + 1, close - open - 1)) {
    if (c == '(' || c == '[') ++depth;
    if (c == ')' || c == ']') --depth;
    if (c == ',' && depth == 0) {
      types.push_back(std::move(current));
      current.clear();
    } else if (!(c == ' ' && current.empty())) {
      current += c;
    }
  }
  if (!current.empty() || !types.empty()) types.push_back(std::move(current));
  return types;
}

}  // namespace

Oid CatalogFunctions::find_relation(std::string_view qualified_name) {
  const SplitName split = schema_and_name(qualified_name);
  return catalog_.find_relation_oid(split.schema, split.name);
}

Oid CatalogFunctions::find_type(std::string_view spelling, int* typmod) {
  int modifier = -1;
  Oid found = parse_builtin_type_name(spelling, &modifier);
  if (!is_valid(found)) {
    std::string_view base = spelling;
    while (!base.empty() && base.back() == ' ') base.remove_suffix(1);
    const bool is_array = base.ends_with("[]");
    if (is_array) base.remove_suffix(2);
    const SplitName split = schema_and_name(base);
    found = catalog_.find_type(split.schema, split.name);
    if (!is_valid(found) && split.schema == "pg_catalog")
      found = parse_builtin_type_name(split.name, &modifier);
    if (is_array && is_valid(found)) found = catalog_.array_type_of(found);
  }
  if (typmod != nullptr) *typmod = modifier;
  return found;
}

Oid CatalogFunctions::find_role(std::string_view name) {
  const auto role = catalog_.find_role(name);
  return role ? role->oid : kInvalidOid;
}

Oid CatalogFunctions::find_procedure(std::string_view name) {
  const SplitName split = schema_and_name(name);
  const auto found = catalog_.find_procs(split.schema, split.name);
  if (found.empty()) return {};
  if (found.size() > 1) {
    throw SqlError{sqlstate::kAmbiguousFunction,
                   "more than one function named \"" + std::string{name} + "\""};
  }
  return found.front()->oid;
}

Oid CatalogFunctions::find_procedure_signature(std::string_view text) {
  std::string name;
  std::vector<Oid> types;
  for (const std::string& spelling : split_signature(text, &name)) {
    const Oid type = find_type(spelling, nullptr);
    if (!is_valid(type))
      throw SqlError{sqlstate::kUndefinedObject, "type \"" + spelling + "\" does not exist"};
    types.push_back(type);
  }
  const SplitName split = schema_and_name(name);
  for (const BuiltinProc* proc : catalog_.find_procs(split.schema, split.name)) {
    if (std::ranges::equal(proc->args, types)) return proc->oid;
  }
  return {};
}

Oid CatalogFunctions::find_operator(std::string_view name) {
  const std::size_t dot = name.find('.');
  const bool qualified = dot != std::string_view::npos && name.substr(0, dot) == "pg_catalog";
  const auto found = sql::find_operators(qualified ? name.substr(dot + 1) : name);
  if (found.empty()) return {};
  if (found.size() > 1) {
    throw SqlError{sqlstate::kAmbiguousFunction, "more than one operator named " + std::string{name}};
  }
  return found.front()->oid;
}

Oid CatalogFunctions::find_operator_signature(std::string_view text) {
  std::string name;
  const std::vector<std::string> spellings = split_signature(text, &name);
  if (spellings.size() != 2) {
    throw SqlError{sqlstate::kUndefinedParameter, "missing argument"}.hint(
        "Use NONE to denote the missing argument of a unary operator.");
  }
  Oid types[2];
  for (int i = 0; i < 2; ++i) {
    const std::string& spelling = spellings[static_cast<std::size_t>(i)];
    if (spelling == "none" || spelling == "NONE") continue;
    types[i] = find_type(spelling, nullptr);
    if (!is_valid(types[i]))
      throw SqlError{sqlstate::kUndefinedObject, "type \"" + spelling + "\" does not exist"};
  }
  if (name.starts_with("pg_catalog.")) name.erase(0, 11);
  const BuiltinOperator* found = sql::find_operator(name, types[0], types[1]);
  return found != nullptr ? found->oid : kInvalidOid;
}

Oid CatalogFunctions::find_collation(std::string_view name) {
  const SplitName split = schema_and_name(name);
  return catalog_.find_collation(split.schema, split.name);
}

std::string CatalogFunctions::object_name(Oid kind, Oid object) {
  switch (kind.value) {
    case kRegClassType.value: {
      const RelationRef relation = catalog_.relation(object);
      if (!relation) return {};
      const bool visible = catalog_.relation_is_visible(object);
      return quote_qualified(visible ? "" : relation->schema_name, relation->name);
    }
    case kRegTypeType.value:
      return catalog_.type(object) ? catalog_.format_type(object) : std::string{};
    case kRegProcType.value: {
      const BuiltinProc* proc = find_proc(object);
      if (proc == nullptr) return {};
      return quote_identifier(proc->name);
    }
    case kRegProcedureType.value: {
      const BuiltinProc* proc = find_proc(object);
      if (proc == nullptr) return {};
      std::string text = quote_identifier(proc->name) + "(";
      for (std::size_t i = 0; i < proc->args.size(); ++i) {
        if (i > 0) text += ',';
        text += catalog_.format_type(proc->args[i]);
      }
      return text + ")";
    }
    case kRegOperType.value: {
      const BuiltinOperator* op = sql::find_operator(object);
      return op != nullptr ? std::string{op->name} : std::string{};
    }
    case kRegOperatorType.value: {
      const BuiltinOperator* op = sql::find_operator(object);
      if (op == nullptr) return {};
      const std::string left = is_valid(op->left) ? catalog_.format_type(op->left) : "NONE";
      return std::string{op->name} + "(" + left + "," + catalog_.format_type(op->right) + ")";
    }
    case kRegNamespaceType.value: {
      const std::string name = catalog_.schema_name(object);
      return name.empty() ? name : quote_identifier(name);
    }
    case kRegRoleType.value: {
      const auto role = catalog_.role(object);
      return role ? quote_identifier(role->name) : std::string{};
    }
    case kRegCollationType.value: {
      const BuiltinCollation* collation = sql::find_collation(object);
      return collation != nullptr ? quote_identifier(collation->name) : std::string{};
    }
    default:
      return {};
  }
}

namespace {
const std::unordered_map<std::string_view, Datum (*)(CatalogFunctions::Call&)>& functions_by_name() {
  static const auto table = [] {
    std::unordered_map<std::string_view, Datum (*)(CatalogFunctions::Call&)> made;
    for (const CatalogFunction& each : definition_functions()) made.emplace(each.prosrc, each.function);
    for (const CatalogFunction& each : fact_functions()) made.emplace(each.prosrc, each.function);
    return made;
  }();
  return table;
}
}  // namespace

Datum CatalogFunctions::call(std::string_view prosrc, Oid procedure, const Datum* args, const bool* nulls,
                             int nargs, Arena& arena, bool* is_null) {
  Call call{catalog_, analyzer_, sequences_, prosrc, procedure, args, nulls, nargs, arena};
  Datum result;
  const auto found = functions_by_name().find(prosrc);
  if (found != functions_by_name().end()) {
    result = found->second(call);
  } else if (!call_privilege_function(call, &result)) {
    result = call_session(call);
  }
  *is_null = call.is_null;
  return result;
}

Datum CatalogFunctions::call_session(Call& call) {
  throw SqlError{sqlstate::kFeatureNotSupported,
                 "function " + std::string{call.prosrc} + "() is not supported"};
}

Datum CatalogFunctions::input_user_type(Oid type, std::string_view text, int, Arena& arena) {
  if (const auto known = catalog_.type(type); known && known->kind == 'c') {
    return read_row_text(*catalog_.require_relation(known->relation), text, catalog_.eval(), arena);
  }
  throw SqlError{sqlstate::kFeatureNotSupported,
                 "input of type " + catalog_.format_type(type) + " is not supported"};
}

void CatalogFunctions::output_user_type(Oid type, Datum value, std::string& out) {
  // A row of a table is a record under another name.
  if (const auto known = catalog_.type(type); known && known->kind == 'c') {
    Arena arena;
    const IoContext io{arena, catalog_.eval(), kRecordType};
    return type_info(kRecordType).output(value, io, out);
  }
  throw SqlError{sqlstate::kFeatureNotSupported,
                 "output of type " + catalog_.format_type(type) + " is not supported"};
}

}  // namespace pinwheel::sql
