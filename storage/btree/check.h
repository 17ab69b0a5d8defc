#pragma once

#include <cstdint>
#include <string>

#include "storage/btree/btree.h"

namespace pinwheel::storage {

/// Hears what verify_btree finds.
class BTreeCheckVisitor {
 public:
  virtual ~BTreeCheckVisitor() = default;
  /// A contradiction in the index.
  virtual void damage(const std::string& text) = 0;
  /// Each entry of each leaf, in order, whose bytes are sound. Nothing is latched.
  virtual void entry(TupleId, const std::uint64_t* /*values*/, const bool* /*nulls*/) {}
};

struct BTreeCheckResult {
  std::uint64_t entries = 0;
  std::uint32_t leaves = 0;
  std::uint32_t inner_pages = 0;
  std::uint32_t deleted_pages = 0;
  std::uint32_t unused_pages = 0;  // never initialised
  std::uint32_t levels = 0;
  std::uint32_t problems = 0;
};

/// Checks a whole index: item order within and across pages, high keys, sibling and child links, levels, each
/// page in its place exactly once. For an index that nobody changes meanwhile. Splits and deletions that a
/// crash left unfinished are sound. Errors: BufferPool's for unreadable pages are reported as damage.
BTreeCheckResult verify_btree(const BTree& tree, BTreeCheckVisitor& visitor);

}  // namespace pinwheel::storage
