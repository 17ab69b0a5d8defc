#pragma once

#include <cstddef>
#include <cstdint>

#include "base/bytes.h"
#include "base/ids.h"
#include "storage/page/page.h"

namespace pinwheel::storage {

/// Bits of TupleHeader::infomask. On disk: never reuse.
enum TupleFlag : std::uint16_t {
  kTupleHasNulls = 1u << 0,
  kTupleHasVarWidth = 1u << 1,
  kTupleHasExternal = 1u << 2,    // some value lies in the toast relation
  kTupleXmaxKeyShare = 1u << 3,   // row lock strength of xmax: KEY SHARE...
  kTupleXmaxExclusive = 1u << 4,  // ...NO KEY UPDATE / UPDATE; with kTupleXmaxKeyShare: SHARE
  kTupleXmaxLockOnly = 1u << 5,   // xmax only locks the row
  kTupleXmaxIsMulti = 1u << 6,    // xmax is a multixact id
  kTupleXminCommitted = 1u << 7,  // hints: known fate of xmin and xmax
  kTupleXminAborted = 1u << 8,
  kTupleXmaxCommitted = 1u << 9,
  kTupleXmaxInvalid = 1u << 10,  // xmax is 0 or aborted: nobody deleted the tuple
  kTupleUpdated = 1u << 11,      // this version came from an update
};
inline constexpr std::uint16_t kTupleXmaxStrength = kTupleXmaxKeyShare | kTupleXmaxExclusive;
inline constexpr std::uint16_t kTupleXmaxBits =
    kTupleXmaxStrength | kTupleXmaxLockOnly | kTupleXmaxIsMulti | kTupleXmaxCommitted | kTupleXmaxInvalid;

/// Bits of TupleHeader::infomask2 above the attribute count.
inline constexpr std::uint16_t kTupleAttributeMask = 0x07FF;
inline constexpr std::uint16_t kTupleKeysUpdated = 0x2000;  // xmax changed key columns, or deleted
inline constexpr std::uint16_t kTupleHotUpdated = 0x4000;   // the next version is on this page, heap-only
inline constexpr std::uint16_t kTupleHeapOnly = 0x8000;     // no index points here: reached by the chain
inline constexpr std::uint16_t kMaxAttributes = 1600;

/// Row lock strengths, weak to strong; numbered as on disk in multixact members.
enum class RowLock : std::uint8_t { kKeyShare = 0, kShare = 1, kNoKeyUpdate = 2, kUpdate = 3 };

/// Whether two transactions cannot hold these strengths on one row together.
constexpr bool row_locks_conflict(RowLock a, RowLock b) noexcept {
  // KEY SHARE conflicts with UPDATE only; SHARE also with NO KEY UPDATE; the upper two with each other.
  constexpr std::uint8_t kConflicts[4] = {0b1000, 0b1100, 0b1110, 0b1111};
  return (kConflicts[static_cast<int>(a)] >> static_cast<int>(b) & 1) != 0;
}

/// First bytes of every heap tuple (docs/formats/heap_tuple.md).
///
///   offset  size  field
///   0       8     xmin        inserting transaction
///   8       8     xmax        deleting, updating or locking transaction or multixact; 0 = none
///   16      4     cmin        command of xmin
///   20      4     cmax        command of xmax
///   24      4     next_page   where the next version is; this tuple itself when there is none
///   28      2     next_slot
///   30      2     infomask    TupleFlag bits
///   32      2     infomask2   attribute count, HOT bits
///   34      1     data_offset start of the values: a multiple of 8
///   35      1     reserved    zero
///   36      -     null bitmap, one bit per attribute, 1 = not null; only with kTupleHasNulls
struct TupleHeader {
  std::uint64_t xmin;
  std::uint64_t xmax;
  std::uint32_t cmin;
  std::uint32_t cmax;
  std::uint32_t next_page;
  std::uint16_t next_slot;
  std::uint16_t infomask;
  std::uint16_t infomask2;
  std::uint8_t data_offset;
  std::uint8_t reserved;
  std::uint8_t null_bitmap[4];  // continues past the struct
};
static_assert(sizeof(TupleHeader) == 40 && offsetof(TupleHeader, null_bitmap) == 36);
inline constexpr std::size_t kTupleHeaderBytes = 36;

constexpr std::size_t tuple_data_offset(std::size_t attributes, bool has_nulls) noexcept {
  return align_item(kTupleHeaderBytes + (has_nulls ? (attributes + 7) / 8 : 0));
}
/// Largest tuple a heap page takes.
inline constexpr std::size_t kMaxTupleSize = kMaxItemSize;
/// Most tuples on a heap page.
inline constexpr std::size_t kMaxHeapSlots = (kPageSize - kPageHeaderSize) / (40 + sizeof(LinePointer));

/// A tuple version in a frame or in private memory. A view: valid while the page is pinned. Fields other than
/// hint bits and xmax are stable under a pin; read xmax and infomask once.
class HeapTupleView {
 public:
  HeapTupleView() noexcept = default;
  HeapTupleView(const std::byte* bytes, std::uint16_t length, TupleId id) noexcept
      : bytes_{bytes}, length_{length}, id_{id} {}

  bool valid() const noexcept { return bytes_ != nullptr; }
  const TupleHeader& header() const noexcept { return *reinterpret_cast<const TupleHeader*>(bytes_); }
  TupleId id() const noexcept { return id_; }
  const std::byte* bytes() const noexcept { return bytes_; }
  std::uint16_t length() const noexcept { return length_; }
  Xid xmin() const noexcept { return Xid{header().xmin}; }
  Xid xmax() const noexcept { return Xid{header().xmax}; }
  std::uint16_t infomask() const noexcept { return header().infomask; }
  TupleId next() const noexcept { return {PageNumber{header().next_page}, header().next_slot}; }
  bool has_next() const noexcept { return next() != id_; }
  unsigned attribute_count() const noexcept { return header().infomask2 & kTupleAttributeMask; }
  bool has_nulls() const noexcept { return (header().infomask & kTupleHasNulls) != 0; }
  bool is_hot_updated() const noexcept { return (header().infomask2 & kTupleHotUpdated) != 0; }
  bool is_heap_only() const noexcept { return (header().infomask2 & kTupleHeapOnly) != 0; }
  const std::byte* data() const noexcept { return bytes_ + header().data_offset; }
  bool is_null(unsigned attribute) const noexcept {
    return has_nulls() &&
           (static_cast<std::uint8_t>(bytes_[kTupleHeaderBytes + attribute / 8]) >> (attribute % 8) & 1) == 0;
  }
  /// Sets hint bits (kTupleXmin..., kTupleXmax...), under a pin and at least a shared latch or a pin taken
  /// under one. Never makes the page dirty: a lost hint costs one look-up (docs/decisions/0003-hint-bits.md).
  void set_hint(std::uint16_t bits) const noexcept {
    or_hint_bits(const_cast<std::uint16_t*>(&header().infomask), bits);
  }

 private:
  const std::byte* bytes_ = nullptr;
  std::uint16_t length_ = 0;
  TupleId id_;
};

}  // namespace pinwheel::storage
