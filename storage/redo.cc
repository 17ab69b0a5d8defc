#include "storage/redo.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/error.h"
#include "base/sqlstate.h"
#include "storage/heap/heap_wal.h"
#include "storage/heap/vacuum.h"
#include "wal/builder.h"
#include "wal/log.h"
#include "wal/record.h"

namespace pinwheel::storage {

RedoPage redo_block(Storage& storage, const wal::RecordView& record, std::size_t index, Lsn record_end) {
  const wal::BlockView* block = record.block(static_cast<unsigned>(index));
  if (block == nullptr) {
    throw SqlError{sqlstate::kDataCorrupted,
                   fmt::format("WAL record at {:X}/{:X} has no block {}", record.start().value >> 32,
                               record.start().value & 0xFFFFFFFF, index)};
  }
  if (!is_valid(record_end)) record_end = record.end();
  const PageTag& tag = block->tag;
  storage.files.ensure_size(tag.file, tag.fork, next(tag.page));
  RedoPage result;
  if (block->has_image) {
    result.guard = storage.pool.write_page(tag, nullptr, ReadMode::kZero);
    wal::restore_image(*block, result.page().bytes());
    result.finish(record_end);
    return result;
  }
  const bool is_map = tag.fork == Fork::kVisibility || tag.fork == Fork::kFreeSpace;
  const ReadMode mode = block->will_init ? ReadMode::kZero
                        : is_map         ? ReadMode::kZeroOnError
                                         : ReadMode::kNormal;
  result.guard = storage.pool.write_page(tag, nullptr, mode);
  result.needs_redo = result.page().lsn() < record_end && (block->will_init || !result.page().is_new());
  return result;
}

void redo_full_page_images(Storage& storage, const wal::RecordView& record) {
  for (const wal::BlockView& block : record.blocks()) redo_block(storage, record, block.index);
}

namespace {

void cut_files(Storage& storage, FileId file, PageNumber pages) {
  storage.free_space.truncate(file, pages);
  storage.visibility.truncate(file, pages);
  storage.pool.drop_pages(file, Fork::kMain, pages);
  storage.files.truncate(file, Fork::kMain, pages);
}

void redo_file(wal::RedoContext& context, const wal::RecordView& record) {
  auto& storage = context.owner_as<Storage>();
  switch (static_cast<FileRecord>(record.kind())) {
    case FileRecord::kCreate: {
      const auto data = record.data_as<FileCreateRecord>();
      storage.files.create({Oid{data.database}, Oid{data.relation}}, static_cast<Fork>(data.fork), true);
      return;
    }
    case FileRecord::kTruncate: {
      const auto data = record.data_as<FileTruncateRecord>();
      const FileId file{Oid{data.database}, Oid{data.relation}};
      if (storage.files.exists(file, Fork::kMain)) cut_files(storage, file, PageNumber{data.pages});
      return;
    }
  }
  throw SqlError{sqlstate::kDataCorrupted, fmt::format("unknown storage record kind {:#x}", record.kind())};
}

std::string describe_file(const wal::RecordView& record) {
  switch (static_cast<FileRecord>(record.kind())) {
    case FileRecord::kCreate: {
      const auto data = record.data_as<FileCreateRecord>();
      return "CREATE " +
             relation_name({Oid{data.database}, Oid{data.relation}}, static_cast<Fork>(data.fork));
    }
    case FileRecord::kTruncate: {
      const auto data = record.data_as<FileTruncateRecord>();
      return fmt::format("TRUNCATE {} to {} blocks",
                         relation_name({Oid{data.database}, Oid{data.relation}}, Fork::kMain), data.pages);
    }
  }
  return "UNKNOWN";
}

}  // namespace

wal::ResourceManager file_resource_manager(Storage* storage) {
  return {wal::RmgrId::kStorage, "Storage", redo_file, describe_file, storage};
}

void create_relation_logged(Storage& storage, FileId file, Fork fork, Persistence persistence, Xid xid) {
  storage.files.create(file, fork);
  if (!is_logged(persistence) && fork != Fork::kInit) return;
  const FileCreateRecord data{file.database.value, file.relation.value, static_cast<std::uint32_t>(fork)};
  wal::RecordBuilder record{wal::RmgrId::kStorage, FileRecord::kCreate};
  record.data(data);
  storage.log.insert(record, xid);
}

void drop_relation_now(Storage& storage, FileId file) {
  storage.pool.drop_relation(file);
  storage.files.unlink(file);
}

void truncate_relation(Storage& storage, const HeapRelation& relation, PageNumber pages) {
  if (is_logged(relation.persistence)) {
    const FileTruncateRecord data{relation.file.database.value, relation.file.relation.value, pages.value};
    wal::RecordBuilder record{wal::RmgrId::kStorage, FileRecord::kTruncate};
    record.data(data);
    // On disk before the file is cut: a crash in between must not leave records for pages that are gone.
    storage.log.flush_to(storage.log.insert(record, kInvalidXid));
  }
  cut_files(storage, relation.file, pages);
}

void log_new_pages(Storage& storage, FileId file, Fork fork, PageNumber pages) {
  for (std::uint32_t first = 0; first < pages.value; first += wal::kMaxBlocks) {
    const std::uint32_t count = std::min<std::uint32_t>(wal::kMaxBlocks, pages.value - first);
    std::array<WriteGuard, wal::kMaxBlocks> guards;
    wal::RecordBuilder record{wal::RmgrId::kXlog, wal::XlogKind::kFullPageImage};
    for (std::uint32_t i = 0; i < count; ++i) {
      guards[i] = storage.pool.write_page({file, fork, PageNumber{first + i}});
      guards[i].mark_dirty();
      const Page page = guards[i].page();
      const PageHeader& header = page.header();
      record.block(i, guards[i].tag(), page.data(), wal::kBlockForceImage,
                   {header.lower, static_cast<std::uint16_t>(header.upper - header.lower)});
    }
    const Lsn lsn = storage.log.insert(record, kInvalidXid);
    for (std::uint32_t i = 0; i < count; ++i) guards[i].page().set_lsn(lsn);
  }
}

}  // namespace pinwheel::storage
