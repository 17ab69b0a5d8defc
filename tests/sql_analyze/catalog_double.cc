#include "tests/sql_analyze/catalog_double.h"

#include <fstream>
#include <sstream>

#include "sql/analyze/expression_source.h"
#include "sql/catalog/builtin.h"
#include "sql/catalog/builtin_views.h"
#include "sql/types/type_info.h"

namespace pinwheel::sql {

struct CatalogDouble::Table {
  ViewedRelation view;
  std::vector<ViewedColumn> columns;
  std::vector<ViewedIndex> indexes;
  std::vector<std::int16_t> primary;
};

namespace {

using Row = std::map<std::string, std::string>;

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::string part;
  std::istringstream in{text};
  while (std::getline(in, part, separator)) parts.push_back(part);
  if (!text.empty() && text.back() == separator) parts.emplace_back();
  return parts;
}

std::vector<Row> read_rows(const std::string& file) {
  std::ifstream in{file};
  std::string line;
  std::getline(in, line);
  const std::vector<std::string> names = split(line, '\t');
  std::vector<Row> rows;
  while (std::getline(in, line)) {
    const std::vector<std::string> fields = split(line, '\t');
    Row row;
    for (std::size_t i = 0; i < names.size() && i < fields.size(); ++i)
      row[names[i]] = fields[i] == "\\N" ? "" : fields[i];
    rows.push_back(std::move(row));
  }
  return rows;
}

Oid oid(const std::string& text) {
  return Oid{text.empty() ? 0u : static_cast<std::uint32_t>(std::stoul(text))};
}

std::string trim_braces(const std::string& text) {
  return text.size() >= 2 && text.front() == '{' ? text.substr(1, text.size() - 2) : text;
}

template <class T>
std::span<const T> keep(Arena& arena, const std::vector<T>& items) {
  T* first = arena.make_array<T>(items.size());
  std::copy(items.begin(), items.end(), first);
  return {first, items.size()};
}

}  // namespace

CatalogDouble::CatalogDouble(const std::string& data) {
  eval_.user_name = eval_.session_user_name = "postgres";
  load_functions(data);
  load_operators(data + "/pg_operator.tsv");
  load_system_tables(data);
}

void CatalogDouble::load_system_tables(const std::string& data) {
  std::map<std::string, Table*> by_oid;
  for (Row& row : read_rows(data + "/system_relations.tsv")) {
    if (row["relkind"] != "r" && row["relkind"] != "v") continue;
    // Views stand here as tables: only their columns matter.
    Table& table =
        add_table(row["relnamespace"] == "11" ? "pg_catalog" : "information_schema", row["relname"], 'r');
    table.view.oid = oid(row["oid"]);
    by_oid[row["oid"]] = &table;
  }
  for (Row& row : read_rows(data + "/system_attributes.tsv")) {
    const auto at = by_oid.find(row["attrelid"]);
    if (at == by_oid.end()) continue;
    ViewedColumn column;
    column.name = arena_.copy(row["attname"]);
    column.type = oid(row["atttypid"]);
    column.type_modifier = std::stoi(row["atttypmod"]);
    column.collation = oid(row["attcollation"]);
    at->second->columns.push_back(column);
  }
  for (auto& [unused, table] : by_oid) seal(*table);
}

