#include "sql/analyze/coercion.h"
#include "sql/analyze/statements.h"
#include "sql/analyze/types.h"

namespace pinwheel::sql {

CommonTable* find_cte(Scope& scope, std::string_view name, int* levels_up, bool* in_work) {
  *levels_up = 0;
  for (Scope* level = &scope; level != nullptr; level = level->parent, ++*levels_up) {
    for (auto cte = level->ctes.rbegin(); cte != level->ctes.rend(); ++cte) {
      if (cte->name != name) continue;
      *in_work = cte->query == nullptr;
      return &*cte;
    }
  }
  return nullptr;
}

namespace {

/// Names and types of a CTE's columns from its (non-recursive) query; aliases rename the first ones.
void set_columns(Scope& scope, CommonTable& cte, std::span<Target> targets, int location) {
  Analysis& an = scope.an;
  std::vector<ColumnDefinition> columns;
  std::size_t available = 0;
  for (const Target& target : targets) {
    if (target.hidden) continue;
    ColumnDefinition column{target.name, target.expr->type};
    if (available < cte.alias_columns.size()) column.name = cte.alias_columns[available];
    ++available;
    if (column.type.type == kUnknownType) column.type = {kTextType, -1, kDefaultCollation};
    columns.push_back(column);
  }
  if (cte.alias_columns.size() > available) {
    throw an.error(sqlstate::kInvalidColumnReference,
                   cat("WITH query ", quoted(cte.name), " has ", available, " columns available but ",
                       cte.alias_columns.size(), " columns specified"),
                   location);
  }
  cte.columns = to_span(an.arena, columns);
}

/// True when the tree names a table `name` anywhere: a cheap look before the real analysis.
bool mentions(const ProtobufCMessage* message, std::string_view name) {
  if (message == nullptr) return false;
  if (message->descriptor == &pg_query__range_var__descriptor) {
    const auto* var = reinterpret_cast<const PgQuery__RangeVar*>(message);
    return raw::text(var->schemaname).empty() && raw::text(var->relname) == name;
  }
  const char* bytes = reinterpret_cast<const char*>(message);
  for (unsigned i = 0; i < message->descriptor->n_fields; ++i) {
    const ProtobufCFieldDescriptor& field = message->descriptor->fields[i];
    if (field.type != PROTOBUF_C_TYPE_MESSAGE) continue;
    if (field.label == PROTOBUF_C_LABEL_REPEATED) {
      const std::size_t count = *reinterpret_cast<const std::size_t*>(bytes + field.quantifier_offset);
      ProtobufCMessage* const* items =
          *reinterpret_cast<ProtobufCMessage* const* const*>(bytes + field.offset);
      for (std::size_t k = 0; k < count; ++k) {
        if (mentions(items[k], name)) return true;
      }
      continue;
    }
    if (field.flags & PROTOBUF_C_FIELD_FLAG_ONEOF) {
      if (*reinterpret_cast<const std::uint32_t*>(bytes + field.quantifier_offset) != field.id) continue;
    }
    if (mentions(*reinterpret_cast<ProtobufCMessage* const*>(bytes + field.offset), name)) return true;
  }
  return false;
}

/// A recursive CTE: its left branch first, which tells the columns, then the whole.
void check_recursive_form(Analysis& an, const PgQuery__CommonTableExpr* raw_cte) {
  const raw::Node* node = raw_cte->ctequery;
  const bool is_union =
      RAW_IS(node, SELECT_STMT) && node->select_stmt->op == PG_QUERY__SET_OPERATION__SETOP_UNION;
  if (!is_union) {
    throw an.error(sqlstate::kInvalidRecursion,
                   cat("recursive query ", quoted(raw::text(raw_cte->ctename)),
                       " does not have the form non-recursive-term UNION [ALL] recursive-term"),
                   raw_cte->location);
  }
  const PgQuery__SelectStmt* select = node->select_stmt;
  const auto refuse = [&](std::string_view what) {
    throw an.error(sqlstate::kFeatureNotSupported, cat(what, " in a recursive query is not implemented"),
                   raw_cte->location);
  };
  if (select->n_sort_clause > 0) refuse("ORDER BY");
  if (select->limit_offset != nullptr) refuse("OFFSET");
  if (select->limit_count != nullptr) refuse("LIMIT");
  if (select->n_locking_clause > 0) refuse("FOR UPDATE/SHARE");
}

void analyze_recursive(Scope& scope, CommonTable& cte, const PgQuery__CommonTableExpr* raw_cte) {
  Analysis& an = scope.an;
  check_recursive_form(an, raw_cte);
  const PgQuery__SelectStmt* select = raw_cte->ctequery->select_stmt;
  if (mentions(&select->larg->base, cte.name)) {
    throw an.error(sqlstate::kInvalidRecursion,
                   cat("recursive reference to query ", quoted(cte.name),
                       " must not appear within its non-recursive term"),
                   raw_cte->location);
  }
  PgQuery__Node left = PG_QUERY__NODE__INIT;
  left.node_case = PG_QUERY__NODE__NODE_SELECT_STMT;
  left.select_stmt = select->larg;
  const std::size_t parameter_uses = an.parameter_uses.size();
  // The columns are known from the left branch alone; the real analysis of both comes after.
  const Query* first = analyze_query(an, &scope, &left);
  (void)parameter_uses;
  set_columns(scope, cte, first->targets, raw_cte->location);
  const std::vector<ColumnDefinition> declared(cte.columns.begin(), cte.columns.end());
  Query* query = analyze_query(an, &scope, raw_cte->ctequery);
  cte.recursive = true;
  std::size_t at = 0;
  for (const Target& target : query->targets) {
    if (target.hidden || at >= declared.size()) continue;
    const ExprType& want = declared[at].type;
    const ExprType& have = target.expr->type;
    ++at;
    if (want.type == have.type && want.type_modifier == have.type_modifier) continue;
    throw an
        .error(
            sqlstate::kDatatypeMismatch,
            cat("recursive query ", quoted(cte.name), " column ", at, " has type ", type_text(an, want.type),
                " in non-recursive term but type ", type_text(an, have.type), " overall"),
            location_of(first->targets[at - 1].expr))
        .hint("Cast the output of the non-recursive term to the correct type.");
  }
  cte.query = query;
}

}  // namespace

void transform_with(Scope& scope, const PgQuery__WithClause* with) {
  Analysis& an = scope.an;
  const raw::NodeList list = RAW_LIST(with, ctes);
  for (std::size_t i = 0; i < list.size(); ++i) {
    const PgQuery__CommonTableExpr* raw_cte = list[i]->common_table_expr;
    for (std::size_t k = 0; k < i; ++k) {
      if (raw::text(list[k]->common_table_expr->ctename) == raw::text(raw_cte->ctename)) {
        throw an.error(
            sqlstate::kDuplicateAlias,
            cat("WITH query name ", quoted(raw::text(raw_cte->ctename)), " specified more than once"),
            raw_cte->location);
      }
    }
    const raw::Node* query = raw_cte->ctequery;
    if (!RAW_IS(query, SELECT_STMT)) {
      scope.has_modifying_cte = true;
      if (scope.parent != nullptr) {
        throw an.error(sqlstate::kFeatureNotSupported,
                       "WITH clause containing a data-modifying statement must be at the top level",
                       raw_cte->location);
      }
    }
    if (raw_cte->search_clause != nullptr || raw_cte->cycle_clause != nullptr) {
      throw an.error(sqlstate::kFeatureNotSupported, "SEARCH and CYCLE clauses are not supported",
                     raw_cte->location);
    }
  }
  // Items may refer forward in WITH RECURSIVE, so those that need others come after them.
  std::vector<const PgQuery__CommonTableExpr*> todo, order;
  for (const raw::Node* node : list) todo.push_back(node->common_table_expr);
  if (with->recursive) {
    while (!todo.empty()) {
      std::size_t pick = todo.size();
      for (std::size_t i = 0; i < todo.size() && pick == todo.size(); ++i) {
        bool free = true;
        for (std::size_t k = 0; k < todo.size() && free; ++k) {
          free = k == i || !mentions(&todo[i]->ctequery->base, raw::text(todo[k]->ctename));
        }
        if (free) pick = i;
      }
      if (pick == todo.size()) {
        throw an.error(sqlstate::kFeatureNotSupported,
                       "mutual recursion between WITH items is not implemented", todo[0]->location);
      }
      order.push_back(todo[pick]);
      todo.erase(todo.begin() + static_cast<long>(pick));
    }
  } else {
    order = todo;
    scope.later_ctes = todo;
  }
  for (const PgQuery__CommonTableExpr* raw_cte : order) {
    CommonTable cte;
    cte.name = an.arena.copy(raw::text(raw_cte->ctename));
    cte.materialized = raw_cte->ctematerialized == PG_QUERY__CTEMATERIALIZE__CTEMaterializeAlways;
    cte.not_materialized = raw_cte->ctematerialized == PG_QUERY__CTEMATERIALIZE__CTEMaterializeNever;
    std::vector<std::string_view> names;
    for (const raw::Node* node : RAW_LIST(raw_cte, aliascolnames))
      names.push_back(an.arena.copy(raw::string_of(node)));
    cte.alias_columns = to_span(an.arena, names);
    if (with->recursive && mentions(&raw_cte->ctequery->base, raw::text(raw_cte->ctename))) {
      scope.ctes.push_back(cte);
      analyze_recursive(scope, scope.ctes.back(), raw_cte);
      continue;
    }
    cte.query = analyze_query(an, &scope, raw_cte->ctequery);
    if (cte.query->command == CommandKind::kUtility) {
      throw an.error(sqlstate::kInternalError, "unexpected utility statement in WITH");
    }
    set_columns(scope, cte,
                cte.query->command == CommandKind::kSelect ? cte.query->targets : cte.query->returning,
                raw_cte->location);
    scope.ctes.push_back(cte);
    if (!scope.later_ctes.empty()) scope.later_ctes.erase(scope.later_ctes.begin());
  }
  scope.later_ctes.clear();
}

}  // namespace pinwheel::sql
