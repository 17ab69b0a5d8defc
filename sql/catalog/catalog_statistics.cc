#include "sql/catalog/catalog.h"
#include "sql/catalog/catalog_scan.h"
#include "sql/catalog/catalog_state.h"
#include "sql/types/array.h"
#include "sql/types/type_info.h"

namespace pinwheel::sql {
namespace {

constexpr std::int16_t kMostCommonKind = 1;
constexpr std::int16_t kHistogramKind = 2;
constexpr std::int16_t kCorrelationKind = 3;

void copy_elements(const AnyValue& from, Arena& arena, std::vector<Datum>& to) {
  if (!from.present) return;
  const ArrayView view = view_array(from.value);
  const TypeInfo* element = find_type(view.element);
  if (element == nullptr) return;
  ArrayReader reader{view, element->length, element->by_value};
  Datum value;
  bool is_null = false;
  while (reader.next(&value, &is_null)) {
    if (!is_null) to.push_back(copy_datum(value, element->length, element->by_value, arena));
  }
}

ColumnStatisticsRef from_row(const StatisticRow& row, Oid type) {
  auto made = std::make_unique<ColumnStatistics>();
  made->null_fraction = row.stanullfrac;
  made->average_width = row.stawidth;
  made->distinct = row.stadistinct;
  made->type = type;
  for (int slot = 0; slot < StatisticRow::kSlots; ++slot) {
    switch (row.stakind[slot]) {
      case kMostCommonKind:
        copy_elements(row.stavalues[slot], made->values, made->most_common);
        made->most_common_frequencies = row.stanumbers[slot];
        made->most_common_frequencies.resize(made->most_common.size());
        break;
      case kHistogramKind:
        copy_elements(row.stavalues[slot], made->values, made->histogram);
        break;
      case kCorrelationKind:
        if (row.stanumbers[slot].empty()) break;
        made->has_correlation = true;
        made->correlation = row.stanumbers[slot].front();
        break;
      default:
        break;
    }
  }
  return ColumnStatisticsRef{made.release()};
}

}  // namespace

ColumnStatisticsRef Catalog::column_statistics(Oid oid, std::int16_t column) {
  if (column < 1) return {};
  const auto pick = [&](const std::vector<ColumnStatisticsRef>& all) {
    return static_cast<std::size_t>(column) <= all.size() ? all[static_cast<std::size_t>(column) - 1]
                                                          : ColumnStatisticsRef{};
  };
  const auto entries = [&]() -> DatabaseEntries& {
    return state_->changed_statistics.contains(oid) ? state_->overlay : state_->shared_entries();
  };
  if (const auto found = entries().statistics.find(oid); found != entries().statistics.end()) {
    return pick(found->second);
  }
  const std::uint64_t position = services_.cache.applied();
  const RelationRef of = relation(oid);
  if (!of) return {};
  std::vector<ColumnStatisticsRef> read;
  scan_rows<StatisticRow>(*this, {{1, oid}}, [&](StatisticRow& row, TupleId) {
    if (row.staattnum < 1 || static_cast<std::size_t>(row.staattnum) > of->columns.size()) return true;
    if (read.size() < static_cast<std::size_t>(row.staattnum))
      read.resize(static_cast<std::size_t>(row.staattnum));
    read[static_cast<std::size_t>(row.staattnum) - 1] = from_row(row, of->column(row.staattnum).type);
    return true;
  });
  const ColumnStatisticsRef result = pick(read);
  if (services_.cache.applied() == position) entries().statistics.insert_or_assign(oid, std::move(read));
  return result;
}

}  // namespace pinwheel::sql
