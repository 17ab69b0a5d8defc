#include <algorithm>

#include "base/sqlstate.h"
#include "sql/catalog/builtin.h"
#include "sql/catalog/catalog_scan.h"
#include "sql/catalog/relation_lock.h"
#include "sql/commands/commands_list.h"
#include "sql/commands/constraints.h"
#include "sql/commands/index_create.h"
#include "sql/commands/relation_create.h"
#include "sql/commands/stored_expression.h"
#include "sql/commands/support.h"
#include "sql/types/type_info.h"

namespace pinwheel::sql {
namespace {

Oid choose_operator_class(CommandContext& context, std::string_view name, Oid type) {
  Catalog& catalog = context.catalog;
  if (name.empty()) {
    const BuiltinOperatorClass* found = default_operator_class(type, kBtreeMethod);
    if (found != nullptr) return found->oid;
    throw SqlError{sqlstate::kUndefinedObject,
                   "data type " + catalog.format_type(type) +
                       " has no default operator class for access method \"btree\""}
        .hint(
            "You must specify an operator class for the index or define a default operator class for the "
            "data "
            "type.");
  }
  if (const std::size_t dot = name.rfind('.'); dot != std::string_view::npos) name = name.substr(dot + 1);
  const BuiltinOperatorClass* found = find_operator_class(kBtreeMethod, name);
  if (found == nullptr) {
    throw SqlError{sqlstate::kUndefinedObject,
                   "operator class " + in_quotes(name) + " does not exist for access method \"btree\""};
  }
  if (!is_binary_coercible(type, found->input_type)) {
    throw SqlError{
        sqlstate::kDatatypeMismatch,
        "operator class " + in_quotes(name) + " does not accept data type " + catalog.format_type(type)};
  }
  return found->oid;
}

NewIndexKey resolve_element(CommandContext& context, const Relation& table, const IndexElement& element,
                            std::vector<std::string>& names) {
  NewIndexKey key;
  if (!element.column.empty()) {
    const Column* column = table.find_column(element.column);
    if (column == nullptr) {
      throw SqlError{sqlstate::kUndefinedColumn, "column " + in_quotes(element.column) + " does not exist"};
    }
    key.column = column->number;
    key.type = column->type;
    key.type_modifier = column->type_modifier;
    key.collation = column->collation;
    names.push_back(column->name);
  } else {
    const StoredExpression stored =
        analyze_stored(context, element.expression, table, SourceUse::kIndexExpression);
    if (has_mutable_functions(stored.expr, true)) {
      throw SqlError{sqlstate::kInvalidObjectDefinition,
                     "functions in index expression must be marked IMMUTABLE"};
    }
    key.expression = stored.source;
    key.type = stored.expr->type.type;
    key.type_modifier = stored.expr->type.type_modifier;
    key.collation = stored.expr->type.collation;
    const auto* call = expr_if<FunctionExpr>(stored.expr);
    const BuiltinProc* proc = call != nullptr ? find_proc(call->function) : nullptr;
    key.name = proc != nullptr && call->form == CallForm::kCall ? proc->name : std::string_view{"expr"};
    names.push_back(key.name);
  }
  if (!element.collation.empty()) {
    key.collation = context.catalog.find_collation("", element.collation);
    if (!is_valid(key.collation)) {
      throw SqlError{sqlstate::kUndefinedObject,
                     "collation " + in_quotes(element.collation) + " for encoding \"UTF8\" does not exist"};
    }
  }
  key.operator_class = choose_operator_class(context, element.operator_class, key.type);
  key.descending = element.descending;
  key.nulls_first = element.nulls_first;
  return key;
}

void check_table(CommandContext& context, const Relation& table) {
  if (table.kind != 'r' && table.kind != 'm') {
    throw SqlError{sqlstate::kWrongObjectType, "cannot create index on relation " + in_quotes(table.name)}
        .detail("This operation is not supported for " + std::string{relation_kind_word(table.kind)} +
                (table.kind == 'i' ? "es." : "s."));
  }
  refuse_system_relation(table);
  context.catalog.check_relation_owner(table);
  if (!table.is_temporary()) context.catalog.check_schema_privilege(table.schema, kCreatePrivilege);
}

}  // namespace

std::string run_create_index(CommandContext& context, const CreateIndexUtility& utility) {
  Catalog& catalog = context.catalog;
  const RelationRef table = require_relation(context, utility.table, kShareLock);
  check_table(context, *table);
  if (!utility.method.empty() && utility.method != "btree") {
    const bool known = std::ranges::any_of(builtin_access_methods(), [&](const BuiltinAccessMethod& method) {
      return method.name == utility.method && method.type == 'i';
    });
    if (!known) {
      throw SqlError{sqlstate::kUndefinedObject,
                     "access method " + in_quotes(utility.method) + " does not exist"};
    }
    throw SqlError{sqlstate::kFeatureNotSupported,
                   "access method " + in_quotes(utility.method) + " is not supported"};
  }
  if (utility.elements.size() + utility.included.size() > storage::kMaxIndexColumns) {
    throw SqlError{sqlstate::kTooManyColumns, "cannot use more than 32 columns in an index"};
  }
  NewIndex index;
  index.schema = table->schema;
  index.table = table->oid;
  index.unique = utility.unique;
  index.nulls_not_distinct = utility.nulls_not_distinct;
  index.options = check_relation_options(utility.with, 'i');
  std::vector<std::string> names;
  for (const IndexElement& element : utility.elements) {
    index.keys.push_back(resolve_element(context, *table, element, names));
  }
  index.key_count = static_cast<int>(index.keys.size());
  for (const std::string_view name : utility.included) {
    const Column* column = table->find_column(name);
    if (column == nullptr) {
      throw SqlError{sqlstate::kUndefinedColumn, "column " + in_quotes(name) + " does not exist"};
    }
    NewIndexKey& key = index.keys.emplace_back();
    key.column = column->number;
    key.type = column->type;
    key.type_modifier = column->type_modifier;
    names.emplace_back(name);
  }
  StoredExpression predicate;
  if (!utility.predicate.text.empty()) {
    predicate = analyze_stored(context, utility.predicate, *table, SourceUse::kIndexPredicate);
    if (has_mutable_functions(predicate.expr, true)) {
      throw SqlError{sqlstate::kInvalidObjectDefinition,
                     "functions in index predicate must be marked IMMUTABLE"};
    }
    index.predicate = predicate.source;
  }
  index.name = utility.name.empty()
                   ? choose_index_name(catalog, table->schema, table->name, names, false, false)
                   : std::string{utility.name};
  if (utility.if_not_exists && name_is_taken(catalog, index.schema, index.name)) {
    context.client.notice(NoticeLevel::kNotice,
                          SqlError{sqlstate::kDuplicateTable,
                                   "relation " + in_quotes(index.name) + " already exists, skipping"});
    return "CREATE INDEX";
  }
  create_index(catalog, index);
  return "CREATE INDEX";
}

}  // namespace pinwheel::sql
