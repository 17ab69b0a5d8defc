#include "sql/analyze/utility_parts.h"

/// CREATE TABLE, ALTER TABLE, CREATE INDEX.
namespace pinwheel::sql {

namespace {

char one_char(const char* text, char otherwise) { return raw::text(text).empty() ? otherwise : text[0]; }

std::string_view collation_text(Analysis& an, raw::NodeList names) {
  std::string text;
  for (const raw::Node* node : names) {
    if (!text.empty()) text += '.';
    text += raw::string_of(node);
  }
  return an.arena.copy(text);
}

/// DEFERRABLE and its kin follow the constraint they belong to as separate nodes.
bool apply_attribute(const PgQuery__Constraint* attribute, ConstraintDefinition& to) {
  switch (attribute->contype) {
    case PG_QUERY__CONSTR_TYPE__CONSTR_ATTR_DEFERRABLE:
      to.deferrable = true;
      return true;
    case PG_QUERY__CONSTR_TYPE__CONSTR_ATTR_NOT_DEFERRABLE:
      to.deferrable = false;
      return true;
    case PG_QUERY__CONSTR_TYPE__CONSTR_ATTR_DEFERRED:
      to.initially_deferred = true;
      to.deferrable = true;
      return true;
    case PG_QUERY__CONSTR_TYPE__CONSTR_ATTR_IMMEDIATE:
      to.initially_deferred = false;
      return true;
    default:
      return false;
  }
}

}  // namespace

ConstraintDefinition constraint_definition(Analysis& an, const PgQuery__Constraint* c) {
  ConstraintDefinition out;
  switch (c->contype) {
    case PG_QUERY__CONSTR_TYPE__CONSTR_NULL:
      out.kind = ConstraintKind::kNull;
      break;
    case PG_QUERY__CONSTR_TYPE__CONSTR_NOTNULL:
      out.kind = ConstraintKind::kNotNull;
      break;
    case PG_QUERY__CONSTR_TYPE__CONSTR_DEFAULT:
      out.kind = ConstraintKind::kDefault;
      break;
    case PG_QUERY__CONSTR_TYPE__CONSTR_IDENTITY:
      out.kind = ConstraintKind::kIdentity;
      break;
    case PG_QUERY__CONSTR_TYPE__CONSTR_GENERATED:
      out.kind = ConstraintKind::kGenerated;
      break;
    case PG_QUERY__CONSTR_TYPE__CONSTR_CHECK:
      out.kind = ConstraintKind::kCheck;
      break;
    case PG_QUERY__CONSTR_TYPE__CONSTR_PRIMARY:
      out.kind = ConstraintKind::kPrimary;
      break;
    case PG_QUERY__CONSTR_TYPE__CONSTR_UNIQUE:
      out.kind = ConstraintKind::kUnique;
      break;
    case PG_QUERY__CONSTR_TYPE__CONSTR_FOREIGN:
      out.kind = ConstraintKind::kForeign;
      break;
    case PG_QUERY__CONSTR_TYPE__CONSTR_EXCLUSION:
      throw_unsupported(an, "EXCLUDE constraint");
    default:
      throw an.error(sqlstate::kSyntaxError, "misplaced constraint attribute", c->location);
  }
  out.name = copy_text(an, c->conname);
  out.expression = source_expr(an, c->raw_expr);
  if (out.kind == ConstraintKind::kIdentity) out.identity = one_char(c->generated_when, 'a');
  if (out.kind == ConstraintKind::kIdentity) {
    out.sequence_options = options(an, RAW_LIST(c, options));
  } else {
    out.with = options(an, RAW_LIST(c, options));
  }
  out.keys = string_list(an, RAW_LIST(c, keys));
  if (c->n_including > 0) throw_unsupported(an, "INCLUDE in a constraint");
  out.tablespace = copy_text(an, c->indexspace);
  out.existing_index = copy_text(an, c->indexname);
  if (out.kind == ConstraintKind::kForeign) {
    out.keys = string_list(an, RAW_LIST(c, fk_attrs));
    out.referenced = qualified_name(an, c->pktable);
    out.referenced_keys = string_list(an, RAW_LIST(c, pk_attrs));
    out.match = one_char(c->fk_matchtype, 's');
    out.on_update = one_char(c->fk_upd_action, 'a');
    out.on_delete = one_char(c->fk_del_action, 'a');
    if (c->n_fk_del_set_cols > 0) throw_unsupported(an, "a column list for ON DELETE SET");
  }
  out.deferrable = c->deferrable;
  out.initially_deferred = c->initdeferred;
  out.not_valid = c->skip_validation;
  out.no_inherit = c->is_no_inherit;
  out.nulls_not_distinct = c->nulls_not_distinct;
  out.location = c->location;
  return out;
}

ColumnSpec column_spec(Analysis& an, const PgQuery__ColumnDef* column) {
  ColumnSpec out;
  out.name = copy_text(an, column->colname);
  out.type = type_name(an, column->type_name);
  if (column->coll_clause != nullptr)
    out.collation = collation_text(an, RAW_LIST(column->coll_clause, collname));
  out.storage = one_char(column->storage, 0);
  out.compression = copy_text(an, column->compression);
  out.location = column->location;
  std::vector<ConstraintDefinition> constraints;
  for (const raw::Node* node : RAW_LIST(column, constraints)) {
    const PgQuery__Constraint* c = node->constraint;
    if (!constraints.empty() && apply_attribute(c, constraints.back())) continue;
    constraints.push_back(constraint_definition(an, c));
  }
  if (column->raw_default != nullptr) {
    ConstraintDefinition value;
    value.kind = ConstraintKind::kDefault;
    value.expression = source_expr(an, column->raw_default);
    constraints.push_back(value);
  }
  out.constraints = to_span(an.arena, constraints);
  return out;
}

Utility* create_table(Analysis& an, const PgQuery__CreateStmt* create) {
  CreateTableUtility* out = an.arena.make<CreateTableUtility>();
  out->name = qualified_name(an, create->relation);
  out->if_not_exists = create->if_not_exists;
  std::vector<ColumnSpec> columns;
  std::vector<ConstraintDefinition> constraints;
  std::vector<LikeClause> likes;
  const auto add_constraint = [&](const raw::Node* node) {
    if (!constraints.empty() && apply_attribute(node->constraint, constraints.back())) return;
    constraints.push_back(constraint_definition(an, node->constraint));
  };
  for (const raw::Node* node : RAW_LIST(create, table_elts)) {
    if (RAW_IS(node, COLUMN_DEF)) {
      columns.push_back(column_spec(an, node->column_def));
    } else if (RAW_IS(node, CONSTRAINT)) {
      add_constraint(node);
    } else if (RAW_IS(node, TABLE_LIKE_CLAUSE)) {
      LikeClause like;
      like.source = qualified_name(an, node->table_like_clause->relation);
      like.options = node->table_like_clause->options;
      like.before_column = static_cast<int>(columns.size());
      likes.push_back(like);
    }
  }
  for (const raw::Node* node : RAW_LIST(create, constraints)) add_constraint(node);
  if (create->of_typename != nullptr) throw_unsupported(an, "CREATE TABLE OF");
  out->columns = to_span(an.arena, columns);
  out->constraints = to_span(an.arena, constraints);
  out->likes = to_span(an.arena, likes);
  out->inherits = relation_names(an, RAW_LIST(create, inh_relations));
  out->partitioned = create->partspec != nullptr || create->partbound != nullptr;
  out->with = options(an, RAW_LIST(create, options));
  switch (create->oncommit) {
    case PG_QUERY__ON_COMMIT_ACTION__ONCOMMIT_PRESERVE_ROWS:
      out->on_commit = OnCommit::kPreserveRows;
      break;
    case PG_QUERY__ON_COMMIT_ACTION__ONCOMMIT_DELETE_ROWS:
      out->on_commit = OnCommit::kDeleteRows;
      break;
    case PG_QUERY__ON_COMMIT_ACTION__ONCOMMIT_DROP:
      out->on_commit = OnCommit::kDrop;
      break;
    default:
      break;
  }
  out->tablespace = copy_text(an, create->tablespacename);
  out->access_method = copy_text(an, create->access_method);
  return out;
}

Utility* create_index(Analysis& an, const PgQuery__IndexStmt* create) {
  CreateIndexUtility* out = an.arena.make<CreateIndexUtility>();
  out->name = copy_text(an, create->idxname);
  out->table = qualified_name(an, create->relation);
  out->method = copy_text(an, create->access_method);
  std::vector<IndexElement> elements;
  for (const raw::Node* node : RAW_LIST(create, index_params)) {
    const PgQuery__IndexElem* element = node->index_elem;
    IndexElement item;
    item.column = copy_text(an, element->name);
    item.expression = source_expr(an, element->expr);
    item.collation = collation_text(an, RAW_LIST(element, collation));
    item.operator_class = collation_text(an, RAW_LIST(element, opclass));
    item.descending = element->ordering == PG_QUERY__SORT_BY_DIR__SORTBY_DESC;
    item.nulls_first =
        element->nulls_ordering == PG_QUERY__SORT_BY_NULLS__SORTBY_NULLS_FIRST ||
        (element->nulls_ordering != PG_QUERY__SORT_BY_NULLS__SORTBY_NULLS_LAST && item.descending);
    elements.push_back(item);
  }
  out->elements = to_span(an.arena, elements);
  std::vector<std::string_view> included;
  for (const raw::Node* node : RAW_LIST(create, index_including_params)) {
    if (node->index_elem->expr != nullptr) {
      throw an.error(sqlstate::kFeatureNotSupported, "expressions are not supported in included columns");
    }
    included.push_back(copy_text(an, node->index_elem->name));
  }
  out->included = to_span(an.arena, included);
  out->with = options(an, RAW_LIST(create, options));
  out->predicate = source_expr(an, create->where_clause);
  out->tablespace = copy_text(an, create->table_space);
  out->unique = create->unique;
  out->concurrently = create->concurrent;
  out->if_not_exists = create->if_not_exists;
  out->nulls_not_distinct = create->nulls_not_distinct;
  return out;
}

namespace {

struct ActionName {
  int grammar;
  AlterTableAction action;
  std::string_view text;
};

constexpr ActionName kActions[] = {
    {PG_QUERY__ALTER_TABLE_TYPE__AT_AddColumn, AlterTableAction::kAddColumn, "ADD COLUMN"},
    {PG_QUERY__ALTER_TABLE_TYPE__AT_DropColumn, AlterTableAction::kDropColumn, "DROP COLUMN"},
    {PG_QUERY__ALTER_TABLE_TYPE__AT_ColumnDefault, AlterTableAction::kColumnDefault,
     "ALTER COLUMN ... SET DEFAULT"},
    {PG_QUERY__ALTER_TABLE_TYPE__AT_DropNotNull, AlterTableAction::kDropNotNull,
     "ALTER COLUMN ... DROP NOT NULL"},
    {PG_QUERY__ALTER_TABLE_TYPE__AT_SetNotNull, AlterTableAction::kSetNotNull,
     "ALTER COLUMN ... SET NOT NULL"},
    {PG_QUERY__ALTER_TABLE_TYPE__AT_DropExpression, AlterTableAction::kDropExpression,
     "ALTER COLUMN ... DROP EXPRESSION"},
    {PG_QUERY__ALTER_TABLE_TYPE__AT_AlterColumnType, AlterTableAction::kColumnType,
     "ALTER COLUMN ... SET DATA TYPE"},
    {PG_QUERY__ALTER_TABLE_TYPE__AT_AddConstraint, AlterTableAction::kAddConstraint, "ADD CONSTRAINT"},
    {PG_QUERY__ALTER_TABLE_TYPE__AT_DropConstraint, AlterTableAction::kDropConstraint, "DROP CONSTRAINT"},
    {PG_QUERY__ALTER_TABLE_TYPE__AT_ValidateConstraint, AlterTableAction::kValidateConstraint,
     "VALIDATE CONSTRAINT"},
    {PG_QUERY__ALTER_TABLE_TYPE__AT_AlterConstraint, AlterTableAction::kAlterConstraint, "ALTER CONSTRAINT"},
    {PG_QUERY__ALTER_TABLE_TYPE__AT_SetStatistics, AlterTableAction::kSetStatistics,
     "ALTER COLUMN ... SET STATISTICS"},
    {PG_QUERY__ALTER_TABLE_TYPE__AT_SetStorage, AlterTableAction::kSetStorage,
     "ALTER COLUMN ... SET STORAGE"},
    {PG_QUERY__ALTER_TABLE_TYPE__AT_SetRelOptions, AlterTableAction::kSetOptions, "SET"},
    {PG_QUERY__ALTER_TABLE_TYPE__AT_ResetRelOptions, AlterTableAction::kResetOptions, "RESET"},
    {PG_QUERY__ALTER_TABLE_TYPE__AT_ChangeOwner, AlterTableAction::kChangeOwner, "OWNER TO"},
    {PG_QUERY__ALTER_TABLE_TYPE__AT_SetLogged, AlterTableAction::kSetLogged, "SET LOGGED"},
    {PG_QUERY__ALTER_TABLE_TYPE__AT_SetUnLogged, AlterTableAction::kSetUnlogged, "SET UNLOGGED"},
    {PG_QUERY__ALTER_TABLE_TYPE__AT_AddIdentity, AlterTableAction::kAddIdentity,
     "ALTER COLUMN ... ADD IDENTITY"},
    {PG_QUERY__ALTER_TABLE_TYPE__AT_DropIdentity, AlterTableAction::kDropIdentity,
     "ALTER COLUMN ... DROP IDENTITY"},
    {PG_QUERY__ALTER_TABLE_TYPE__AT_SetTableSpace, AlterTableAction::kSetTablespace, "SET TABLESPACE"},
    {PG_QUERY__ALTER_TABLE_TYPE__AT_ReplicaIdentity, AlterTableAction::kReplicaIdentity, "REPLICA IDENTITY"},
    {PG_QUERY__ALTER_TABLE_TYPE__AT_ClusterOn, AlterTableAction::kClusterOn, "CLUSTER ON"},
    {PG_QUERY__ALTER_TABLE_TYPE__AT_EnableTrig, AlterTableAction::kEnableTrigger, "ENABLE TRIGGER"},
    {PG_QUERY__ALTER_TABLE_TYPE__AT_EnableTrigAll, AlterTableAction::kEnableTrigger, "ENABLE TRIGGER ALL"},
    {PG_QUERY__ALTER_TABLE_TYPE__AT_EnableTrigUser, AlterTableAction::kEnableTrigger, "ENABLE TRIGGER USER"},
    {PG_QUERY__ALTER_TABLE_TYPE__AT_DisableTrig, AlterTableAction::kDisableTrigger, "DISABLE TRIGGER"},
    {PG_QUERY__ALTER_TABLE_TYPE__AT_DisableTrigAll, AlterTableAction::kDisableTrigger, "DISABLE TRIGGER ALL"},
    {PG_QUERY__ALTER_TABLE_TYPE__AT_DisableTrigUser, AlterTableAction::kDisableTrigger,
     "DISABLE TRIGGER USER"},
    {PG_QUERY__ALTER_TABLE_TYPE__AT_EnableRowSecurity, AlterTableAction::kRowSecurity, "ENABLE ROW SECURITY"},
    {PG_QUERY__ALTER_TABLE_TYPE__AT_DisableRowSecurity, AlterTableAction::kRowSecurity,
     "DISABLE ROW SECURITY"},
    {PG_QUERY__ALTER_TABLE_TYPE__AT_ForceRowSecurity, AlterTableAction::kRowSecurity, "FORCE ROW SECURITY"},
    {PG_QUERY__ALTER_TABLE_TYPE__AT_NoForceRowSecurity, AlterTableAction::kRowSecurity,
     "NO FORCE ROW SECURITY"},
    {PG_QUERY__ALTER_TABLE_TYPE__AT_AddInherit, AlterTableAction::kOther, "INHERIT"},
    {PG_QUERY__ALTER_TABLE_TYPE__AT_DropInherit, AlterTableAction::kOther, "NO INHERIT"},
    {PG_QUERY__ALTER_TABLE_TYPE__AT_SetOptions, AlterTableAction::kOther, "ALTER COLUMN ... SET"},
    {PG_QUERY__ALTER_TABLE_TYPE__AT_ResetOptions, AlterTableAction::kOther, "ALTER COLUMN ... RESET"},
    {PG_QUERY__ALTER_TABLE_TYPE__AT_SetIdentity, AlterTableAction::kOther, "ALTER COLUMN ... SET"},
    {PG_QUERY__ALTER_TABLE_TYPE__AT_SetCompression, AlterTableAction::kOther,
     "ALTER COLUMN ... SET COMPRESSION"},
    {PG_QUERY__ALTER_TABLE_TYPE__AT_SetAccessMethod, AlterTableAction::kOther, "SET ACCESS METHOD"},
    {PG_QUERY__ALTER_TABLE_TYPE__AT_DropCluster, AlterTableAction::kOther, "SET WITHOUT CLUSTER"},
    {PG_QUERY__ALTER_TABLE_TYPE__AT_AttachPartition, AlterTableAction::kOther, "ATTACH PARTITION"},
    {PG_QUERY__ALTER_TABLE_TYPE__AT_DetachPartition, AlterTableAction::kOther, "DETACH PARTITION"},
};

AlterTableCommand alter_command(Analysis& an, const PgQuery__AlterTableCmd* cmd) {
  AlterTableCommand out;
  out.unsupported = "this ALTER TABLE action";
  for (const ActionName& name : kActions) {
    if (name.grammar != static_cast<int>(cmd->subtype)) continue;
    out.action = name.action;
    out.unsupported = name.text;
    break;
  }
  out.name = copy_text(an, cmd->name);
  out.number = cmd->num;
  out.missing_ok = cmd->missing_ok;
  out.cascade = cmd->behavior == PG_QUERY__DROP_BEHAVIOR__DROP_CASCADE;
  out.new_owner = role_name(an, cmd->newowner);
  const raw::Node* def = cmd->def;
  switch (out.action) {
    case AlterTableAction::kAddColumn:
      out.column = column_spec(an, def->column_def);
      break;
    case AlterTableAction::kColumnType:
      out.column.name = out.name;
      out.column.type = type_name(an, def->column_def->type_name);
      if (def->column_def->coll_clause != nullptr) {
        out.column.collation = collation_text(an, RAW_LIST(def->column_def->coll_clause, collname));
      }
      out.expression = source_expr(an, def->column_def->raw_default);
      break;
    case AlterTableAction::kColumnDefault:
      out.expression = source_expr(an, def);
      break;
    case AlterTableAction::kAddConstraint:
    case AlterTableAction::kAddIdentity:
    case AlterTableAction::kAlterConstraint:
      if (RAW_IS(def, CONSTRAINT)) {
        out.constraint = out.action == AlterTableAction::kAlterConstraint
                             ? ConstraintDefinition{}
                             : constraint_definition(an, def->constraint);
        if (out.action == AlterTableAction::kAlterConstraint) {
          out.name = copy_text(an, def->constraint->conname);
          out.constraint.name = out.name;
          out.constraint.deferrable = def->constraint->deferrable;
          out.constraint.initially_deferred = def->constraint->initdeferred;
        }
      }
      break;
    case AlterTableAction::kSetOptions:
    case AlterTableAction::kResetOptions:
      out.options = options(an, raw::items_of(def));
      break;
    case AlterTableAction::kSetStatistics:
      if (RAW_IS(def, INTEGER)) out.number = def->integer->ival;
      break;
    case AlterTableAction::kSetStorage: {
      Option value;
      value.kind = Option::Kind::kString;
      value.name = "storage";
      value.text = an.arena.copy(raw::string_of(def));
      out.options = one_span(an.arena, value);
      break;
    }
    case AlterTableAction::kReplicaIdentity: {
      Option value;
      value.kind = Option::Kind::kString;
      value.name = copy_text(an, def->replica_identity_stmt->identity_type);
      value.text = copy_text(an, def->replica_identity_stmt->name);
      out.options = one_span(an.arena, value);
      break;
    }
    default:
      break;
  }
  return out;
}

}  // namespace

Utility* alter_table(Analysis& an, const PgQuery__AlterTableStmt* alter) {
  AlterTableUtility* out = an.arena.make<AlterTableUtility>();
  out->name = qualified_name(an, alter->relation);
  out->missing_ok = alter->missing_ok;
  switch (alter->objtype) {
    case PG_QUERY__OBJECT_TYPE__OBJECT_INDEX:
      out->object_kind = 'i';
      break;
    case PG_QUERY__OBJECT_TYPE__OBJECT_VIEW:
      out->object_kind = 'v';
      break;
    case PG_QUERY__OBJECT_TYPE__OBJECT_SEQUENCE:
      out->object_kind = 'S';
      break;
    case PG_QUERY__OBJECT_TYPE__OBJECT_MATVIEW:
      out->object_kind = 'm';
      break;
    case PG_QUERY__OBJECT_TYPE__OBJECT_TABLE:
      break;
    default:
      throw_unsupported(an, "ALTER of this kind of object");
  }
  std::vector<AlterTableCommand> commands;
  for (const raw::Node* node : RAW_LIST(alter, cmds))
    commands.push_back(alter_command(an, node->alter_table_cmd));
  out->commands = to_span(an.arena, commands);
  return out;
}

}  // namespace pinwheel::sql
