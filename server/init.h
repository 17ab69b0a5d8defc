#pragma once

#include <cstdint>
#include <string>

namespace pinwheel::server {

/// What `pinwheel init` was told.
struct InitOptions {
  std::string data_directory;
  std::string superuser;              ///< "" = the operating system's user
  std::string auth_method = "trust";  ///< for host and local lines alike
  std::string auth_local, auth_host;  ///< "" = auth_method
  std::string encoding = "UTF8";
  bool data_checksums = true;
  std::uint32_t wal_segment_mb = 16;
  bool no_sync = false;
  bool quiet = false;
};

/// Makes a cluster: directories, configuration files, control file, an empty log, the catalogs. Prints its
/// steps as initdb does.
///
/// Errors: 42602 and kin in initdb's words when the directory is not empty or an option is bad. A failed init
/// removes what it made.
void init_cluster(const InitOptions& options);

}  // namespace pinwheel::server
