#include "sql/catalog/builtin_views.h"

#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "sql/catalog/builtin.h"
#include "sql/functions/function.h"
#include "sql/types/type_info.h"
#include "sql/types/type_oids.h"

namespace pinwheel::sql {
namespace {

constexpr Oid kPgCatalogSchema{11};

/// Splits default expressions at top-level commas: they are recorded with ", " between them.
std::vector<std::string_view> split_defaults(std::string_view text) {
  std::vector<std::string_view> parts;
  std::size_t begin = 0;
  int depth = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\'') quoted = !quoted;
    if (quoted) continue;
    if (c == '(' || c == '[') ++depth;
    if (c == ')' || c == ']') --depth;
    if (c == ',' && depth == 0) {
      parts.push_back(text.substr(begin, i - begin));
      begin = i + 1;
      while (begin < text.size() && text[begin] == ' ') ++begin;
    }
  }
  if (begin < text.size()) parts.push_back(text.substr(begin));
  return parts;
}

ViewedType view_of(const TypeInfo& info) {
  ViewedType view;
  view.oid = info.oid;
  view.schema = kPgCatalogSchema;
  view.schema_name = "pg_catalog";
  view.name = info.name;
  view.kind = info.kind;
  view.category = info.category;
  view.preferred = info.preferred;
  view.by_value = info.by_value;
  view.length = info.length;
  view.array = info.array;
  view.collation = info.collation;
  view.fixed_subscript = info.oid == kNameType || info.oid == kInt2VectorType || info.oid == kOidVectorType;
  if (info.is_array() || info.oid == kInt2VectorType || info.oid == kOidVectorType)
    view.element = info.element;
  return view;
}

struct Functions {
  std::unordered_map<Oid, std::unique_ptr<ViewedFunction>> by_oid;
  std::unordered_map<std::string_view, std::vector<const ViewedFunction*>> by_name;
  std::vector<std::unique_ptr<std::vector<std::string_view>>> defaults;

  Functions() {
    for (const BuiltinProc& proc : builtin_proc_rows()) {
      auto view = std::make_unique<ViewedFunction>();
      view->oid = proc.oid;
      view->schema = kPgCatalogSchema;
      view->schema_name = "pg_catalog";
      view->name = proc.name;
      view->kind = proc.kind;
      view->result = proc.result;
      view->returns_set = proc.returns_set;
      view->strict = proc.strict;
      view->volatility = proc.volatility;
      view->variadic = proc.variadic;
      view->args = proc.args;
      view->all_args = proc.all_args;
      view->arg_modes = proc.arg_modes;
      view->arg_names = proc.arg_names;
      if (proc.default_count > 0) {
        defaults.push_back(
            std::make_unique<std::vector<std::string_view>>(split_defaults(proc.arg_defaults)));
        view->defaults = *defaults.back();
      }
      if (proc.kind == 'a') {
        if (const AggregateInfo* aggregate = find_aggregate(proc.oid)) {
          view->aggregate_kind = aggregate->kind;
          view->transition_type = aggregate->transition_type;
        }
      }
      if (is_implemented(proc.oid)) by_name[proc.name].push_back(view.get());
      by_oid.emplace(proc.oid, std::move(view));
    }
  }
};

struct Operators {
  std::unordered_map<Oid, std::unique_ptr<ViewedOperator>> by_oid;
  std::unordered_map<std::string_view, std::vector<const ViewedOperator*>> by_name;

  Operators() {
    for (const BuiltinOperator& row : builtin_operators()) {
      auto view = std::make_unique<ViewedOperator>();
      view->oid = row.oid;
      view->schema = kPgCatalogSchema;
      view->schema_name = "pg_catalog";
      view->name = row.name;
      view->left = row.left;
      view->right = row.right;
      view->result = row.result;
      view->function = row.procedure;
      view->commutator = row.commutator;
      view->negator = row.negator;
      view->can_hash = row.can_hash;
      view->can_merge = row.can_merge;
      if (is_implemented(row.procedure)) by_name[row.name].push_back(view.get());
      by_oid.emplace(row.oid, std::move(view));
    }
  }
};

struct Types {
  std::unordered_map<Oid, ViewedType> by_oid;
  Types() {
    for (const TypeInfo& info : builtin_types()) by_oid.emplace(info.oid, view_of(info));
  }
};

struct Memberships {
  std::unordered_map<Oid, std::vector<OperatorFamilyEntry>> by_operator;
  Memberships() {
    for (const BuiltinFamilyOperator& row : builtin_family_operators()) {
      if (row.method != kBtreeMethod || row.purpose != 's') continue;
      by_operator[row.op].push_back({row.family, row.strategy, row.left, row.right});
    }
  }
};

// Constant once made: caches that every session of the process may share.
const Functions& functions() {
  static const Functions table;
  return table;
}
const Operators& operators() {
  static const Operators table;
  return table;
}
const Types& types() {
  static const Types table;
  return table;
}
const Memberships& memberships() {
  static const Memberships table;
  return table;
}

}  // namespace

const ViewedType* builtin_type_view(Oid oid) {
  const auto at = types().by_oid.find(oid);
  return at == types().by_oid.end() ? nullptr : &at->second;
}

const ViewedFunction* builtin_function_view(Oid oid) {
  const auto at = functions().by_oid.find(oid);
  return at == functions().by_oid.end() ? nullptr : at->second.get();
}

std::span<const ViewedFunction* const> builtin_function_views(std::string_view name) {
  const auto at = functions().by_name.find(name);
  if (at == functions().by_name.end()) return {};
  return at->second;
}

const ViewedOperator* builtin_operator_view(Oid oid) {
  const auto at = operators().by_oid.find(oid);
  return at == operators().by_oid.end() ? nullptr : at->second.get();
}

std::span<const ViewedOperator* const> builtin_operator_views(std::string_view name) {
  const auto at = operators().by_name.find(name);
  if (at == operators().by_name.end()) return {};
  return at->second;
}

SortOperators builtin_sort_operators(Oid type, AnalyzerCatalog& catalog) {
  SortOperators found{};
  const BuiltinOperatorClass* row = default_operator_class(type, kBtreeMethod);
  for (int depth = 0; row == nullptr && depth < 4; ++depth) {
    const ViewedType* view = catalog.type(type);
    if (view == nullptr) return found;
    if (view->kind == 'd') {
      type = view->base_type;
    } else if (view->kind == 'e') {
      type = kAnyEnumType;
    } else if (view->kind == 'c') {
      type = kRecordType;
    } else if (view->element != kInvalidOid && !view->fixed_subscript) {
      type = kAnyArrayType;
    } else {
      return found;
    }
    row = default_operator_class(type, kBtreeMethod);
  }
  if (row == nullptr) return found;
  found.family = row->family;
  found.input_type = row->input_type;
  found.less = family_operator(row->family, row->input_type, row->input_type, 1);
  found.equal = family_operator(row->family, row->input_type, row->input_type, 3);
  found.greater = family_operator(row->family, row->input_type, row->input_type, 5);
  return found;
}

std::span<const OperatorFamilyEntry> builtin_btree_memberships(Oid op) {
  const auto at = memberships().by_operator.find(op);
  if (at == memberships().by_operator.end()) return {};
  return at->second;
}

}  // namespace pinwheel::sql
