#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/arena.h"
#include "sql/catalog/relation.h"
#include "sql/plan/plan.h"

namespace pinwheel::sql {

class ExecutorState;

/// A column of the result, for RowDescription.
struct ResultColumn {
  std::string_view name;
  Oid type;
  std::int32_t type_modifier = -1;
  Oid origin_table;
  std::int16_t origin_attribute = 0;
};

/// A table lock to hold while the plan runs.
struct PlanLock {
  Oid relation;
  std::uint8_t mode = 1;  ///< 1 AccessShare ... 8 AccessExclusive
};

/// What the user must be allowed to do with a relation for the plan to run.
struct PlanPrivilege {
  const Relation* relation = nullptr;  ///< kept alive by CachedPlan::relations
  std::uint32_t wanted = 0;            ///< Privileges bits
  Oid as_user;                         ///< 0 = the current user; within views their owner
};

/// A finished plan and everything it needs. One thread, the process's, uses it; several sessions may run it
/// at once, each with its own ExecutorState. Whoever owns it destroys it only when none runs.
class CachedPlan {
 public:
  CachedPlan();
  ~CachedPlan();
  CachedPlan(const CachedPlan&) = delete;
  CachedPlan& operator=(const CachedPlan&) = delete;

  Arena arena;
  CommandKind command = CommandKind::kSelect;
  Plan* root = nullptr;
  std::span<SubPlan> subplans;
  std::span<PlanRange> ranges;
  std::span<Oid> parameter_types;
  std::span<ResultColumn> columns;  ///< empty when no rows come back
  std::span<PlanLock> locks;
  std::span<PlanPrivilege> privileges;
  std::vector<RelationRef> relations;  ///< keep alive what `ranges` point to
  /// Catalog generation at planning: see Catalog; a newer one means that `relations` must be compared.
  std::uint64_t catalog_generation = 0;
  int node_count = 0;
  int parameter_slot_count = 0;  ///< executor parameters
  int work_table_count = 0;
  /// No row is changed or locked: allowed in a read-only transaction, needs no xid.
  bool read_only = true;
  bool returns_rows = false;
  /// Functions that must not be folded across users or roles; the text's search_path was used. Informational.
  bool has_volatile = false;

  /// States at rest, for reuse by the next execution (ExecutorState's list).
  ExecutorState* idle_states = nullptr;
  int idle_count = 0;
};

}  // namespace pinwheel::sql
