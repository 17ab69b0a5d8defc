#include "base/error.h"
#include "storage/btree/btree_page.h"
#include "storage/btree/btree_wal.h"
#include "storage/btree/compare.h"
#include "tests/storage_btree/btree_fixture.h"

namespace pinwheel::storage::test {

namespace {

std::string hex(const std::byte* bytes, std::size_t count) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) {
    if (i != 0 && i % 4 == 0) text += ' ';
    text += fmt::format("{:02x}", static_cast<unsigned>(bytes[i]));
  }
  return text;
}
std::string hex(IndexItem item) { return hex(item.bytes(), item.length()); }

ItemBuffer entry(const BTreeIndex& index, const std::vector<std::uint64_t>& values,
                 std::vector<bool> null_list, TupleId id) {
  bool nulls[kMaxIndexColumns] = {};
  for (std::size_t i = 0; i < null_list.size(); ++i) nulls[i] = null_list[i];
  ItemBuffer item;
  form_entry_checked(index, values.data(), nulls, id, item);
  return item;
}

}  // namespace

TEST_CASE("A meta page has these bytes", "[storage][btree][format]") {
  alignas(8) std::byte bytes[kPageSize];
  BTreeMeta meta;
  meta.root = 0x0102;
  meta.level = 3;
  meta.deleted_pages = 7;
  init_meta_page(Page{bytes}, meta);
  CHECK(hex(bytes + 8152, 24) == "54524531 01000000 02010000 03000000 07000000 00000000");
  CHECK(hex(bytes + 8176, 16) == "00000000 00000000 00000400 00000000");
  CHECK(hex(bytes + 8, 32) == "00000000 2400d81f f01f0102 00000000 00000000 00000000 d89f3000 00000000");
}

TEST_CASE("A page ends with its links, level and flags", "[storage][btree][format]") {
  alignas(8) std::byte bytes[kPageSize];
  init_btree_page(Page{bytes}, 2, kBTreeRoot | kBTreeIncompleteSplit, PageNumber{0x11}, PageNumber{0x2233});
  CHECK(hex(bytes + 8176, 16) == "11000000 33220000 02002200 00000000");
  init_deleted_page(Page{bytes}, 0x99, PageNumber{1}, PageNumber{2});
  CHECK(hex(bytes + 8176, 16) == "01000000 02000000 00000900 00000000");
  CHECK(hex(bytes + 24, 8) == "99000000 00000000");
}

TEST_CASE("Entries have these bytes", "[storage][btree][format]") {
  const BTreeIndex index = make_index({kInt4, kTextColumn}, {kIntKey, kTextKey});
  const Text text{"abc"};
  const TupleId id{PageNumber{0x0102}, 5};
  CHECK(hex(entry(index, {0x0A0B0C0D, text.datum()}, {false, false}, id).item()) ==
        "02010000 05000000 0d0c0b0a 09616263");
  CHECK(hex(entry(index, {0, text.datum()}, {true, false}, id).item()) ==
        "02010000 05000020 02000000 00000000 09616263");
  CHECK(hex(entry(index, {1, 0}, {true, true}, id).item()) == "02010000 05000020 00000000 00000000");
}

TEST_CASE("A separator has no more columns than it needs", "[storage][btree][format]") {
  const BTreeIndex index = make_index({kInt4, kTextColumn}, {kIntKey, kTextKey});
  const Text a{"a"}, b{"b"};
  ItemBuffer pivot;
  const ItemBuffer one = entry(index, {1, a.datum()}, {}, {PageNumber{7}, 3});
  make_separator(index, one.item(), entry(index, {2, a.datum()}, {}, {PageNumber{1}, 1}).item(), pivot);
  CHECK(hex(pivot.item()) == "00000000 00000140 02000000");
  make_separator(index, one.item(), entry(index, {1, b.datum()}, {}, {PageNumber{1}, 1}).item(), pivot);
  CHECK(hex(pivot.item()) == "00000000 00000240 01000000 0562");
  make_separator(index, one.item(), entry(index, {1, a.datum()}, {}, {PageNumber{9}, 1}).item(), pivot);
  CHECK(hex(pivot.item()) == "00000000 000002c0 01000000 05610000 07000000 03000000");
}

