#pragma once

#include "bench/tpcc/async_session.h"
#include "bench/tpcc/task.h"
#include "bench/tpcc/workload.h"

namespace pinwheel::tpcc {

/// The id of the customer meant: of those with the last name, in the order of first names, the one in the
/// middle (TPC-C 2.5.2.2).
Task<int> find_customer(AsyncSession& session, const CustomerChoice& choice);

/// Throws StatementError 02000 unless the statement found a row.
void require_row(const Result& result, StatementId statement);
/// Throws StatementError 02000 unless the statement changed exactly one row.
void require_one_changed(const Result& result, StatementId statement);

}  // namespace pinwheel::tpcc
