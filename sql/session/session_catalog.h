#pragma once

#include "sql/catalog/analyzer_adapter.h"
#include "sql/catalog/catalog.h"
#include "sql/catalog/toast_access.h"

namespace pinwheel::sql {

/// A session's helpers over its Catalog: what analysis sees, what functions ask, and how external values are
/// read.
class SessionCatalog {
 public:
  explicit SessionCatalog(Catalog& catalog) : analyzer_{catalog}, detoaster_{catalog} {}

  AnalyzerCatalog& analyzer_view() { return analyzer_; }
  Detoaster& detoaster() { return detoaster_; }
  /// Between statements: drops what the last one was shown.
  void reset() { analyzer_.reset(); }

 private:
  AnalyzerAdapter analyzer_;
  SessionDetoaster detoaster_;
};

}  // namespace pinwheel::sql
