#pragma once

#include <cstdint>
#include <string_view>

namespace pinwheel::canned {

/// The rows that a statement is answered with.
enum class RowShape : std::uint8_t {
  kNone,
  kOneInteger,  // one row, one int4 column: what a SELECT of a balance or a count looks like
  kPartitions,  // one row of pgbench's question for the partitioning of pgbench_accounts: not partitioned
};

/// What a statement does to the transaction status that ReadyForQuery reports.
enum class TransactionEffect : std::uint8_t { kNone, kBegin, kEnd };

/// All that is known of a statement. `tag` is CommandComplete's text and lives as long as the program; it is
/// empty for an empty statement, and null for one that cannot be answered (COPY wants a data stream).
struct CannedReply {
  RowShape shape = RowShape::kNone;
  TransactionEffect effect = TransactionEffect::kNone;
  std::string_view tag;

  bool is_empty() const noexcept { return tag.data() != nullptr && tag.empty(); }
  bool is_refused() const noexcept { return tag.data() == nullptr; }
};

/// Chooses the reply by the statement's first word; a word that is not in the table is its own tag's
/// stand-in, "OK". No statement is parsed: a SELECT of many columns still gets one integer.
CannedReply reply_to(std::string_view statement) noexcept;

/// Cuts the first statement off `text`, which keeps what follows its semicolon. A semicolon in a quoted
/// string or identifier does not end a statement; dollar quotes and comments are not understood.
std::string_view take_statement(std::string_view& text) noexcept;

/// The highest n of the $n in the statement: the number of its parameters.
int parameter_count(std::string_view statement) noexcept;

}  // namespace pinwheel::canned
