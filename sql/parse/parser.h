#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/arena.h"

// The grammar library's trees; only sql/parse and sql/analyze look inside them.
struct PgQuery__ParseResult;
struct PgQuery__Node;

namespace pinwheel::sql {

/// What a statement is, as far as its first node tells: enough for a session to decide what it must do before
/// analysis.
enum class RawKind : std::uint8_t { kSelect, kInsert, kUpdate, kDelete, kUtility };

/// One statement of a query string, parsed and not yet analyzed.
struct RawStatement {
  const PgQuery__Node* node = nullptr;
  RawKind kind = RawKind::kUtility;
  /// COMMIT, ROLLBACK, ROLLBACK TO and their kin: what a session in a failed transaction still takes (else
  /// 25P02).
  bool allowed_in_failed_transaction = false;
  /// BEGIN, COMMIT, SET, ...: true when analyzing and running it needs no snapshot.
  bool needs_no_snapshot = false;
  std::string_view text;  ///< its own part of the string, without leading space
  int offset = 0;         ///< byte offset of `text` in the string
};

/// A parsed query string. Owns the parse trees and a copy of the text, both of which live as long as this
/// does; analysis copies what it keeps.
class ParsedText {
 public:
  ParsedText() = default;
  ParsedText(ParsedText&&) noexcept = default;
  ParsedText& operator=(ParsedText&&) noexcept = default;

  /// Empty when the string holds only space, comments and semicolons (EmptyQueryResponse).
  std::span<const RawStatement> statements() const { return statements_; }
  /// The whole string, against which positions count.
  std::string_view text() const { return text_; }

 private:
  friend ParsedText parse(std::string_view text);

  std::unique_ptr<Arena> arena_;
  std::string_view text_;
  std::vector<RawStatement> statements_;
};

/// Parses a query string of any number of statements.
///
/// Errors: 42601 and the grammar's other codes, with PostgreSQL's message and position.
ParsedText parse(std::string_view text);

/// How the grammar library is called. It recurses deeply and longjmps on errors, so a process whose sessions
/// are fibers installs a hook that runs `run(argument)` on the process's main stack. By default it is called
/// directly.
using MainStackHook = void (*)(void (*run)(void* argument), void* argument);
void set_main_stack_hook(MainStackHook hook);
/// Runs something of the grammar library where the hook wants it.
void call_on_main_stack(void (*run)(void* argument), void* argument);

/// SQL text of an expression of the grammar's tree: `SELECT <text>` parses to it again.
std::string expression_text(const PgQuery__Node* node);
/// SQL text of a statement of the grammar's tree.
std::string statement_text(const PgQuery__Node* node);

/// The statement with its literals replaced by $n, numbered after the parameters it has. Text that does not
/// parse comes back as it is.
std::string normalized_text(std::string_view text);

/// Character position (from 1) that ErrorResponse carries, of a byte offset in UTF-8 text; 0 for a negative
/// offset.
int character_position(std::string_view text, int byte_offset);

}  // namespace pinwheel::sql
