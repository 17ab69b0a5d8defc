#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/arena.h"
#include "base/settings.h"
#include "sql/execute/execution_context.h"
#include "sql/query/utility.h"
#include "sql/session/client.h"

namespace pinwheel::sql {

class Catalog;
class AnalyzerCatalog;
struct AnalyzeContext;

/// What a command may use of its session. Made by the session for each utility statement.
///
/// When a command starts, a transaction is active, privileges are not checked yet and no lock is held but
/// those that analysis took. `arena` lasts until the statement ends.
struct CommandContext {
  Catalog& catalog;
  /// With a snapshot set, unless the command needs none (RawStatement::needs_no_snapshot).
  ExecutionContext& execution;
  const AnalyzeContext& analyze;
  Arena& arena;
  SessionSettings& settings;
  bool superuser = false;
  Client& client;
  /// The statement's own text.
  std::string_view text;
  const std::string& data_directory;

  /// Plans and runs an analyzed query with a fresh command id and snapshot; rows go to `receiver`. Returns
  /// the rows processed. For CREATE TABLE AS, COPY (query), constraint validation.
  std::function<std::uint64_t(const Query& query, RowReceiver& receiver)> run_query;

  /// For VACUUM and kin: commits what is done so far and begins a new transaction, with a new snapshot. Only
  /// for commands that must_run_alone() names.
  std::function<void()> restart_transaction;
};

/// Runs a utility statement that this folder implements (DDL, COPY, VACUUM, ...; what belongs to the session
/// itself, such as BEGIN, SET, PREPARE, FETCH and EXPLAIN, never comes here) and returns its command tag,
/// "CREATE TABLE".
///
/// Errors: PostgreSQL's; 0A000 for what is not supported.
std::string run_command(CommandContext& context, const Utility& utility);

/// True for commands that refuse to run in a transaction block (VACUUM, CREATE DATABASE, CREATE INDEX
/// CONCURRENTLY...); `name` gets what the error 25001 `X cannot run inside a transaction block` calls it.
bool must_run_alone(const Utility& utility, std::string_view& name);

/// The command tag of a utility statement, for logs, Describe and errors ("25006: cannot execute CREATE TABLE
/// in a read-only transaction").
std::string_view command_tag(const Utility& utility);

/// True when the command changes nothing that a read-only transaction protects.
bool allowed_in_read_only_transaction(const Utility& utility);

}  // namespace pinwheel::sql
