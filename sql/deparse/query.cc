#include <algorithm>
#include <utility>

#include "sql/deparse/deparser.h"

namespace pinwheel::sql {

// --- Layout

void Deparser::strip_spaces() {
  while (!out_.empty() && out_.back() == ' ') out_.pop_back();
}

void Deparser::keyword(std::string_view text, int before, int after, int plus) {
  if (!indent_lines_) {
    out_ += text;
    return;
  }
  constexpr int kLimit = 40;  // deeper levels wrap around, so that text does not run off to the right
  indent_ += before;
  strip_spaces();
  out_ += '\n';
  int amount;
  if (indent_ < kLimit) {
    amount = std::max(indent_, 0) + plus;
  } else {
    amount = (kLimit + (indent_ - kLimit) / (kStandard / 2)) % kLimit + plus;
  }
  out_.append(static_cast<std::size_t>(amount), ' ');
  out_ += text;
  indent_ = std::max(indent_ + after, 0);
}

std::size_t Deparser::line_length() const {
  const std::size_t at = out_.rfind('\n');
  return at == std::string::npos ? out_.size() : out_.size() - at - 1;
}

// --- Levels

DeparseLevel Deparser::make_level(const Query& query) {
  DeparseLevel level;
  level.entries = query.range_table;
  level.query = &query;
  level.prefix = true;  // as for views, whose rules have entries for OLD and NEW besides
  const auto taken = [&](const std::string& name) {
    for (const DeparseLevel& outer : levels_) {
      if (std::find(outer.names.begin(), outer.names.end(), name) != outer.names.end()) return true;
    }
    return std::find(level.names.begin(), level.names.end(), name) != level.names.end();
  };
  for (const RangeEntry& entry : query.range_table) {
    std::string name;
    if (entry.kind != RangeKind::kJoin || entry.has_alias) name = entry.alias;
    if (!entry.has_alias && (entry.kind == RangeKind::kRelation || entry.view.value != 0)) {
      // A table renamed since goes by its present name.
      const ViewedRelation* relation = catalog_.relation(entry.view.value != 0 ? entry.view : entry.relation);
      if (relation != nullptr) name = relation->name;
    }
    if (!name.empty() && taken(name)) {
      int suffix = 0;
      std::string changed;
      do {
        changed = name + "_" + std::to_string(++suffix);
      } while (taken(changed));
      name = changed;
    }
    level.names.push_back(name);
  }
  return level;
}

void Deparser::query(const Query& query, bool names_matter, ResultNames result) {
  const int saved = indent_;
  levels_.push_back(make_level(query));
  switch (query.command) {
    case CommandKind::kSelect:
      select(query, names_matter, result);
      break;
    case CommandKind::kInsert:
      insert(query);
      break;
    case CommandKind::kUpdate:
      update(query);
      break;
    case CommandKind::kDelete:
      del(query);
      break;
    case CommandKind::kUtility:
      break;
  }
  levels_.pop_back();
  indent_ = saved;
}

// --- SELECT

void Deparser::select(const Query& query, bool names_matter, ResultNames result) {
  with_clause(query);
  const bool is_set = query.set_operation != nullptr;
  if (is_set) {
    set_operation(query, query.set_operation, names_matter, result);
  } else {
    basic_select(query, names_matter, result);
  }
  if (!query.order_by.empty()) {
    keyword(" ORDER BY ", -kStandard, kStandard, 1);
    order_by(query.order_by, query.targets, is_set);
  }
  if (query.offset != nullptr) {
    keyword(" OFFSET ", -kStandard, kStandard, 0);
    expression(query.offset, false);
  }
  if (query.limit != nullptr) {
    if (query.limit_with_ties) {
      keyword(" FETCH FIRST ", -kStandard, kStandard, 0);
      out_ += '(';
      expression(query.limit, false);
      out_ += ") ROWS WITH TIES";
    } else {
      keyword(" LIMIT ", -kStandard, kStandard, 0);
      const ConstExpr* constant = expr_if<ConstExpr>(query.limit);
      if (constant != nullptr && constant->is_null) {
        out_ += "ALL";
      } else {
        expression(query.limit, false);
      }
    }
  }
  row_marks(query);
}

void Deparser::row_marks(const Query& query) {
  for (const RowMark& mark : query.row_marks) {
    switch (mark.strength) {
      case LockStrength::kKeyShare:
        keyword(" FOR KEY SHARE", -kStandard, kStandard, 0);
        break;
      case LockStrength::kShare:
        keyword(" FOR SHARE", -kStandard, kStandard, 0);
        break;
      case LockStrength::kNoKeyUpdate:
        keyword(" FOR NO KEY UPDATE", -kStandard, kStandard, 0);
        break;
      default:
        keyword(" FOR UPDATE", -kStandard, kStandard, 0);
        break;
    }
    out_ += " OF " + quote_identifier(levels_.back().names[static_cast<std::size_t>(mark.range_index)]);
    if (mark.wait == LockWait::kNoWait) out_ += " NOWAIT";
    if (mark.wait == LockWait::kSkipLocked) out_ += " SKIP LOCKED";
  }
}

void Deparser::with_clause(const Query& query) {
  if (query.ctes.empty()) return;
  if (indent_lines_) {
    indent_ += kStandard;
    out_ += ' ';
  }
  std::string_view separator = query.with_recursive ? "WITH RECURSIVE " : "WITH ";
  for (const CommonTable& cte : query.ctes) {
    out_ += separator;
    separator = ", ";
    out_ += quote_identifier(cte.name);
    if (!cte.alias_columns.empty()) {
      out_ += '(';
      for (std::size_t i = 0; i < cte.alias_columns.size(); ++i) {
        if (i > 0) out_ += ", ";
        out_ += quote_identifier(cte.alias_columns[i]);
      }
      out_ += ')';
    }
    out_ += " AS ";
    if (cte.materialized) out_ += "MATERIALIZED ";
    if (cte.not_materialized) out_ += "NOT MATERIALIZED ";
    out_ += '(';
    if (indent_lines_) keyword("", 0, 0, 0);
    this->query(*cte.query, true);
    if (indent_lines_) keyword("", 0, 0, 0);
    out_ += ')';
  }
  if (indent_lines_) {
    indent_ -= kStandard;
    keyword("", 0, 0, 0);
  } else {
    out_ += ' ';
  }
}

namespace {

/// `VALUES (...), (...)` written as such: the only table is a list of rows, shown as it is.
const RangeEntry* simple_values(const Query& query) {
  if (query.range_table.size() != 1 || query.range_table[0].kind != RangeKind::kValues) return nullptr;
  const RangeEntry& entry = query.range_table[0];
  if (entry.has_alias || query.where != nullptr || query.has_group_by || !query.distinct.empty())
    return nullptr;
  std::size_t at = 0;
  for (const Target& target : query.targets) {
    if (target.hidden) return nullptr;
    const ColumnExpr* column = expr_if<ColumnExpr>(target.expr);
    ++at;
    if (column == nullptr || column->attribute != static_cast<int>(at) || column->levels_up != 0)
      return nullptr;
    if (at > entry.columns.size() || entry.columns[at - 1].name != target.name) return nullptr;
  }
  return at == entry.columns.size() ? &entry : nullptr;
}

}  // namespace

void Deparser::basic_select(const Query& query, bool names_matter, ResultNames result) {
  if (indent_lines_) {
    indent_ += kStandard;
    out_ += ' ';
  }
  if (const RangeEntry* values = simple_values(query)) {
    values_rows(values->rows);
    return;
  }
  out_ += "SELECT";
  if (!query.distinct.empty()) {
    if (query.distinct_on) {
      out_ += " DISTINCT ON (";
      bool first = true;
      for (const SortClause& clause : query.distinct) {
        if (!first) out_ += ", ";
        first = false;
        sort_expression(query.targets[clause.target_index].expr);
      }
      out_ += ')';
    } else {
      out_ += " DISTINCT";
    }
  }
  targets(query, names_matter, result);
  from_clause(query);
  if (query.where != nullptr) {
    keyword(" WHERE ", -kStandard, kStandard, 1);
    expression(query.where, false);
  }
  if (!query.group_by.empty() || query.has_group_by) {
    keyword(" GROUP BY ", -kStandard, kStandard, 1);
    bool first = true;
    for (const SortClause& clause : query.group_by) {
      if (!first) out_ += ", ";
      first = false;
      sort_expression(query.targets[clause.target_index].expr);
    }
    if (query.group_by.empty()) out_ += "()";
  }
  if (query.having != nullptr) {
    keyword(" HAVING ", -kStandard, kStandard, 0);
    expression(query.having, false);
  }
  window_clause(query);
}

void Deparser::targets(const Query& query, bool names_matter, ResultNames result) {
  const std::span<const Target> list =
      query.command == CommandKind::kSelect ? query.targets : query.returning;
  const bool is_set_member = std::exchange(in_set_member_, false);
  int number = 0;
  bool last_was_multiline = false;
  std::string_view separator = " ";
  for (const Target& target : list) {
    if (target.hidden) continue;
    out_ += separator;
    separator = ", ";
    ++number;
    // The item is written aside first: whether it goes on a new line depends on its length.
    std::string before;
    before.swap(out_);
    std::string bare;
    bool has_bare = true;
    if (const ColumnExpr* column_node = expr_if<ColumnExpr>(target.expr)) {
      column_name(column_node, &bare, true);
      has_bare = column_node->attribute != 0;
    } else {
      // The casts that make a set operation's members agree were not written.
      expression(target.expr, !is_set_member);
      has_bare = !names_matter;
      bare = "?column?";
    }
    const std::string_view name = static_cast<std::size_t>(number) <= result.size()
                                      ? result[static_cast<std::size_t>(number) - 1]
                                      : target.name;
    if (!has_bare || bare != name) out_ += " AS " + quote_identifier(name);
    std::string item;
    item.swap(out_);
    out_.swap(before);
    if (indent_lines_) {
      const bool starts_line = !item.empty() && item[0] == '\n';
      if (starts_line) {
        strip_spaces();
      } else if (number > 1 &&
                 (line_length() + item.size() > static_cast<std::size_t>(options_.wrap_column) ||
                  last_was_multiline)) {
        keyword("", -kStandard, kStandard, kItem);
      }
      last_was_multiline = item.find('\n', starts_line ? 1 : 0) != std::string::npos;
    }
    out_ += item;
  }
}

void Deparser::values_rows(std::span<const ExprList> rows) {
  out_ += "VALUES ";
  bool first = true;
  for (const ExprList& row : rows) {
    if (!first) out_ += ", ";
    first = false;
    out_ += '(';
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (i > 0) out_ += ',';
      expression(row[i], false);
    }
    out_ += ')';
  }
}