TEST_CASE("Missing columns of a pivot are less than anything", "[storage][btree][format]") {
  const BTreeIndex index = make_index({kInt4, kInt8}, {kIntKey, kIntKey});
  const ItemBuffer left = entry(index, {1, 10}, {}, {PageNumber{7}, 3});
  const ItemBuffer right = entry(index, {2, 5}, {}, {PageNumber{1}, 1});
  ItemBuffer pivot;
  make_separator(index, left.item(), right.item(), pivot);
  const bool nulls[] = {false, false};
  const auto place = [&](std::uint64_t first, std::uint64_t second, unsigned columns) {
    const std::uint64_t values[] = {first, second};
    SearchKey key;
    key.index = &index;
    key.columns = index.keys.data();
    key.values = values;
    key.nulls = nulls;
    key.column_count = static_cast<std::uint16_t>(columns);
    return compare_key(key, pivot.item());
  };
  CHECK(place(1, 10, 2) < 0);
  CHECK(place(2, 0, 2) > 0);
  CHECK(place(2, 0, 1) > 0);
  CHECK(place(3, 0, 1) > 0);
  CHECK(place(1, 0, 1) < 0);
}

TEST_CASE("Log records of a B-tree have these sizes", "[storage][btree][format]") {
  CHECK(sizeof(BTreeInsertRecord) == 4);
  CHECK(sizeof(BTreeSplitRecord) == 12);
  CHECK(sizeof(BTreeDeleteRecord) == 4);
  CHECK(sizeof(BTreeHalfDeadRecord) == 4);
  CHECK(sizeof(BTreeUnlinkRecord) == 16);
  CHECK(sizeof(BTreeNewRootRecord) == 8);
  CHECK(sizeof(BTreeMetaRecord) == 8);
}

TEST_CASE("A file that is no index is refused", "[storage][btree][format]") {
  const TestDirectory directory;
  Engine engine{directory.path(), 64};
  const BTreeIndex index = int_index();
  create_index_file(*engine.storage, index);
  const PageTag tag{index.file, Fork::kMain, kMetaPage};
  {
    WriteGuard guard = engine.storage->pool.write_page(tag);
    guard.mark_dirty();
    meta_of(guard.page()).magic = 5;
  }
  const BTree tree{*engine.storage, index};
  std::array<TupleId, 1> ids;
  const std::uint64_t values[] = {1};
  try {
    tree.find_equal(values, ids);
    FAIL("it was taken");
  } catch (const SqlError& error) {
    CHECK(error.state().view() == "XX002");
    CHECK(error.message() == "index \"i\" is not a btree");
  }
}

TEST_CASE("A check finds each kind of damage", "[storage][btree][check]") {
  const TestDirectory directory;
  Engine engine{directory.path(), 256};
  const BTreeIndex index = int_index();
  create_index_file(*engine.storage, index);
  BTree tree{*engine.storage, index};
  for (std::uint64_t row = 0; row < 3000; ++row) insert_int(tree, static_cast<std::int64_t>(row), row);
  const auto damage = [&](std::uint32_t page, auto change) {
    WriteGuard guard = engine.storage->pool.write_page({index.file, Fork::kMain, PageNumber{page}});
    guard.mark_dirty();
    change(guard.page());
  };
  const int kind = GENERATE(range(0, 7));
  switch (kind) {
    case 0:  // two items change places
      damage(1, [](Page page) {
        const LinePointer line = page.line(5);
        page.set_line(5, page.line(6));
        page.set_line(6, line);
      });
      break;
    case 1:
      damage(2, [](Page page) { special_of(page).previous = 4; });
      break;
    case 2:
      damage(2, [](Page page) { special_of(page).level = 1; });
      break;
    case 3:  // a downlink is lost
      damage(3, [](Page page) { page.remove_item_at(3); });
      break;
    case 4:  // a high key grows
      damage(1, [](Page page) { store(page.item(1) + kItemHeaderBytes, std::int32_t{1'000'000}); });
      break;
    case 5:  // a page is left out of the chain
      damage(1, [](Page page) { special_of(page).next = 4; });
      break;
    default:
      damage(2, [](Page page) { page.header().lower = 9000; });
      break;
  }
  Findings findings;
  INFO("kind " << kind);
  CHECK(verify_btree(tree, findings).problems > 0);
  CHECK_FALSE(findings.texts.empty());
}

}  // namespace pinwheel::storage::test
