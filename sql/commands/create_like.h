#pragma once

#include <vector>

#include "sql/commands/command_context.h"
#include "sql/commands/create_table.h"
#include "sql/query/utility.h"

namespace pinwheel::sql {

/// What LIKE clauses leave to do once the new table exists.
struct LikeWork {
  struct Source {
    RelationRef table;
    std::uint32_t options;
  };
  std::vector<Source> sources;
};

/// Adds the columns of CREATE TABLE ... (LIKE source ...).
void copy_like_columns(CommandContext& context, const LikeClause& clause,
                       std::vector<ResolvedColumn>& columns, LikeWork& work);
/// Copies constraints, indexes and comments that were asked for (INCLUDING ...).
void finish_like(CommandContext& context, Oid table, const LikeWork& work);

}  // namespace pinwheel::sql
