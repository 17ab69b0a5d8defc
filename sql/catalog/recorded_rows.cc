#include "sql/catalog/recorded_rows.h"

namespace pinwheel::sql {
namespace {
struct RecordedFile {
  std::string_view name;
  std::string_view rows;
};
#include "recorded_rows.inc"
}  // namespace

std::string_view recorded_rows(std::string_view catalog) {
  for (const RecordedFile& file : kFiles) {
    if (file.name == catalog) return file.rows;
  }
  return {};
}

}  // namespace pinwheel::sql
