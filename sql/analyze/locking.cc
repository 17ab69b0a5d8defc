#include <algorithm>

#include "sql/analyze/expressions.h"
#include "sql/analyze/statements.h"

namespace pinwheel::sql {

LockStrength lock_strength(int grammar_value) {
  switch (grammar_value) {
    case PG_QUERY__LOCK_CLAUSE_STRENGTH__LCS_FORKEYSHARE:
      return LockStrength::kKeyShare;
    case PG_QUERY__LOCK_CLAUSE_STRENGTH__LCS_FORSHARE:
      return LockStrength::kShare;
    case PG_QUERY__LOCK_CLAUSE_STRENGTH__LCS_FORNOKEYUPDATE:
      return LockStrength::kNoKeyUpdate;
    case PG_QUERY__LOCK_CLAUSE_STRENGTH__LCS_FORUPDATE:
      return LockStrength::kUpdate;
    default:
      return LockStrength::kNone;
  }
}

std::string_view lock_name(LockStrength strength) {
  switch (strength) {
    case LockStrength::kKeyShare:
      return "FOR KEY SHARE";
    case LockStrength::kShare:
      return "FOR SHARE";
    case LockStrength::kNoKeyUpdate:
      return "FOR NO KEY UPDATE";
    case LockStrength::kUpdate:
      return "FOR UPDATE";
    case LockStrength::kNone:
      return "FOR some";
  }
  return "";
}

void check_locking(Analysis& an, const Query& query, LockStrength strength) {
  const auto refuse = [&](std::string_view what) {
    throw an.error(sqlstate::kFeatureNotSupported, cat(lock_name(strength), " is not allowed with ", what));
  };
  if (query.set_operation != nullptr) refuse("UNION/INTERSECT/EXCEPT");
  if (!query.distinct.empty()) refuse("DISTINCT clause");
  if (!query.group_by.empty() || query.has_group_by) refuse("GROUP BY clause");
  if (query.having != nullptr) refuse("HAVING clause");
  if (query.has_aggregates) refuse("aggregate functions");
  if (query.has_windows) refuse("window functions");
  if (query.has_set_functions) refuse("set-returning functions in the target list");
}

namespace {

LockWait lock_wait(int grammar_value) {
  switch (grammar_value) {
    case PG_QUERY__LOCK_WAIT_POLICY__LockWaitSkip:
      return LockWait::kSkipLocked;
    case PG_QUERY__LOCK_WAIT_POLICY__LockWaitError:
      return LockWait::kNoWait;
    default:
      return LockWait::kBlock;
  }
}

void add_mark(std::vector<RowMark>& marks, int index, LockStrength strength, LockWait wait) {
  for (RowMark& mark : marks) {
    if (mark.range_index != index) continue;
    // The stronger lock and the less patient wait win.
    mark.strength = std::max(mark.strength, strength);
    mark.wait = std::max(mark.wait, wait);
    return;
  }
  marks.push_back({index, strength, wait});
}

void lock_entry(Scope& scope, Query& query, std::size_t index, LockStrength strength, LockWait wait,
                std::vector<RowMark>& marks);

void lock_all(Scope& scope, Query& query, LockStrength strength, LockWait wait, std::vector<RowMark>& marks) {
  for (std::size_t i = 0; i < query.range_table.size(); ++i) {
    const RangeKind kind = query.range_table[i].kind;
    if (kind == RangeKind::kRelation || kind == RangeKind::kSubquery)
      lock_entry(scope, query, i, strength, wait, marks);
  }
}

void lock_entry(Scope& scope, Query& query, std::size_t index, LockStrength strength, LockWait wait,
                std::vector<RowMark>& marks) {
  RangeEntry& entry = query.range_table[index];
  if (entry.kind == RangeKind::kSubquery) {
    Query& sub = *entry.subquery;
    check_locking(scope.an, sub, strength);
    std::vector<RowMark> inner(sub.row_marks.begin(), sub.row_marks.end());
    lock_all(scope, sub, strength, wait, inner);
    sub.row_marks = to_span(scope.an.arena, inner);
    sub.has_for_update = true;
    return;
  }
  entry.row_lock = std::max(entry.row_lock, strength);
  entry.required_privileges |= 4;  // UPDATE
  if (entry.table_lock < 2) entry.table_lock = 2;
  add_mark(marks, static_cast<int>(index), strength, wait);
}

}  // namespace

void transform_locking(Scope& scope, Query& query, raw::NodeList clauses) {
  if (clauses.empty()) return;
  Analysis& an = scope.an;
  std::vector<RowMark> marks;
  for (const raw::Node* node : clauses) {
    const PgQuery__LockingClause* clause = node->locking_clause;
    const LockStrength strength = lock_strength(clause->strength);
    const LockWait wait = lock_wait(clause->wait_policy);
    check_locking(an, query, strength);
    if (clause->n_locked_rels == 0) {
      lock_all(scope, query, strength, wait, marks);
      continue;
    }
    for (const raw::Node* rel : RAW_LIST(clause, locked_rels)) {
      const PgQuery__RangeVar* name = rel->range_var;
      if (!raw::text(name->schemaname).empty() || !raw::text(name->catalogname).empty()) {
        throw an.error(sqlstate::kSyntaxError,
                       cat(lock_name(strength), " must specify unqualified relation names"), name->location);
      }
      bool found = false;
      for (std::size_t i = 0; i < query.range_table.size() && !found; ++i) {
        const RangeEntry& entry = query.range_table[i];
        if (entry.alias != raw::text(name->relname)) continue;
        if (entry.kind == RangeKind::kJoin && !entry.has_alias) continue;
        found = true;
        std::string_view wrong;
        switch (entry.kind) {
          case RangeKind::kRelation:
          case RangeKind::kSubquery:
            break;
          case RangeKind::kJoin:
            wrong = "a join";
            break;
          case RangeKind::kFunction:
            wrong = "a function";
            break;
          case RangeKind::kValues:
            wrong = "VALUES";
            break;
          case RangeKind::kCte:
            wrong = "a WITH query";
            break;
          case RangeKind::kResult:
            wrong = "this relation";
            break;
        }
        if (!wrong.empty()) {
          throw an.error(sqlstate::kFeatureNotSupported,
                         cat(lock_name(strength), " cannot be applied to ", wrong), name->location);
        }
        lock_entry(scope, query, i, strength, wait, marks);
      }
      if (!found) {
        throw an.error(sqlstate::kUndefinedTable,
                       cat("relation ", quoted(raw::text(name->relname)), " in ", lock_name(strength),
                           " clause not found in FROM clause"),
                       name->location);
      }
    }
  }
  query.row_marks = to_span(an.arena, marks);
  query.has_for_update = true;
}

}  // namespace pinwheel::sql
