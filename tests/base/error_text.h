#pragma once

#include <string>

#include "base/error.h"

namespace pinwheel::test {

/// "SQLSTATE message" of the SqlError that `act` throws; "none" when it throws none.
template <class Act>
std::string error_of(Act act) {
  try {
    act();
  } catch (const SqlError& error) {
    return std::string{error.state().view()} + " " + error.message();
  }
  return "none";
}

/// The hint of that error.
template <class Act>
std::string hint_of(Act act) {
  try {
    act();
  } catch (const SqlError& error) {
    return error.fields().hint;
  }
  return "none";
}

}  // namespace pinwheel::test
