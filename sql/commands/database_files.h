#pragma once

#include "base/ids.h"
#include "sql/commands/command_context.h"

namespace pinwheel::sql {

/// Sessions other than this one that are connected to a database.
int sessions_in_database(CommandContext& context, Oid database);

/// Copies the files of a database to a new one, durably, before the transaction that makes its row commits:
/// nothing of the copy is in the log. Commits the row. If the process dies before, the directory is garbage
/// under an oid that no row names.
void copy_database(CommandContext& context, Oid from, Oid to);

/// Commits the removal of the database's row, then removes its buffers and files. If the process dies in
/// between, the directory is garbage.
void drop_database_at_commit(CommandContext& context, Oid database);

}  // namespace pinwheel::sql
