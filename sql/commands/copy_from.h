#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "sql/commands/command_context.h"
#include "sql/commands/copy_options.h"
#include "sql/query/utility.h"

namespace pinwheel::sql {

/// COPY ... FROM: returns the number of rows. Errors carry the context `COPY t, line n, column c: "value"`.
std::uint64_t copy_from(CommandContext& context, const CopyUtility& utility, const CopyOptions& options);
/// COPY ... TO.
std::uint64_t copy_to(CommandContext& context, const CopyUtility& utility, const CopyOptions& options);

/// Says in pg_stat_progress_copy which way the running COPY goes, and whether from or to a file or the
/// client.
void show_copy_progress(bool from, bool is_file);

/// The columns of COPY t (a, b): numbers; all live, not generated columns when none are written. Errors:
/// 42703, 42701, 42P10 for generated columns.
std::vector<std::int16_t> copy_columns(const Relation& relation, std::span<std::string_view> names);

/// By field, whether an option (`word`: FORCE_NULL...) names its column. Empty when it names none. Errors:
/// 42703; 42P10 when COPY leaves the column out.
std::vector<bool> copy_forced_columns(const Relation& relation, const std::vector<std::int16_t>& columns,
                                      const std::vector<std::string_view>& names, std::string_view word);

}  // namespace pinwheel::sql
