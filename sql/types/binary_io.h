#pragma once

#include <string>

#include "base/bytes.h"

namespace pinwheel::sql {

/// Appends `value` in network byte order, as binary results and COPY want it.
template <class T>
void append_network(std::string& out, T value) {
  char buffer[sizeof(T)];
  store_network<T>(buffer, value);
  out.append(buffer, sizeof buffer);
}

}  // namespace pinwheel::sql
