#include "sql/analyze/statements.h"
#include "sql/analyze/utility_parts.h"
#include "sql/deparse/deparse.h"

/// Commands that hold a query: it is analyzed with them.
namespace pinwheel::sql {

namespace {

/// Text to be stored: free of search_path.
std::string_view stored_text(Analysis& an, const Query& query) {
  DeparseOptions options;
  options.qualify_all = true;
  return an.arena.copy(deparse_query(query, an.catalog, an.eval, options));
}

void fill_into(Analysis& an, CreateTableAsUtility& out, const PgQuery__IntoClause* into) {
  out.name = qualified_name(an, into->rel);
  out.column_names = string_list(an, RAW_LIST(into, col_names));
  out.with_data = !into->skip_data;
  out.with = options(an, RAW_LIST(into, options));
  switch (into->on_commit) {
    case PG_QUERY__ON_COMMIT_ACTION__ONCOMMIT_PRESERVE_ROWS:
      out.on_commit = OnCommit::kPreserveRows;
      break;
    case PG_QUERY__ON_COMMIT_ACTION__ONCOMMIT_DELETE_ROWS:
      out.on_commit = OnCommit::kDeleteRows;
      break;
    case PG_QUERY__ON_COMMIT_ACTION__ONCOMMIT_DROP:
      out.on_commit = OnCommit::kDrop;
      break;
    default:
      break;
  }
}

PgQuery__Node select_node(PgQuery__SelectStmt* select) {
  PgQuery__Node node = PG_QUERY__NODE__INIT;
  node.node_case = PG_QUERY__NODE__NODE_SELECT_STMT;
  node.select_stmt = select;
  return node;
}

}  // namespace

Utility* create_table_as(Analysis& an, const PgQuery__CreateTableAsStmt* create) {
  CreateTableAsUtility* out = an.arena.make<CreateTableAsUtility>();
  fill_into(an, *out, create->into);
  out->if_not_exists = create->if_not_exists;
  out->materialized_view = create->objtype == PG_QUERY__OBJECT_TYPE__OBJECT_MATVIEW;
  out->query = analyze_query(an, nullptr, create->query);
  if (out->query->command == CommandKind::kSelect) out->query_text = stored_text(an, *out->query);
  return out;
}

Utility* select_into(Analysis& an, const PgQuery__SelectStmt* select, PgQuery__SelectStmt* first) {
  CreateTableAsUtility* out = an.arena.make<CreateTableAsUtility>();
  PgQuery__IntoClause* const into = first->into_clause;
  fill_into(an, *out, into);
  first->into_clause = nullptr;
  const PgQuery__Node node = select_node(const_cast<PgQuery__SelectStmt*>(select));
  out->query = analyze_query(an, nullptr, &node);
  first->into_clause = into;
  out->query_text = stored_text(an, *out->query);
  return out;
}

Utility* create_view(Analysis& an, const PgQuery__ViewStmt* view) {
  CreateViewUtility* out = an.arena.make<CreateViewUtility>();
  out->name = qualified_name(an, view->view);
  out->column_names = string_list(an, RAW_LIST(view, aliases));
  out->replace = view->replace;
  out->with = options(an, RAW_LIST(view, options));
  switch (view->with_check_option) {
    case PG_QUERY__VIEW_CHECK_OPTION__LOCAL_CHECK_OPTION:
      out->check_option = 'l';
      break;
    case PG_QUERY__VIEW_CHECK_OPTION__CASCADED_CHECK_OPTION:
      out->check_option = 'c';
      break;
    default:
      break;
  }
  if (RAW_IS(view->query, SELECT_STMT) && view->query->select_stmt->into_clause != nullptr) {
    throw an.error(sqlstate::kFeatureNotSupported, "views must not contain SELECT INTO");
  }
  const ParameterMode saved = an.mode;
  an.mode = ParameterMode::kNone;  // a view has no parameters
  out->query = analyze_query(an, nullptr, view->query);
  an.mode = saved;
  if (out->query->has_modifying_cte) {
    throw an.error(sqlstate::kFeatureNotSupported,
                   "views must not contain data-modifying statements in WITH");
  }
  std::size_t at = 0;
  for (Target& target : out->query->targets) {
    if (!target.hidden && at < out->column_names.size()) target.name = out->column_names[at++];
  }
  if (at < out->column_names.size()) {
    throw an.error(sqlstate::kSyntaxError, "CREATE VIEW specifies more column names than columns");
  }
  out->query_text = stored_text(an, *out->query);
  return out;
}

Utility* explain(Analysis& an, const PgQuery__ExplainStmt* stmt) {
  ExplainUtility* out = an.arena.make<ExplainUtility>();
  out->options = options(an, RAW_LIST(stmt, options));
  out->query = analyze_query(an, nullptr, stmt->query);
  return out;
}

Utility* copy(Analysis& an, const PgQuery__CopyStmt* stmt) {
  CopyUtility* out = an.arena.make<CopyUtility>();
  out->table = qualified_name(an, stmt->relation);
  out->columns = string_list(an, RAW_LIST(stmt, attlist));
  out->from = stmt->is_from;
  out->program = stmt->is_program;
  out->file_name = copy_text(an, stmt->filename);
  out->options = options(an, RAW_LIST(stmt, options));
  out->where = source_expr(an, stmt->where_clause);
  if (stmt->where_clause != nullptr && !stmt->is_from) {
    throw an.error(sqlstate::kFeatureNotSupported, "WHERE clause not allowed with COPY TO");
  }
  if (stmt->query != nullptr) {
    if (RAW_IS(stmt->query, SELECT_STMT) && stmt->query->select_stmt->into_clause != nullptr) {
      throw an.error(sqlstate::kFeatureNotSupported, "COPY (SELECT INTO) is not supported");
    }
    out->query = analyze_query(an, nullptr, stmt->query);
    if (out->query->command != CommandKind::kSelect && out->query->returning.empty()) {
      throw an.error(sqlstate::kFeatureNotSupported, "COPY query must have a RETURNING clause");
    }
  }
  return out;
}

namespace {

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/// Byte offset of what follows AS in `PREPARE name [(types)] AS ...`; npos when it is not found.
std::size_t find_prepared(std::string_view text) {
  int depth = 0;
  bool quoted_name = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"') quoted_name = !quoted_name;
    if (quoted_name) continue;
    if (c == '(') ++depth;
    if (c == ')') --depth;
    if (depth > 0 || i == 0 || is_word(text[i - 1])) continue;
    if ((c == 'a' || c == 'A') && i + 2 < text.size() && (text[i + 1] == 's' || text[i + 1] == 'S') &&
        !is_word(text[i + 2])) {
      return i + 2;
    }
  }
  return std::string_view::npos;
}

}  // namespace

