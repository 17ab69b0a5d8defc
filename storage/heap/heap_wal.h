#pragma once

#include <cstdint>
#include <type_traits>

namespace pinwheel::storage {

/// Kinds of RmgrId::kHeap records (docs/formats/heap_wal.md). On disk: never reuse.
enum class HeapRecord : std::uint8_t {
  kInsert = 0x00,
  kDelete = 0x10,
  kUpdate = 0x20,
  kHotUpdate = 0x30,
  kLock = 0x40,
  kMultiInsert = 0x50,
  kPrune = 0x60,
  kVacuum = 0x70,
  kVisible = 0x80,
  kAbortSpeculative = 0x90,
  kOverwrite = 0xA0,
};

/// Bits of the records' `flags`.
enum HeapRecordFlag : std::uint8_t {
  kHeapClearsVisible = 1u << 0,     // the page's visibility bit goes (update: the old version's page)
  kHeapClearsVisibleNew = 1u << 1,  // update: the new version's page
  kHeapInitPage = 1u << 2,          // the (new) page is made from scratch
  kHeapFrozen = 1u << 3,            // xmin is kFrozenXid
};

/// A tuple as it stands in a record: its bytes from offset 36 (null bitmap) on follow, without what prefix
/// and suffix of an update share with the old version.
///
///   offset  size  field
///   0       2     length        of the whole tuple
///   2       2     infomask
///   4       2     infomask2
///   6       1     data_offset
///   7       1     reserved      zero
struct WalTuple {
  std::uint16_t length;
  std::uint16_t infomask;
  std::uint16_t infomask2;
  std::uint8_t data_offset;
  std::uint8_t reserved;
};
static_assert(sizeof(WalTuple) == 8 && std::has_unique_object_representations_v<WalTuple>);

/// kInsert. Block 0: the page; its data: WalTuple and bytes.
struct HeapInsertRecord {
  std::uint16_t slot;
  std::uint8_t flags;
  std::uint8_t reserved;
};
static_assert(std::has_unique_object_representations_v<HeapInsertRecord>);

/// kMultiInsert. Block 0: the page; its data: for each tuple its slot (u16), a WalTuple, its bytes.
struct HeapMultiInsertRecord {
  std::uint16_t count;
  std::uint8_t flags;
  std::uint8_t reserved;
};
static_assert(std::has_unique_object_representations_v<HeapMultiInsertRecord>);

/// kDelete. Block 0: the page. `infomask`: the kTupleXmax... bits; `infomask2`: kTupleKeysUpdated.
struct HeapDeleteRecord {
  std::uint64_t xmax;
  std::uint16_t slot;
  std::uint16_t infomask;
  std::uint16_t infomask2;
  std::uint8_t flags;
  std::uint8_t reserved;
};
static_assert(std::has_unique_object_representations_v<HeapDeleteRecord>);

/// kUpdate, kHotUpdate. Block 0: the new version's page; block 1: the old one's, if another. Block 0's data:
/// WalTuple and bytes. `prefix`, `suffix`: bytes (from offset 36, from the end) equal to the old version's; 0
/// when the pages differ.
struct HeapUpdateRecord {
  std::uint64_t old_xmax;
  std::uint64_t new_xmax;  // lockers carried over to the new version; 0 = none
  std::uint16_t old_slot;
  std::uint16_t new_slot;
  std::uint16_t old_infomask;
  std::uint16_t old_infomask2;
  std::uint16_t prefix;
  std::uint16_t suffix;
  std::uint8_t flags;
  std::uint8_t reserved[3];
};
static_assert(sizeof(HeapUpdateRecord) == 32 && std::has_unique_object_representations_v<HeapUpdateRecord>);

/// kLock. Block 0: the page.
struct HeapLockRecord {
  std::uint64_t xmax;
  std::uint16_t slot;
  std::uint16_t infomask;
  std::uint16_t infomask2;
  std::uint16_t reserved;
};
static_assert(std::has_unique_object_representations_v<HeapLockRecord>);

/// kPrune. Block 0: the page; its data: redirected pairs (from, to), then dead, then unused slots, all u16.
struct HeapPruneRecord {
  std::uint64_t prune_xid;  // the page's afterwards
  std::uint16_t redirected;
  std::uint16_t dead;
  std::uint16_t unused;
  std::uint16_t reserved;
};
static_assert(std::has_unique_object_representations_v<HeapPruneRecord>);

/// kVacuum. Block 0: the page; its data: slots (u16) that become unused.
struct HeapVacuumRecord {
  std::uint16_t count;
  std::uint16_t reserved;
};
static_assert(std::has_unique_object_representations_v<HeapVacuumRecord>);

/// kVisible. Block 0: the visibility map's page; block 1: the heap page.
struct HeapVisibleRecord {
  std::uint32_t heap_page;
};
static_assert(std::has_unique_object_representations_v<HeapVisibleRecord>);

/// kAbortSpeculative, kOverwrite. Block 0: the page; kOverwrite's data: the tuple's bytes from offset 36 on.
struct HeapSlotRecord {
  std::uint16_t slot;
  std::uint16_t reserved;
};
static_assert(std::has_unique_object_representations_v<HeapSlotRecord>);

/// Kinds of RmgrId::kStorage records. On disk: never reuse.
enum class FileRecord : std::uint8_t { kCreate = 0x10, kTruncate = 0x20 };

/// kCreate: an empty fork was made.
struct FileCreateRecord {
  std::uint32_t database;
  std::uint32_t relation;
  std::uint32_t fork;
};
/// kTruncate: the main fork was cut to `pages`, the maps accordingly.
struct FileTruncateRecord {
  std::uint32_t database;
  std::uint32_t relation;
  std::uint32_t pages;
};

}  // namespace pinwheel::storage
