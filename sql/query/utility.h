#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "base/ids.h"
#include "sql/query/query.h"

namespace pinwheel::sql {

/// Commands other than SELECT/INSERT/UPDATE/DELETE, as typed structs in the statement's arena. Names are not
/// resolved yet unless a field says so: the command does it when it runs, under its locks. Expressions that
/// belong to a table (DEFAULT, CHECK, index expressions) are kept as source text (`SourceExpr`) and analyzed
/// by the command through sql/analyze/expression_source.h once the table's columns are known.
enum class UtilityKind : std::uint8_t {
  kTransaction,
  kSet,
  kShow,
  kCreateTable,
  kAlterTable,
  kDrop,
  kCreateIndex,
  kCreateView,
  kCreateSequence,
  kAlterSequence,
  kCreateSchema,
  kRename,
  kTruncate,
  kVacuum,
  kCopy,
  kExplain,
  kPrepare,
  kExecute,
  kDeallocate,
  kDeclareCursor,
  kFetch,
  kClose,
  kLock,
  kCheckpoint,
  kDiscard,
  kComment,
  kGrant,
  kCreateRole,
  kAlterRole,
  kDropRole,
  kCreateDatabase,
  kDropDatabase,
  kAlterSystem,
  kReindex,
  kCreateTableAs,
  kAlterOwner,
  kAlterObjectSchema,
  kListen,
  kNotify,
  kUnlisten,
  kConstraintsSet,
  kCluster,
  kReassignOwned,
  kGrantRole
};

struct Utility {
  UtilityKind kind;
};
template <UtilityKind K>
struct UtilityOf : Utility {
  static constexpr UtilityKind kKind = K;
  UtilityOf() { kind = K; }
};
template <class T>
T* utility_cast(Utility* node) {
  return static_cast<T*>(node);
}

/// schema "" = search path.
struct QualifiedName {
  std::string_view catalog;
  std::string_view schema;
  std::string_view name;
  bool inherit = true;     ///< false after ONLY
  char persistence = 'p';  ///< 'p', 'u' unlogged, 't' temporary (CREATE only)
  int location = -1;
};

struct TypeName {
  std::string_view schema;
  std::string_view name;  ///< internal name ("int4", "varchar")
  std::span<std::int32_t> modifiers;
  int array_dimensions = 0;
  bool set_of = false;
  int location = -1;
};

/// Source text of an expression, as deparsed by the grammar library: `SELECT <text>` parses to it again.
struct SourceExpr {
  std::string_view text;
  int location = -1;
};

/// name = value in WITH (...) and friends. Kinds as written.
struct Option {
  enum class Kind : std::uint8_t { kNone, kString, kInteger, kFloat, kList, kBool, kName } kind = Kind::kNone;
  std::string_view name;  ///< lower case
  std::string_view text;  ///< value as text, whatever the kind
  std::int64_t integer = 0;
  std::span<std::string_view> list;
  int location = -1;
};

enum class TransactionCommand : std::uint8_t {
  kBegin,
  kStart,
  kCommit,
  kRollback,
  kSavepoint,
  kRelease,
  kRollbackTo,
  kPrepare,
  kCommitPrepared,
  kRollbackPrepared
};
struct TransactionUtility : UtilityOf<UtilityKind::kTransaction> {
  TransactionCommand command = TransactionCommand::kBegin;
  std::string_view savepoint;
  bool chain = false;
  std::span<Option>
      modes;  ///< transaction_isolation (text), transaction_read_only, transaction_deferrable (bool)
};

enum class SetCommand : std::uint8_t {
  kValue,
  kDefault,
  kReset,
  kResetAll,
  kTransactionModes,
  kSessionModes,
  kSnapshot,
  kCurrent
};
struct SetUtility : UtilityOf<UtilityKind::kSet> {
  SetCommand command = SetCommand::kValue;
  std::string_view name;
  std::span<std::string_view> values;  ///< list elements as text
  std::span<bool> value_is_name;
  bool local = false;
  std::span<Option> modes;
};
struct ShowUtility : UtilityOf<UtilityKind::kShow> {
  std::string_view name;  ///< "all" = all
};
struct AlterSystemUtility : UtilityOf<UtilityKind::kAlterSystem> {
  SetUtility* set = nullptr;
};

enum class ConstraintKind : std::uint8_t {
  kNull,
  kNotNull,
  kDefault,
  kIdentity,
  kGenerated,
  kCheck,
  kPrimary,
  kUnique,
  kExclusion,
  kForeign
};
struct ConstraintDefinition {
  ConstraintKind kind = ConstraintKind::kNull;
  std::string_view name;  ///< "" = generated
  SourceExpr expression;  ///< kDefault, kCheck, kGenerated
  char identity = 0;      ///< 'a' always, 'd' by default
  std::span<Option> sequence_options;
  std::span<std::string_view> keys;
  std::span<Option> with;
  std::string_view tablespace;
  std::string_view existing_index;  ///< ADD ... USING INDEX
  QualifiedName referenced;
  std::span<std::string_view> referenced_keys;
  char match = 's', on_update = 'a', on_delete = 'a';
  bool deferrable = false, initially_deferred = false, not_valid = false, no_inherit = false,
       nulls_not_distinct = false;
  int location = -1;
};
struct ColumnSpec {
  std::string_view name;
  TypeName type;
  std::string_view collation;
  char storage = 0;
  std::string_view compression;
  std::span<ConstraintDefinition> constraints;
  int location = -1;
};
enum class OnCommit : std::uint8_t { kNoop, kPreserveRows, kDeleteRows, kDrop };
struct LikeClause {
  QualifiedName source;
  std::uint32_t options = 0;  ///< PostgreSQL's CREATE_TABLE_LIKE bits
  int before_column = 0;
};
struct CreateTableUtility : UtilityOf<UtilityKind::kCreateTable> {
  QualifiedName name;
  bool if_not_exists = false;
  std::span<ColumnSpec> columns;
  std::span<ConstraintDefinition> constraints;
  std::span<LikeClause> likes;
  std::span<QualifiedName> inherits;
  bool partitioned = false;  ///< PARTITION BY or PARTITION OF was written (not supported yet: 0A000)
  std::span<Option> with;
  OnCommit on_commit = OnCommit::kNoop;
  std::string_view tablespace;
  std::string_view access_method;
};
struct CreateTableAsUtility : UtilityOf<UtilityKind::kCreateTableAs> {
  QualifiedName name;
  std::span<std::string_view> column_names;
  bool if_not_exists = false;
  bool materialized_view = false;
  bool with_data = true;
  std::span<Option> with;
  OnCommit on_commit = OnCommit::kNoop;
  Query* query = nullptr;  ///< analyzed
  std::string_view query_text;
};

enum class AlterTableAction : std::uint8_t {
  kAddColumn,
  kDropColumn,
  kColumnDefault,
  kDropNotNull,
  kSetNotNull,
  kColumnType,
  kAddConstraint,
  kDropConstraint,
  kValidateConstraint,
  kSetStatistics,
  kSetStorage,
  kSetOptions,
  kResetOptions,
  kChangeOwner,
  kSetLogged,
  kSetUnlogged,
  kAddIdentity,
  kDropIdentity,
  kSetTablespace,
  kReplicaIdentity,
  kClusterOn,
  kEnableTrigger,
  kDisableTrigger,
  kRowSecurity,
  kDropExpression,
  kAlterConstraint,
  kOther
};
struct AlterTableCommand {
  AlterTableAction action = AlterTableAction::kOther;
  std::string_view name;  ///< column or constraint
  ColumnSpec column;      ///< kAddColumn, kColumnType (type, collation)
  SourceExpr expression;  ///< kColumnDefault ("" = drop), kColumnType USING
  ConstraintDefinition constraint;
  std::span<Option> options;
  std::string_view new_owner;
  std::int64_t number = 0;
  bool missing_ok = false;
  bool cascade = false;
  std::string_view unsupported;  ///< kOther: what was written, for the error
};
struct AlterTableUtility : UtilityOf<UtilityKind::kAlterTable> {
  QualifiedName name;
  char object_kind = 'r';  ///< 'r' table, 'i' index, 'v' view, 'S' sequence, 'm' matview
  bool missing_ok = false;
  std::span<AlterTableCommand> commands;
};

enum class ObjectKind : std::uint8_t {
  kTable,
  kIndex,
  kView,
  kMaterializedView,
  kSequence,
  kSchema,
  kColumn,
  kConstraint,
  kType,
  kFunction,
  kRole,
  kDatabase,
  kTablespace,
  kOperator,
  kAggregate,
  kDomain,
  kExtension,
  kTrigger,
  kCast,
  kCollation,
  kLanguage,
  kOther
};
struct DropUtility : UtilityOf<UtilityKind::kDrop> {
  ObjectKind object = ObjectKind::kTable;
  std::span<QualifiedName> names;
  bool missing_ok = false;
  bool cascade = false;
  bool concurrently = false;
};
struct IndexElement {
  std::string_view column;  ///< "" = expression
  SourceExpr expression;
  std::string_view collation;
  std::string_view operator_class;
  bool descending = false;
  bool nulls_first = false;  ///< resolved from the ordering when not written
};
struct CreateIndexUtility : UtilityOf<UtilityKind::kCreateIndex> {
  std::string_view name;
  QualifiedName table;
  std::string_view method;
  std::span<IndexElement> elements;
  std::span<std::string_view> included;
  std::span<Option> with;
  SourceExpr predicate;
  std::string_view tablespace;
  bool unique = false, concurrently = false, if_not_exists = false, nulls_not_distinct = false;
};
struct CreateViewUtility : UtilityOf<UtilityKind::kCreateView> {
  QualifiedName name;
  std::span<std::string_view> column_names;
  Query* query = nullptr;       ///< analyzed
  std::string_view query_text;  ///< the defining SELECT, deparsed
  bool replace = false;
  std::span<Option> with;
  char check_option = 'n';  ///< 'n' none, 'l' local, 'c' cascaded
};
struct CreateSequenceUtility : UtilityOf<UtilityKind::kCreateSequence> {
  QualifiedName name;
  std::span<Option>
      options;  ///< as, increment, minvalue, maxvalue, start, cache, cycle, owned_by (list), restart
  bool if_not_exists = false;
};
struct AlterSequenceUtility : UtilityOf<UtilityKind::kAlterSequence> {
  QualifiedName name;
  std::span<Option> options;
  bool missing_ok = false;
};
struct CreateSchemaUtility : UtilityOf<UtilityKind::kCreateSchema> {
  std::string_view name;
  std::string_view owner;
  bool if_not_exists = false;
  std::span<Utility*> elements;
};
struct RenameUtility : UtilityOf<UtilityKind::kRename> {
  ObjectKind object = ObjectKind::kTable;
  QualifiedName name;
  std::string_view sub_name;  ///< column or constraint
  std::string_view new_name;
  bool missing_ok = false;
};
struct AlterOwnerUtility : UtilityOf<UtilityKind::kAlterOwner> {
  ObjectKind object = ObjectKind::kTable;
  QualifiedName name;
  std::string_view new_owner;
};
struct AlterObjectSchemaUtility : UtilityOf<UtilityKind::kAlterObjectSchema> {
  ObjectKind object = ObjectKind::kTable;
  QualifiedName name;
  std::string_view new_schema;
  bool missing_ok = false;
};
struct TruncateUtility : UtilityOf<UtilityKind::kTruncate> {
  std::span<QualifiedName> tables;
  bool restart_identity = false;
  bool cascade = false;
};
struct VacuumTarget {
  QualifiedName table;
  std::span<std::string_view> columns;
};
struct VacuumUtility : UtilityOf<UtilityKind::kVacuum> {
  bool vacuum = true;  ///< false = plain ANALYZE
  std::span<Option> options;
  std::span<VacuumTarget> targets;  ///< empty = all
};
struct CopyUtility : UtilityOf<UtilityKind::kCopy> {
  QualifiedName table;  ///< name "" when query is set
  std::span<std::string_view> columns;
  Query* query = nullptr;  ///< analyzed
  bool from = true;
  bool program = false;
  std::string_view file_name;  ///< "" = client
  std::span<Option> options;
  SourceExpr where;
};
struct ExplainUtility : UtilityOf<UtilityKind::kExplain> {
  std::span<Option> options;
  Query* query = nullptr;  ///< analyzed; may be a utility (CREATE TABLE AS, EXECUTE)
};
struct PrepareUtility : UtilityOf<UtilityKind::kPrepare> {
  std::string_view name;
  std::span<TypeName> parameter_types;
  std::string_view text;  ///< the prepared statement's source
  int text_offset = 0;
};
struct ExecuteUtility : UtilityOf<UtilityKind::kExecute> {
  std::string_view name;
  std::span<SourceExpr> parameters;
};
struct DeallocateUtility : UtilityOf<UtilityKind::kDeallocate> {
  std::string_view name;  ///< "" = all
};
struct DeclareCursorUtility : UtilityOf<UtilityKind::kDeclareCursor> {
  std::string_view name;
  bool binary = false, scroll = false, no_scroll = false, hold = false, insensitive = false;
  Query* query = nullptr;
  std::string_view query_text;
};
enum class FetchDirection : std::uint8_t { kForward, kBackward, kAbsolute, kRelative };
struct FetchUtility : UtilityOf<UtilityKind::kFetch> {
  std::string_view cursor;
  FetchDirection direction = FetchDirection::kForward;
  std::int64_t count = 1;  ///< INT64_MAX = all
  bool move = false;
};
struct CloseUtility : UtilityOf<UtilityKind::kClose> {
  std::string_view cursor;  ///< "" = all
};
struct LockUtility : UtilityOf<UtilityKind::kLock> {
  std::span<QualifiedName> tables;
  int mode = 8;  ///< 1 AccessShare ... 8 AccessExclusive
  bool nowait = false;
};
struct CheckpointUtility : UtilityOf<UtilityKind::kCheckpoint> {};
enum class DiscardTarget : std::uint8_t { kAll, kPlans, kSequences, kTemp };
struct DiscardUtility : UtilityOf<UtilityKind::kDiscard> {
  DiscardTarget target = DiscardTarget::kAll;
};
struct CommentUtility : UtilityOf<UtilityKind::kComment> {
  ObjectKind object = ObjectKind::kTable;
  QualifiedName name;
  std::string_view sub_name;
  std::string_view text;
  bool is_null = false;
};
struct PrivilegeSpec {
  std::string_view name;  ///< lower case; "" = all
  std::span<std::string_view> columns;
};
struct GrantUtility : UtilityOf<UtilityKind::kGrant> {
  bool grant = true;
  ObjectKind object = ObjectKind::kTable;
  bool all_in_schema = false;
  std::span<QualifiedName> objects;
  std::span<PrivilegeSpec> privileges;
  std::span<std::string_view> grantees;  ///< "public" = PUBLIC
  bool grant_option = false;
  bool cascade = false;
};
struct CreateRoleUtility : UtilityOf<UtilityKind::kCreateRole> {
  std::string_view name;
  bool login_default = false;  ///< CREATE USER
  std::span<Option> options;
};
struct AlterRoleUtility : UtilityOf<UtilityKind::kAlterRole> {
  std::string_view name;
  std::span<Option> options;
};
struct DropRoleUtility : UtilityOf<UtilityKind::kDropRole> {
  std::span<std::string_view> names;
  bool missing_ok = false;
};
struct GrantRoleUtility : UtilityOf<UtilityKind::kGrantRole> {
  bool grant = true;
  std::span<std::string_view> roles;
  std::span<std::string_view> grantees;
  bool admin_option = false;
};
struct CreateDatabaseUtility : UtilityOf<UtilityKind::kCreateDatabase> {
  std::string_view name;
  std::span<Option> options;
};
struct DropDatabaseUtility : UtilityOf<UtilityKind::kDropDatabase> {
  std::string_view name;
  bool missing_ok = false;
  bool force = false;
};
struct ReindexUtility : UtilityOf<UtilityKind::kReindex> {
  ObjectKind object = ObjectKind::kTable;
  QualifiedName name;
  std::span<Option> options;
};
struct ConstraintsSetUtility : UtilityOf<UtilityKind::kConstraintsSet> {
  std::span<QualifiedName> constraints;  ///< empty = all
  bool deferred = false;
};

}  // namespace pinwheel::sql
