#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "sql/catalog/catalog.h"
#include "sql/plan/expression_tools.h"
#include "sql/plan/plan.h"
#include "sql/plan/planner.h"
#include "sql/types/type_oids.h"

/// Private to sql/plan: what the planner knows while it works.
namespace pinwheel::sql {

/// A set of the relations of one query level: bit = BaseRelation::number.
using RelSet = std::uint64_t;

inline bool is_subset(RelSet a, RelSet b) { return (a & ~b) == 0; }
inline bool overlaps(RelSet a, RelSet b) { return (a & b) != 0; }

class QueryPlanner;

/// One planning, over all query levels.
struct PlannerGlobal {
  PlannerGlobal(CachedPlan& r, const PlannerInput& i) : result{r}, input{i} {}
  CachedPlan& result;
  const PlannerInput& input;
  Arena& arena = result.arena;
  std::vector<PlanRange> ranges;
  std::vector<SubPlan> subplans;
  std::vector<PlanLock> locks;
  std::vector<PlanPrivilege> privileges;
  int parameter_slots = 0;
  int nodes = 0;
  int work_tables = 0;

  int new_slot() { return parameter_slots++; }
  /// Opens the relation, notes the lock it needs; the result keeps it alive.
  const Relation* open_relation(Oid oid, std::uint8_t lock_mode);
  void note_lock(Oid relation, std::uint8_t mode);
  void note_privileges(const RangeEntry& entry);
  std::string_view unique_alias(std::string_view wanted);
};

/// A condition with what the planner has found out about it.
struct Clause {
  Expr* expr = nullptr;
  RelSet relids = 0;    ///< relations mentioned
  RelSet required = 0;  ///< relations that must be joined before it may be tested
  int outer_join = -1;  ///< index of the special join whose ON it belongs to; -1 = a filter
  bool is_volatile = false;
  // equality or comparison of two sides
  Expr* left = nullptr;
  Expr* right = nullptr;
  RelSet left_relids = 0, right_relids = 0;
  bool can_hash = false;
  Oid left_type, right_type;
  double selectivity = -1;
  int equivalence = -1;  ///< made from this class
};

/// Expressions known to be equal wherever they are not NULL.
struct EquivalenceClass {
  struct Member {
    Expr* expr;
    RelSet relids;
    Oid type;
  };
  std::vector<Member> members;
  Oid family;
  Oid collation;
  bool has_constant = false;
  bool from_clause = false;  ///< else it only names a sort key
  std::vector<Clause*> sources;
  struct Derived {
    int left, right;
    Clause* clause;
  };
  std::vector<Derived> derived;
};

struct PathKey {
  int equivalence = 0;
  bool descending = false;
  bool nulls_first = false;
  bool operator==(const PathKey&) const = default;
};
using PathKeys = std::vector<PathKey>;

/// An outer, semi or anti join: limits the join order.
struct SpecialJoin {
  RelSet min_left = 0, min_right = 0;
  RelSet all_left = 0, all_right = 0;
  JoinType type = JoinType::kLeft;
};

enum class PathKind : std::uint8_t {
  kResult,
  kSeqScan,
  kIndexScan,
  kBitmapHeap,
  kTidScan,
  kSubquery,
  kFunction,
  kValues,
  kCte,
  kWorkTable,
  kNestLoop,
  kHashJoin,
  kMergeJoin,
  kMaterialize,
  kSort,
  kUnique,
  kAggregate,
  kWindow,
  kProjectSet,
  kProject,
  kLimit,
  kLockRows,
  kGate
};

/// A clause that an index answers.
struct IndexClause {
  int column = 0;
  KeyTest test = KeyTest::kEqual;
  Expr* value = nullptr;
  Oid value_type;
  Clause* clause = nullptr;
  bool lossy = false;  ///< the clause must be tested besides
};

struct BaseRelation;

/// Index conditions of one bitmap input; And/Or combine inputs.
struct BitmapTree {
  enum class Kind : std::uint8_t { kIndex, kAnd, kOr } kind = Kind::kIndex;
  const IndexInfo* index = nullptr;
  std::vector<IndexClause> clauses;
  std::vector<BitmapTree*> inputs;
  double cost = 0;
  double selectivity = 1;
};

/// What a path costs more when its enable_ setting is off.
inline constexpr double kDisabledCost = 1e10;

struct Path {
  PathKind kind = PathKind::kResult;
  double startup = 0, total = 0, rows = 1;
  int width = 0;
  RelSet relids = 0;
  RelSet required = 0;  ///< relations whose values it needs as parameters
  PathKeys keys;
  BaseRelation* rel = nullptr;
  // kIndexScan
  const IndexInfo* index = nullptr;
  std::vector<IndexClause> index_clauses;
  bool backward = false;
  bool index_only = false;
  bool unique_lookup = false;
  BitmapTree* bitmap = nullptr;
  std::vector<Clause*> tid_clauses;
  std::vector<Clause*> parameter_clauses;  ///< join clauses tested inside a parameterised scan
  // joins and upper nodes
  JoinType join = JoinType::kInner;
  Path* outer = nullptr;
  Path* inner = nullptr;
  std::vector<Clause*> join_clauses;
  std::vector<Clause*> filters;
  std::vector<Clause*> hash_clauses;
  bool inner_unique = false;
  std::vector<Expr*> conditions;   ///< kGate, kAggregate's HAVING, kProject: over the input
  std::vector<Expr*> expressions;  ///< kSort, kUnique, kAggregate: keys; kProject(Set): all results
  struct Order {
    bool descending = false, nulls_first = false;
  };
  std::vector<Order> orders;
  AggregateStrategy strategy = AggregateStrategy::kPlain;
  std::vector<AggregateExpr*> aggregates;
  int window = -1;
  std::vector<WindowFunctionExpr*> window_calls;
  Plan* ready = nullptr;  ///< kSubquery, kResult: planned already
  std::vector<Expr*> ready_output;
  Expr* limit = nullptr;
  Expr* offset = nullptr;
  bool with_ties = false;
  bool bounded = false;
};

/// A planned sub-select as its parent sees it.
struct PlannedQuery {
  Plan* plan = nullptr;
  double startup = 0, total = 0, rows = 1;
  struct OuterValue {
    int levels;  ///< 1 = of the query that contains it
    ColumnExpr* column;
    int slot;
  };
  std::vector<OuterValue> outer_values;
  std::vector<Expr*> targets;
  bool has_volatile = false;
};

/// A leaf of the join search.
struct BaseRelation {
  int number = 0;
  int range = 0;  ///< of the query level
  RelSet bit = 0;
  const Relation* relation = nullptr;
  double pages = 0, tuples = 1, rows = 1;
  double all_visible_fraction = 0;
  int width = 8;
  std::vector<Clause*> clauses;  ///< tested in every scan
  std::vector<std::int16_t> needed;
  bool whole_row = false;
  std::vector<Path*> paths;
  RelSet lateral = 0;
  std::vector<SubPlanArgument> lateral_values;  ///< subquery: outer values that come from siblings
  PlannedQuery subquery;
  std::vector<ColumnStatisticsRef> statistics;  ///< by attribute - 1; filled on demand
  std::vector<bool> statistics_known;
};

struct JoinRelation {
  RelSet relids = 0;
  double rows = 1;
  int width = 0;
  std::vector<Path*> paths;
  Path* cheapest() const;
};

/// FROM and WHERE as a tree that the preparation steps change.
struct JoinNode {
  enum class Kind : std::uint8_t { kRange, kJoin, kList } kind = Kind::kList;
  int range = -1;
  JoinType type = JoinType::kInner;
  std::vector<JoinNode*> children;
  std::vector<Expr*> quals;
};

/// How a CTE of this level is read.
struct CteBinding {
  std::string_view name;
  Query* inline_query = nullptr;  ///< set: every reference is expanded
  int subplan = -1;
  int work_table = -1;  ///< while the recursive term is planned
  double rows = 1;
  double cost = 0;
  std::span<ColumnDefinition> columns;
  std::vector<Expr*> targets;
};

/// Plans one query level. The methods are spread over the files of this folder by topic.
class QueryPlanner {
 public:
  QueryPlanner(PlannerGlobal& global, QueryPlanner* parent, const Query& query);

