#pragma once

#include <string>

#include "base/ids.h"

namespace pinwheel::storage {
class Storage;
}

namespace pinwheel::sql {

inline constexpr Oid kTemplate1Database{1};
inline constexpr Oid kTemplate0Database{4};
inline constexpr Oid kPostgresDatabase{5};
inline constexpr Oid kBootstrapSuperuser{10};

struct BootstrapOptions {
  std::string superuser = "postgres";
  std::string password;  // as to be stored in pg_authid; "" = none
  std::string locale = "C.UTF-8";
};

/// Fills an empty cluster: the shared catalogs and the databases template1, template0 and postgres, with the
/// system's tables, indexes and views. Called once by `pinwheel init`, single process, before anything else
/// runs.
///
/// Rows bear the bootstrap xid and are not logged: the caller writes a shutdown checkpoint afterwards, which
/// flushes and syncs all. If the process dies before that, the cluster is not there yet (init starts again
/// from nothing).
void bootstrap_catalog(storage::Storage& storage, const BootstrapOptions& options);

}  // namespace pinwheel::sql
