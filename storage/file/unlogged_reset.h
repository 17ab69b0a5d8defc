#pragma once

#include <string>
#include <vector>

#include "base/ids.h"

namespace pinwheel::storage {

/// Relations of all databases that have an init fork: the unlogged ones.
std::vector<FileId> find_unlogged(const std::string& data_directory);

/// Copies a file's bytes over another, making it, and syncs it. Errors: File's.
void copy_file_durably(const std::string& from, const std::string& to);

}  // namespace pinwheel::storage
