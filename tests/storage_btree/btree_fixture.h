#pragma once

#include <fmt/format.h>

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "storage/btree/btree.h"
#include "storage/btree/check.h"
#include "storage/btree/scan.h"
#include "storage/btree/vacuum.h"
#include "storage/redo.h"
#include "tests/storage/storage_fixture.h"

namespace pinwheel::storage::test {

inline constexpr FileId kIndexFile{Oid{5}, Oid{16390}};

/// Orders varlenas with short or long header by their bytes, as text in the C collation.
inline std::string_view text_of(std::uint64_t datum) {
  const auto* at = reinterpret_cast<const std::byte*>(datum);
  const std::size_t header = (static_cast<std::uint8_t>(*at) & 1) != 0 ? 1 : 4;
  return {reinterpret_cast<const char*>(at) + header, varlena_size(at) - header};
}
inline int compare_texts(std::uint64_t a, std::uint64_t b, const void*) {
  return text_of(a).compare(text_of(b));
}

/// A text datum with a long header.
class Text {
 public:
  explicit Text(std::string_view text) : bytes_(text.size() + 4) {
    store(bytes_.data(), static_cast<std::uint32_t>(bytes_.size() << 2));
    std::memcpy(bytes_.data() + 4, text.data(), text.size());
  }
  std::uint64_t datum() const { return reinterpret_cast<std::uintptr_t>(bytes_.data()); }

 private:
  std::vector<std::byte> bytes_;
};

/// "17-xxx...": a number, filled up to `length` characters.
inline std::string long_text(std::uint64_t number, int length) {
  return fmt::format("{:x<{}}", fmt::format("{}-", number), length);
}

inline const AttributeLayout kInt4{4, 4, true, false, 'p'};
inline const AttributeLayout kInt8{8, 8, true, false, 'p'};
inline const AttributeLayout kTextColumn{-1, 4, false, false, 'x'};
inline const KeyColumn kIntKey{KeyOrder::kSigned, false, false, nullptr, nullptr};
inline const KeyColumn kTextKey{KeyOrder::kFunction, false, false, compare_texts, nullptr};

inline BTreeIndex make_index(std::vector<AttributeLayout> columns, std::vector<KeyColumn> keys,
                             bool unique = false) {
  BTreeIndex index;
  index.file = kIndexFile;
  index.layout = TupleLayout{columns};
  index.keys = std::move(keys);
  index.unique = unique;
  index.name = "i";
  return index;
}
inline BTreeIndex int_index(bool unique = false) { return make_index({kInt4}, {kIntKey}, unique); }

/// Makes an index's file and meta page.
inline void create_index_file(Storage& storage, const BTreeIndex& index) {
  create_relation_logged(storage, index.file, Fork::kMain, index.persistence, Xid{3});
  create_empty_btree(storage, index.file, Fork::kMain, index.persistence, Xid{3});
}

inline TupleId id_of(std::uint64_t n) {
  return {PageNumber{static_cast<std::uint32_t>(n / 100)}, static_cast<std::uint16_t>(n % 100 + 1)};
}
inline std::uint64_t number_of(TupleId id) { return std::uint64_t{id.page.value} * 100 + id.slot - 1u; }

inline void insert_int(BTree& tree, std::int64_t key, std::uint64_t row) {
  const std::uint64_t values[] = {static_cast<std::uint64_t>(key)};
  const bool nulls[] = {false};
  REQUIRE(tree.insert(values, nulls, id_of(row), Xid{3}).result == InsertResult::kInserted);
}

/// Collects what a check finds.
class Findings final : public BTreeCheckVisitor {
 public:
  void damage(const std::string& text) override { texts.push_back(text); }
  void entry(TupleId id, const std::uint64_t*, const bool*) override { ids.push_back(number_of(id)); }
  std::vector<std::string> texts;
  std::vector<std::uint64_t> ids;
};

/// Row numbers in index order, after the index was found sound.
inline std::vector<std::uint64_t> verified_rows(const BTree& tree) {
  Findings findings;
  const BTreeCheckResult result = verify_btree(tree, findings);
  for (const std::string& text : findings.texts) UNSCOPED_INFO(text);
  CHECK(result.problems == 0);
  CHECK(result.entries == findings.ids.size());
  return findings.ids;
}

inline std::vector<std::uint64_t> scan_rows(const BTree& tree, std::vector<BTreeScanKey> keys,
                                            bool backward = false) {
  BTreeScan scan;
  BTreeScanOptions options;
  options.backward = backward;
  scan.open(tree, keys, options);
  std::vector<std::uint64_t> rows;
  TupleId id;
  while (scan.next(id)) rows.push_back(number_of(id));
  return rows;
}

/// Removes the entries of `rows`.
inline BTreeVacuumResult vacuum_rows(const BTree& tree, const std::set<std::uint64_t>& rows,
                                     std::uint64_t next_xid = 10, std::uint64_t horizon = 10) {
  BTreeVacuumOptions options;
  options.is_dead = [](void* context, TupleId id) {
    return static_cast<const std::set<std::uint64_t>*>(context)->contains(number_of(id));
  };
  options.context = const_cast<std::set<std::uint64_t>*>(&rows);
  options.next_xid = Xid{next_xid};
  options.horizon = Xid{horizon};
  return vacuum_btree(tree, options);
}

}  // namespace pinwheel::storage::test
