#pragma once

#include <string_view>

#include "base/arena.h"
#include "sql/catalog/catalog.h"
#include "sql/catalog/relation.h"
#include "sql/types/eval_context.h"

namespace pinwheel::sql {

/// A value of a table's row type from its text, "(1,\"a b\",)". Values land in `arena`.
///
/// Errors: 22P02 `malformed record literal`, and those of the columns' types.
Datum read_row_text(const Relation& relation, std::string_view text, EvalContext& eval, Arena& arena);

}  // namespace pinwheel::sql
