#include "sql/deparse/deparser.h"

/// FROM: tables, functions, sub-selects and joins, with the aliases that PostgreSQL would show.
namespace pinwheel::sql {

std::string Deparser::relation_text(Oid oid) {
  const ViewedRelation* relation = catalog_.relation(oid);
  if (relation == nullptr) return "???";
  // A CTE of the same name would hide the table.
  bool hidden = false;
  for (const DeparseLevel& outer : levels_) {
    if (outer.query == nullptr) continue;
    for (const CommonTable& cte : outer.query->ctes) hidden = hidden || cte.name == relation->name;
  }
  const bool bare = options_.qualify_all ? relation->schema_name == "pg_catalog" && !hidden
                                         : catalog_.relation_is_visible(oid) && !hidden;
  return quote_qualified(bare ? std::string_view{} : relation->schema_name, relation->name);
}

void Deparser::from_clause(const Query& query) {
  bool first = true;
  for (const FromItem* item : query.from) {
    if (item->kind == FromItem::Kind::kRange && item->range_index == query.result_range_index) continue;
    if (first) {
      keyword(query.command == CommandKind::kDelete ? " USING " : " FROM ", -kStandard, kStandard, 2);
      first = false;
      from_item(query, item);
      continue;
    }
    out_ += ", ";
    std::string before;
    before.swap(out_);
    from_item(query, item);
    std::string text;
    text.swap(out_);
    out_.swap(before);
    if (indent_lines_) {
      if (!text.empty() && text[0] == '\n') {
        strip_spaces();
      } else if (line_length() + text.size() > static_cast<std::size_t>(options_.wrap_column)) {
        keyword("", -kStandard, kStandard, kItem);
      }
    }
    out_ += text;
  }
}

void Deparser::alias_list(const RangeEntry& entry) {
  if (entry.kind == RangeKind::kFunction && entry.column_definitions) {
    out_ += '(';
    for (std::size_t i = 0; i < entry.columns.size(); ++i) {
      if (i > 0) out_ += ", ";
      out_ += quote_identifier(entry.columns[i].name) + " " +
              type_text(entry.columns[i].type.type, entry.columns[i].type.type_modifier);
    }
    out_ += ')';
    return;
  }
  // Functions always say what their columns are called; others when somebody did.
  bool show = entry.kind == RangeKind::kFunction || !entry.alias_columns.empty();
  if (show && entry.kind == RangeKind::kRelation) {
    const ViewedRelation* relation = catalog_.relation(entry.relation);
    bool changed = relation == nullptr;
    for (std::size_t i = 0; relation != nullptr && i < entry.columns.size() && i < relation->columns.size();
         ++i) {
      changed =
          changed || (!relation->columns[i].dropped && relation->columns[i].name != entry.columns[i].name);
    }
    show = changed;
  }
  if (!show) return;
  bool first = true;
  for (const ColumnDefinition& column : entry.columns) {
    if (column.name.empty()) continue;
    out_ += first ? "(" : ", ";
    first = false;
    out_ += quote_identifier(column.name);
  }
  if (!first) out_ += ')';
}

void Deparser::function_item(const RangeEntry& entry) {
  const auto one = [&](const Expr* call) { expression(call, true); };
  if (entry.functions.size() == 1) {
    one(entry.functions[0]);
  } else {
    // unnest of several arrays is written as one call.
    bool all_unnest = true;
    for (const Expr* call : entry.functions) {
      const FunctionExpr* f = expr_if<FunctionExpr>(call);
      all_unnest =
          all_unnest && f != nullptr && f->args.size() == 1 && function_name(f->function) == "unnest";
    }
    if (all_unnest) {
      out_ += "UNNEST(";
      for (std::size_t i = 0; i < entry.functions.size(); ++i) {
        if (i > 0) out_ += ", ";
        expression(expr_cast<FunctionExpr>(entry.functions[i])->args[0], true);
      }
      out_ += ')';
    } else {
      out_ += "ROWS FROM(";
      for (std::size_t i = 0; i < entry.functions.size(); ++i) {
        if (i > 0) out_ += ", ";
        one(entry.functions[i]);
      }
      out_ += ')';
    }
  }
  if (entry.with_ordinality) out_ += " WITH ORDINALITY";
}

void Deparser::range_entry(const Query& query, int index) {
  const RangeEntry& entry = query.range_table[index];
  const std::string& name = levels_.back().names[static_cast<std::size_t>(index)];
  if (entry.lateral) out_ += "LATERAL ";
  bool show_alias = entry.has_alias;
  switch (entry.kind) {
    case RangeKind::kRelation: {
      if (entry.only) out_ += "ONLY ";
      out_ += relation_text(entry.relation);
      const ViewedRelation* relation = catalog_.relation(entry.relation);
      show_alias = show_alias || relation == nullptr || relation->name != name;
      break;
    }
    case RangeKind::kSubquery:
      if (entry.view.value != 0) {
        out_ += relation_text(entry.view);
        const ViewedRelation* view = catalog_.relation(entry.view);
        show_alias = show_alias || view == nullptr || view->name != name;
      } else {
        out_ += '(';
        this->query(*entry.subquery, true);
        out_ += ')';
        show_alias = true;
      }
      break;
    case RangeKind::kFunction:
      function_item(entry);
      show_alias = true;
      break;
    case RangeKind::kValues:
      out_ += '(';
      values_rows(entry.rows);
      out_ += ')';
      show_alias = true;
      break;
    case RangeKind::kCte:
      out_ += quote_identifier(entry.cte_name);
      show_alias = show_alias || entry.cte_name != name;
      break;
    case RangeKind::kJoin:
    case RangeKind::kResult:
      return;
  }
  if (show_alias) out_ += " " + quote_identifier(name);
  alias_list(entry);
}

void Deparser::join_item(const Query& query, const FromItem* item) {
  const RangeEntry* entry = item->range_index >= 0 ? &query.range_table[item->range_index] : nullptr;
  const bool has_alias = entry != nullptr && entry->has_alias;
  const auto aliased = [&](const FromItem* side) {
    return side->range_index >= 0 && query.range_table[side->range_index].has_alias;
  };
  const bool right_parentheses =
      pretty() && item->right->kind == FromItem::Kind::kJoin && !aliased(item->right);
  const bool outer_parentheses = !pretty() || has_alias;
  if (outer_parentheses) out_ += '(';
  from_item(query, item->left);
  std::string_view word = " JOIN ";
  switch (item->join) {
    case JoinKind::kInner:
      if (item->condition == nullptr) word = " CROSS JOIN ";
      break;
    case JoinKind::kLeft:
      word = " LEFT JOIN ";
      break;
    case JoinKind::kRight:
      word = " RIGHT JOIN ";
      break;
    case JoinKind::kFull:
      word = " FULL JOIN ";
      break;
  }
  keyword(word, -kStandard, kStandard, kJoin);
  if (right_parentheses) out_ += '(';
  from_item(query, item->right);
  if (right_parentheses) out_ += ')';
  if (!item->using_columns.empty()) {
    out_ += " USING (";
    for (std::size_t i = 0; i < item->using_columns.size(); ++i) {
      if (i > 0) out_ += ", ";
      out_ += quote_identifier(item->using_columns[i]);
    }
    out_ += ')';
  } else if (item->condition != nullptr) {
    out_ += " ON ";
    wrapped(!pretty(), [&] { expression(item->condition, false); });
  } else if (item->join != JoinKind::kInner) {
    out_ += " ON TRUE";
  }
  if (outer_parentheses) out_ += ')';
  if (has_alias) {
    out_ += " " + quote_identifier(levels_.back().names[static_cast<std::size_t>(item->range_index)]);
    alias_list(*entry);
  }
}

void Deparser::from_item(const Query& query, const FromItem* item) {
  if (item->kind == FromItem::Kind::kJoin) {
    join_item(query, item);
  } else {
    range_entry(query, item->range_index);
  }
}

}  // namespace pinwheel::sql