void CatalogDouble::load_functions(const std::string& data) {
  std::map<std::string, Row> aggregates;
  for (Row& row : read_rows(data + "/pg_aggregate.tsv")) aggregates[row["aggfnoid"]] = row;
  for (Row& row : read_rows(data + "/pg_proc.tsv")) {
    ViewedFunction function;
    function.oid = oid(row["oid"]);
    function.schema = Oid{11};
    function.schema_name = "pg_catalog";
    function.name = arena_.copy(row["proname"]);
    function.kind = row["prokind"][0];
    function.result = oid(row["prorettype"]);
    function.returns_set = row["proretset"] == "t";
    function.strict = row["proisstrict"] == "t";
    function.volatility = row["provolatile"][0];
    function.variadic = oid(row["provariadic"]);
    std::vector<Oid> args, all;
    for (const std::string& part : split(row["proargtypes"], ' ')) args.push_back(oid(part));
    for (const std::string& part : split(trim_braces(row["proallargtypes"]), ',')) all.push_back(oid(part));
    function.args = keep(arena_, args);
    function.all_args = keep(arena_, all);
    std::string modes;
    for (const std::string& part : split(trim_braces(row["proargmodes"]), ',')) modes += part;
    function.arg_modes = arena_.copy(modes);
    std::vector<std::string_view> names, defaults;
    for (const std::string& part : split(trim_braces(row["proargnames"]), ',')) {
      names.push_back(arena_.copy(part == "\"\"" ? "" : part));
    }
    function.arg_names = keep(arena_, names);
    if (row["pronargdefaults"] != "0") {
      for (std::string part : split(row["proargdefaults"], ',')) {
        if (!part.empty() && part[0] == ' ') part.erase(0, 1);
        defaults.push_back(arena_.copy(part));
      }
    }
    function.defaults = keep(arena_, defaults);
    if (const auto at = aggregates.find(row["oid"]); at != aggregates.end()) {
      function.aggregate_kind = at->second["aggkind"][0];
      function.direct_args = std::stoi(at->second["aggnumdirectargs"]);
      function.transition_type = oid(at->second["aggtranstype"]);
    }
    functions_.push_back(function);
    functions_by_name_[row["proname"]].push_back(&functions_.back());
    functions_by_oid_[function.oid] = &functions_.back();
  }
}

void CatalogDouble::load_operators(const std::string& file) {
  for (Row& row : read_rows(file)) {
    ViewedOperator op;
    op.oid = oid(row["oid"]);
    op.schema = Oid{11};
    op.schema_name = "pg_catalog";
    op.name = arena_.copy(row["oprname"]);
    op.left = oid(row["oprleft"]);
    op.right = oid(row["oprright"]);
    op.result = oid(row["oprresult"]);
    op.function = oid(row["oprcode"]);
    op.commutator = oid(row["oprcom"]);
    op.negator = oid(row["oprnegate"]);
    operators_.push_back(op);
    operators_by_name_[row["oprname"]].push_back(&operators_.back());
    operators_by_oid_[op.oid] = &operators_.back();
  }
}

CatalogDouble::Table& CatalogDouble::add_table(std::string_view schema, std::string_view name, char kind) {
  Table& table = tables_.emplace_back();
  table.view.oid = Oid{next_oid_};
  table.view.row_type = Oid{next_oid_ + 1};
  next_oid_ += 4;
  table.view.schema_name = schema.empty() ? "public" : arena_.copy(schema);
  table.view.schema = find_schema(table.view.schema_name);
  table.view.name = arena_.copy(name);
  table.view.kind = kind;
  table.view.owner = Oid{10};
  ViewedType& row = row_types_.emplace_back();
  row.oid = table.view.row_type;
  row.schema_name = table.view.schema_name;
  row.name = table.view.name;
  row.kind = 'c';
  row.category = 'C';
  row.relation = table.view.oid;
  row.array = Oid{row.oid.value + 1};
  ViewedType& array = row_types_.emplace_back();
  array.oid = row_types_[row_types_.size() - 2].array;
  array.name = arena_.copy("_" + std::string{name});
  array.category = 'A';
  array.element = row.oid;
  return table;
}

void CatalogDouble::seal(Table& table) {
  table.view.columns = table.columns;
  table.view.indexes = table.indexes;
  table.view.primary_key = table.primary;
}

