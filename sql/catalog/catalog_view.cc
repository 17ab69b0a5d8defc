#include "sql/catalog/catalog_view.h"

#include <algorithm>

#include "base/sqlstate.h"
#include "sql/catalog/catalog_scan.h"
#include "sql/deparse/deparse.h"
#include "sql/types/type_oids.h"
#include "txn/transaction.h"

namespace pinwheel::sql {
namespace {

constexpr Oid kBtree{403};
constexpr std::string_view kCatalogSchemaName = "pg_catalog";

/// Splits default expressions at commas outside quotes and parentheses.
std::vector<std::string_view> split_defaults(std::string_view text) {
  std::vector<std::string_view> parts;
  if (text.empty()) return parts;
  int depth = 0;
  bool quoted = false;
  std::size_t from = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\'') quoted = !quoted;
    if (quoted) continue;
    if (c == '(' || c == '[') ++depth;
    if (c == ')' || c == ']') --depth;
    if (c == ',' && depth == 0) {
      parts.push_back(text.substr(from, i - from));
      from = i + 1;
      while (from < text.size() && text[from] == ' ') ++from;
    }
  }
  parts.push_back(text.substr(from));
  return parts;
}

/// The built-in functions and operators in analysis' shape. Made once per process, then constant.
struct Builtins {
  std::vector<std::vector<std::string_view>> defaults;
  std::vector<ViewedFunction> functions;  // parallel to builtin_proc_rows()
  std::vector<ViewedOperator> operators;  // parallel to builtin_operators()
  /// Groups of one name, in the order of the name; implemented ones only.
  std::vector<const ViewedFunction*> functions_by_name;
  std::vector<const ViewedOperator*> operators_by_name;

  Builtins() {
    const auto procs = builtin_proc_rows();
    defaults.reserve(procs.size());
    functions.reserve(procs.size());
    for (const BuiltinProc& proc : procs) {
      ViewedFunction& made = functions.emplace_back();
      made.oid = proc.oid;
      made.schema = kCatalogSchema;
      made.schema_name = kCatalogSchemaName;
      made.name = proc.name;
      made.kind = proc.kind;
      made.result = proc.result;
      made.returns_set = proc.returns_set;
      made.strict = proc.strict;
      made.volatility = proc.volatility;
      made.variadic = proc.variadic;
      made.args = proc.args;
      made.all_args = proc.all_args;
      made.arg_modes = proc.arg_modes;
      made.arg_names = proc.arg_names;
      made.defaults = defaults.emplace_back(split_defaults(proc.arg_defaults));
      if (const BuiltinAggregate* aggregate = find_aggregate_facts(proc.oid)) {
        made.aggregate_kind = aggregate->kind;
        made.direct_args = aggregate->direct_args;
        made.transition_type = aggregate->transition_type;
      }
    }
    operators.reserve(builtin_operators().size());
    for (const BuiltinOperator& row : builtin_operators()) {
      operators.push_back({row.oid, kCatalogSchema, kCatalogSchemaName, row.name, row.left, row.right,
                           row.result, row.procedure, row.commutator, row.negator, row.can_hash,
                           row.can_merge});
    }
    for (const ViewedFunction& function : functions) {
      const auto all = find_procs(function.name);
      if (std::ranges::find(all, function.oid, [](const BuiltinProc* p) { return p->oid; }) != all.end()) {
        functions_by_name.push_back(&function);
      }
    }
    std::ranges::stable_sort(functions_by_name, {}, [](const ViewedFunction* f) { return f->name; });
    for (const ViewedOperator& op : operators) {
      const auto all = sql::find_operators(op.name);
      if (std::ranges::find(all, op.oid, [](const BuiltinOperator* o) { return o->oid; }) != all.end()) {
        operators_by_name.push_back(&op);
      }
    }
    std::ranges::stable_sort(operators_by_name, {}, [](const ViewedOperator* o) { return o->name; });
  }
};

const Builtins& builtins() {
  static const Builtins made;
  return made;
}

}  // namespace

void CatalogView::end_statement() {
  relations_.clear();
  types_.clear();
  texts_.clear();
  held_.clear();
  arena_.reset();
}

const ViewedRelation* CatalogView::show(const RelationRef& relation) {
  const ViewedRelation* made = make(relation);
  relations_.insert_or_assign(relation->oid, made);
  return made;
}

