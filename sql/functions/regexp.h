#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace pinwheel::sql::functions {

/// Options of the regular-expression functions, from their flags argument.
struct RegexpFlags {
  bool global = false;
  bool ignore_case = false;
  bool newline_sensitive = false;  // n, m: both effects
  bool newline_stops_dot = false;  // p
  bool anchors_at_lines = false;   // w
  bool expanded = false;
  bool literal = false;

  /// Errors: 22023.
  static RegexpFlags parse(std::string_view text);
};

/// Byte range of a match or group; begin < 0: the group took no part.
struct MatchRange {
  std::int64_t begin = -1;
  std::int64_t end = -1;
};

/// A compiled PostgreSQL (advanced) regular expression over RE2: no back references and no lookaround
/// (0A000). Matches are longest, or leftmost-first when the pattern has a non-greedy quantifier.
class Regexp {
 public:
  /// From the process's cache. Errors: 2201B, 0A000. Valid until the next find().
  static const Regexp& find(std::string_view pattern, const RegexpFlags& flags);

  int group_count() const { return group_count_; }
  bool matches(std::string_view text) const;
  /// Fills 1 + group_count() ranges with the first match at or after byte `from`.
  bool search(std::string_view text, std::size_t from, std::vector<MatchRange>* groups) const;

  struct Compiled;
  Regexp(std::unique_ptr<Compiled> compiled, int groups);
  ~Regexp();

 private:
  std::unique_ptr<Compiled> compiled_;
  int group_count_;
};

}  // namespace pinwheel::sql::functions