  /// The whole level. `tuple_fraction`: 0 = all rows; <= 1 a share; > 1 a number of rows.
  PlannedQuery plan(double tuple_fraction);
  /// INSERT, UPDATE, DELETE.
  PlannedQuery plan_modification();
  std::vector<Expr*> visible_targets() const;

 private:
  friend struct PlanMaker;
  friend struct Estimator;

  // prepare.cc: rewriting before any cost is counted
  void prepare();
  void flatten_join_columns();
  void fold_everything();
  JoinNode* build_join_tree(FromItem* item);
  void plan_ctes();
  void bind_recursive(CommonTable& cte, CteBinding& binding);
  CteBinding* find_cte(std::string_view name, int levels_up);
  void expand_cte_references();
  void pull_up_sublinks(JoinNode* node);
  Expr* pull_up_qual(Expr* qual, JoinNode*& attach);
  JoinNode* convert_any(SubLinkExpr* link, JoinNode* left);
  JoinNode* convert_exists(SubLinkExpr* link, JoinNode* left, bool negated);
  void pull_up_subqueries(JoinNode* node, bool nullable);
  bool pull_up_subquery(JoinNode* node, bool nullable);
  bool is_simple_subquery(const Query& sub) const;
  int absorb_ranges(Query& sub);
  JoinNode* absorb_from(const Query& sub, int offset);
  void replace_everywhere(ReplaceInQuery replace, void* context);
  void min_max_by_index();
  void reduce_outer_joins(JoinNode* node, std::vector<Expr*>& upper_quals);
  void collect_ranges(const JoinNode* node, std::vector<int>& ranges) const;