void CatalogDouble::add(const Utility& utility) {
  const AnalyzeContext context{arena_, *this, eval_};
  if (utility.kind == UtilityKind::kCreateTable) {
    const auto& create = static_cast<const CreateTableUtility&>(utility);
    Table& table = add_table(create.name.schema, create.name.name, 'r');
    const auto add_index = [&](std::span<const std::string_view> keys, std::string_view name, bool primary) {
      std::vector<std::int16_t> numbers;
      for (std::string_view key : keys) {
        for (std::size_t i = 0; i < table.columns.size(); ++i) {
          if (table.columns[i].name == key) numbers.push_back(static_cast<std::int16_t>(i + 1));
        }
      }
      ViewedIndex index;
      index.oid = Oid{next_oid_++};
      index.unique = true;
      index.primary = primary;
      index.constraint =
          name.empty() ? arena_.copy(std::string{create.name.name} + (primary ? "_pkey" : "_key")) : name;
      index.keys = keep(arena_, numbers);
      table.indexes.push_back(index);
      if (primary) table.primary = numbers;
    };
    for (const ColumnSpec& spec : create.columns) {
      const ExprType type = resolve_type_name(context, spec.type);
      ViewedColumn column;
      column.name = spec.name;
      column.type = type.type;
      column.type_modifier = type.type_modifier;
      column.collation = type.collation;
      table.columns.push_back(column);
      for (const ConstraintDefinition& constraint : spec.constraints) {
        ViewedColumn& last = table.columns.back();
        if (constraint.kind == ConstraintKind::kDefault) last.default_source = constraint.expression.text;
        if (constraint.kind == ConstraintKind::kNotNull) last.not_null = true;
        if (constraint.kind == ConstraintKind::kIdentity) {
          last.identity = constraint.identity;
          last.default_source = "nextval('1'::regclass)";
        }
        if (constraint.kind == ConstraintKind::kGenerated) {
          last.generated = true;
          last.default_source = constraint.expression.text;
        }
        if (constraint.kind == ConstraintKind::kPrimary || constraint.kind == ConstraintKind::kUnique) {
          const std::string_view name = last.name;
          add_index({&name, 1}, constraint.name, constraint.kind == ConstraintKind::kPrimary);
        }
      }
    }
    for (const ConstraintDefinition& constraint : create.constraints) {
      if (constraint.kind == ConstraintKind::kPrimary || constraint.kind == ConstraintKind::kUnique) {
        add_index(constraint.keys, constraint.name, constraint.kind == ConstraintKind::kPrimary);
      }
    }
    seal(table);
  } else if (utility.kind == UtilityKind::kCreateView) {
    const auto& create = static_cast<const CreateViewUtility&>(utility);
    Table& table = add_table(create.name.schema, create.name.name, 'v');
    for (const QueryColumn& result : result_columns(*create.query, arena_)) {
      ViewedColumn column;
      column.name = result.name;
      column.type = result.type.type;
      column.type_modifier = result.type.type_modifier;
      column.collation = result.type.collation;
      table.columns.push_back(column);
    }
    table.view.view_text = create.query_text;
    seal(table);
  } else if (utility.kind == UtilityKind::kCreateIndex) {
    const auto& create = static_cast<const CreateIndexUtility&>(utility);
    for (Table& table : tables_) {
      if (table.view.name != create.table.name) continue;
      ViewedIndex index;
      index.oid = Oid{next_oid_++};
      index.unique = create.unique;
      std::vector<std::int16_t> keys;
      std::vector<std::string_view> expressions;
      for (const IndexElement& element : create.elements) {
        std::int16_t key = 0;
        for (std::size_t i = 0; i < table.columns.size(); ++i) {
          if (table.columns[i].name == element.column) key = static_cast<std::int16_t>(i + 1);
        }
        keys.push_back(key);
        if (key == 0) expressions.push_back(element.expression.text);
      }
      index.keys = keep(arena_, keys);
      index.expressions = keep(arena_, expressions);
      index.predicate = create.predicate.text;
      table.indexes.push_back(index);
      seal(table);
    }
  }
}

void CatalogDouble::run_script(const std::string& script) {
  const ParsedText parsed = parse(script);
  for (const RawStatement& statement : parsed.statements()) {
    const AnalyzedStatement analyzed = analyze({arena_, *this, eval_}, statement, parsed.text());
    add(*analyzed.query->utility);
  }
}

