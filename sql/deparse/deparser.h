#pragma once

#include <string>
#include <vector>

#include "base/arena.h"
#include "sql/deparse/deparse.h"
#include "sql/query/walk.h"

namespace pinwheel::sql {

/// One query level whose tables columns may name: the tables, and what each is called in the text.
struct DeparseLevel {
  std::span<const RangeEntry> entries;
  std::vector<std::string> names;  ///< "" = an unnamed join
  const Query* query = nullptr;
  bool prefix = false;  ///< columns are written with their table's name
};

/// Writes typed trees as SQL, laid out as PostgreSQL's pg_get_viewdef and pg_get_expr do. Used once per text.
class Deparser {
 public:
  Deparser(AnalyzerCatalog& catalog, EvalContext& eval, const DeparseOptions& options, bool indent)
      : catalog_{catalog}, eval_{eval}, options_{options}, indent_lines_{indent} {}

  /// Names that the columns of the whole text go by, whatever the targets of a set operation's members are
  /// called.
  using ResultNames = std::span<const std::string_view>;

  void push_level(DeparseLevel level) { levels_.push_back(std::move(level)); }
  /// A whole query; `names_matter` false drops aliases that nobody can see (sub-selects in expressions).
  void query(const Query& query, bool names_matter, ResultNames result = {});
  /// `show_implicit`: casts that nobody wrote are shown too.
  void expression(const Expr* expr, bool show_implicit);
  std::string take() { return std::move(out_); }

 private:
  friend class IndentGuard;
  static constexpr int kStandard = 8, kJoin = 4, kItem = 4;

  // layout.cc
  void keyword(std::string_view text, int before, int after, int plus);
  void strip_spaces();
  bool pretty() const { return options_.pretty; }
  std::size_t line_length() const;

  // query.cc
  DeparseLevel make_level(const Query& query);
  void select(const Query& query, bool names_matter, ResultNames result);
  void basic_select(const Query& query, bool names_matter, ResultNames result);
  void with_clause(const Query& query);
  void targets(const Query& query, bool names_matter, ResultNames result);
  void from_clause(const Query& query);
  void from_item(const Query& query, const FromItem* item);
  void range_entry(const Query& query, int index);
  void join_item(const Query& query, const FromItem* item);
  void alias_list(const RangeEntry& entry);
  void function_item(const RangeEntry& entry);
  void values_rows(std::span<const ExprList> rows);
  void set_operation(const Query& query, const SetNode* node, bool names_matter, ResultNames result);
  void order_by(std::span<const SortClause> clauses, std::span<const Target> targets, bool numbers);
  void sort_expression(const Expr* expr);
  void sort_suffix(const SortClause& clause, Oid type);
  void window_clause(const Query& query);
  void window_spec(const WindowClause& window, const Query& query);
  void row_marks(const Query& query);
  void insert(const Query& query);
  void update(const Query& query);
  void del(const Query& query);
  void returning(const Query& query);
  std::string relation_text(Oid relation);

  // expressions.cc
  void paren(const Expr* expr, bool show_implicit, const Expr* parent);
  bool is_simple(const Expr* expr, const Expr* parent) const;
  void column(const ColumnExpr* column, bool top_level);
  void column_name(const ColumnExpr* column, std::string* bare, bool top_level);
  void constant(const ConstExpr* constant, int show_type);
  void cast(const Expr* arg, Oid type, std::int32_t modifier, const Expr* parent);
  void function(const FunctionExpr* call, bool show_implicit);
  bool sql_syntax(const FunctionExpr* call, std::string_view name);
  void operation(const OperatorExpr* op, std::string_view word);
  void boolean(const BoolExpr* expr);
  void sublink(const SubLinkExpr* link);
  void case_expr(const CaseExpr* expr);
  void aggregate(const AggregateExpr* aggregate);
  void window_function(const WindowFunctionExpr* call);
  void subscript(const SubscriptExpr* expr, bool show_implicit);
  void row(const RowExpr* row);
  void row_compare(const RowCompareExpr* compare);
  void list(std::span<Expr* const> exprs, bool show_implicit);
  void sql_value(const SqlValueExpr* value);
  void field_select(const FieldSelectExpr* field, bool show_implicit);
  std::string operator_text(Oid op) const;
  std::string function_name(Oid function) const;
  std::string type_text(Oid type, std::int32_t modifier) const;
  void wrapped(bool parentheses, const auto& body) {
    if (parentheses) out_ += '(';
    body();
    if (parentheses) out_ += ')';
  }
  const DeparseLevel* level(int up) const {
    return up < static_cast<int>(levels_.size()) ? &levels_[levels_.size() - 1 - static_cast<std::size_t>(up)]
                                                 : nullptr;
  }

  AnalyzerCatalog& catalog_;
  EvalContext& eval_;
  DeparseOptions options_;
  bool indent_lines_;
  int indent_ = 0;
  bool in_set_member_ = false;  ///< the next target list belongs to a member of a set operation
  std::string out_;
  std::vector<DeparseLevel> levels_;
  Arena scratch_;
};

}  // namespace pinwheel::sql
