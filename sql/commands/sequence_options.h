#pragma once

#include <optional>
#include <span>

#include "sql/catalog/infos.h"
#include "sql/commands/command_context.h"
#include "sql/query/utility.h"

namespace pinwheel::sql {

struct SequenceSettings {
  SequenceInfo info;
  /// RESTART [WITH n]: the value to start again from.
  std::optional<std::int64_t> restart;
  /// OWNED BY: names of (schema,) table and column; ["none"] for NONE.
  std::span<std::string_view> owned_by;
  bool has_owned_by = false;
};

/// Reads CREATE/ALTER SEQUENCE options. `present`: what ALTER starts from. Errors: 42601 conflicting or
/// redundant options, 22023 for values, in PostgreSQL's words.
SequenceSettings read_sequence_options(CommandContext& context, std::span<const Option> options,
                                       const SequenceInfo* present, Oid default_type);

}  // namespace pinwheel::sql
