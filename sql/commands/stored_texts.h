#pragma once

#include <vector>

#include "sql/commands/command_context.h"
#include "sql/commands/dependencies.h"
#include "sql/query/query.h"

namespace pinwheel::sql {

/// The texts in the catalogs that name some relations: defaults, checks, index expressions and predicates,
/// views. Taken apart before a rename and written again after it, since texts hold names.
class StoredTexts {
 public:
  explicit StoredTexts(CommandContext& context) : context_{context} {}

  /// Analyzes every stored text that names `relation` or its columns. Call before the change, once per
  /// relation.
  void collect(Oid relation);
  /// Writes the texts with the names of now.
  void store();

 private:
  enum class Kind : std::uint8_t { kDefault, kCheck, kIndexExpressions, kIndexPredicate, kView };
  struct Text {
    Kind kind;
    Oid object;  // pg_attrdef, pg_constraint, pg_index (index oid), pg_rewrite row
    Oid table;   // whose columns the expressions name; the view
    std::vector<Expr*> expressions;
    Query* query = nullptr;
  };
  bool known(Kind kind, Oid object) const;
  void collect_default(Oid object);
  void collect_check(Oid object);
  void collect_index(Oid index);
  void collect_view(Oid rule);
  void refresh_names(Query& query);
  std::string text_of(const Text& text);

  CommandContext& context_;
  std::vector<Text> texts_;
};

}  // namespace pinwheel::sql
