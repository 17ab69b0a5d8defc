#pragma once

#include "base/ids.h"
#include "sql/query/utility.h"
#include "sql/types/datum.h"

namespace pinwheel::sql {

struct SessionState;

/// Evaluates a parameter of EXECUTE, coerced to the statement's type. Errors: 42804 `parameter $1 of type x
/// cannot be coerced to the expected type y`.
void evaluate_parameter(SessionState& session, const SourceExpr& source, Oid type, int number, Datum& value,
                        bool& is_null);

}  // namespace pinwheel::sql
