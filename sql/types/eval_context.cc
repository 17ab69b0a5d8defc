#include "sql/types/eval_context.h"

#include "sql/types/io_errors.h"

namespace pinwheel::sql {

RowSet CatalogHooks::call_set(std::string_view prosrc, Oid, const Datum*, const bool*, int, Arena&) {
  throw_unsupported("function " + std::string{prosrc} + "() is not implemented");
}

}  // namespace pinwheel::sql