  // sublinks.cc
  void finish_expressions();
  Expr* finish_expression(Expr* node);
  Expr* make_subplan(SubLinkExpr* link);
  Expr* outer_value(ColumnExpr* column);
  void adopt_outer_values(const PlannedQuery& child, std::vector<SubPlanArgument>& arguments);

  // join_tree.cc: relations, clauses, special joins
  void deconstruct();
  struct Scope {
    RelSet below = 0;     ///< all relations under the node
    RelSet nullable = 0;  ///< relations that some outer join below can null-extend
  };
  Scope deconstruct(JoinNode* node, bool below_outer);
  void add_base(int range);
  void distribute(Expr* qual, RelSet scope, int outer_join, bool below_outer);
  Clause* make_clause(Expr* expr);
  void analyze_clause(Clause& clause);
  bool try_equivalence(Clause* clause);
  void generate_base_equalities();
  RelSet relids_of(const Expr* node) const;
  int equivalence_of(Expr* expr, Oid family, Oid collation);
  int find_equivalence(const Expr* expr, Oid family) const;
  Clause* derived_clause(int equivalence, int left, int right);
  void add_restriction(BaseRelation& rel, Clause* clause);

  // base_paths.cc
  void set_base_sizes();
  void set_base_paths(BaseRelation& rel);
  void plan_range_subquery(BaseRelation& rel);
  void note_needed(const Expr* expr);
  void note_needed_columns();
  void add_seq_path(BaseRelation& rel);
  void add_index_paths(BaseRelation& rel);
  void add_bitmap_paths(BaseRelation& rel);
  void add_tid_path(BaseRelation& rel);
  bool match_index_clause(BaseRelation& rel, const IndexInfo& index, Clause* clause,
                          std::vector<IndexClause>& out);
  void build_index_path(BaseRelation& rel, const IndexInfo& index, std::vector<IndexClause> clauses,
                        RelSet required, std::vector<Clause*> parameter_clauses);
  BitmapTree* best_bitmap(BaseRelation& rel, std::span<Clause* const> clauses);
  BitmapTree* bitmap_for_or(BaseRelation& rel, Clause* clause);
  void cost_bitmap_heap(BaseRelation& rel, Path& path);
  void cost_index(BaseRelation& rel, Path& path, double loops);
  double index_pages(const IndexInfo& index, const BaseRelation& rel) const;
  bool predicate_implied(BaseRelation& rel, const IndexInfo& index);
  Expr* index_expression(const BaseRelation& rel, const IndexInfo& index, int column);
  bool index_covers(const BaseRelation& rel, const IndexInfo& index) const;
  PathKeys index_order(const BaseRelation& rel, const IndexInfo& index, bool backward);
  void collect_join_clauses(BaseRelation& rel, std::vector<Clause*>& out);

  // join_paths.cc
  JoinRelation* join_search();
  bool join_is_legal(RelSet left, RelSet right, JoinType* type, bool* reversed, int* special) const;
  bool has_join_reason(const JoinRelation& a, const JoinRelation& b) const;
  JoinRelation* make_join(JoinRelation& a, JoinRelation& b);
  void add_join_paths(JoinRelation& joined, JoinRelation& outer, JoinRelation& inner, JoinType type,
                      int special);
  void try_nest_loop(JoinRelation& joined, Path* outer, Path* inner, JoinType type,
                     const std::vector<Clause*>& joins, const std::vector<Clause*>& filters, bool unique);
  void try_hash_join(JoinRelation& joined, Path* outer, Path* inner, JoinType type,
                     const std::vector<Clause*>& joins, const std::vector<Clause*>& filters, bool unique);
  void collect_clauses(RelSet outer, RelSet inner, int special, std::vector<Clause*>& joins,
                       std::vector<Clause*>& filters);
  double join_rows(double outer, double inner, JoinType type, const std::vector<Clause*>& joins,
                   const std::vector<Clause*>& filters);
  bool is_unique_for(const JoinRelation& inner, const std::vector<Clause*>& joins, RelSet outer) const;
  void add_path(std::vector<Path*>& paths, Path* path);
  Path* new_path(PathKind kind);