const ViewedRelation* CatalogView::make(const RelationRef& relation) {
  held_.push_back(relation);
  auto* viewed = arena_.make<ViewedRelation>();
  viewed->oid = relation->oid;
  viewed->schema = relation->schema;
  viewed->schema_name = relation->schema_name;
  viewed->name = relation->name;
  viewed->kind = relation->kind;
  viewed->persistence = relation->persistence;
  viewed->row_type = relation->row_type;
  viewed->owner = relation->owner;
  viewed->view_text = relation->view_source;
  auto* columns = arena_.make_array<ViewedColumn>(relation->columns.size());
  for (std::size_t i = 0; i < relation->columns.size(); ++i) {
    const Column& column = relation->columns[i];
    columns[i] = {column.name,      column.type,           column.type_modifier,
                  column.collation, column.dropped,        column.not_null,
                  column.identity,  column.generated != 0, column.default_source};
  }
  viewed->columns = {columns, relation->columns.size()};
  auto* indexes = arena_.make_array<ViewedIndex>(relation->indexes.size());
  std::size_t count = 0;
  for (const IndexInfo& index : relation->indexes) {
    if (!index.valid) continue;
    ViewedIndex& to = indexes[count++];
    to.oid = index.oid;
    to.constraint = is_valid(index.constraint) ? std::string_view{index.name} : std::string_view{};
    to.unique = index.unique;
    to.immediate = index.immediate;
    to.primary = index.primary;
    to.predicate = index.predicate;
    const auto key_count = static_cast<std::size_t>(index.key_count);
    auto* keys = arena_.make_array<std::int16_t>(key_count);
    auto* expressions = arena_.make_array<std::string_view>(key_count);
    std::size_t expression_count = 0;
    for (std::size_t i = 0; i < key_count; ++i) {
      keys[i] = index.keys[i].column;
      if (keys[i] == 0) expressions[expression_count++] = index.keys[i].expression;
    }
    to.keys = {keys, key_count};
    to.expressions = {expressions, expression_count};
    if (index.primary) viewed->primary_key = to.keys;
  }
  viewed->indexes = {indexes, count};
  return viewed;
}

const ViewedRelation* CatalogView::find_relation(std::string_view schema, std::string_view name,
                                                 int table_lock) {
  const RelationRef found = table_lock == 0 ? catalog_.find_relation(schema, name)
                                            : lock_relation_by_name(catalog_, schema, name, table_lock);
  if (!found) return nullptr;
  // The lock may have brought news: what was shown before of this relation may be old.
  if (const auto known = relations_.find(found->oid); known != relations_.end()) {
    for (const RelationRef& held : held_) {
      if (held.get() == found.get()) return known->second;
    }
  }
  return show(found);
}

const ViewedRelation* CatalogView::relation(Oid oid) {
  if (const auto known = relations_.find(oid); known != relations_.end()) return known->second;
  const RelationRef found = catalog_.relation(oid);
  return found ? show(found) : nullptr;
}

const ViewedType* CatalogView::type(Oid oid) {
  if (const auto known = types_.find(oid); known != types_.end()) return known->second;
  const auto found = catalog_.type(oid);
  if (!found) return nullptr;
  auto* viewed = arena_.make<ViewedType>();
  viewed->oid = oid;
  viewed->schema = found->schema;
  viewed->schema_name = texts_.emplace_back(catalog_.schema_name(found->schema));
  viewed->name = texts_.emplace_back(found->name);
  viewed->kind = found->kind;
  viewed->category = found->category;
  viewed->preferred = found->preferred;
  viewed->by_value = found->by_value;
  viewed->length = found->length;
  const bool is_vector = oid == kInt2VectorType || oid == kOidVectorType;
  if (found->category == 'A' || is_vector) viewed->element = found->element;
  viewed->fixed_subscript = is_vector || oid == kNameType;
  viewed->array = found->array;
  viewed->relation = found->relation;
  viewed->base_type = found->base_type;
  viewed->base_modifier = found->base_modifier;
  viewed->collation = found->collation;
  types_.emplace(oid, viewed);
  return viewed;
}

std::span<const ViewedFunction* const> CatalogView::find_functions(std::string_view schema,
                                                                   std::string_view name) {
  if (!schema.empty() && schema != kCatalogSchemaName) return {};
  const auto [first, last] = std::ranges::equal_range(builtins().functions_by_name, name, {},
                                                      [](const ViewedFunction* f) { return f->name; });
  return {first, last};
}

