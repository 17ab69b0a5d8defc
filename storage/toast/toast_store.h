#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "storage/heap/heap.h"

namespace pinwheel::storage {

/// Where an out-of-line value lies: the 18 bytes after a varlena's `01 12` header.
///
///   offset  size  field
///   0       4     toast_relation   OID
///   4       4     value_id
///   8       4     raw_size         payload bytes once decompressed
///   12      4     stored_size      bytes in the toast relation
///   16      1     compression      0 none, 1 lz4
///   17      1     reserved         zero
struct ToastPointer {
  Oid toast_relation;
  std::uint32_t value_id;
  std::uint32_t raw_size;
  std::uint32_t stored_size;
  std::uint8_t compression;
  std::uint8_t reserved;
};
inline constexpr std::size_t kToastPointerBytes = 18;
/// Payload bytes per chunk: four chunk tuples fill a page.
inline constexpr std::size_t kToastChunkBytes = 1940;

/// The index of a toast relation over (chunk_id, chunk_seq); the owner of B-trees supplies it.
class ToastIndex {
 public:
  virtual ~ToastIndex() = default;
  virtual void insert(std::uint32_t value_id, std::int32_t sequence, TupleId id) = 0;
  /// Ids of all versions of a value's chunks in order of their sequence.
  virtual void find(std::uint32_t value_id, std::vector<TupleId>& ids) = 0;
};

/// Stores values in chunks of a toast relation: rows (chunk_id oid, chunk_seq int4, chunk_data bytea).
class ToastStore {
 public:
  ToastStore(Heap heap, Oid relation, ToastIndex& index) noexcept
      : heap_{heap}, relation_{relation}, index_{index} {}

  /// Stores `bytes` under `value_id` (unique in the relation: the caller takes an OID).
  ToastPointer store(std::uint32_t value_id, std::string_view bytes, std::uint32_t raw_size, bool compressed,
                     const WriteContext& context);
  /// Writes stored_size bytes to `to`. A chunk counts when its inserter did not abort: the row that points to
  /// it was visible. Errors: XX001 `missing chunk number N for toast value V in pg_toast_R`.
  void fetch(const ToastPointer& pointer, std::byte* to, TransactionOracle& oracle);
  /// Deletes all chunks of a value.
  void remove(std::uint32_t value_id, const WriteContext& context);

  Oid relation() const noexcept { return relation_; }

 private:
  Heap heap_;
  Oid relation_;
  ToastIndex& index_;
};

}  // namespace pinwheel::storage