void Deparser::set_operation(const Query& query, const SetNode* node, bool names_matter, ResultNames result) {
  if (node->operation == SetOperation::kNone) {
    const Query* member = query.range_table[node->range_index].subquery;
    if (member->range_table.size() == 1 && member->range_table[0].alias == "*SELECT*") {
      member = member->range_table[0].subquery;  // a wrapper that analysis put around it for casts
    }
    const Query& leaf = *member;
    const bool parentheses = !leaf.ctes.empty() || !leaf.order_by.empty() || !leaf.row_marks.empty() ||
                             leaf.offset != nullptr || leaf.limit != nullptr;
    in_set_member_ = true;
    wrapped(parentheses, [&] { this->query(leaf, names_matter, result); });
    in_set_member_ = false;
    return;
  }
  bool parentheses = node->left->operation != SetOperation::kNone &&
                     !(node->left->operation == node->operation && node->left->all == node->all);
  int inner = 0;
  if (parentheses) {
    out_ += '(';
    inner = kStandard;
    keyword("", inner, 0, 0);
  }
  set_operation(query, node->left, names_matter, result);
  if (parentheses) {
    keyword(") ", -inner, 0, 0);
  } else if (indent_lines_) {
    keyword("", -inner, 0, 0);
  } else {
    out_ += ' ';
  }
  switch (node->operation) {
    case SetOperation::kUnion:
      out_ += "UNION ";
      break;
    case SetOperation::kIntersect:
      out_ += "INTERSECT ";
      break;
    default:
      out_ += "EXCEPT ";
      break;
  }
  if (node->all) out_ += "ALL ";
  parentheses = node->right->operation != SetOperation::kNone;
  inner = 0;
  if (parentheses) {
    out_ += '(';
    inner = kStandard;
  }
  keyword("", inner, 0, 0);
  set_operation(query, node->right, false, result);
  if (indent_lines_) indent_ -= inner;
  if (parentheses) keyword(")", 0, 0, 0);
}