const ViewedFunction* CatalogView::function(Oid oid) {
  const BuiltinProc* proc = find_proc(oid);
  return proc != nullptr ? &builtins().functions[static_cast<std::size_t>(proc - builtin_proc_rows().data())]
                         : nullptr;
}

std::span<const ViewedOperator* const> CatalogView::find_operators(std::string_view schema,
                                                                   std::string_view name) {
  if (!schema.empty() && schema != kCatalogSchemaName) return {};
  const auto [first, last] = std::ranges::equal_range(builtins().operators_by_name, name, {},
                                                      [](const ViewedOperator* o) { return o->name; });
  return {first, last};
}

const ViewedOperator* CatalogView::op(Oid oid) {
  const BuiltinOperator* row = find_operator(oid);
  return row != nullptr ? &builtins().operators[static_cast<std::size_t>(row - builtin_operators().data())]
                        : nullptr;
}

std::optional<ViewedCast> CatalogView::find_cast(Oid source, Oid target) {
  const BuiltinCast* cast = sql::find_cast(source, target);
  if (cast == nullptr) return std::nullopt;
  return ViewedCast{cast->procedure, cast->context, cast->method};
}

SortOperators CatalogView::sort_operators(Oid type_oid) {
  const BuiltinOperatorClass* found = default_operator_class(type_oid, kBtree);
  if (found == nullptr) {
    const auto facts = type(type_oid);
    if (facts == nullptr || facts->kind != 'c') return {};
    found = default_operator_class(kRecordType, kBtree);
    if (found == nullptr) return {};
  }
  SortOperators operators;
  operators.family = found->family;
  operators.input_type = found->input_type;
  operators.less = sql::family_operator(found->family, found->input_type, found->input_type, 1);
  operators.equal = sql::family_operator(found->family, found->input_type, found->input_type, 3);
  operators.greater = sql::family_operator(found->family, found->input_type, found->input_type, 5);
  return operators;
}

std::span<const OperatorFamilyEntry> CatalogView::btree_memberships(Oid op_oid) {
  std::size_t count = 0;
  auto* entries = arena_.make_array<OperatorFamilyEntry>(4);
  for (const BuiltinFamilyOperator& row : builtin_family_operators()) {
    if (row.op != op_oid || row.method != kBtree || count == 4) continue;
    entries[count++] = {row.family, row.strategy, row.left, row.right};
  }
  return {entries, count};
}

std::string CatalogView::collation_name(Oid oid) {
  const BuiltinCollation* found = sql::find_collation(oid);
  return found != nullptr ? quote_identifier(found->name) : std::to_string(oid.value);
}

Oid CatalogView::find_constraint_index(Oid relation, std::string_view constraint) {
  Oid index;
  scan_rows<ConstraintRow>(catalog_, {{8, relation}}, [&](ConstraintRow& row, TupleId) {
    if (row.conname != constraint) return true;
    index = row.conindid;
    return false;
  });
  return index;
}

RelationRef lock_relation_by_name(Catalog& catalog, std::string_view schema, std::string_view name, int mode,
                                  bool nowait) {
  txn::SessionLocks& locks = catalog.transaction().locks();
  const auto lock_mode = static_cast<txn::LockMode>(mode);
  Oid locked;
  for (;;) {
    const Oid found = catalog.find_relation_oid(schema, name);
    if (found == locked) return is_valid(found) ? catalog.relation(found) : RelationRef{};
    const RelationRef relation = is_valid(found) ? catalog.relation(found) : RelationRef{};
    const auto tag_of = [&](Oid oid, bool shared) {
      return txn::LockTag::relation(shared ? kInvalidOid : catalog.eval().database, oid);
    };
    if (is_valid(locked)) locks.unlock(tag_of(locked, find_system_relation(locked) != nullptr), lock_mode);
    if (!relation) return {};
    const txn::LockResult result = locks.lock(tag_of(found, relation->shared), lock_mode,
                                              nowait ? txn::LockWait::kTry : txn::LockWait::kBlock);
    if (result == txn::LockResult::kNotAvailable) {
      throw SqlError{sqlstate::kLockNotAvailable,
                     "could not obtain lock on relation \"" + std::string{name} + "\""};
    }
    if (result == txn::LockResult::kAlreadyHeld) return relation;
    // Whoever held a conflicting lock may have renamed or dropped it: look again with the news.
    locked = found;
    catalog.accept_invalidations();
  }
}

}  // namespace pinwheel::sql
