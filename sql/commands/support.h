#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "base/sqlstate.h"
#include "sql/catalog/catalog.h"
#include "sql/commands/command_context.h"
#include "sql/query/utility.h"

/// Small things that several commands share.
namespace pinwheel::sql {

void send_notice(CommandContext& context, std::string message, std::string detail = {});
void send_warning(CommandContext& context, SqlState state, std::string message);

/// `"x"`
std::string in_quotes(std::string_view name);
/// "table", "view", "sequence"... as messages call a relation of that kind.
std::string_view relation_kind_word(char kind);

/// A relation by name, locked in `mode`; 42P01 (or 3F000 for the schema) with position when it does not
/// exist.
RelationRef require_relation(CommandContext& context, const QualifiedName& name, int mode,
                             bool nowait = false);
/// Like above, null when absent.
RelationRef find_locked_relation(CommandContext& context, const QualifiedName& name, int mode);
/// 42809 `"x" is not a table` unless it is one; 42501 for the system's own tables.
void require_table(const Relation& relation);
/// Changes of the system's own relations are refused: 42501 `permission denied: "x" is a system catalog`.
void refuse_system_relation(const Relation& relation);

/// The schema where CREATE puts `name`, with CREATE privilege checked; makes the session's temporary schema
/// when it is needed. `persistence` is set to 't' when the schema is temporary.
Oid creation_schema(CommandContext& context, const QualifiedName& name, char& persistence);

/// `relation "x" does not exist, skipping` and the like, or the same with the schema when that is what is
/// missing.
void notice_skipping(CommandContext& context, std::string_view word, const QualifiedName& name);

const Option* find_option(std::span<const Option> options, std::string_view name);
/// As a boolean: 42601 `x requires a Boolean value`.
bool option_bool(const Option& option);
/// As an integer: 42601.
std::int64_t option_integer(const Option& option);

/// Parses and checks WITH (...) of a table or index: stored form "name=value". Errors: 22023 unrecognized
/// parameter, value out of bounds, invalid value. `kind`: r, i, v.
std::vector<std::string> check_relation_options(std::span<const Option> options, char kind);
/// Applies SET (`reset` false) or RESET to stored options.
std::vector<std::string> change_relation_options(std::vector<std::string> stored,
                                                 std::span<const Option> options, char kind, bool reset);

}  // namespace pinwheel::sql
