#include "sql/analyze/utility_parts.h"

#include "sql/analyze/types.h"

namespace pinwheel::sql {

std::string_view copy_text(Analysis& an, const char* text) { return an.arena.copy(raw::text(text)); }

void throw_unsupported(Analysis& an, std::string_view what) {
  throw an.error(sqlstate::kFeatureNotSupported, cat(what, " is not supported"));
}

QualifiedName qualified_name(Analysis& an, const PgQuery__RangeVar* var) {
  QualifiedName name;
  if (var == nullptr) return name;
  name.catalog = copy_text(an, var->catalogname);
  name.schema = copy_text(an, var->schemaname);
  name.name = copy_text(an, var->relname);
  name.inherit = var->inh;
  name.persistence = raw::text(var->relpersistence).empty() ? 'p' : var->relpersistence[0];
  name.location = var->location;
  return name;
}

QualifiedName qualified_name(Analysis& an, raw::NodeList names) {
  QualifiedName name;
  if (names.empty()) return name;
  name.name = an.arena.copy(raw::string_of(names.back()));
  if (names.size() >= 2) name.schema = an.arena.copy(raw::string_of(names[names.size() - 2]));
  if (names.size() >= 3) name.catalog = an.arena.copy(raw::string_of(names[names.size() - 3]));
  return name;
}

QualifiedName qualified_name(Analysis& an, const raw::Node* node) {
  if (RAW_IS(node, LIST)) return qualified_name(an, RAW_LIST(node->list, items));
  if (RAW_IS(node, RANGE_VAR)) return qualified_name(an, node->range_var);
  if (RAW_IS(node, TYPE_NAME)) return qualified_name(an, RAW_LIST(node->type_name, names));
  if (RAW_IS(node, OBJECT_WITH_ARGS)) return qualified_name(an, RAW_LIST(node->object_with_args, objname));
  QualifiedName name;
  name.name = an.arena.copy(raw::string_of(node));
  return name;
}

TypeName type_name(Analysis& an, const PgQuery__TypeName* written) {
  TypeName name;
  if (written == nullptr) return name;
  const QualifiedName full = qualified_name(an, RAW_LIST(written, names));
  // The grammar writes its own spellings with pg_catalog in front; those are found without it as well.
  name.schema = full.schema;
  name.name = full.name;
  name.array_dimensions = static_cast<int>(written->n_array_bounds);
  name.set_of = written->setof;
  name.location = written->location;
  std::vector<std::int32_t> modifiers;
  for (const raw::Node* node : RAW_LIST(written, typmods)) {
    bool negative = false;
    if (RAW_IS(node, A_EXPR) && node->a_expr->lexpr == nullptr) {
      negative = true;
      node = node->a_expr->rexpr;
    }
    if (!RAW_IS(node, A_CONST) || (node->a_const->val_case != PG_QUERY__A__CONST__VAL_IVAL &&
                                   node->a_const->val_case != PG_QUERY__A__CONST__VAL__NOT_SET)) {
      throw an.error(sqlstate::kSyntaxError, "type modifiers must be simple constants or identifiers",
                     name.location);
    }
    const std::int32_t value =
        node->a_const->val_case == PG_QUERY__A__CONST__VAL_IVAL ? node->a_const->ival->ival : 0;
    modifiers.push_back(negative ? -value : value);
  }
  name.modifiers = to_span(an.arena, modifiers);
  return name;
}

SourceExpr source_expr(Analysis& an, const raw::Node* node) {
  SourceExpr source;
  if (node == nullptr) return source;
  source.text = an.arena.copy(expression_text(node));
  source.location = raw::location(node);
  return source;
}

std::string_view role_name(Analysis& an, const PgQuery__RoleSpec* role) {
  if (role == nullptr) return {};
  switch (role->roletype) {
    case PG_QUERY__ROLE_SPEC_TYPE__ROLESPEC_PUBLIC:
      return "public";
    case PG_QUERY__ROLE_SPEC_TYPE__ROLESPEC_CURRENT_ROLE:
    case PG_QUERY__ROLE_SPEC_TYPE__ROLESPEC_CURRENT_USER:
      return an.arena.copy(an.eval.user_name);
    case PG_QUERY__ROLE_SPEC_TYPE__ROLESPEC_SESSION_USER:
      return an.arena.copy(an.eval.session_user_name);
    default:
      return copy_text(an, role->rolename);
  }
}

std::span<std::string_view> role_names(Analysis& an, raw::NodeList list) {
  std::vector<std::string_view> names;
  for (const raw::Node* node : list) {
    if (RAW_IS(node, ROLE_SPEC)) names.push_back(role_name(an, node->role_spec));
    if (RAW_IS(node, ACCESS_PRIV)) names.push_back(copy_text(an, node->access_priv->priv_name));
  }
  return to_span(an.arena, names);
}

std::span<std::string_view> string_list(Analysis& an, raw::NodeList list) {
  std::vector<std::string_view> names;
  for (const raw::Node* node : list) names.push_back(an.arena.copy(raw::string_of(node)));
  return to_span(an.arena, names);
}

namespace {

void set_value(Analysis& an, const raw::Node* arg, Option& out) {
  using Kind = Option::Kind;
  if (arg == nullptr) return;
  const auto integer = [&](std::int64_t value) {
    out.kind = Kind::kInteger;
    out.integer = value;
    out.text = an.arena.copy(std::to_string(value));
  };
  switch (arg->node_case) {
    case PG_QUERY__NODE__NODE_STRING:
      out.kind = Kind::kString;
      out.text = an.arena.copy(raw::string_of(arg));
      return;
    case PG_QUERY__NODE__NODE_INTEGER:
      return integer(arg->integer->ival);
    case PG_QUERY__NODE__NODE_FLOAT:
      out.kind = Kind::kFloat;
      out.text = copy_text(an, arg->float_->fval);
      return;
    case PG_QUERY__NODE__NODE_BOOLEAN:
      out.kind = Kind::kBool;
      out.integer = arg->boolean->boolval;
      out.text = arg->boolean->boolval ? "true" : "false";
      return;
    case PG_QUERY__NODE__NODE_TYPE_NAME: {
      out.kind = Kind::kName;
      out.list = string_list(an, RAW_LIST(arg->type_name, names));
      out.text = out.list.empty() ? std::string_view{} : out.list.back();
      return;
    }
    case PG_QUERY__NODE__NODE_A_STAR:
      out.kind = Kind::kName;
      out.text = "*";
      return;
    case PG_QUERY__NODE__NODE_ROLE_SPEC:
      out.kind = Kind::kName;
      out.text = role_name(an, arg->role_spec);
      return;
    case PG_QUERY__NODE__NODE_A_CONST: {
      const PgQuery__AConst* constant = arg->a_const;
      switch (constant->val_case) {
        case PG_QUERY__A__CONST__VAL_IVAL:
          return integer(constant->ival->ival);
        case PG_QUERY__A__CONST__VAL_FVAL:
          out.kind = Kind::kFloat;
          out.text = copy_text(an, constant->fval->fval);
          return;
        case PG_QUERY__A__CONST__VAL_BOOLVAL:
          out.kind = Kind::kBool;
          out.integer = constant->boolval->boolval;
          out.text = constant->boolval->boolval ? "true" : "false";
          return;
        case PG_QUERY__A__CONST__VAL_SVAL:
          out.kind = Kind::kString;
          out.text = copy_text(an, constant->sval->sval);
          return;
        default:
          return constant->isnull ? void(out.kind = Kind::kNone) : integer(0);
      }
    }
    case PG_QUERY__NODE__NODE_LIST: {
      out.kind = Kind::kList;
      std::vector<std::string_view> items;
      std::string joined;
      for (const raw::Node* item : raw::items_of(arg)) {
        std::string_view text =
            RAW_IS(item, ROLE_SPEC) ? role_name(an, item->role_spec) : an.arena.copy(raw::string_of(item));
        if (!joined.empty()) joined += '.';
        joined += text;
        items.push_back(text);
      }
      out.list = to_span(an.arena, items);
      out.text = an.arena.copy(joined);
      return;
    }
    default:
      return;
  }
}

}  // namespace

Option option(Analysis& an, const PgQuery__DefElem* element) {
  Option out;
  std::string name =
      cat(raw::text(element->defnamespace).empty() ? "" : cat(raw::text(element->defnamespace), "."),
          raw::text(element->defname));
  for (char& c : name) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  out.name = an.arena.copy(name);
  out.location = element->location;
  set_value(an, element->arg, out);
  return out;
}

std::span<Option> options(Analysis& an, raw::NodeList list) {
  std::vector<Option> all;
  for (const raw::Node* node : list) {
    if (RAW_IS(node, DEF_ELEM)) all.push_back(option(an, node->def_elem));
  }
  return to_span(an.arena, all);
}

ObjectKind object_kind(int grammar_value) {
  switch (grammar_value) {
    case PG_QUERY__OBJECT_TYPE__OBJECT_TABLE:
      return ObjectKind::kTable;
    case PG_QUERY__OBJECT_TYPE__OBJECT_INDEX:
      return ObjectKind::kIndex;
    case PG_QUERY__OBJECT_TYPE__OBJECT_VIEW:
      return ObjectKind::kView;
    case PG_QUERY__OBJECT_TYPE__OBJECT_MATVIEW:
      return ObjectKind::kMaterializedView;
    case PG_QUERY__OBJECT_TYPE__OBJECT_SEQUENCE:
      return ObjectKind::kSequence;
    case PG_QUERY__OBJECT_TYPE__OBJECT_SCHEMA:
      return ObjectKind::kSchema;
    case PG_QUERY__OBJECT_TYPE__OBJECT_COLUMN:
      return ObjectKind::kColumn;
    case PG_QUERY__OBJECT_TYPE__OBJECT_TABCONSTRAINT:
    case PG_QUERY__OBJECT_TYPE__OBJECT_DOMCONSTRAINT:
      return ObjectKind::kConstraint;
    case PG_QUERY__OBJECT_TYPE__OBJECT_TYPE:
      return ObjectKind::kType;
    case PG_QUERY__OBJECT_TYPE__OBJECT_FUNCTION:
    case PG_QUERY__OBJECT_TYPE__OBJECT_PROCEDURE:
    case PG_QUERY__OBJECT_TYPE__OBJECT_ROUTINE:
      return ObjectKind::kFunction;
    case PG_QUERY__OBJECT_TYPE__OBJECT_ROLE:
      return ObjectKind::kRole;
    case PG_QUERY__OBJECT_TYPE__OBJECT_DATABASE:
      return ObjectKind::kDatabase;
    case PG_QUERY__OBJECT_TYPE__OBJECT_TABLESPACE:
      return ObjectKind::kTablespace;
    case PG_QUERY__OBJECT_TYPE__OBJECT_OPERATOR:
      return ObjectKind::kOperator;
    case PG_QUERY__OBJECT_TYPE__OBJECT_AGGREGATE:
      return ObjectKind::kAggregate;
    case PG_QUERY__OBJECT_TYPE__OBJECT_DOMAIN:
      return ObjectKind::kDomain;
    case PG_QUERY__OBJECT_TYPE__OBJECT_EXTENSION:
      return ObjectKind::kExtension;
    case PG_QUERY__OBJECT_TYPE__OBJECT_TRIGGER:
      return ObjectKind::kTrigger;
    case PG_QUERY__OBJECT_TYPE__OBJECT_CAST:
      return ObjectKind::kCast;
    case PG_QUERY__OBJECT_TYPE__OBJECT_COLLATION:
      return ObjectKind::kCollation;
    case PG_QUERY__OBJECT_TYPE__OBJECT_LANGUAGE:
      return ObjectKind::kLanguage;
    default:
      return ObjectKind::kOther;
  }
}

std::span<QualifiedName> relation_names(Analysis& an, raw::NodeList list) {
  std::vector<QualifiedName> names;
  for (const raw::Node* node : list) names.push_back(qualified_name(an, node));
  return to_span(an.arena, names);
}

}  // namespace pinwheel::sql
