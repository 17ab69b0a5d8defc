#include "sql/analyze/types.h"

#include "sql/deparse/deparse.h"
#include "sql/types/type_info.h"

namespace pinwheel::sql {

std::string dotted(raw::NodeList names) {
  std::string out;
  for (const raw::Node* node : names) {
    if (!out.empty()) out += '.';
    out += RAW_IS(node, A_STAR) ? std::string_view{"*"} : raw::string_of(node);
  }
  return out;
}

void split_name(Analysis& an, raw::NodeList names, std::string_view& schema, std::string_view& name,
                int location) {
  schema = {};
  if (names.size() == 0 || names.size() > 3) {
    throw an.error(sqlstate::kSyntaxError,
                   cat("improper qualified name (too many dotted names): ", dotted(names)), location);
  }
  name = raw::string_of(names.back());
  if (names.size() >= 2) schema = raw::string_of(names[names.size() - 2]);
  if (names.size() == 3 && raw::string_of(names[0]) != an.catalog.database_name()) {
    throw an.error(sqlstate::kFeatureNotSupported,
                   cat("cross-database references are not implemented: ", dotted(names)), location);
  }
}

const ViewedType& type_of(Analysis& an, Oid oid) {
  const ViewedType* type = an.catalog.type(oid);
  if (type == nullptr) {
    throw SqlError{sqlstate::kInternalError, cat("cache lookup failed for type ", oid.value)};
  }
  return *type;
}

std::string type_text(Analysis& an, Oid oid) { return type_name_text(oid, -1, an.catalog); }

Oid base_type(Analysis& an, Oid oid) {
  for (;;) {
    const ViewedType* type = an.catalog.type(oid);
    if (type == nullptr || type->kind != 'd') return oid;
    oid = type->base_type;
  }
}

Oid element_type(Analysis& an, Oid oid) {
  const ViewedType* type = an.catalog.type(base_type(an, oid));
  if (type == nullptr) return {};
  // The two vector types count as arrays, "name" does not.
  return type->fixed_subscript && type->length != -1 ? Oid{} : type->element;
}

Oid array_type(Analysis& an, Oid element) {
  const ViewedType* type = an.catalog.type(element);
  return type == nullptr ? Oid{} : type->array;
}

Oid type_collation(Analysis& an, Oid oid) {
  const ViewedType* type = an.catalog.type(oid);
  return type == nullptr ? Oid{} : type->collation;
}

char type_category(Analysis& an, Oid oid) { return type_of(an, oid).category; }

bool is_row_type(Analysis& an, Oid oid) {
  const ViewedType* type = an.catalog.type(base_type(an, oid));
  return type != nullptr && (type->kind == 'c' || type->oid == kRecordType);
}

namespace {

std::string type_name_as_written(const PgQuery__TypeName* name) {
  std::string out = dotted(RAW_LIST(name, names));
  if (name->n_array_bounds > 0) out += "[]";
  return out;
}

/// The modifier's parts as the strings that TypmodInFn wants.
std::vector<std::string> modifier_parts(Analysis& an, const PgQuery__TypeName* name) {
  std::vector<std::string> parts;
  for (const raw::Node* node : RAW_LIST(name, typmods)) {
    if (RAW_IS(node, A_CONST) && !node->a_const->isnull) {
      const PgQuery__AConst* constant = node->a_const;
      switch (constant->val_case) {
        case PG_QUERY__A__CONST__VAL_IVAL:
          parts.push_back(std::to_string(constant->ival->ival));
          continue;
        case PG_QUERY__A__CONST__VAL_FVAL:
          parts.emplace_back(constant->fval->fval);
          continue;
        case PG_QUERY__A__CONST__VAL_SVAL:
          parts.emplace_back(constant->sval->sval);
          continue;
        default:
          break;
      }
    } else if (RAW_IS(node, COLUMN_REF) && node->column_ref->n_fields == 1) {
      parts.emplace_back(raw::string_of(node->column_ref->fields[0]));
      continue;
    } else if (RAW_IS(node, A_EXPR) && node->a_expr->lexpr == nullptr &&
               RAW_IS(node->a_expr->rexpr, A_CONST) &&
               node->a_expr->rexpr->a_const->val_case == PG_QUERY__A__CONST__VAL_IVAL) {
      parts.push_back(std::to_string(-node->a_expr->rexpr->a_const->ival->ival));
      continue;
    }
    throw an.error(sqlstate::kSyntaxError, "type modifiers must be simple constants or identifiers",
                   name->location);
  }
  return parts;
}

std::int32_t resolve_modifier(Analysis& an, const PgQuery__TypeName* name, const ViewedType& type) {
  if (name->n_typmods == 0) return name->typemod == 0 ? -1 : name->typemod;
  return type_modifier(an, type, modifier_parts(an, name), type_name_as_written(name), name->location);
}

}  // namespace

std::int32_t type_modifier(Analysis& an, const ViewedType& type, std::span<const std::string> parts,
                           std::string_view written, int location) {
  const Oid scalar = type.element.value != 0 && !type.fixed_subscript ? type.element : type.oid;
  const TypeInfo* info = find_type(scalar);
  if (info == nullptr || info->typmod_in == nullptr) {
    throw an.error(sqlstate::kSyntaxError, cat("type modifier is not allowed for type ", quoted(written)),
                   location);
  }
  std::vector<std::string_view> views(parts.begin(), parts.end());
  try {
    return info->typmod_in(views);
  } catch (SqlError& error) {
    if (error.fields().position == 0) error.fields().position = character_position(an.text, location);
    throw;
  }
}

Oid find_type_by_names(Analysis& an, raw::NodeList names) {
  if (names.size() > 2) return {};
  const std::string_view schema = names.size() == 2 ? raw::string_of(names[0]) : std::string_view{};
  return an.catalog.find_type(schema, raw::string_of(names.back()));
}

ExprType find_type(Analysis& an, const PgQuery__TypeName* name) {
  if (name->pct_type) {
    throw an.error(sqlstate::kFeatureNotSupported, "%TYPE references are not supported", name->location);
  }
  Oid oid{name->type_oid};
  if (name->n_names > 0) {
    std::string_view schema, last;
    split_name(an, RAW_LIST(name, names), schema, last, name->location);
    oid = an.catalog.find_type(schema, last);
  }
  if (oid.value == 0) return {};
  const ViewedType& scalar = type_of(an, oid);
  const std::int32_t modifier = resolve_modifier(an, name, scalar);
  if (name->n_array_bounds > 0 && !(scalar.element.value != 0 && !scalar.fixed_subscript)) oid = scalar.array;
  if (oid.value == 0) return {};
  return {oid, modifier, type_collation(an, oid)};
}

ExprType resolve_type(Analysis& an, const PgQuery__TypeName* name) {
  const ExprType type = find_type(an, name);
  if (type.type.value == 0) {
    throw an.error(sqlstate::kUndefinedObject,
                   cat("type ", quoted(type_name_as_written(name)), " does not exist"), name->location);
  }
  return type;
}

void require_schema(Analysis& an, std::string_view schema, int location) {
  if (schema.empty() || an.catalog.find_schema(schema).value != 0) return;
  throw an.error(sqlstate::kInvalidSchemaName, cat("schema ", quoted(schema), " does not exist"), location);
}

Oid resolve_collation(Analysis& an, raw::NodeList names, int location) {
  std::string_view schema, name;
  split_name(an, names, schema, name, location);
  const Oid oid = an.catalog.find_collation(schema, name);
  if (oid.value == 0) {
    throw an.error(sqlstate::kUndefinedObject,
                   cat("collation ", quoted(dotted(names)), " for encoding \"UTF8\" does not exist"),
                   location);
  }
  return oid;
}

std::span<ColumnDefinition> row_columns(Scope& scope, const Expr* expr) {
  Analysis& an = scope.an;
  std::vector<ColumnDefinition> columns;
  if (const RowExpr* row = expr_if<RowExpr>(expr); row != nullptr && expr->type.type == kRecordType) {
    for (std::size_t i = 0; i < row->args.size(); ++i) {
      const std::string_view name = i < row->names.size() ? row->names[i] : an.arena.copy(cat("f", i + 1));
      columns.push_back({name, row->args[i]->type});
    }
    return to_span(an.arena, columns);
  }
  if (const ColumnExpr* column = expr_if<ColumnExpr>(expr);
      column != nullptr && expr->type.type == kRecordType) {
    Scope* level = &scope;
    for (int up = column->levels_up; up > 0 && level != nullptr; --up) level = level->parent;
    if (level == nullptr) return {};
    const RangeEntry& entry = level->range_table[column->range_index];
    if (column->attribute == 0) return entry.columns;
    // A record-typed column of a subquery: look at what makes it.
    if (entry.kind == RangeKind::kSubquery) {
      const Query* query = entry.subquery;
      int at = 0;
      for (const Target& target : query->targets) {
        if (target.hidden) continue;
        if (++at != column->attribute) continue;
        Scope inner{an, level};
        for (const RangeEntry& range : query->range_table) inner.range_table.push_back(range);
        return row_columns(inner, target.expr);
      }
    }
    return {};
  }
  const ViewedType* type = an.catalog.type(base_type(an, expr->type.type));
  if (type == nullptr || type->relation.value == 0) return {};
  const ViewedRelation* relation = an.catalog.relation(type->relation);
  if (relation == nullptr) return {};
  for (const ViewedColumn& column : relation->columns) {
    columns.push_back({column.dropped ? std::string_view{} : an.arena.copy(column.name),
                       {column.type, column.type_modifier, column.collation}});
  }
  return to_span(an.arena, columns);
}

}  // namespace pinwheel::sql
