#include "sql/parse/parser.h"

#include <pg_query.h>

#include <algorithm>

#include "base/error.h"
#include "base/sqlstate.h"
#include "sql/parse/raw_node.h"
#include "sql/types/numbers.h"

namespace pinwheel::sql {

namespace {

// Set once at start-up, before any session exists.
MainStackHook main_stack_hook = nullptr;

void* allocate_in_arena(void* arena, std::size_t size) {
  return static_cast<Arena*>(arena)->allocate(size, 16);
}
void free_in_arena(void*, void*) {}

/// One call of the grammar library; everything that crosses to the main stack and back.
struct ParseCall {
  const char* text = nullptr;
  Arena* arena = nullptr;
  PgQuery__ParseResult* tree = nullptr;
  bool failed = false;
  std::string message;
  int cursor = 0;
  bool unpack_failed = false;
};

void run_grammar(void* argument) {
  ParseCall& call = *static_cast<ParseCall*>(argument);
  PgQueryProtobufParseResult result = pg_query_parse_protobuf(call.text);
  if (result.error != nullptr) {
    call.failed = true;
    call.message = result.error->message;
    call.cursor = result.error->cursorpos;
  } else {
    ProtobufCAllocator allocator{allocate_in_arena, free_in_arena, call.arena};
    call.tree = pg_query__parse_result__unpack(&allocator, result.parse_tree.len,
                                               reinterpret_cast<const std::uint8_t*>(result.parse_tree.data));
    call.unpack_failed = call.tree == nullptr;
  }
  pg_query_free_protobuf_parse_result(result);
}

/// The grammar library gives a message without its SQLSTATE; most are syntax errors.
SqlState state_of_message(std::string_view message) {
  struct Rule {
    std::string_view part;
    SqlState state;
  };
  static constexpr Rule kRules[] = {
      {"stack depth limit exceeded", sqlstate::kStatementTooComplex},
      {"is not yet implemented", sqlstate::kFeatureNotSupported},
      {"not implemented", sqlstate::kFeatureNotSupported},
      {"is not supported", sqlstate::kFeatureNotSupported},
      {"cannot be marked", sqlstate::kFeatureNotSupported},
      {"invalid byte sequence", sqlstate::kCharacterNotInRepertoire},
      {"unsafe use of", sqlstate::kNonstandardUseOfEscapeCharacter},
      {"invalid Unicode escape value", sqlstate::kSyntaxError},
      {"invalid Unicode escape", sqlstate::kInvalidEscapeSequence},
      {"is ambiguous", sqlstate::kAmbiguousColumn},
      {"precision for type float", sqlstate::kInvalidParameterValue},
      {"window frame", sqlstate::kWindowingError},
      {"frame start", sqlstate::kWindowingError},
      {"frame end", sqlstate::kWindowingError},
      {"frame starting from", sqlstate::kWindowingError},
      {"frame cannot", sqlstate::kWindowingError},
  };
  for (const Rule& rule : kRules) {
    if (message.find(rule.part) != std::string_view::npos) return rule.state;
  }
  return sqlstate::kSyntaxError;
}

/// Moves past space and comments, which the grammar counts to the statement that follows.
int skip_blank(std::string_view text, int at, int end) {
  while (at < end) {
    if (is_space(text[at])) {
      ++at;
    } else if (text.substr(at, 2) == "--") {
      while (at < end && text[at] != '\n') ++at;
    } else if (text.substr(at, 2) == "/*") {
      int depth = 0;
      do {
        if (text.substr(at, 2) == "/*") {
          ++depth;
          at += 2;
        } else if (text.substr(at, 2) == "*/") {
          --depth;
          at += 2;
        } else {
          ++at;
        }
      } while (depth > 0 && at < end);
    } else {
      break;
    }
  }
  return at < end ? at : end;
}

void classify(RawStatement& statement) {
  switch (statement.node->node_case) {
    case PG_QUERY__NODE__NODE_SELECT_STMT:
      statement.kind =
          statement.node->select_stmt->into_clause == nullptr ? RawKind::kSelect : RawKind::kUtility;
      break;
    case PG_QUERY__NODE__NODE_INSERT_STMT:
      statement.kind = RawKind::kInsert;
      break;
    case PG_QUERY__NODE__NODE_UPDATE_STMT:
      statement.kind = RawKind::kUpdate;
      break;
    case PG_QUERY__NODE__NODE_DELETE_STMT:
      statement.kind = RawKind::kDelete;
      break;
    case PG_QUERY__NODE__NODE_TRANSACTION_STMT: {
      statement.needs_no_snapshot = true;
      switch (statement.node->transaction_stmt->kind) {
        case PG_QUERY__TRANSACTION_STMT_KIND__TRANS_STMT_COMMIT:
        case PG_QUERY__TRANSACTION_STMT_KIND__TRANS_STMT_ROLLBACK:
        case PG_QUERY__TRANSACTION_STMT_KIND__TRANS_STMT_ROLLBACK_TO:
        case PG_QUERY__TRANSACTION_STMT_KIND__TRANS_STMT_PREPARE:
          statement.allowed_in_failed_transaction = true;
          break;
        default:
          break;
      }
      break;
    }
    case PG_QUERY__NODE__NODE_LOCK_STMT:
    case PG_QUERY__NODE__NODE_VARIABLE_SET_STMT:
    case PG_QUERY__NODE__NODE_VARIABLE_SHOW_STMT:
    case PG_QUERY__NODE__NODE_CONSTRAINTS_SET_STMT:
    case PG_QUERY__NODE__NODE_CHECK_POINT_STMT:
    case PG_QUERY__NODE__NODE_DISCARD_STMT:
    case PG_QUERY__NODE__NODE_FETCH_STMT:
    case PG_QUERY__NODE__NODE_LISTEN_STMT:
    case PG_QUERY__NODE__NODE_NOTIFY_STMT:
    case PG_QUERY__NODE__NODE_UNLISTEN_STMT:
      statement.needs_no_snapshot = true;
      break;
    default:
      break;
  }
}

}  // namespace

void set_main_stack_hook(MainStackHook hook) { main_stack_hook = hook; }

void call_on_main_stack(void (*run)(void* argument), void* argument) {
  if (main_stack_hook != nullptr) {
    main_stack_hook(run, argument);
  } else {
    run(argument);
  }
}

int character_position(std::string_view text, int byte_offset) {
  if (byte_offset < 0) return 0;
  int characters = 1;
  const int end = std::min(byte_offset, static_cast<int>(text.size()));
  for (int i = 0; i < end; ++i) characters += (static_cast<unsigned char>(text[i]) & 0xC0) != 0x80;
  return characters;
}

namespace {

struct DeparseCall {
  PgQueryProtobuf tree;
  std::string text;
  std::string problem;
};

void run_deparser(void* argument) {
  DeparseCall& call = *static_cast<DeparseCall*>(argument);
  PgQueryDeparseResult result = pg_query_deparse_protobuf(call.tree);
  if (result.error != nullptr) {
    call.problem = result.error->message;
  } else {
    call.text = result.query;
  }
  pg_query_free_deparse_result(result);
}

struct NormalizeCall {
  const char* text = nullptr;
  std::string normalized;
};

void run_normalizer(void* argument) {
  NormalizeCall& call = *static_cast<NormalizeCall*>(argument);
  const PgQueryNormalizeResult result = pg_query_normalize(call.text);
  if (result.error == nullptr) call.normalized = result.normalized_query;
  pg_query_free_normalize_result(result);
}

}  // namespace

std::string normalized_text(std::string_view text) {
  const std::string terminated{text};
  NormalizeCall call;
  call.text = terminated.c_str();
  call_on_main_stack(run_normalizer, &call);
  return call.normalized.empty() ? terminated : call.normalized;
}

std::string statement_text(const PgQuery__Node* node) {
  PgQuery__RawStmt raw = PG_QUERY__RAW_STMT__INIT;
  raw.stmt = const_cast<PgQuery__Node*>(node);
  PgQuery__RawStmt* list[] = {&raw};
  PgQuery__ParseResult tree = PG_QUERY__PARSE_RESULT__INIT;
  tree.version = PG_VERSION_NUM;
  tree.n_stmts = 1;
  tree.stmts = list;
  std::string packed(pg_query__parse_result__get_packed_size(&tree), '\0');
  pg_query__parse_result__pack(&tree, reinterpret_cast<std::uint8_t*>(packed.data()));
  DeparseCall call;
  call.tree = {packed.size(), packed.data()};
  call_on_main_stack(run_deparser, &call);
  if (!call.problem.empty()) throw SqlError{sqlstate::kFeatureNotSupported, call.problem};
  return call.text;
}

std::string expression_text(const PgQuery__Node* node) {
  PgQuery__ResTarget target = PG_QUERY__RES_TARGET__INIT;
  target.val = const_cast<PgQuery__Node*>(node);
  PgQuery__Node target_node = PG_QUERY__NODE__INIT;
  target_node.node_case = PG_QUERY__NODE__NODE_RES_TARGET;
  target_node.res_target = &target;
  PgQuery__Node* targets[] = {&target_node};
  PgQuery__SelectStmt select = PG_QUERY__SELECT_STMT__INIT;
  select.n_target_list = 1;
  select.target_list = targets;
  select.limit_option = PG_QUERY__LIMIT_OPTION__LIMIT_OPTION_DEFAULT;
  select.op = PG_QUERY__SET_OPERATION__SETOP_NONE;
  PgQuery__Node statement = PG_QUERY__NODE__INIT;
  statement.node_case = PG_QUERY__NODE__NODE_SELECT_STMT;
  statement.select_stmt = &select;
  std::string text = statement_text(&statement);
  constexpr std::string_view kPrefix = "SELECT ";
  return text.starts_with(kPrefix) ? text.substr(kPrefix.size()) : text;
}

ParsedText parse(std::string_view text) {
  ParsedText parsed;
  parsed.arena_ = std::make_unique<Arena>();
  parsed.text_ = parsed.arena_->copy(text);

  ParseCall call;
  call.text = parsed.text_.data();
  call.arena = parsed.arena_.get();
  call_on_main_stack(run_grammar, &call);
  if (call.failed) {
    // The library reports a character position already, as PostgreSQL does.
    throw SqlError{state_of_message(call.message), call.message}.position(call.cursor);
  }
  if (call.unpack_failed) {
    throw SqlError{sqlstate::kStatementTooComplex, "statement is nested too deeply"};
  }

  const int whole = static_cast<int>(parsed.text_.size());
  parsed.statements_.reserve(call.tree->n_stmts);
  for (std::size_t i = 0; i < call.tree->n_stmts; ++i) {
    const PgQuery__RawStmt* raw = call.tree->stmts[i];
    RawStatement statement;
    statement.node = raw->stmt;
    const int end = raw->stmt_len > 0 ? raw->stmt_location + raw->stmt_len : whole;
    statement.offset = skip_blank(parsed.text_, raw->stmt_location, end);
    statement.text = parsed.text_.substr(statement.offset, end - statement.offset);
    classify(statement);
    parsed.statements_.push_back(statement);
  }
  return parsed;
}

}  // namespace pinwheel::sql