Oid CatalogDouble::find_schema(std::string_view name) {
  if (name == "pg_catalog") return Oid{11};
  if (name == "public") return Oid{2200};
  if (name == "other") return Oid{16383};
  return {};
}

const ViewedRelation* CatalogDouble::find_relation(std::string_view schema, std::string_view name, int) {
  for (const Table& table : tables_) {
    if (table.view.name == name && table.view.schema_name == (schema.empty() ? "public" : schema))
      return &table.view;
  }
  return schema.empty() ? find_relation("pg_catalog", name, 0) : nullptr;
}

const ViewedRelation* CatalogDouble::relation(Oid wanted) {
  for (const Table& table : tables_) {
    if (table.view.oid == wanted) return &table.view;
  }
  return nullptr;
}

bool CatalogDouble::relation_is_visible(Oid wanted) {
  const ViewedRelation* found = relation(wanted);
  return found != nullptr && (found->schema_name == "public" || found->schema_name == "pg_catalog");
}

Oid CatalogDouble::find_type(std::string_view schema, std::string_view name) {
  if (schema.empty() || schema == "pg_catalog") {
    if (const TypeInfo* info = sql::find_type(name)) return info->oid;
  }
  for (const ViewedType& row : row_types_) {
    if (row.name == name) return row.oid;
  }
  return {};
}

const ViewedType* CatalogDouble::type(Oid wanted) {
  if (const ViewedType* builtin = builtin_type_view(wanted)) return builtin;
  for (const ViewedType& row : row_types_) {
    if (row.oid == wanted) return &row;
  }
  return nullptr;
}

std::span<const ViewedFunction* const> CatalogDouble::find_functions(std::string_view schema,
                                                                     std::string_view name) {
  const auto at = functions_by_name_.find(std::string{name});
  if (at == functions_by_name_.end() || (!schema.empty() && schema != "pg_catalog")) return {};
  return at->second;
}

const ViewedFunction* CatalogDouble::function(Oid wanted) {
  const auto at = functions_by_oid_.find(wanted);
  return at == functions_by_oid_.end() ? nullptr : at->second;
}

std::span<const ViewedOperator* const> CatalogDouble::find_operators(std::string_view schema,
                                                                     std::string_view name) {
  const auto at = operators_by_name_.find(std::string{name});
  if (at == operators_by_name_.end() || (!schema.empty() && schema != "pg_catalog")) return {};
  return at->second;
}

const ViewedOperator* CatalogDouble::op(Oid wanted) {
  const auto at = operators_by_oid_.find(wanted);
  return at == operators_by_oid_.end() ? nullptr : at->second;
}

std::optional<ViewedCast> CatalogDouble::find_cast(Oid source, Oid target) {
  const BuiltinCast* cast = sql::find_cast(source, target);
  if (cast == nullptr) return std::nullopt;
  return ViewedCast{cast->procedure, cast->context, cast->method};
}

SortOperators CatalogDouble::sort_operators(Oid wanted) { return builtin_sort_operators(wanted, *this); }

std::span<const OperatorFamilyEntry> CatalogDouble::btree_memberships(Oid wanted) {
  return builtin_btree_memberships(wanted);
}

Oid CatalogDouble::family_operator(Oid family, int strategy, Oid left, Oid right) {
  return sql::family_operator(family, left, right, strategy);
}

Oid CatalogDouble::find_collation(std::string_view, std::string_view name) {
  const BuiltinCollation* found = sql::find_collation(name);
  return found == nullptr ? Oid{} : found->oid;
}

std::string CatalogDouble::collation_name(Oid wanted) {
  const BuiltinCollation* found = sql::find_collation(wanted);
  return found == nullptr ? "???" : "\"" + std::string{found->name} + "\"";
}

Oid CatalogDouble::find_constraint_index(Oid relation_oid, std::string_view constraint) {
  const ViewedRelation* found = relation(relation_oid);
  for (const ViewedIndex& index : found->indexes) {
    if (index.constraint == constraint) return index.oid;
  }
  return {};
}

}  // namespace pinwheel::sql
