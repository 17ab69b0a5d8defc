#include "base/stack.h"

#include "base/error.h"
#include "base/sqlstate.h"

namespace pinwheel {

std::uintptr_t stack_limit = 0;

void throw_stack_depth_exceeded() {
  throw SqlError{sqlstate::kStatementTooComplex, "stack depth limit exceeded"}.hint(
      "Simplify the statement: it nests more deeply than a session's stack allows.");
}

}  // namespace pinwheel
