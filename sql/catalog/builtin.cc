#include "sql/catalog/builtin.h"

#include <algorithm>
#include <tuple>
#include <vector>

#include "sql/functions/function.h"
#include "sql/types/type_info.h"
#include "sql/types/type_oids.h"

namespace pinwheel::sql {
namespace {
#include "builtin_data.inc"

/// Pointers grouped by name, in name order. Made once, before the server forks.
template <class Row>
struct NameIndex {
  std::vector<const Row*> rows;

  std::span<const Row* const> find(std::string_view name) const {
    auto [first, last] = std::ranges::equal_range(rows, name, {}, &Row::name);
    return {first, last};
  }
};

const NameIndex<BuiltinProc>& procs_by_name() {
  static const NameIndex<BuiltinProc> index = [] {
    NameIndex<BuiltinProc> made;
    for (std::uint16_t i : kProcsByName) {
      if (is_implemented(kProcs[i].oid)) made.rows.push_back(&kProcs[i]);
    }
    std::ranges::stable_sort(made.rows, {}, &BuiltinProc::name);
    return made;
  }();
  return index;
}

const NameIndex<BuiltinOperator>& operators_by_name() {
  static const NameIndex<BuiltinOperator> index = [] {
    NameIndex<BuiltinOperator> made;
    for (const BuiltinOperator& op : kOperators) {
      if (is_implemented(op.procedure)) made.rows.push_back(&op);
    }
    std::ranges::stable_sort(made.rows, {}, &BuiltinOperator::name);
    return made;
  }();
  return index;
}

template <class Rows>
auto find_by_oid(const Rows& rows, Oid oid) -> decltype(&rows[0]) {
  const auto* found = std::ranges::lower_bound(rows, oid, {}, [](const auto& row) { return row.oid; });
  return found != std::end(rows) && found->oid == oid ? found : nullptr;
}
}  // namespace

std::span<const BuiltinProc> builtin_proc_rows() { return kProcs; }
std::span<const BuiltinOperator> builtin_operators() { return kOperators; }
std::span<const BuiltinCast> builtin_casts() { return kCasts; }
std::span<const BuiltinOperatorClass> builtin_operator_classes() { return kOperatorClasses; }
std::span<const BuiltinOperatorFamily> builtin_operator_families() { return kOperatorFamilies; }
std::span<const BuiltinFamilyOperator> builtin_family_operators() { return kFamilyOperators; }
std::span<const BuiltinFamilyProc> builtin_family_procs() { return kFamilyProcs; }
std::span<const BuiltinCollation> builtin_collations() { return kCollations; }
std::span<const BuiltinLanguage> builtin_languages() { return kLanguages; }
std::span<const BuiltinAccessMethod> builtin_access_methods() { return kAccessMethods; }

const BuiltinProc* find_proc(Oid oid) { return find_by_oid(kProcs, oid); }
const BuiltinOperator* find_operator(Oid oid) { return find_by_oid(kOperators, oid); }
const BuiltinOperatorFamily* find_operator_family(Oid oid) { return find_by_oid(kOperatorFamilies, oid); }
const BuiltinOperatorClass* find_operator_class(Oid oid) { return find_by_oid(kOperatorClasses, oid); }
const BuiltinCollation* find_collation(Oid oid) { return find_by_oid(kCollations, oid); }

std::span<const BuiltinProc* const> find_procs(std::string_view name) { return procs_by_name().find(name); }
std::span<const BuiltinOperator* const> find_operators(std::string_view name) {
  return operators_by_name().find(name);
}

const BuiltinOperator* find_operator(std::string_view name, Oid left, Oid right) {
  for (const BuiltinOperator* op : find_operators(name)) {
    if (op->left == left && op->right == right) return op;
  }
  return nullptr;
}

const BuiltinAggregate* find_aggregate_facts(Oid procedure) {
  const auto* found = std::ranges::lower_bound(kAggregates, procedure, {}, &BuiltinAggregate::procedure);
  return found != std::end(kAggregates) && found->procedure == procedure ? found : nullptr;
}

const BuiltinCast* find_cast(Oid source, Oid target) {
  const auto key = [](const BuiltinCast& cast) { return std::tuple{cast.source, cast.target}; };
  const auto* found = std::ranges::lower_bound(kCasts, std::tuple{source, target}, {}, key);
  return found != std::end(kCasts) && found->source == source && found->target == target ? found : nullptr;
}

const BuiltinOperatorClass* find_operator_class(Oid method, std::string_view name) {
  for (const BuiltinOperatorClass& row : kOperatorClasses) {
    if (row.method == method && row.name == name) return &row;
  }
  return nullptr;
}

bool is_binary_coercible(Oid source, Oid target) {
  if (source == target || target == kAnyType || target == kAnyElementType || target == kAnyCompatibleType)
    return true;
  const TypeInfo* from = find_type(source);
  const bool is_array = from != nullptr && from->is_array() && from->category == 'A';
  if (target == kAnyArrayType || target == kAnyCompatibleArrayType) return is_array;
  if (target == kAnyNonArrayType || target == kAnyCompatibleNonArrayType) return !is_array;
  if (target == kRecordArrayType || target == kRecordType) return false;
  const BuiltinCast* cast = find_cast(source, target);
  return cast != nullptr && cast->method == 'b' && cast->context == 'i';
}

const BuiltinOperatorClass* default_operator_class(Oid type, Oid method) {
  const BuiltinOperatorClass* coercible = nullptr;
  const BuiltinOperatorClass* preferred = nullptr;
  int coercible_count = 0;
  const TypeInfo* info = find_type(type);
  for (const BuiltinOperatorClass& row : kOperatorClasses) {
    if (row.method != method || !row.is_default) continue;
    if (row.input_type == type) return &row;
    if (!is_binary_coercible(type, row.input_type)) continue;
    const TypeInfo* input = find_type(row.input_type);
    if (info != nullptr && input != nullptr && input->category == info->category && input->preferred) {
      preferred = &row;
    }
    coercible = &row;
    ++coercible_count;
  }
  if (preferred != nullptr) return preferred;
  return coercible_count == 1 ? coercible : nullptr;
}

Oid family_operator(Oid family, Oid left, Oid right, int strategy) {
  const auto key = [](const BuiltinFamilyOperator& row) {
    return std::tuple{row.family, row.left, row.right, static_cast<int>(row.strategy)};
  };
  const auto wanted = std::tuple{family, left, right, strategy};
  const auto* found = std::ranges::lower_bound(kFamilyOperators, wanted, {}, key);
  return found != std::end(kFamilyOperators) && key(*found) == wanted ? found->op : kInvalidOid;
}

const BuiltinFamilyOperator* operator_membership(Oid op, Oid method) {
  for (const BuiltinFamilyOperator& row : kFamilyOperators) {
    if (row.op == op && row.method == method) return &row;
  }
  return nullptr;
}

const BuiltinFamilyOperator* operator_in_family(Oid op, Oid family) {
  for (const BuiltinFamilyOperator& row : kFamilyOperators) {
    if (row.op == op && row.family == family) return &row;
  }
  return nullptr;
}

Oid family_proc(Oid family, Oid left, Oid right, int number) {
  const auto key = [](const BuiltinFamilyProc& row) {
    return std::tuple{row.family, row.left, row.right, static_cast<int>(row.number)};
  };
  const auto wanted = std::tuple{family, left, right, number};
  const auto* found = std::ranges::lower_bound(kFamilyProcs, wanted, {}, key);
  return found != std::end(kFamilyProcs) && key(*found) == wanted ? found->procedure : kInvalidOid;
}

const BuiltinCollation* find_collation(std::string_view name) {
  for (const BuiltinCollation& row : kCollations) {
    if (row.name == name) return &row;
  }
  return nullptr;
}

}  // namespace pinwheel::sql
