#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "storage/btree/key.h"
#include "storage/storage.h"

namespace pinwheel::storage {

struct BTreeBuildOptions {
  /// Memory for sorting: maintenance_work_mem. Beyond it runs go to a temporary file.
  std::size_t memory_bytes = 64u << 20;
  /// Where temporary files go: DIR/base/pgsql_tmp. Made if missing.
  std::string temporary_directory;
  Xid xid{};
  /// A unique index has two live rows with this key (key columns only): throws the caller's 23505. Nothing is
  /// latched.
  void (*report_duplicate)(void* context, const std::uint64_t* values, const bool* nulls) = nullptr;
  void* context = nullptr;
};

/// Fills an empty index file (main fork exists with no page) from all rows of a table, bottom up. Nobody else
/// can see the index yet.
///
/// Rows that come in key order are written as they come, with no sort; otherwise they are sorted first. Pages
/// are logged as images at the end: if the process dies before, the file is an orphan.
class BTreeBuild {
 public:
  BTreeBuild(Storage& storage, const BTreeIndex& index, const BTreeBuildOptions& options);
  ~BTreeBuild();
  BTreeBuild(const BTreeBuild&) = delete;
  BTreeBuild& operator=(const BTreeBuild&) = delete;

  /// Adds one row's entry. `is_live` false: a dead row that some snapshot may still see; it never conflicts.
  /// Errors: 54000 when too big; report_duplicate's; 53100, 58030 of the temporary file.
  void add(const std::uint64_t* values, const bool* nulls, TupleId id, bool is_live = true);

  /// Writes what is left and logs. Returns the number of entries. The object is done then.
  std::uint64_t finish();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace pinwheel::storage
