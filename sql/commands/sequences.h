#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>

#include "sql/catalog/catalog.h"
#include "sql/commands/command_context.h"
#include "sql/query/utility.h"

namespace pinwheel::sql {

/// Makes a sequence from written options (`as`, `increment`, `start`...). `default_type`: what it gives
/// without AS. Ownership (OWNED BY) is recorded by the caller. Errors: PostgreSQL's for the options (22023).
Oid create_sequence(CommandContext& context, Oid schema, const std::string& name, char persistence, Oid owner,
                    std::span<const Option> options, Oid default_type);

/// Records that `sequence` belongs to a column; `internal` for identity columns.
void own_sequence(Catalog& catalog, Oid sequence, Oid table, std::int16_t column, bool internal);

/// The values of sequences, and what one session remembers of them (currval, cached values). Values are not
/// transactional: they are changed in place, each change logged, under a short lock on the sequence's page.
class SequenceValues {
 public:
  explicit SequenceValues(Catalog& catalog) : catalog_{catalog} {}

  /// Errors: 2200H `nextval: reached maximum value of sequence "x" (n)`; 42501; 42809.
  std::int64_t next(Oid sequence);
  std::int64_t current(Oid sequence);  // 55000 when not called yet in this session
  std::int64_t last();                 // 55000
  void set(Oid sequence, std::int64_t value, bool is_called);
  /// NULL before the first nextval.
  std::optional<std::int64_t> last_value(Oid sequence);
  /// DISCARD SEQUENCES.
  void forget() {
    cached_.clear();
    last_used_ = kInvalidOid;
  }

 private:
  struct Cached {
    FileId file;  // another file: the sequence was restarted or made anew
    std::int64_t last = 0;
    std::int64_t until = 0;
    std::int64_t increment = 1;
  };
  Catalog& catalog_;
  std::unordered_map<Oid, Cached> cached_;
  Oid last_used_;
};

/// Makes the sequence's file anew with one row, transactionally: ALTER SEQUENCE, TRUNCATE RESTART.
void rewrite_sequence(Catalog& catalog, Oid sequence, std::int64_t last_value, bool is_called);

}  // namespace pinwheel::sql
