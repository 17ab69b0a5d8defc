#pragma once

#include <cstdint>
#include <string>

#include "storage/heap/heap.h"

namespace pinwheel::storage {

/// Hears what verify_heap finds.
class HeapCheckVisitor {
 public:
  virtual ~HeapCheckVisitor() = default;
  /// A contradiction in the heap; the text names page and slot.
  virtual void damage(const std::string& text) = 0;
  /// Each version whose bytes are sound: lets the caller compare with CLOG and indexes. Nothing is latched.
  virtual void tuple(const HeapTupleView&) {}
};

struct HeapCheckResult {
  std::uint64_t tuples = 0;
  std::uint32_t pages = 0;
  std::uint32_t new_pages = 0;
  std::uint32_t problems = 0;
};

/// Checks every page of a heap: header and line pointers, tuple headers against their length and `layout`
/// (may be null), links of HOT chains and redirects, `next` within the relation, xids not beyond `next_xid`,
/// the visibility map against the page flag. For a relation that nobody changes meanwhile. Errors: none;
/// unreadable pages are reported as damage.
HeapCheckResult verify_heap(const Heap& heap, const TupleLayout* layout, Xid next_xid,
                            HeapCheckVisitor& visitor);

}  // namespace pinwheel::storage
