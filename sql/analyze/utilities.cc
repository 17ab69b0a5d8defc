#include "sql/analyze/statements.h"
#include "sql/analyze/utility_parts.h"

namespace pinwheel::sql {

namespace {

template <class T>
T* make(Analysis& an) {
  return an.arena.make<T>();
}

Utility* transaction(Analysis& an, const PgQuery__TransactionStmt* stmt) {
  TransactionUtility* out = make<TransactionUtility>(an);
  out->command = static_cast<TransactionCommand>(static_cast<int>(stmt->kind) - 1);
  out->savepoint = copy_text(an, stmt->savepoint_name);
  if (!raw::text(stmt->gid).empty()) out->savepoint = copy_text(an, stmt->gid);
  out->chain = stmt->chain;
  out->modes = options(an, RAW_LIST(stmt, options));
  return out;
}

SetUtility* set_variable(Analysis& an, const PgQuery__VariableSetStmt* stmt) {
  SetUtility* out = make<SetUtility>(an);
  out->name = copy_text(an, stmt->name);
  out->local = stmt->is_local;
  switch (stmt->kind) {
    case PG_QUERY__VARIABLE_SET_KIND__VAR_SET_DEFAULT:
      out->command = SetCommand::kDefault;
      break;
    case PG_QUERY__VARIABLE_SET_KIND__VAR_SET_CURRENT:
      out->command = SetCommand::kCurrent;
      break;
    case PG_QUERY__VARIABLE_SET_KIND__VAR_RESET:
      out->command = SetCommand::kReset;
      break;
    case PG_QUERY__VARIABLE_SET_KIND__VAR_RESET_ALL:
      out->command = SetCommand::kResetAll;
      break;
    case PG_QUERY__VARIABLE_SET_KIND__VAR_SET_MULTI:
      if (out->name == "TRANSACTION") {
        out->command = SetCommand::kTransactionModes;
      } else if (out->name == "SESSION CHARACTERISTICS") {
        out->command = SetCommand::kSessionModes;
      } else {
        out->command = SetCommand::kSnapshot;
      }
      break;
    default:
      break;
  }
  std::vector<std::string_view> values;
  std::vector<Option> modes;
  for (const raw::Node* arg : RAW_LIST(stmt, args)) {
    if (RAW_IS(arg, DEF_ELEM)) {
      modes.push_back(option(an, arg->def_elem));
      continue;
    }
    const raw::Node* constant = RAW_IS(arg, TYPE_CAST) ? arg->type_cast->arg : arg;
    if (!RAW_IS(constant, A_CONST)) throw_unsupported(an, "this value in SET");
    PgQuery__DefElem wrapper = PG_QUERY__DEF_ELEM__INIT;
    wrapper.arg = const_cast<raw::Node*>(constant);
    values.push_back(option(an, &wrapper).text);
  }
  out->values = to_span(an.arena, values);
  out->value_is_name = {an.arena.make_array<bool>(values.size()), values.size()};
  out->modes = to_span(an.arena, modes);
  return out;
}

Utility* drop(Analysis& an, const PgQuery__DropStmt* stmt) {
  DropUtility* out = make<DropUtility>(an);
  out->object = object_kind(stmt->remove_type);
  if (out->object == ObjectKind::kOther) throw_unsupported(an, "DROP of this kind of object");
  out->names = relation_names(an, RAW_LIST(stmt, objects));
  out->missing_ok = stmt->missing_ok;
  out->cascade = stmt->behavior == PG_QUERY__DROP_BEHAVIOR__DROP_CASCADE;
  out->concurrently = stmt->concurrent;
  return out;
}

Utility* rename(Analysis& an, const PgQuery__RenameStmt* stmt) {
  RenameUtility* out = make<RenameUtility>(an);
  out->object = object_kind(stmt->rename_type);
  out->name =
      stmt->relation != nullptr ? qualified_name(an, stmt->relation) : qualified_name(an, stmt->object);
  out->sub_name = copy_text(an, stmt->subname);
  out->new_name = copy_text(an, stmt->newname);
  out->missing_ok = stmt->missing_ok;
  if (out->object == ObjectKind::kSchema || out->object == ObjectKind::kRole ||
      out->object == ObjectKind::kDatabase) {
    out->name.name = out->sub_name;
  }
  if (out->object == ObjectKind::kOther) throw_unsupported(an, "ALTER ... RENAME of this kind of object");
  return out;
}

Utility* alter_owner(Analysis& an, const PgQuery__AlterOwnerStmt* stmt) {
  AlterOwnerUtility* out = make<AlterOwnerUtility>(an);
  out->object = object_kind(stmt->object_type);
  out->name =
      stmt->relation != nullptr ? qualified_name(an, stmt->relation) : qualified_name(an, stmt->object);
  out->new_owner = role_name(an, stmt->newowner);
  return out;
}

Utility* alter_schema(Analysis& an, const PgQuery__AlterObjectSchemaStmt* stmt) {
  AlterObjectSchemaUtility* out = make<AlterObjectSchemaUtility>(an);
  out->object = object_kind(stmt->object_type);
  out->name =
      stmt->relation != nullptr ? qualified_name(an, stmt->relation) : qualified_name(an, stmt->object);
  out->new_schema = copy_text(an, stmt->newschema);
  out->missing_ok = stmt->missing_ok;
  return out;
}

Utility* vacuum(Analysis& an, const PgQuery__VacuumStmt* stmt) {
  VacuumUtility* out = make<VacuumUtility>(an);
  out->vacuum = stmt->is_vacuumcmd;
  out->options = options(an, RAW_LIST(stmt, options));
  std::vector<VacuumTarget> targets;
  for (const raw::Node* node : RAW_LIST(stmt, rels)) {
    VacuumTarget target;
    target.table = qualified_name(an, node->vacuum_relation->relation);
    target.columns = string_list(an, RAW_LIST(node->vacuum_relation, va_cols));
    targets.push_back(target);
  }
  out->targets = to_span(an.arena, targets);
  return out;
}

Utility* fetch(Analysis& an, const PgQuery__FetchStmt* stmt) {
  FetchUtility* out = make<FetchUtility>(an);
  out->cursor = copy_text(an, stmt->portalname);
  out->direction = static_cast<FetchDirection>(static_cast<int>(stmt->direction) - 1);
  out->count = stmt->how_many;
  out->move = stmt->ismove;
  return out;
}

Utility* comment(Analysis& an, const PgQuery__CommentStmt* stmt) {
  CommentUtility* out = make<CommentUtility>(an);
  out->object = object_kind(stmt->objtype);
  out->text = copy_text(an, stmt->comment);
  out->is_null = out->text.empty();
  if (out->object == ObjectKind::kColumn || out->object == ObjectKind::kConstraint ||
      out->object == ObjectKind::kTrigger) {
    // The last name is the column's or constraint's.
    const raw::NodeList names = raw::items_of(stmt->object);
    out->name = qualified_name(an, names.first(names.size() - 1));
    out->sub_name = an.arena.copy(raw::string_of(names.back()));
  } else {
    out->name = qualified_name(an, stmt->object);
  }
  if (out->object == ObjectKind::kOther) throw_unsupported(an, "COMMENT on this kind of object");
  return out;
}

Utility* grant(Analysis& an, const PgQuery__GrantStmt* stmt) {
  GrantUtility* out = make<GrantUtility>(an);
  out->grant = stmt->is_grant;
  out->object = object_kind(stmt->objtype);
  out->all_in_schema = stmt->targtype == PG_QUERY__GRANT_TARGET_TYPE__ACL_TARGET_ALL_IN_SCHEMA;
  if (stmt->targtype == PG_QUERY__GRANT_TARGET_TYPE__ACL_TARGET_DEFAULTS)
    throw_unsupported(an, "ALTER DEFAULT PRIVILEGES");
  out->objects = relation_names(an, RAW_LIST(stmt, objects));
  std::vector<PrivilegeSpec> privileges;
  for (const raw::Node* node : RAW_LIST(stmt, privileges)) {
    privileges.push_back(
        {copy_text(an, node->access_priv->priv_name), string_list(an, RAW_LIST(node->access_priv, cols))});
  }
  if (privileges.empty()) privileges.push_back({});
  out->privileges = to_span(an.arena, privileges);
  out->grantees = role_names(an, RAW_LIST(stmt, grantees));
  out->grant_option = stmt->grant_option;
  out->cascade = stmt->behavior == PG_QUERY__DROP_BEHAVIOR__DROP_CASCADE;
  return out;
}

Utility* grant_role(Analysis& an, const PgQuery__GrantRoleStmt* stmt) {
  GrantRoleUtility* out = make<GrantRoleUtility>(an);
  out->grant = stmt->is_grant;
  out->roles = role_names(an, RAW_LIST(stmt, granted_roles));
  out->grantees = role_names(an, RAW_LIST(stmt, grantee_roles));
  out->admin_option = stmt->admin_opt;
  return out;
}

Utility* reindex(Analysis& an, const PgQuery__ReindexStmt* stmt) {
  ReindexUtility* out = make<ReindexUtility>(an);
  switch (stmt->kind) {
    case PG_QUERY__REINDEX_OBJECT_TYPE__REINDEX_OBJECT_INDEX:
      out->object = ObjectKind::kIndex;
      break;
    case PG_QUERY__REINDEX_OBJECT_TYPE__REINDEX_OBJECT_TABLE:
      out->object = ObjectKind::kTable;
      break;
    case PG_QUERY__REINDEX_OBJECT_TYPE__REINDEX_OBJECT_SCHEMA:
      out->object = ObjectKind::kSchema;
      break;
    case PG_QUERY__REINDEX_OBJECT_TYPE__REINDEX_OBJECT_SYSTEM:
      out->object = ObjectKind::kOther;  // system catalogs of the database
      break;
    default:
      out->object = ObjectKind::kDatabase;
      break;
  }
  out->name = qualified_name(an, stmt->relation);
  if (stmt->relation == nullptr) out->name.name = copy_text(an, stmt->name);
  out->options = options(an, RAW_LIST(stmt, params));
  return out;
}

Utility* create_schema(Analysis& an, const PgQuery__CreateSchemaStmt* stmt) {
  CreateSchemaUtility* out = make<CreateSchemaUtility>(an);
  out->name = copy_text(an, stmt->schemaname);
  out->owner = role_name(an, stmt->authrole);
  if (out->name.empty()) out->name = out->owner;
  out->if_not_exists = stmt->if_not_exists;
  std::vector<Utility*> elements;
  for (const raw::Node* node : RAW_LIST(stmt, schema_elts)) elements.push_back(analyze_utility(an, node));
  out->elements = to_span(an.arena, elements);
  return out;
}

template <class T, class Stmt>
Utility* names_and_options(Analysis& an, const Stmt* stmt, const PgQuery__RangeVar* name) {
  T* out = make<T>(an);
  out->name = qualified_name(an, name);
  out->options = options(an, RAW_LIST(stmt, options));
  return out;
}

Utility* create_sequence(Analysis& an, const PgQuery__CreateSeqStmt* stmt) {
  auto* out =
      static_cast<CreateSequenceUtility*>(names_and_options<CreateSequenceUtility>(an, stmt, stmt->sequence));
  out->if_not_exists = stmt->if_not_exists;
  return out;
}

Utility* alter_sequence(Analysis& an, const PgQuery__AlterSeqStmt* stmt) {
  auto* out =
      static_cast<AlterSequenceUtility*>(names_and_options<AlterSequenceUtility>(an, stmt, stmt->sequence));
  out->missing_ok = stmt->missing_ok;
  return out;
}

Utility* create_role(Analysis& an, const PgQuery__CreateRoleStmt* stmt) {
  CreateRoleUtility* out = make<CreateRoleUtility>(an);
  out->name = copy_text(an, stmt->role);
  out->login_default = stmt->stmt_type == PG_QUERY__ROLE_STMT_TYPE__ROLESTMT_USER;
  out->options = options(an, RAW_LIST(stmt, options));
  return out;
}

Utility* alter_role(Analysis& an, const PgQuery__AlterRoleStmt* stmt) {
  // ALTER GROUP g ADD/DROP USER comes as an ALTER ROLE with a list of members.
  AlterRoleUtility* out = make<AlterRoleUtility>(an);
  out->name = role_name(an, stmt->role);
  out->options = options(an, RAW_LIST(stmt, options));
  return out;
}

Utility* execute(Analysis& an, const PgQuery__ExecuteStmt* stmt) {
  ExecuteUtility* out = make<ExecuteUtility>(an);
  out->name = copy_text(an, stmt->name);
  std::vector<SourceExpr> parameters;
  for (const raw::Node* node : RAW_LIST(stmt, params)) parameters.push_back(source_expr(an, node));
  out->parameters = to_span(an.arena, parameters);
  return out;
}

Utility* truncate(Analysis& an, const PgQuery__TruncateStmt* stmt) {
  TruncateUtility* out = make<TruncateUtility>(an);
  out->tables = relation_names(an, RAW_LIST(stmt, relations));
  out->restart_identity = stmt->restart_seqs;
  out->cascade = stmt->behavior == PG_QUERY__DROP_BEHAVIOR__DROP_CASCADE;
  return out;
}

Utility* lock(Analysis& an, const PgQuery__LockStmt* stmt) {
  LockUtility* out = make<LockUtility>(an);
  out->tables = relation_names(an, RAW_LIST(stmt, relations));
  out->mode = stmt->mode;
  out->nowait = stmt->nowait;
  return out;
}

Utility* discard(Analysis& an, const PgQuery__DiscardStmt* stmt) {
  DiscardUtility* out = make<DiscardUtility>(an);
  out->target = static_cast<DiscardTarget>(static_cast<int>(stmt->target) - 1);
  return out;
}

Utility* create_database(Analysis& an, const PgQuery__CreatedbStmt* stmt) {
  CreateDatabaseUtility* out = make<CreateDatabaseUtility>(an);
  out->name = copy_text(an, stmt->dbname);
  out->options = options(an, RAW_LIST(stmt, options));
  return out;
}

Utility* drop_database(Analysis& an, const PgQuery__DropdbStmt* stmt) {
  DropDatabaseUtility* out = make<DropDatabaseUtility>(an);
  out->name = copy_text(an, stmt->dbname);
  out->missing_ok = stmt->missing_ok;
  for (const Option& o : options(an, RAW_LIST(stmt, options))) out->force = out->force || o.name == "force";
  return out;
}

Utility* constraints_set(Analysis& an, const PgQuery__ConstraintsSetStmt* stmt) {
  ConstraintsSetUtility* out = make<ConstraintsSetUtility>(an);
  out->constraints = relation_names(an, RAW_LIST(stmt, constraints));
  out->deferred = stmt->deferred;
  return out;
}

/// What CREATE/ALTER/... is called when it is not supported.
std::string_view statement_name(const raw::Node* node) {
  switch (node->node_case) {
    case PG_QUERY__NODE__NODE_CREATE_FUNCTION_STMT:
      return "CREATE FUNCTION";
    case PG_QUERY__NODE__NODE_CREATE_TRIG_STMT:
      return "CREATE TRIGGER";
    case PG_QUERY__NODE__NODE_CREATE_EXTENSION_STMT:
      return "CREATE EXTENSION";
    case PG_QUERY__NODE__NODE_CREATE_ENUM_STMT:
    case PG_QUERY__NODE__NODE_COMPOSITE_TYPE_STMT:
    case PG_QUERY__NODE__NODE_CREATE_RANGE_STMT:
      return "CREATE TYPE";
    case PG_QUERY__NODE__NODE_CREATE_DOMAIN_STMT:
      return "CREATE DOMAIN";
    case PG_QUERY__NODE__NODE_RULE_STMT:
      return "CREATE RULE";
    case PG_QUERY__NODE__NODE_DEFINE_STMT:
      return "CREATE AGGREGATE/OPERATOR/TYPE/COLLATION";
    case PG_QUERY__NODE__NODE_CREATE_TABLE_SPACE_STMT:
      return "CREATE TABLESPACE";
    case PG_QUERY__NODE__NODE_CREATE_PUBLICATION_STMT:
      return "CREATE PUBLICATION";
    case PG_QUERY__NODE__NODE_CREATE_SUBSCRIPTION_STMT:
      return "CREATE SUBSCRIPTION";
    case PG_QUERY__NODE__NODE_CREATE_STATS_STMT:
      return "CREATE STATISTICS";
    case PG_QUERY__NODE__NODE_CREATE_POLICY_STMT:
      return "CREATE POLICY";
    case PG_QUERY__NODE__NODE_CREATE_CAST_STMT:
      return "CREATE CAST";
    case PG_QUERY__NODE__NODE_CREATE_FDW_STMT:
      return "CREATE FOREIGN DATA WRAPPER";
    case PG_QUERY__NODE__NODE_CREATE_FOREIGN_SERVER_STMT:
      return "CREATE SERVER";
    case PG_QUERY__NODE__NODE_CREATE_FOREIGN_TABLE_STMT:
      return "CREATE FOREIGN TABLE";
    case PG_QUERY__NODE__NODE_DO_STMT:
      return "DO";
    case PG_QUERY__NODE__NODE_CALL_STMT:
      return "CALL";
    case PG_QUERY__NODE__NODE_LOAD_STMT:
      return "LOAD";
    case PG_QUERY__NODE__NODE_LISTEN_STMT:
      return "LISTEN";
    case PG_QUERY__NODE__NODE_NOTIFY_STMT:
      return "NOTIFY";
    case PG_QUERY__NODE__NODE_UNLISTEN_STMT:
      return "UNLISTEN";
    case PG_QUERY__NODE__NODE_CLUSTER_STMT:
      return "CLUSTER";
    case PG_QUERY__NODE__NODE_REFRESH_MAT_VIEW_STMT:
      return "REFRESH MATERIALIZED VIEW";
    case PG_QUERY__NODE__NODE_REASSIGN_OWNED_STMT:
      return "REASSIGN OWNED";
    case PG_QUERY__NODE__NODE_DROP_OWNED_STMT:
      return "DROP OWNED";
    case PG_QUERY__NODE__NODE_SEC_LABEL_STMT:
      return "SECURITY LABEL";
    case PG_QUERY__NODE__NODE_ALTER_DATABASE_STMT:
    case PG_QUERY__NODE__NODE_ALTER_DATABASE_SET_STMT:
      return "ALTER DATABASE";
    case PG_QUERY__NODE__NODE_ALTER_ROLE_SET_STMT:
      return "ALTER ROLE ... SET";
    case PG_QUERY__NODE__NODE_ALTER_DEFAULT_PRIVILEGES_STMT:
      return "ALTER DEFAULT PRIVILEGES";
    default:
      return "this statement";
  }
}

}  // namespace

Utility* analyze_utility(Analysis& an, const raw::Node* node) {
  switch (node->node_case) {
    case PG_QUERY__NODE__NODE_TRANSACTION_STMT:
      return transaction(an, node->transaction_stmt);
    case PG_QUERY__NODE__NODE_VARIABLE_SET_STMT:
      return set_variable(an, node->variable_set_stmt);
    case PG_QUERY__NODE__NODE_VARIABLE_SHOW_STMT: {
      ShowUtility* out = make<ShowUtility>(an);
      out->name = copy_text(an, node->variable_show_stmt->name);
      return out;
    }
    case PG_QUERY__NODE__NODE_ALTER_SYSTEM_STMT: {
      AlterSystemUtility* out = make<AlterSystemUtility>(an);
      out->set = set_variable(an, node->alter_system_stmt->setstmt);
      return out;
    }
    case PG_QUERY__NODE__NODE_CREATE_STMT:
      return create_table(an, node->create_stmt);
    case PG_QUERY__NODE__NODE_ALTER_TABLE_STMT:
      return alter_table(an, node->alter_table_stmt);
    case PG_QUERY__NODE__NODE_DROP_STMT:
      return drop(an, node->drop_stmt);
    case PG_QUERY__NODE__NODE_INDEX_STMT:
      return create_index(an, node->index_stmt);
    case PG_QUERY__NODE__NODE_VIEW_STMT:
      return create_view(an, node->view_stmt);
    case PG_QUERY__NODE__NODE_CREATE_SEQ_STMT:
      return create_sequence(an, node->create_seq_stmt);
    case PG_QUERY__NODE__NODE_ALTER_SEQ_STMT:
      return alter_sequence(an, node->alter_seq_stmt);
    case PG_QUERY__NODE__NODE_CREATE_SCHEMA_STMT:
      return create_schema(an, node->create_schema_stmt);
    case PG_QUERY__NODE__NODE_RENAME_STMT:
      return rename(an, node->rename_stmt);
    case PG_QUERY__NODE__NODE_TRUNCATE_STMT:
      return truncate(an, node->truncate_stmt);
    case PG_QUERY__NODE__NODE_VACUUM_STMT:
      return vacuum(an, node->vacuum_stmt);
    case PG_QUERY__NODE__NODE_COPY_STMT:
      return copy(an, node->copy_stmt);
    case PG_QUERY__NODE__NODE_EXPLAIN_STMT:
      return explain(an, node->explain_stmt);
    case PG_QUERY__NODE__NODE_PREPARE_STMT:
      return prepare(an, node->prepare_stmt);
    case PG_QUERY__NODE__NODE_EXECUTE_STMT:
      return execute(an, node->execute_stmt);
    case PG_QUERY__NODE__NODE_DEALLOCATE_STMT: {
      DeallocateUtility* out = make<DeallocateUtility>(an);
      out->name = copy_text(an, node->deallocate_stmt->name);
      return out;
    }
    case PG_QUERY__NODE__NODE_DECLARE_CURSOR_STMT:
      return declare_cursor(an, node->declare_cursor_stmt);
    case PG_QUERY__NODE__NODE_FETCH_STMT:
      return fetch(an, node->fetch_stmt);
    case PG_QUERY__NODE__NODE_CLOSE_PORTAL_STMT: {
      CloseUtility* out = make<CloseUtility>(an);
      out->cursor = copy_text(an, node->close_portal_stmt->portalname);
      return out;
    }
    case PG_QUERY__NODE__NODE_LOCK_STMT:
      return lock(an, node->lock_stmt);
    case PG_QUERY__NODE__NODE_CHECK_POINT_STMT:
      return make<CheckpointUtility>(an);
    case PG_QUERY__NODE__NODE_DISCARD_STMT:
      return discard(an, node->discard_stmt);
    case PG_QUERY__NODE__NODE_COMMENT_STMT:
      return comment(an, node->comment_stmt);
    case PG_QUERY__NODE__NODE_GRANT_STMT:
      return grant(an, node->grant_stmt);
    case PG_QUERY__NODE__NODE_GRANT_ROLE_STMT:
      return grant_role(an, node->grant_role_stmt);
    case PG_QUERY__NODE__NODE_CREATE_ROLE_STMT:
      return create_role(an, node->create_role_stmt);
    case PG_QUERY__NODE__NODE_ALTER_ROLE_STMT:
      return alter_role(an, node->alter_role_stmt);
    case PG_QUERY__NODE__NODE_DROP_ROLE_STMT: {
      DropRoleUtility* out = make<DropRoleUtility>(an);
      out->names = role_names(an, RAW_LIST(node->drop_role_stmt, roles));
      out->missing_ok = node->drop_role_stmt->missing_ok;
      return out;
    }
    case PG_QUERY__NODE__NODE_CREATEDB_STMT:
      return create_database(an, node->createdb_stmt);
    case PG_QUERY__NODE__NODE_DROPDB_STMT:
      return drop_database(an, node->dropdb_stmt);
    case PG_QUERY__NODE__NODE_REINDEX_STMT:
      return reindex(an, node->reindex_stmt);
    case PG_QUERY__NODE__NODE_CREATE_TABLE_AS_STMT:
      return create_table_as(an, node->create_table_as_stmt);
    case PG_QUERY__NODE__NODE_ALTER_OWNER_STMT:
      return alter_owner(an, node->alter_owner_stmt);
    case PG_QUERY__NODE__NODE_ALTER_OBJECT_SCHEMA_STMT:
      return alter_schema(an, node->alter_object_schema_stmt);
    case PG_QUERY__NODE__NODE_CONSTRAINTS_SET_STMT:
      return constraints_set(an, node->constraints_set_stmt);
    default:
      throw_unsupported(an, statement_name(node));
  }
}

}  // namespace pinwheel::sql
