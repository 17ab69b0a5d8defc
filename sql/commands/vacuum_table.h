#pragma once

#include <cstdint>
#include <functional>

#include "sql/catalog/catalog.h"

namespace pinwheel::sql {

/// What a VACUUM of one relation found.
struct VacuumReport {
  std::uint32_t pages = 0;
  std::uint64_t live_tuples = 0;
  std::uint64_t recently_dead_tuples = 0;
  std::uint64_t removed_tuples = 0;
  std::uint32_t all_visible_pages = 0;
  std::uint32_t pages_cut = 0;
};

/// Removes what no snapshot can see from a table (or toast table) and its indexes, records free space and
/// visibility, cuts empty pages off the end if nobody uses the table, and updates pg_class. The caller holds
/// ShareUpdateExclusive. `pace` is called after each page (cost-based delay); may be empty.
VacuumReport vacuum_relation(Catalog& catalog, const Relation& table, const std::function<void()>& pace = {});

/// Sets relpages, reltuples and relallvisible in place.
void update_relation_statistics(Catalog& catalog, Oid relation, std::uint32_t pages, double tuples,
                                std::uint32_t all_visible_pages);

/// Samples a table and fills pg_statistic for its columns (`columns` empty = all), and pg_class. The caller
/// holds ShareUpdateExclusive.
void analyze_relation(Catalog& catalog, const Relation& table, const std::vector<std::int16_t>& columns,
                      int default_target);

}  // namespace pinwheel::sql
