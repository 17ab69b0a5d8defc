#pragma once

#include <cstdint>

#include "base/ids.h"
#include "storage/buffer/page_guard.h"
#include "storage/storage.h"
#include "wal/rmgr.h"

namespace pinwheel::wal {
class RecordView;
}  // namespace pinwheel::wal

namespace pinwheel::storage {

/// A block of a record being replayed.
struct RedoPage {
  /// Exclusive. Not owned only when the fork cannot exist (never for valid logs).
  WriteGuard guard;
  /// False: the page already has the change (restored from the record's image, or newer on disk).
  bool needs_redo = false;

  Page page() const noexcept { return guard.page(); }
  /// After redoing: marks dirty and sets the LSN.
  void finish(Lsn record_end) noexcept {
    guard.mark_dirty();
    guard.page().set_lsn(record_end);
  }
};

/// Latches block `index` of a record. Restores its full-page image if it has one (needs_redo is false then);
/// otherwise needs_redo says whether the page's LSN is older than the record's end. Files and pages that are
/// missing are made: a later record drops or truncates them again; a page of zeroes that the record does not
/// initialise needs no redo for the same reason. A block that the record initialises (will_init) comes with
/// needs_redo true and any content. `record_end`: record.end() when not given. Errors: XX001.
RedoPage redo_block(Storage& storage, const wal::RecordView& record, std::size_t index,
                    Lsn record_end = kInvalidLsn);
/// Redo of XLOG records that only carry page images.
void redo_full_page_images(Storage& storage, const wal::RecordView& record);

/// What server/recovery registers (owner: the Storage): relation files and heap.
wal::ResourceManager file_resource_manager(Storage* storage);
wal::ResourceManager heap_resource_manager(Storage* storage);

/// Makes a fork's file and logs it (permanent relations and init forks), so that redo makes it too.
/// If the process dies before the commit, the file is an orphan that the abort record or nobody removes.
void create_relation_logged(Storage& storage, FileId file, Fork fork, Persistence persistence, Xid xid);
/// Drops buffers and files of a relation now: at commit of its drop, or abort of its creation.
void drop_relation_now(Storage& storage, FileId file);
/// Logs the whole content of a freshly built fork as page images, and flushes nothing: for index builds.
/// Pages [0, pages).
void log_new_pages(Storage& storage, FileId file, Fork fork, PageNumber pages);

}  // namespace pinwheel::storage