// --- ORDER BY, windows

void Deparser::sort_expression(const Expr* expr) {
  if (const ConstExpr* value = expr_if<ConstExpr>(expr)) {
    constant(value, 1);  // a bare number would be an ordinal
    return;
  }
  if (expr->kind == ExprKind::kColumn) {
    expression(expr, false);
    return;
  }
  const bool parentheses = pretty() || expr->kind == ExprKind::kFunction ||
                           expr->kind == ExprKind::kAggregate || expr->kind == ExprKind::kWindowFunction;
  wrapped(parentheses, [&] { expression(expr, true); });
}

void Deparser::sort_suffix(const SortClause& clause, Oid type) {
  const SortOperators operators = catalog_.sort_operators(type);
  if (clause.sort_operator == operators.less || operators.less.value == 0) {
    if (clause.nulls_first) out_ += " NULLS FIRST";
  } else if (clause.sort_operator == operators.greater) {
    out_ += " DESC";
    if (!clause.nulls_first) out_ += " NULLS LAST";
  } else {
    out_ += " USING " + operator_text(clause.sort_operator);
    out_ += clause.nulls_first ? " NULLS FIRST" : " NULLS LAST";
  }
}

void Deparser::order_by(std::span<const SortClause> clauses, std::span<const Target> targets, bool numbers) {
  bool first = true;
  for (const SortClause& clause : clauses) {
    if (!first) out_ += ", ";
    first = false;
    const Expr* expr = targets[clause.target_index].expr;
    if (numbers) {
      int position = 0;
      for (int i = 0; i <= clause.target_index; ++i) position += !targets[i].hidden;
      out_ += std::to_string(position);
    } else {
      sort_expression(expr);
    }
    sort_suffix(clause, expr->type.type);
  }
}

