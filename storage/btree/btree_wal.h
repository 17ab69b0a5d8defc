#pragma once

#include <cstdint>
#include <type_traits>

namespace pinwheel::storage {

/// Kinds of RmgrId::kBtree records (docs/formats/btree.md). On disk: never reuse.
enum class BTreeRecord : std::uint8_t {
  kInsertLeaf = 0x00,
  kInsertUpper = 0x10,
  kSplit = 0x20,
  kDelete = 0x30,
  kHalfDead = 0x40,
  kUnlink = 0x50,
  kNewRoot = 0x60,
  kMeta = 0x70,
  kRecyclable = 0x80,
};

/// kInsertLeaf, kInsertUpper. Block 0: the page; its data: the item. kInsertUpper, block 1: the left child
/// whose split is complete now.
struct BTreeInsertRecord {
  std::uint16_t slot;
  std::uint16_t reserved;
};
static_assert(std::has_unique_object_representations_v<BTreeInsertRecord>);

/// kSplit. Items are counted from 0 in the order in which they stand after the insertion that caused the
/// split, high keys not counted.
///   block 0  the left page, keeps items [0, first_right); data: its new high key, then the new item if
///   new_is_left block 1  the right page, made from scratch; data: all its items, high key first if it has
///   one, each preceded by
///            its length (u16) and padded to 8 bytes
///   block 2  the old right sibling, if there is one: its left link changes
///   block 3  the left child whose split is complete now, if this is an inner page
struct BTreeSplitRecord {
  std::uint16_t level;
  std::uint16_t first_right;
  std::uint16_t new_index;
  std::uint16_t high_key_length;
  std::uint16_t new_length;
  std::uint16_t new_is_left;
};
static_assert(std::has_unique_object_representations_v<BTreeSplitRecord>);

/// kDelete. Block 0: the leaf; its data: the slots (u16, rising).
struct BTreeDeleteRecord {
  std::uint16_t count;
  std::uint16_t reserved;
};
static_assert(std::has_unique_object_representations_v<BTreeDeleteRecord>);

/// kHalfDead. Block 0: the leaf; block 1: its parent, where the downlink at `slot` gets the next one's child
/// and the next one goes.
struct BTreeHalfDeadRecord {
  std::uint16_t slot;
  std::uint16_t reserved;
};
static_assert(std::has_unique_object_representations_v<BTreeHalfDeadRecord>);

/// kUnlink. Block 0: the leaf, made from scratch; block 1: its left sibling, if any; block 2: its right
/// sibling.
struct BTreeUnlinkRecord {
  std::uint64_t safe_xid;
  std::uint32_t previous;
  std::uint32_t next;
};
static_assert(std::has_unique_object_representations_v<BTreeUnlinkRecord>);

/// kNewRoot. Block 0: the new root, made from scratch, and its data: items as in kSplit's block 1; block 1:
/// the old root, unless the index was empty; block 2: the meta page.
struct BTreeNewRootRecord {
  std::uint32_t root;
  std::uint32_t level;
};
static_assert(std::has_unique_object_representations_v<BTreeNewRootRecord>);

/// kMeta. Block 0: the meta page.
struct BTreeMetaRecord {
  std::uint32_t deleted_pages;
  std::uint32_t reserved;
};
static_assert(std::has_unique_object_representations_v<BTreeMetaRecord>);

// kRecyclable has no data. Block 0: a deleted page.

}  // namespace pinwheel::storage
