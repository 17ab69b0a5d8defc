#pragma once

#include "shm/segment.h"
#include "storage/buffer/buffer_pool.h"
#include "storage/file/free_space_map.h"
#include "storage/file/relation_files.h"
#include "storage/file/visibility_map.h"

namespace pinwheel::storage {

struct StorageOptions {
  BufferPoolOptions buffers;
  RelationFilesOptions files;
};

/// The storage engine of one process: handles on the shared buffer pool, the relation files and their maps.
/// Made once per process after the segment exists; heaps and B-trees are cheap objects over it.
class Storage {
 public:
  static void declare(shm::RegionBuilder& builder, const StorageOptions& options) {
    RelationFiles::declare(builder, options.files);
    BufferPool::declare(builder, options.buffers);
  }
  Storage(const shm::Segment& segment, const StorageOptions& options, wal::Log& log)
      : log{log},
        files{segment, options.files},
        pool{segment, options.buffers, files, log},
        free_space{pool},
        visibility{pool} {}

  /// RelationFiles::reset_unlogged; after redo, init forks that redo made are written first.
  void reset_unlogged(bool before_redo) {
    if (!before_redo) pool.flush_all(/*include_unlogged=*/true, nullptr);
    files.reset_unlogged(before_redo);
  }

  wal::Log& log;
  RelationFiles files;
  BufferPool pool;
  FreeSpaceMap free_space;
  VisibilityMap visibility;
};

}  // namespace pinwheel::storage
