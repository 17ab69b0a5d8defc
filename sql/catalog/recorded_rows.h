#pragma once

#include <string_view>

namespace pinwheel::sql {

/// The recorded rows of a catalog (sql/catalog/data/NAME.tsv) as COPY text with a header line; "" when there
/// is no such file. The bootstrap inserts them.
std::string_view recorded_rows(std::string_view catalog);

}  // namespace pinwheel::sql
