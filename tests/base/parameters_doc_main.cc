#include <cstdio>

#include "tests/base/parameters_markdown.h"

/// Prints docs/parameters.md; run by scripts/generate-parameters-doc.
int main() {
  const std::string text = pinwheel::parameters_markdown();
  return std::fwrite(text.data(), 1, text.size(), stdout) == text.size() ? 0 : 1;
}
