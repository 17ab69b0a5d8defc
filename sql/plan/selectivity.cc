#include <algorithm>
#include <cmath>

#include "sql/catalog/builtin.h"
#include "sql/execute/program.h"
#include "sql/plan/planner_state.h"
#include "sql/types/array.h"
#include "sql/types/compare.h"
#include "sql/types/type_info.h"

namespace pinwheel::sql {
namespace {

constexpr double kDefaultEqual = 0.005;
constexpr double kDefaultInequality = 1.0 / 3.0;
constexpr double kDefaultRange = 0.005;
constexpr double kDefaultMatch = 0.005;
constexpr double kDefaultDistinct = 200;
constexpr double kDefaultUnknown = 0.005;

double clamp_probability(double p) { return p < 0 ? 0 : p > 1 ? 1 : p; }

/// `column <op> value` with the column found, if the clause has that form.
struct Comparison {
  const Expr* variable = nullptr;
  const Expr* value = nullptr;
  bool variable_on_left = true;
};
Comparison take_apart(QueryPlanner& planner, const OperatorExpr* op) {
  Comparison c;
  if (op->args.size() != 2) return c;
  const bool left = any_node(op->args[0], [](const Expr* n) { return n->kind == ExprKind::kColumn; });
  const bool right = any_node(op->args[1], [](const Expr* n) { return n->kind == ExprKind::kColumn; });
  static_cast<void>(planner);
  if (left && !right) return {op->args[0], op->args[1], true};
  if (right && !left) return {op->args[1], op->args[0], false};
  return c;
}

struct KnownValue {
  bool known = false;
  bool is_null = false;
  Datum value{};
};
KnownValue known_value(const Expr* expr) {
  const auto* c = expr_if<ConstExpr>(strip_relabel(expr));
  if (c == nullptr) return {};
  return {true, c->is_null, c->value};
}

BaseRelation* relation_of(QueryPlanner& planner, const Expr* expr) {
  const auto* column = expr_if<ColumnExpr>(strip_relabel(expr));
  if (column == nullptr || column->levels_up != 0) return nullptr;
  const int number = planner.range_numbers[static_cast<std::size_t>(column->range_index)];
  return number < 0 ? nullptr : &planner.bases[static_cast<std::size_t>(number)];
}

bool is_unique_column(const BaseRelation& rel, const Expr* expr) {
  const auto* column = expr_if<ColumnExpr>(strip_relabel(expr));
  if (column == nullptr || rel.relation == nullptr) return false;
  for (const IndexInfo& index : rel.relation->indexes) {
    if (index.unique && index.key_count == 1 && index.predicate.empty() &&
        index.keys[0].column == column->attribute) {
      return true;
    }
  }
  return false;
}

double most_common_total(const ColumnStatistics& s) {
  double total = 0;
  for (const float f : s.most_common_frequencies) total += f;
  return total;
}

double equal_selectivity(QueryPlanner& planner, const Expr* variable, const Expr* value, Oid type) {
  BaseRelation* rel = relation_of(planner, variable);
  const KnownValue known = known_value(value);
  if (known.known && known.is_null) return 0;
  const ColumnStatistics* s = statistics_of(planner, variable);
  if (rel != nullptr && is_unique_column(*rel, variable)) return 1.0 / std::max(1.0, rel->tuples);
  if (s == nullptr) return 1.0 / std::max(1.0, distinct_values(planner, variable));
  const double common = most_common_total(*s);
  if (known.known) {
    const CompareFn compare = find_cross_compare(s->type, type) != nullptr ? find_cross_compare(s->type, type)
                              : s->type == type                            ? find_compare(type)
                                                                           : nullptr;
    if (compare != nullptr) {
      Arena scratch;
      const CompareContext context{Oid{}, &scratch, nullptr};
      for (std::size_t i = 0; i < s->most_common.size(); ++i) {
        if (compare(s->most_common[i], known.value, context) == 0) return s->most_common_frequencies[i];
      }
    }
    const double others = distinct_values(planner, variable) - static_cast<double>(s->most_common.size());
    double p = (1.0 - common - s->null_fraction) / std::max(1.0, others);
    if (!s->most_common_frequencies.empty()) p = std::min<double>(p, s->most_common_frequencies.back());
    return clamp_probability(p);
  }
  double p = (1.0 - s->null_fraction) / std::max(1.0, distinct_values(planner, variable));
  if (!s->most_common_frequencies.empty()) p = std::min<double>(p, s->most_common_frequencies.front());
  return clamp_probability(p);
}

/// Position of a value between two bounds, 0 to 1, for types that count.
double position_between(Oid type, Datum low, Datum high, Datum value) {
  double l, h, v;
  switch (type.value) {
    case 20:
    case 21:
    case 23:
    case 26:
    case 1082:
    case 1083:
    case 1114:
    case 1184:
      l = static_cast<double>(low.as_int64());
      h = static_cast<double>(high.as_int64());
      v = static_cast<double>(value.as_int64());
      break;
    case 701:
      l = low.as_float8();
      h = high.as_float8();
      v = value.as_float8();
      break;
    default:
      return 0.5;
  }
  return h <= l ? 0.5 : clamp_probability((v - l) / (h - l));
}

/// Share of non-null values below `value` (`or_equal`: at most).
double less_selectivity(QueryPlanner& planner, const Expr* variable, const Expr* value, Oid type,
                        bool greater) {
  const ColumnStatistics* s = statistics_of(planner, variable);
  const KnownValue known = known_value(value);
  if (known.known && known.is_null) return 0;
  if (s == nullptr || !known.known) return kDefaultInequality;
  const CompareFn compare = s->type == type ? find_compare(type) : find_cross_compare(s->type, type);
  if (compare == nullptr) return kDefaultInequality;
  Arena scratch;
  const CompareContext context{Oid{}, &scratch, nullptr};
  double common = 0;
  double common_total = 0;
  for (std::size_t i = 0; i < s->most_common.size(); ++i) {
    const int order = compare(s->most_common[i], known.value, context);
    common_total += s->most_common_frequencies[i];
    if (greater ? order > 0 : order < 0) common += s->most_common_frequencies[i];
  }
  double share = -1;
  if (s->histogram.size() >= 2) {
    const std::size_t bins = s->histogram.size() - 1;
    std::size_t at = 0;
    while (at < s->histogram.size() && compare(s->histogram[at], known.value, context) < 0) ++at;
    if (at == 0)
      share = 0;
    else if (at == s->histogram.size())
      share = 1;
    else
      share = (static_cast<double>(at - 1) +
               position_between(s->type, s->histogram[at - 1], s->histogram[at], known.value)) /
              static_cast<double>(bins);
    if (greater) share = 1 - share;
    share = std::clamp(share, 0.0001, 0.9999);
  }
  const double rest = 1.0 - common_total - s->null_fraction;
  if (share < 0) share = rest > 0.0001 ? kDefaultInequality : 0;
  return clamp_probability(common + rest * share);
}

double scalar_array_selectivity(QueryPlanner& planner, const ScalarArrayExpr* e) {
  double count = 10;
  const auto* c = expr_if<ConstExpr>(strip_relabel(e->array));
  if (c != nullptr) {
    if (c->is_null) return 0;
    if (!needs_detoast(c->value)) count = view_array(c->value).count;
  } else if (const auto* a = expr_if<ArrayExpr>(strip_relabel(e->array))) {
    count = static_cast<double>(a->elements.size());
  }
  const EqualityInfo info = equality_info(e->op);
  double one = kDefaultInequality;
  if (info.is_equality)
    one = equal_selectivity(planner, e->left, e->array, e->left->type.type);
  else if (const BuiltinOperator* op = find_operator(e->op);
           op != nullptr && equality_info(op->negator).is_equality) {
    one = 1 - equal_selectivity(planner, e->left, e->array, e->left->type.type);
  }
  if (e->any) return info.is_equality ? clamp_probability(one * count) : 1 - std::pow(1 - one, count);
  return std::pow(one, count);
}

double join_equal_selectivity(QueryPlanner& planner, const Expr* left, const Expr* right) {
  const ColumnStatistics* a = statistics_of(planner, left);
  const ColumnStatistics* b = statistics_of(planner, right);
  double p = 1.0 / std::max(1.0, std::max(distinct_values(planner, left), distinct_values(planner, right)));
  if (a != nullptr) p *= 1 - a->null_fraction;
  if (b != nullptr) p *= 1 - b->null_fraction;
  return p;
}

double operator_selectivity(QueryPlanner& planner, const OperatorExpr* op) {
  const BuiltinOperator* row = find_operator(op->op);
  if (row == nullptr) return kDefaultUnknown;
  const Comparison c = take_apart(planner, op);
  const EqualityInfo info = equality_info(op->op);
  if (info.is_equality || row->restrict_estimator.value == 101 || row->name == "=") {
    if (c.variable == nullptr) {
      if (op->args.size() != 2) return kDefaultEqual;
      return join_equal_selectivity(planner, op->args[0], op->args[1]);
    }
    return equal_selectivity(planner, c.variable, c.value, c.value->type.type);
  }
  if (row->name == "<>") {
    if (c.variable == nullptr) return 1 - kDefaultEqual;
    const ColumnStatistics* s = statistics_of(planner, c.variable);
    return clamp_probability(1 - equal_selectivity(planner, c.variable, c.value, c.value->type.type) -
                             (s != nullptr ? s->null_fraction : 0));
  }
  if (row->name == "<" || row->name == "<=" || row->name == ">" || row->name == ">=") {
    if (c.variable == nullptr) return kDefaultInequality;
    const bool less = row->name[0] == '<';
    return less_selectivity(planner, c.variable, c.value, c.value->type.type, less != c.variable_on_left);
  }
  if (row->name == "~~" || row->name == "~" || row->name == "~~*" || row->name == "~*" || row->name == "^@") {
    return kDefaultMatch;
  }
  if (row->name == "!~~" || row->name == "!~" || row->name == "!~~*" || row->name == "!~*")
    return 1 - kDefaultMatch;
  return row->result == kBoolType ? (is_valid(row->restrict_estimator) ? 0.01 : 0.5) : 0.5;
}

}  // namespace

int type_width(Oid type, std::int32_t modifier) {
  const TypeInfo* info = find_type(type);
  if (info == nullptr) return 32;
  if (info->length > 0) return info->length;
  if (type == kBpCharType && modifier > 4) return modifier - 4 + 4;
  if (type == kVarCharType && modifier > 4) {
    const int most = modifier - 4;
    return most <= 32 ? most : most < 1000 ? 32 + (most - 32) / 2 : 32 + (1000 - 32) / 2;
  }
  return 32;
}

const ColumnStatistics* statistics_of(QueryPlanner& planner, const Expr* expr) {
  BaseRelation* rel = relation_of(planner, expr);
  if (rel == nullptr || rel->relation == nullptr) return nullptr;
  const auto* column = expr_cast<ColumnExpr>(strip_relabel(expr));
  if (column->attribute <= 0) return nullptr;
  const auto at = static_cast<std::size_t>(column->attribute) - 1;
  if (rel->statistics.size() <= at) {
    rel->statistics.resize(at + 1);
    rel->statistics_known.resize(at + 1, false);
  }
  if (!rel->statistics_known[at]) {
    rel->statistics[at] =
        planner.global.input.catalog.column_statistics(rel->relation->oid, column->attribute);
    rel->statistics_known[at] = true;
  }
  return rel->statistics[at].get();
}

double distinct_values(QueryPlanner& planner, const Expr* expr) {
  BaseRelation* rel = relation_of(planner, expr);
  if (rel == nullptr) return kDefaultDistinct;
  const double tuples = std::max(1.0, rel->tuples);
  if (is_unique_column(*rel, expr)) return tuples;
  const ColumnStatistics* s = statistics_of(planner, expr);
  if (s != nullptr && s->distinct != 0) {
    return std::max(1.0, s->distinct > 0 ? static_cast<double>(s->distinct) : -s->distinct * tuples);
  }
  if (expr->type.type == kBoolType) return 2;
  const auto* column = expr_if<ColumnExpr>(strip_relabel(expr));
  if (column != nullptr && column->attribute == kTidAttribute) return tuples;
  return std::min(kDefaultDistinct, tuples);
}

double expression_selectivity(QueryPlanner& planner, const Expr* expr) {
  switch (expr->kind) {
    case ExprKind::kConst:
      return is_true(expr) ? 1 : 0;
    case ExprKind::kOperator:
      return operator_selectivity(planner, expr_cast<OperatorExpr>(expr));
    case ExprKind::kScalarArray:
      return clamp_probability(scalar_array_selectivity(planner, expr_cast<ScalarArrayExpr>(expr)));
    case ExprKind::kBool: {
      const auto* b = expr_cast<BoolExpr>(expr);
      if (b->op == BoolOp::kNot) return 1 - expression_selectivity(planner, b->args[0]);
      double p = b->op == BoolOp::kAnd ? 1 : 0;
      for (const Expr* arg : b->args) {
        const double one = expression_selectivity(planner, arg);
        p = b->op == BoolOp::kAnd ? p * one : p + one - p * one;
      }
      return p;
    }
    case ExprKind::kNullTest: {
      const auto* t = expr_cast<NullTestExpr>(expr);
      const ColumnStatistics* s = statistics_of(planner, t->arg);
      double null = s != nullptr ? s->null_fraction : kDefaultUnknown;
      if (s == nullptr) {
        const BaseRelation* rel = relation_of(planner, t->arg);
        const auto* column = expr_if<ColumnExpr>(strip_relabel(t->arg));
        if (rel != nullptr && rel->relation != nullptr && column != nullptr && column->attribute > 0 &&
            rel->relation->column(column->attribute).not_null) {
          null = 0;
        }
      }
      return t->is_null ? null : 1 - null;
    }
    case ExprKind::kBooleanTest:
    case ExprKind::kColumn:
    case ExprKind::kParam:
    case ExprKind::kExecParam:
      return 0.5;
    case ExprKind::kDistinct:
      return 1 - kDefaultEqual;
    case ExprKind::kFunction:
      return kDefaultInequality;
    default:
      return 0.5;
  }
}

double clause_selectivity(QueryPlanner& planner, Clause& clause) {
  if (clause.selectivity < 0)
    clause.selectivity = clamp_probability(expression_selectivity(planner, clause.expr));
  return clause.selectivity;
}

/// As the product, but `x > a AND x < b` counts as one range.
double clauses_selectivity(QueryPlanner& planner, std::span<Clause* const> clauses) {
  struct Range {
    const Expr* variable;
    double low = -1, high = -1;
  };
  std::vector<Range> open;
  double p = 1;
  for (Clause* clause : clauses) {
    const double one = clause_selectivity(planner, *clause);
    const auto* op = expr_if<OperatorExpr>(clause->expr);
    const BuiltinOperator* row = op != nullptr ? find_operator(op->op) : nullptr;
    const Comparison c = op != nullptr ? take_apart(planner, op) : Comparison{};
    const bool ordered = row != nullptr && c.variable != nullptr &&
                         (row->name == "<" || row->name == "<=" || row->name == ">" || row->name == ">=");
    if (!ordered) {
      p *= one;
      continue;
    }
    const bool upper = (row->name[0] == '<') == c.variable_on_left;
    Range* range = nullptr;
    for (Range& r : open) {
      if (same_expr(r.variable, c.variable)) range = &r;
    }
    if (range == nullptr) {
      open.push_back({c.variable});
      range = &open.back();
    }
    double& side = upper ? range->high : range->low;
    side = side < 0 ? one : std::min(side, one);
  }
  for (const Range& r : open) {
    if (r.low >= 0 && r.high >= 0) {
      const bool guess = r.low == kDefaultInequality || r.high == kDefaultInequality;
      const double both = guess ? kDefaultRange : r.low + r.high - 1;
      p *= both <= 0 ? 1e-10 + (guess ? 0 : kDefaultRange) : both;
    } else {
      p *= r.low >= 0 ? r.low : r.high;
    }
  }
  return clamp_probability(p);
}

}  // namespace pinwheel::sql