  // upper.cc: everything above the joins
  Path* plan_upper(JoinRelation* input, double tuple_fraction);
  PathKeys required_order(double* useful_fraction);
  Path* plan_grouping(JoinRelation& input);
  Path* plan_windows(Path* path);
  Path* plan_distinct(Path* path);
  Path* plan_sort(Path* path, const std::vector<Expr*>& keys, const std::vector<Path::Order>& orders,
                  double limit);
  Path* cheapest_for_order(JoinRelation& input, const PathKeys& keys, const std::vector<Expr*>& exprs,
                           const std::vector<Path::Order>& orders, double fraction);
  PathKeys keys_of(const std::vector<Expr*>& exprs, const std::vector<Path::Order>& orders);
  double estimate_groups(const std::vector<Expr*>& exprs, double rows);
  double limit_rows() const;
  Path* add_gate(Path* path);

  // set_operations.cc
  PlannedQuery plan_set_operation(double tuple_fraction);
  Plan* plan_set_node(SetNode* node, double* rows, double* cost);
  Plan* finish_set_operation(Plan* plan, std::vector<Expr*> output, double rows, double cost);

  /// finish() for the query's targets: visible ones first, then what ORDER BY and GROUP BY need.
  PlannedQuery finish_targets(Path* top);

  // create_plan.cc
  Plan* make_plan(Path* path, const std::vector<Expr*>& wanted);
  PlannedQuery finish(Path* path, const std::vector<Expr*>& wanted);

  // modify.cc
  void plan_conflict(ModifyTablePlan& plan, const Relation& relation);
  void plan_row_checks(ModifyTablePlan& plan, const Relation& relation);

  double column_selectivity_default(const Expr* expr) const;

 public:
  PlannerGlobal& global;
  Arena& arena;
  QueryPlanner* parent;
  Query query;  ///< a copy whose lists are this planner's
  std::vector<RangeEntry> ranges;
  std::vector<int> plan_ranges;    ///< by range: index into global.ranges, -1 none
  std::vector<int> range_numbers;  ///< by range: BaseRelation number, -1 none
  std::deque<BaseRelation> bases;

 private:
  JoinNode* tree_ = nullptr;
  std::deque<JoinNode> nodes_;
  std::deque<Path> paths_;
  std::deque<Clause> clauses_;
  std::deque<JoinRelation> join_relations_;
  std::deque<BitmapTree> bitmaps_;
  std::deque<EquivalenceClass> equivalences_;
  std::deque<CteBinding> ctes_;
  std::vector<SpecialJoin> specials_;
  std::vector<Clause*> join_clauses_;  ///< mention or require more than one relation
  std::vector<Expr*> constant_quals_;
  std::vector<PlannedQuery::OuterValue> outer_values_;
  std::vector<int> init_plans_;
  PathKeys query_order_;
  double fraction_ = 0;
  bool has_volatile_ = false;
  std::vector<Expr*> extra_wanted_;              ///< row identities for locking and changing
  std::vector<SubPlanArgument> pending_values_;  ///< nested-loop parameters not yet set by a join
};

/// Folds immutable functions of constants, simplifies AND, OR, NOT and CASE. `parameters`: values of $n to
/// put in.
Expr* fold_constants(PlannerGlobal& global, Expr* node);

// selectivity.cc
double clause_selectivity(QueryPlanner& planner, Clause& clause);
double expression_selectivity(QueryPlanner& planner, const Expr* expr);
double clauses_selectivity(QueryPlanner& planner, std::span<Clause* const> clauses);
double distinct_values(QueryPlanner& planner, const Expr* expr);
const ColumnStatistics* statistics_of(QueryPlanner& planner, const Expr* expr);
int type_width(Oid type, std::int32_t modifier);
inline double clamp_rows(double rows) {
  if (!(rows > 1.0)) return 1.0;
  return rows > 1e100 ? 1e100 : static_cast<double>(static_cast<long long>(rows + 0.5));
}

/// Equality function's type for hashing, 0 when the operator is no hashable equality.
struct EqualityInfo {
  bool is_equality = false;
  bool can_hash = false;
  Oid family;
};
EqualityInfo equality_info(Oid op);

}  // namespace pinwheel::sql
