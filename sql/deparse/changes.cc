#include "sql/deparse/deparser.h"

/// Data-modifying statements, as WITH and messages show them.
namespace pinwheel::sql {

void Deparser::returning(const Query& query) {
  if (query.returning.empty()) return;
  keyword(" RETURNING", -kStandard, kStandard, kItem);
  targets(query, true, {});
}

void Deparser::insert(const Query& query) {
  with_clause(query);
  const RangeEntry& target = query.range_table[query.result_range_index];
  if (indent_lines_) {
    indent_ += kStandard;
    out_ += ' ';
  }
  out_ += "INSERT INTO " + relation_text(target.relation) + " ";
  if (target.has_alias) out_ += "AS " + quote_identifier(target.alias) + " ";
  if (!query.targets.empty()) out_ += '(';
  for (std::size_t i = 0; i < query.targets.size(); ++i) {
    if (i > 0) out_ += ", ";
    out_ += quote_identifier(query.targets[i].name);
  }
  if (!query.targets.empty()) out_ += ") ";
  if (query.overriding_system) out_ += "OVERRIDING SYSTEM VALUE ";
  if (query.overriding_user) out_ += "OVERRIDING USER VALUE ";
  const RangeEntry* source = nullptr;
  for (const FromItem* item : query.from) source = &query.range_table[item->range_index];
  if (source != nullptr && source->kind == RangeKind::kSubquery) {
    this->query(*source->subquery, true);
  } else if (source != nullptr && source->kind == RangeKind::kValues) {
    keyword("", -kStandard, kStandard, 2);
    values_rows(source->rows);
  } else if (!query.targets.empty()) {
    keyword("VALUES (", -kStandard, kStandard, 2);
    for (std::size_t i = 0; i < query.targets.size(); ++i) {
      if (i > 0) out_ += ", ";
      expression(query.targets[i].expr, false);
    }
    out_ += ')';
  } else {
    out_ += "DEFAULT VALUES";
  }
  if (query.on_conflict.action != ConflictAction::kNone) {
    out_ += " ON CONFLICT";
    if (query.on_conflict.action == ConflictAction::kNothing) {
      out_ += " DO NOTHING";
    } else {
      out_ += " DO UPDATE SET ";
      bool first = true;
      for (const Target& assignment : query.on_conflict.assignments) {
        if (!first) out_ += ", ";
        first = false;
        out_ += quote_identifier(assignment.name) + " = ";
        expression(assignment.expr, false);
      }
      if (query.on_conflict.where != nullptr) {
        keyword(" WHERE ", -kStandard, kStandard, 1);
        expression(query.on_conflict.where, false);
      }
    }
  }
  returning(query);
}

void Deparser::update(const Query& query) {
  with_clause(query);
  const RangeEntry& target = query.range_table[query.result_range_index];
  if (indent_lines_) {
    out_ += ' ';
    indent_ += kStandard;
  }
  out_ += "UPDATE " + std::string{target.only ? "ONLY " : ""} + relation_text(target.relation);
  if (target.has_alias) out_ += " " + quote_identifier(target.alias);
  out_ += " SET ";
  bool first = true;
  for (const Target& assignment : query.targets) {
    if (!first) out_ += ", ";
    first = false;
    out_ += quote_identifier(assignment.name) + " = ";
    expression(assignment.expr, false);
  }
  from_clause(query);
  if (query.where != nullptr) {
    keyword(" WHERE ", -kStandard, kStandard, 1);
    expression(query.where, false);
  }
  returning(query);
}

void Deparser::del(const Query& query) {
  with_clause(query);
  const RangeEntry& target = query.range_table[query.result_range_index];
  if (indent_lines_) {
    out_ += ' ';
    indent_ += kStandard;
  }
  out_ += "DELETE FROM " + std::string{target.only ? "ONLY " : ""} + relation_text(target.relation);
  if (target.has_alias) out_ += " " + quote_identifier(target.alias);
  from_clause(query);
  if (query.where != nullptr) {
    keyword(" WHERE ", -kStandard, kStandard, 1);
    expression(query.where, false);
  }
  returning(query);
}

}  // namespace pinwheel::sql
