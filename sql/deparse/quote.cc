#include "sql/deparse/deparse.h"

namespace pinwheel::sql {

std::string quote_qualified(std::string_view schema, std::string_view name) {
  return schema.empty() ? quote_identifier(name) : quote_identifier(schema) + "." + quote_identifier(name);
}

}  // namespace pinwheel::sql
