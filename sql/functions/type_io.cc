#include "sql/functions/tables.h"
#include "sql/types/io_errors.h"
#include "sql/types/type_info.h"

#include <algorithm>
#include <unordered_map>
#include <vector>

/// The input, output, receive and send functions of the types as SQL can call them: wrappers around the type
/// table, found by the names that the recorded pg_type gives.
namespace pinwheel::sql::functions {

namespace {

/// Which type a textin, int4out... belongs to: by the pg_proc row called.
const TypeInfo& type_of(const FunctionCall& call);

Datum call_input(FunctionCall& c) {
  const TypeInfo& type = type_of(c);
  const Oid wanted = c.nargs > 1 && c.args[1].as_oid().value != 0 && type.oid == kAnyArrayType
                         ? c.args[1].as_oid()
                         : type.oid;
  const int typmod = c.nargs > 2 ? c.args[2].as_int32() : -1;
  return type.input(cstring_view(c.args[0]), IoContext{*c.arena, *c.context, wanted, typmod});
}
Datum call_output(FunctionCall& c) {
  const TypeInfo& type = type_of(c);
  std::string out;
  const Oid wanted = c.arg_types && type.kind == 'p' ? c.arg_types[0] : type.oid;
  type.output(c.args[0], IoContext{*c.arena, *c.context, wanted, -1}, out);
  return make_cstring(*c.arena, out);
}
Datum call_send(FunctionCall& c) {
  const TypeInfo& type = type_of(c);
  std::string out;
  type.send(c.args[0], IoContext{*c.arena, *c.context, type.oid, -1}, out);
  return make_var(*c.arena, out);
}

/// "int4" of int4in, "timestamp_" of timestamp_in, to the type.
const TypeInfo* find_by_function(std::string_view name, std::string_view ending) {
  if (!name.ends_with(ending)) return nullptr;
  name.remove_suffix(ending.size());
  if (name.ends_with('_')) name.remove_suffix(1);
  if (name == "array") return find_type(kAnyArrayType);
  return find_type(name);
}

struct Wrappers {
  std::vector<BuiltinFunction> functions;
  std::unordered_map<std::uint32_t, const TypeInfo*> types;

  Wrappers() {
    for (const ProcInfo& row : builtin_procs()) {
      if (row.kind != 'f' || row.prosrc.empty()) continue;
      const TypeInfo* type = nullptr;
      if (row.args.size() >= 1 && row.args[0] == kCStringType &&
          (type = find_by_function(row.prosrc, "in"))) {
        add(row, call_input, type);
      } else if (row.args.size() == 1 && row.result == kCStringType &&
                 (type = find_by_function(row.prosrc, "out"))) {
        add(row, call_output, type);
      } else if (row.args.size() == 1 && row.result == kByteaType &&
                 (type = find_by_function(row.prosrc, "send"))) {
        add(row, call_send, type);
      }
    }
  }
  void add(const ProcInfo& row, FunctionPtr function, const TypeInfo* type) {
    functions.push_back({row.prosrc, function, row.oid});
    types.emplace(row.oid.value, type);
  }
};

const Wrappers& wrappers() {
  static const Wrappers made;
  return made;
}

const TypeInfo& type_of(const FunctionCall& call) { return *wrappers().types.at(call.procedure.value); }

}  // namespace

std::span<const BuiltinFunction> type_io_functions() { return wrappers().functions; }

}  // namespace pinwheel::sql::functions