void Deparser::window_clause(const Query& query) {
  bool first = true;
  for (const WindowClause& window : query.windows) {
    if (window.name.empty()) continue;
    if (first) {
      keyword(" WINDOW ", -kStandard, kStandard, 1);
    } else {
      out_ += ", ";
    }
    first = false;
    out_ += quote_identifier(window.name) + " AS ";
    window_spec(window, query);
  }
}

void Deparser::window_spec(const WindowClause& window, const Query& query) {
  // PostgreSQL's FRAMEOPTION bits.
  constexpr std::uint32_t kNonDefault = 0x1, kRange = 0x2, kRows = 0x4, kGroups = 0x8, kBetween = 0x10;
  out_ += '(';
  bool space = false;
  const auto begin = [&](std::string_view text) {
    if (space) out_ += ' ';
    out_ += text;
    space = true;
  };
  if (!window.partition_by.empty()) {
    begin("PARTITION BY ");
    bool first = true;
    for (const SortClause& clause : window.partition_by) {
      if (!first) out_ += ", ";
      first = false;
      sort_expression(query.targets[clause.target_index].expr);
    }
  }
  if (!window.order_by.empty()) {
    begin("ORDER BY ");
    order_by(window.order_by, query.targets, false);
  }
  const std::uint32_t options = window.frame.options;
  if (options & kNonDefault) {
    if (options & kRange) begin("RANGE ");
    if (options & kRows) begin("ROWS ");
    if (options & kGroups) begin("GROUPS ");
    if (options & kBetween) out_ += "BETWEEN ";
    const auto bound = [&](std::uint32_t unbounded_preceding, std::uint32_t unbounded_following,
                           std::uint32_t current, std::uint32_t offset_preceding, const Expr* offset) {
      if (options & unbounded_preceding) {
        out_ += "UNBOUNDED PRECEDING ";
      } else if (options & unbounded_following) {
        out_ += "UNBOUNDED FOLLOWING ";
      } else if (options & current) {
        out_ += "CURRENT ROW ";
      } else if (offset != nullptr) {
        expression(offset, false);
        out_ += options & offset_preceding ? " PRECEDING " : " FOLLOWING ";
      }
    };
    bound(0x20, 0x80, 0x200, 0x800, window.frame.start_offset);
    if (options & kBetween) {
      out_ += "AND ";
      bound(0x40, 0x100, 0x400, 0x1000, window.frame.end_offset);
    }
    if (options & 0x8000) out_ += "EXCLUDE CURRENT ROW ";
    if (options & 0x10000) out_ += "EXCLUDE GROUP ";
    if (options & 0x20000) out_ += "EXCLUDE TIES ";
    strip_spaces();
  }
  out_ += ')';
}

}  // namespace pinwheel::sql