Utility* prepare(Analysis& an, const PgQuery__PrepareStmt* stmt) {
  PrepareUtility* out = an.arena.make<PrepareUtility>();
  out->name = copy_text(an, stmt->name);
  std::vector<TypeName> types;
  for (const raw::Node* node : RAW_LIST(stmt, argtypes)) types.push_back(type_name(an, node->type_name));
  out->parameter_types = to_span(an.arena, types);
  const bool plain = an.statement_text.find("--") == std::string_view::npos &&
                     an.statement_text.find("/*") == std::string_view::npos;
  const std::size_t at = plain ? find_prepared(an.statement_text) : std::string_view::npos;
  if (at != std::string_view::npos) {
    out->text = an.arena.copy(an.statement_text.substr(at));
    out->text_offset = an.statement_offset + static_cast<int>(at);
  } else {
    out->text = an.arena.copy(statement_text(stmt->query));
  }
  return out;
}

Utility* declare_cursor(Analysis& an, const PgQuery__DeclareCursorStmt* stmt) {
  // PostgreSQL's CURSOR_OPT bits.
  constexpr int kBinary = 0x1, kScroll = 0x2, kNoScroll = 0x4, kInsensitive = 0x8, kAsensitive = 0x10,
                kHold = 0x20;
  DeclareCursorUtility* out = an.arena.make<DeclareCursorUtility>();
  out->name = copy_text(an, stmt->portalname);
  out->binary = stmt->options & kBinary;
  out->scroll = stmt->options & kScroll;
  out->no_scroll = stmt->options & kNoScroll;
  out->insensitive = stmt->options & kInsensitive;
  out->hold = stmt->options & kHold;
  if (out->scroll && out->no_scroll) {
    throw an.error(sqlstate::kInvalidCursorDefinition, "cannot specify both SCROLL and NO SCROLL");
  }
  if (out->insensitive && (stmt->options & kAsensitive)) {
    throw an.error(sqlstate::kInvalidCursorDefinition, "cannot specify both INSENSITIVE and ASENSITIVE");
  }
  out->query = analyze_query(an, nullptr, stmt->query);
  if (out->query->command != CommandKind::kSelect) {
    throw an.error(sqlstate::kInternalError, "unexpected non-SELECT command in DECLARE CURSOR");
  }
  if (out->query->has_modifying_cte) {
    throw an.error(sqlstate::kFeatureNotSupported,
                   "DECLARE CURSOR must not contain data-modifying statements in WITH");
  }
  if (!out->query->row_marks.empty()) {
    const std::string_view lock = lock_name(out->query->row_marks[0].strength);
    if (out->hold) {
      throw an
          .error(sqlstate::kFeatureNotSupported,
                 cat("DECLARE CURSOR WITH HOLD ... ", lock, " is not supported"))
          .detail("Holdable cursors must be READ ONLY.");
    }
    if (out->scroll) {
      throw an
          .error(sqlstate::kFeatureNotSupported, cat("DECLARE SCROLL CURSOR ... ", lock, " is not supported"))
          .detail("Scrollable cursors must be READ ONLY.");
    }
    if (out->insensitive) {
      throw an
          .error(sqlstate::kInvalidCursorDefinition,
                 cat("DECLARE INSENSITIVE CURSOR ... ", lock, " is not valid"))
          .detail("Insensitive cursors must be READ ONLY.");
    }
  }
  out->query_text = an.arena.copy(an.statement_text);
  return out;
}

}  // namespace pinwheel::sql
