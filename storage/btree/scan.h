#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>

#include "storage/btree/btree.h"
#include "storage/btree/search_key.h"

namespace pinwheel::storage {

enum class BTreeTest : std::uint8_t { kLess, kLessEqual, kEqual, kGreaterEqual, kGreater, kIsNull, kNotNull };

/// One condition: key column <test> value, in the order of the type (whatever DESC says).
struct BTreeScanKey {
  std::uint16_t column = 0;  // from 0
  BTreeTest test = BTreeTest::kEqual;
  bool is_null = false;  // the value is null: with any test but kIsNull and kNotNull nothing matches
  std::uint64_t value = 0;
  /// Compares (column value, `value`) when `value` is of another type than the column; null: the column's own
  /// order (which does for all signed integers, whatever their widths).
  KeyCompare compare = nullptr;
  const void* context = nullptr;
};

struct BTreeScanOptions {
  bool backward = false;
  /// Keeps the entries' bytes, for values(): index-only scans.
  bool want_values = false;
  /// Notes for each entry whether its heap page was all-visible when the entry was read, under the leaf's
  /// latch: then vacuum cannot remove the row in between (index-only scans). FileId of the heap.
  bool note_all_visible = false;
  FileId heap{};
};

/// Reads the entries that satisfy all keys, in index order or backward. Reads a leaf at a time: what matches
/// is copied under one short shared latch, then handed out with nothing latched or pinned, so the caller may
/// park between calls.
///
/// Keys on a prefix of the columns (equalities, then bounds on the next column) limit what is read; others
/// only filter. An object is used again and again (open, next..., close): it allocates in its first open
/// only.
class BTreeScan {
 public:
  BTreeScan();
  ~BTreeScan();
  BTreeScan(BTreeScan&&) noexcept;
  BTreeScan& operator=(BTreeScan&&) noexcept;

  /// Begins. `keys` are copied; what their by-reference values point to must live until close().
  void open(const BTree& tree, std::span<const BTreeScanKey> keys, const BTreeScanOptions& options = {});

  /// The next entry's row; false at the end. check_interrupts() once per leaf.
  bool next(TupleId& id) {
    if (index_ != count_) [[likely]] {
      id = entry(index_++);
      return true;
    }
    return next_page(id);
  }
  /// Facts of the entry that next() gave.
  bool all_visible() const noexcept;
  /// All columns. Pointers are valid until the next leaf is read, that is, until next() is called.
  void values(std::uint64_t* values, bool* nulls) const noexcept;

  /// Says that the entry's row is dead to everyone for good. Entries said so are marked in the index when the
  /// scan leaves the leaf; a later insertion removes them.
  void kill_current() noexcept;

  /// Ends; marks what was killed. Idempotent.
  void close() noexcept;

 private:
  struct Batch;
  TupleId entry(std::uint32_t index) const noexcept;
  bool next_page(TupleId& id);
  bool load_first();
  bool load_forward(PageNumber page);
  bool load_backward(PageNumber page);

  friend struct BTreeScanAccess;
  std::unique_ptr<Batch> batch_;
  const TupleId* ids_ = nullptr;
  std::uint32_t index_ = 0;
  std::uint32_t count_ = 0;
};

inline TupleId BTreeScan::entry(std::uint32_t index) const noexcept { return ids_[index]; }

}  // namespace pinwheel::storage
