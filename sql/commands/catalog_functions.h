#pragma once

#include <string>
#include <string_view>

#include "sql/analyze/catalog_view.h"
#include "sql/catalog/catalog.h"
#include "sql/commands/sequences.h"
#include "sql/types/eval_context.h"

namespace pinwheel::sql {

/// Answers for one session what functions ask of the catalogs: names of reg* types, pg_get_*def,
/// has_*_privilege, sizes, sequences, comments. The session derives from it to answer what only it knows
/// (settings, activity, advisory locks).
class CatalogFunctions : public CatalogHooks {
 public:
  CatalogFunctions(Catalog& catalog, AnalyzerCatalog& analyzer)
      : catalog_{catalog}, analyzer_{analyzer}, sequences_{catalog} {}

  Oid find_relation(std::string_view qualified_name) override;
  Oid find_type(std::string_view spelling, int* typmod) override;
  Oid find_namespace(std::string_view name) override { return catalog_.find_schema(name); }
  Oid find_role(std::string_view name) override;
  Oid find_procedure(std::string_view name) override;
  Oid find_procedure_signature(std::string_view text) override;
  Oid find_operator(std::string_view name) override;
  Oid find_operator_signature(std::string_view text) override;
  Oid find_collation(std::string_view name) override;
  std::string object_name(Oid kind, Oid object) override;
  Datum call(std::string_view prosrc, Oid procedure, const Datum* args, const bool* nulls, int nargs,
             Arena& arena, bool* is_null) override;
  Datum input_user_type(Oid type, std::string_view text, int typmod, Arena& arena) override;
  void output_user_type(Oid type, Datum value, std::string& out) override;

  /// What one function works with.
  struct Call {
    Catalog& catalog;
    AnalyzerCatalog& analyzer;
    SequenceValues& sequences;
    std::string_view prosrc;
    Oid procedure;
    const Datum* args;
    const bool* nulls;
    int nargs;
    Arena& arena;
    bool is_null = false;

    Oid oid(int i) const { return args[i].as_oid(); }
    std::string_view text(int i) const;  // of text or name arguments, by the procedure's argument type
    Datum null() {
      is_null = true;
      return Datum{};
    }
    Datum make_text_result(std::string_view text_value) const;
  };

  /// Values that sequences gave in this session; DISCARD SEQUENCES forgets them.
  SequenceValues& sequences() { return sequences_; }

 protected:
  /// Functions that are not about catalogs. The default raises 0A000.
  virtual Datum call_session(Call& call);

  Catalog& catalog_;
  AnalyzerCatalog& analyzer_;

 private:
  SequenceValues sequences_;
};

/// A function of the catalogs, by prosrc.
struct CatalogFunction {
  std::string_view prosrc;
  Datum (*function)(CatalogFunctions::Call& call);
};
/// Tables of catalog_definitions.cc, catalog_facts.cc.
std::span<const CatalogFunction> definition_functions();
std::span<const CatalogFunction> fact_functions();
/// has_*_privilege_* and pg_has_role_*: every prosrc of that shape. False when it is none.
bool call_privilege_function(CatalogFunctions::Call& call, Datum* result);

// Texts that definitions are made of; for \d and EXPLAIN too.

/// As pg_get_indexdef: `column` 0 = the whole command, else one key's text.
std::string index_definition(Catalog& catalog, AnalyzerCatalog& analyzer, const IndexInfo& index, int column,
                             bool pretty);
/// A stored expression as pg_get_expr prints it, names as search_path has them.
std::string show_expression(Catalog& catalog, AnalyzerCatalog& analyzer, std::string_view stored,
                            Oid relation, bool pretty);

/// Splits "schema.name" with quotes into its parts (folded to lower case where not quoted). Errors: 42602.
std::vector<std::string> split_qualified_name(std::string_view text);

}  // namespace pinwheel::sql
