#pragma once

#include <string>

#include "base/error.h"
#include "base/settings.h"

namespace pinwheel::server {

/// A profile of that name does not exist: the command line's fault, so the exit status is 2.
class UnknownProfile : public SqlError {
 public:
  using SqlError::SqlError;
  explicit UnknownProfile(SqlError error) : SqlError{std::move(error)} {}
};

/// Sets what `name` lists: profiles/NAME.conf of the source tree or the installation that the running program
/// belongs to, or, when it contains a slash, that file. A profile is stronger than configuration files and
/// weaker than the command line, so call it after both. Errors: UnknownProfile with the nearest name and all
/// names in its hint; for a bad line those of ServerSettings::set, with file and line.
void apply_profile(ServerSettings& settings, const std::string& name);

}  // namespace pinwheel::server
