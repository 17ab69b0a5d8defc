#pragma once

#include "sql/commands/dependencies.h"

namespace pinwheel::sql {

/// Removes one object's own rows, files, comments and dependency records. What depends on it is gone already.
void drop_one_object(Catalog& catalog, const ObjectAddress& object);

}  // namespace pinwheel::sql
