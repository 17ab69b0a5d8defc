#include "sql/analyze/coercion.h"
#include "sql/analyze/functions.h"
#include "sql/analyze/types.h"

namespace pinwheel::sql {

std::vector<const Candidate*> match_candidates(Analysis& an, std::span<const Oid> types,
                                               std::span<const Candidate> candidates) {
  std::vector<const Candidate*> fitting;
  for (const Candidate& candidate : candidates) {
    if (candidate.args.size() < types.size()) continue;
    if (can_coerce(an, types, std::span{candidate.args}.first(types.size()), CoercionContext::kImplicit)) {
      fitting.push_back(&candidate);
    }
  }
  return fitting;
}

namespace {

using Candidates = std::vector<const Candidate*>;

/// Keeps the candidates with the greatest score; `score` gives one per candidate.
template <class Score>
void keep_best(Candidates& candidates, Score score) {
  int best = -1;
  Candidates kept;
  for (const Candidate* candidate : candidates) {
    const int points = score(*candidate);
    if (points > best) {
      best = points;
      kept.clear();
    }
    if (points == best) kept.push_back(candidate);
  }
  candidates = std::move(kept);
}

/// Unknown arguments: when all candidates agree on a type category for each (or string is among them), keep
/// those that take it, preferring preferred types. False when nothing could be decided.
bool narrow_by_category(Analysis& an, std::span<const Oid> types, Candidates& candidates) {
  const std::size_t count = types.size();
  std::vector<char> slot_category(count, '\0');
  std::vector<bool> slot_preferred(count, false);
  bool resolved_all = true;
  for (std::size_t i = 0; i < count; ++i) {
    if (types[i] != kUnknownType) continue;
    bool have_conflict = false;
    for (const Candidate* candidate : candidates) {
      const ViewedType& type = type_of(an, candidate->args[i]);
      if (slot_category[i] == '\0') {
        slot_category[i] = type.category;
        slot_preferred[i] = type.preferred;
      } else if (type.category == slot_category[i]) {
        slot_preferred[i] = slot_preferred[i] || type.preferred;
      } else if (type.category == 'S') {
        slot_category[i] = 'S';
        slot_preferred[i] = type.preferred;
      } else {
        have_conflict = true;
      }
    }
    if (have_conflict && slot_category[i] != 'S') {
      resolved_all = false;
      break;
    }
  }
  if (!resolved_all) return false;
  Candidates kept;
  for (const Candidate* candidate : candidates) {
    bool keep = true;
    for (std::size_t i = 0; i < count && keep; ++i) {
      if (types[i] != kUnknownType) continue;
      const ViewedType& type = type_of(an, candidate->args[i]);
      keep = type.category == slot_category[i] && (!slot_preferred[i] || type.preferred);
    }
    if (keep) kept.push_back(candidate);
  }
  if (!kept.empty()) candidates = std::move(kept);
  return true;
}

}  // namespace

const Candidate* select_candidate(Analysis& an, std::span<const Oid> types, Candidates candidates) {
  const std::size_t count = types.size();
  std::vector<Oid> bases;
  int unknowns = 0;
  for (Oid type : types) {
    if (type == kUnknownType) ++unknowns;
    bases.push_back(base_type(an, type));
  }
  const auto only = [&]() -> const Candidate* {
    return candidates.size() == 1 ? candidates.front() : nullptr;
  };

  // Most exact matches.
  keep_best(candidates, [&](const Candidate& c) {
    int exact = 0;
    for (std::size_t i = 0; i < count; ++i) exact += bases[i] != kUnknownType && c.args[i] == bases[i];
    return exact;
  });
  if (const Candidate* found = only()) return found;

  // Most exact matches or preferred types of the same category.
  std::vector<char> categories;
  for (Oid type : bases) categories.push_back(type_category(an, type));
  keep_best(candidates, [&](const Candidate& c) {
    int matches = 0;
    for (std::size_t i = 0; i < count; ++i) {
      if (bases[i] == kUnknownType) continue;
      if (c.args[i] == bases[i]) {
        ++matches;
      } else {
        const ViewedType& type = type_of(an, c.args[i]);
        matches += type.category == categories[i] && type.preferred;
      }
    }
    return matches;
  });
  if (const Candidate* found = only()) return found;
  if (unknowns == 0) return nullptr;

  if (narrow_by_category(an, types, candidates)) {
    if (const Candidate* found = only()) return found;
  }

  // All known arguments of one type: assume that the unknown ones are of it too.
  if (unknowns < static_cast<int>(count)) {
    Oid known = kUnknownType;
    bool alike = true;
    for (Oid type : bases) {
      if (type == kUnknownType) continue;
      if (known == kUnknownType) known = type;
      alike = alike && type == known;
    }
    if (alike) {
      const std::vector<Oid> assumed(count, known);
      const Candidate* match = nullptr;
      int matches = 0;
      for (const Candidate* candidate : candidates) {
        if (can_coerce(an, assumed, std::span{candidate->args}.first(count), CoercionContext::kImplicit)) {
          match = candidate;
          ++matches;
        }
      }
      if (matches == 1) return match;
    }
  }
  return nullptr;
}

}  // namespace pinwheel::sql
