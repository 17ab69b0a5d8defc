#include "storage/btree/build.h"

#include <algorithm>
#include <array>
#include <unordered_set>
#include <vector>

#include "base/error.h"
#include "shm/interrupts.h"
#include "shm/progress.h"
#include "storage/btree/btree.h"
#include "storage/btree/compare.h"
#include "storage/btree/descent.h"
#include "storage/btree/level_writer.h"
#include "storage/btree/sorter.h"
#include "storage/btree/unique.h"

namespace pinwheel::storage {

using namespace btree_detail;

namespace {
std::uint64_t id_number(TupleId id) noexcept { return std::uint64_t{id.page.value} << 16 | id.slot; }
}  // namespace

struct BTreeBuild::Impl {
  Impl(Storage& storage, const BTreeIndex& index, const BTreeBuildOptions& options)
      : index{index}, options{options}, writer{storage, index, options.xid} {}

  void add(const std::uint64_t* values, const bool* nulls, TupleId id, bool is_live);
  void place(const std::uint64_t* values, const bool* nulls, IndexItem item, SearchKey& key);
  void give_up_streaming();
  std::uint64_t finish();

  const BTreeIndex& index;
  BTreeBuildOptions options;
  LevelWriter writer;
  std::unique_ptr<EntrySorter> sorter;  // null while rows come in order
  std::unordered_set<std::uint64_t> dead_rows;
  std::uint64_t count = 0;
  ItemBuffer last;              // entry placed last; length 0 = none
  bool group_has_live = false;  // among the entries with the last one's key
};

void BTreeBuild::Impl::add(const std::uint64_t* values, const bool* nulls, TupleId id, bool is_live) {
  ItemBuffer item;
  form_entry_checked(index, values, nulls, id, item);
  if (!is_live && index.unique) dead_rows.insert(id_number(id));
  ++count;
  if (sorter == nullptr) {
    SearchKey key = full_key(index, values, nulls);
    key.has_id = true;
    key.id = id;
    if (last.length == 0 || compare_key(key, last.item()) >= 0) {
      place(values, nulls, item.item(), key);
      return;
    }
    give_up_streaming();
  }
  sorter->add(item.item());
}

/// Writes the next entry in order. `key`: its key.
void BTreeBuild::Impl::place(const std::uint64_t* values, const bool* nulls, IndexItem item, SearchKey& key) {
  if (index.unique) {
    const bool is_live = dead_rows.empty() || !dead_rows.contains(id_number(item.id()));
    key.has_id = false;
    const bool same_group =
        last.length != 0 && compare_key(key, last.item()) == 0 && must_be_unique(index, nulls);
    if (same_group && group_has_live && is_live) {
      options.report_duplicate(options.context, values, nulls);
      DB_PANIC("a duplicate key was reported and the build went on");
    }
    group_has_live = is_live || (same_group && group_has_live);
  }
  writer.add(item);
  std::memcpy(last.bytes, item.bytes(), item.length());
  last.length = item.length();
}

/// The first row out of order: what was written is read back, to be sorted with the rest.
void BTreeBuild::Impl::give_up_streaming() {
  sorter = std::make_unique<EntrySorter>(index, options.memory_bytes, options.temporary_directory);
  writer.take_back([this](IndexItem item) { sorter->add(item); });
  last.length = 0;
  group_has_live = false;
}

std::uint64_t BTreeBuild::Impl::finish() {
  if (sorter != nullptr) {
    shm::set_progress(shm::CreateIndexProgress::kTuplesTotal, static_cast<std::int64_t>(count));
    sorter->sort();
    std::uint64_t values[kMaxIndexColumns];
    bool nulls[kMaxIndexColumns];
    for (IndexItem item = sorter->next(); item.bytes() != nullptr; item = sorter->next()) {
      shm::check_interrupts();
      SearchKey key;
      if (index.unique) {
        unpack_item(index, item, index.keys.size(), values, nulls);
        key = full_key(index, values, nulls);
      }
      place(values, nulls, item, key);
      shm::add_progress(shm::CreateIndexProgress::kTuplesDone);
    }
  }
  writer.finish();
  return count;
}

BTreeBuild::BTreeBuild(Storage& storage, const BTreeIndex& index, const BTreeBuildOptions& options)
    : impl_{std::make_unique<Impl>(storage, index, options)} {}
BTreeBuild::~BTreeBuild() = default;

void BTreeBuild::add(const std::uint64_t* values, const bool* nulls, TupleId id, bool is_live) {
  impl_->add(values, nulls, id, is_live);
}

std::uint64_t BTreeBuild::finish() { return impl_->finish(); }

}  // namespace pinwheel::storage
