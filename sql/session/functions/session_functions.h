#pragma once

#include <string_view>

#include "sql/commands/catalog_functions.h"

namespace pinwheel::sql {

struct SessionState;

/// What functions may ask of their session: all that CatalogFunctions answers from the catalogs, and what
/// only the session and the server around it know (settings, activity, advisory locks, transaction ids,
/// statistics).
class SessionFunctions final : public CatalogFunctions {
 public:
  /// `session` outlives this object.
  SessionFunctions(SessionState& session, AnalyzerCatalog& analyzer);

  RowSet call_set(std::string_view prosrc, Oid procedure, const Datum* args, const bool* nulls, int nargs,
                  Arena& arena) override;

 protected:
  Datum call_session(Call& call) override;

 private:
  SessionState& session_;
};

}  // namespace pinwheel::sql
