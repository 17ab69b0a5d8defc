#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "sql/commands/command_context.h"
#include "sql/query/utility.h"

namespace pinwheel::sql {

/// What VACUUM and ANALYZE were asked to do.
struct VacuumOptions {
  bool vacuum = false;
  bool analyze = false;
  bool verbose = false;
  bool full = false;
  bool skip_locked = false;
  bool use_visibility_map = true;  // false after DISABLE_PAGE_SKIPPING
  bool process_toast = true;
  enum class IndexCleanup : std::uint8_t { kAuto, kOn, kOff } index_cleanup = IndexCleanup::kAuto;
  bool truncate = true;
};

/// Reads VACUUM's or ANALYZE's options. Errors: 42601 `unrecognized VACUUM option "x"`, 0A000 for
/// combinations, 42601 for values.
VacuumOptions read_vacuum_options(const VacuumUtility& utility);

/// Tells the statistics what VACUUM (or ANALYZE, `analyzed`) found in a table.
void note_maintenance(Catalog& catalog, const Relation& relation, double live, double dead, bool analyzed);

/// Vacuums one table under the lock that the caller holds (ShareUpdateExclusive, or
/// AccessExclusive for FULL), and records its size in pg_class. The transaction has done nothing else.
/// Errors: those of storage.
void vacuum_relation(CommandContext& context, const Relation& relation, const VacuumOptions& options);

/// VACUUM FULL: rewrites the table without its dead rows and makes its indexes anew. AccessExclusive is held.
void rewrite_relation(CommandContext& context, Oid relation, const VacuumOptions& options);

/// Samples one table and stores statistics about `columns` (empty = all). ShareUpdateExclusive is held.
/// Errors: 42703.
void analyze_relation(CommandContext& context, const Relation& relation, std::span<std::string_view> columns,
                      const VacuumOptions& options);

}  // namespace pinwheel::sql
