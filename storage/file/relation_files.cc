#include "storage/file/relation_files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>

#include "base/clock.h"
#include "base/error.h"
#include "base/file.h"
#include "base/sqlstate.h"
#include "shm/interrupts.h"
#include "shm/statistics.h"
#include "storage/file/length_cache.h"
#include "storage/file/open_files.h"
#include "storage/file/sync_requests.h"
#include "storage/file/unlogged_reset.h"

namespace pinwheel::storage {

struct SharedFiles {
  /// Raised after every unlink, read before every use of a descriptor.
  alignas(kCacheLine) std::atomic<std::uint64_t> drop_generation{0};
};

namespace {

constexpr std::string_view kFilesControlRegion = "Relation Files";
constexpr Fork kForks[] = {Fork::kMain, Fork::kFreeSpace, Fork::kVisibility, Fork::kInit};

std::string_view fork_suffix(Fork fork) noexcept {
  switch (fork) {
    case Fork::kFreeSpace:
      return "_fsm";
    case Fork::kVisibility:
      return "_vm";
    case Fork::kInit:
      return "_init";
    default:
      return "";
  }
}

std::string database_directory(Oid database) {
  return is_valid(database) ? fmt::format("base/{}", database.value) : "global";
}

std::uint64_t offset_in_segment(PageNumber page) noexcept {
  return std::uint64_t{page.value % kPagesPerSegment} * kPageSize;
}

/// Pages to reserve at once beyond what is asked: small relations stay small, large ones rarely ask.
std::uint32_t reserve_ahead(std::uint32_t pages) noexcept {
  return pages < 16 ? 0 : std::min<std::uint32_t>(pages / 8, 512);
}

}  // namespace

std::string relation_name(FileId file, Fork fork) {
  return fmt::format("{}/{}{}", database_directory(file.database), file.relation.value, fork_suffix(fork));
}

std::string relation_path(FileId file, Fork fork, std::uint32_t segment) {
  std::string name = relation_name(file, fork);
  if (segment != 0) name += fmt::format(".{}", segment);
  return name;
}

struct RelationFiles::Impl {
  Impl(const shm::Segment& segment, RelationFilesOptions given)
      : options{std::move(given)},
        shared{*segment.as<SharedFiles>(kFilesControlRegion)},
        lengths{segment},
        syncs{segment},
        open{options.data_directory, options.max_open_files, shared.drop_generation} {}

  /// Length by a look at the files: all segments but the last are full.
  LengthCache::Length measure(FileId file, Fork fork) {
    for (std::uint32_t segment = 0;; ++segment) {
      OpenFiles::Opened* opened = open.get({file, fork, segment});
      if (opened == nullptr) return {segment * kPagesPerSegment, segment != 0};
      const auto pages = static_cast<std::uint32_t>(opened->file.size() / kPageSize);
      if (pages < kPagesPerSegment) return {segment * kPagesPerSegment + pages, true};
    }
  }

  /// Makes the files exactly as long as `pages`.
  void settle(FileId file, Fork fork, std::uint32_t pages) {
    const std::uint32_t last = pages / kPagesPerSegment;
    for (std::uint32_t segment = 0; segment <= last; ++segment) {
      const std::uint32_t in_segment = segment == last ? pages % kPagesPerSegment : kPagesPerSegment;
      if (in_segment == 0 && segment != 0) break;
      OpenFiles::Opened* opened = get_segment(file, fork, segment);
      if (opened->file.size() == std::uint64_t{in_segment} * kPageSize) continue;
      opened->file.truncate(std::uint64_t{in_segment} * kPageSize);
      request_sync({file, fork, segment}, *opened);
    }
  }

  auto settler() {
    return [this](const LengthCache::Evicted& evicted) {
      if (evicted.length.exists && open.get({evicted.file, evicted.fork, 0}) != nullptr) {
        settle(evicted.file, evicted.fork, evicted.length.pages);
      }
    };
  }

  LengthCache::Length length(FileId file, Fork fork) {
    LengthCache::Length known;
    if (lengths.find(file, fork, known)) return known;
    return lengths.enter(
        file, fork, [&] { return measure(file, fork); }, settler());
  }

  /// Opens a segment, making it if it is missing.
  OpenFiles::Opened* get_segment(FileId file, Fork fork, std::uint32_t segment) {
    bool created = false;
    OpenFiles::Opened* opened = open.get({file, fork, segment}, true, &created);
    if (created) request_directory_sync(file.database);
    return opened;
  }

  void request_sync(const SegmentId& id, OpenFiles::Opened& opened) {
    const std::uint64_t cycle = syncs.cycle();
    if (opened.sync_cycle == cycle) return;
    const std::uint64_t word =
        static_cast<std::uint64_t>(id.file.database.value) << 32 | id.file.relation.value;
    if (syncs.add({word, id.segment, static_cast<std::uint32_t>(id.fork)})) {
      opened.sync_cycle = cycle;
    } else {
      opened.file.sync();
    }
  }

  void request_directory_sync(Oid database) {
    if (!syncs.add({static_cast<std::uint64_t>(database.value) << 32, 0, kDirectoryFork})) {
      sync_directory(options.data_directory + "/" + database_directory(database));
    }
  }

  /// Takes disk space for pages up to `pages`, so that running out of it fails the statement that extends and
  /// not a later write-back. Not through the file seam: the file keeps its length, and systems that cannot do
  /// it are as good as those that need not.
  void reserve_space(FileId file, Fork fork, std::uint32_t from, std::uint32_t pages) {
    const shm::WaitEventScope waiting{shm::WaitEvent::kDataFileExtend};
    while (from < pages) {
      const std::uint32_t segment = from / kPagesPerSegment;
      const std::uint32_t end = std::min(pages, (segment + 1) * kPagesPerSegment);
      OpenFiles::Opened* opened = get_segment(file, fork, segment);
      const int result = ::fallocate(opened->file.fd(), FALLOC_FL_KEEP_SIZE,
                                     static_cast<off_t>(offset_in_segment(PageNumber{from})),
                                     static_cast<off_t>(std::uint64_t{end - from} * kPageSize));
      if (result != 0 && (errno == ENOSPC || errno == EDQUOT || errno == EFBIG)) {
        throw_file_error("extend", opened->file.path(), errno);
      }
      from = end;
    }
  }

  RelationFilesOptions options;
  SharedFiles& shared;
  LengthCache lengths;
  SyncRequests syncs;
  OpenFiles open;
};

void RelationFiles::declare(shm::RegionBuilder& builder, const RelationFilesOptions& options) {
  builder.add_array<SharedFiles>(kFilesControlRegion, 1);
  LengthCache::declare(builder, options.size_cache_entries);
  SyncRequests::declare(builder, options.sync_request_entries);
}

RelationFiles::RelationFiles(const shm::Segment& segment, RelationFilesOptions options)
    : impl_{std::make_unique<Impl>(segment, std::move(options))} {}
RelationFiles::~RelationFiles() = default;

const std::string& RelationFiles::data_directory() const noexcept { return impl_->options.data_directory; }

bool RelationFiles::exists(FileId file, Fork fork) { return impl_->length(file, fork).exists; }

void RelationFiles::create(FileId file, Fork fork, bool allow_existing) {
  const SegmentId id{file, fork, 0};
  bool created = false;
  if (!allow_existing || !file_exists(data_directory() + "/" + database_directory(file.database))) {
    create_database_directory(file.database);
  }
  impl_->open.get(id, true, &created);
  if (!created && !allow_existing) {
    throw SqlError{sqlstate::kDuplicateFile,
                   fmt::format("could not create file \"{}\": File exists", relation_path(file, fork))};
  }
  // Two processes may make a map at the same time: whoever comes second must not set the length back.
  if (created) impl_->request_directory_sync(file.database);
  if (created || !impl_->length(file, fork).exists) {
    const LengthCache::Length length = created ? LengthCache::Length{0, true} : impl_->measure(file, fork);
    impl_->lengths.appear(file, fork, length, impl_->settler());
  }
}

void RelationFiles::unlink_fork(FileId file, Fork fork) {
  for (std::uint32_t segment = 0;; ++segment) {
    const SegmentId id{file, fork, segment};
    OpenFiles::Opened* opened = impl_->open.get(id);
    if (opened == nullptr) break;
    opened->file.truncate(0);
    impl_->open.close(id);
    remove_file_if_exists(impl_->open.path(id));
  }
  impl_->lengths.forget(file, fork);
}

void RelationFiles::unlink(FileId file) {
  for (const Fork fork : kForks) unlink_fork(file, fork);
  impl_->open.note_drop();
}

void RelationFiles::truncate(FileId file, Fork fork, PageNumber pages) {
  if (impl_->length(file, fork).pages <= pages.value) return;
  const shm::WaitEventScope waiting{shm::WaitEvent::kDataFileTruncate};
  const std::uint32_t first_gone = (pages.value + kPagesPerSegment - 1) / kPagesPerSegment;
  impl_->settle(file, fork, pages.value);
  bool dropped = false;
  for (std::uint32_t segment = std::max(first_gone, 1u);; ++segment) {
    const SegmentId id{file, fork, segment};
    if (segment * kPagesPerSegment < pages.value) continue;
    OpenFiles::Opened* opened = impl_->open.get(id);
    if (opened == nullptr) break;
    opened->file.truncate(0);
    impl_->open.close(id);
    remove_file_if_exists(impl_->open.path(id));
    dropped = true;
  }
  impl_->lengths.set(file, fork, {pages.value, true}, impl_->settler());
  if (dropped) impl_->open.note_drop();
}

void RelationFiles::create_database_directory(Oid database) {
  const std::string path = data_directory() + "/" + database_directory(database);
  if (file_exists(path)) return;
  const std::string base = data_directory() + "/base";
  if (is_valid(database) && !file_exists(base)) make_directory(base);
  make_directory(path);
  sync_directory(is_valid(database) ? base : data_directory());
}

void RelationFiles::remove_database_directory(Oid database) {
  const std::string path = data_directory() + "/" + database_directory(database);
  if (!file_exists(path)) return;
  for (const std::string& name : list_directory(path)) remove_file_if_exists(path + "/" + name);
  file_system().remove_directory(path);
  impl_->lengths.forget_database(database);
  impl_->open.note_drop();
}

void RelationFiles::copy_database_directory(Oid from, Oid to) {
  create_database_directory(to);
  const std::string source = data_directory() + "/" + database_directory(from);
  const std::string target = data_directory() + "/" + database_directory(to);
  for (const std::string& name : list_directory(source))
    copy_file_durably(source + "/" + name, target + "/" + name);
  sync_directory(target);
  impl_->lengths.forget_database(to);
}

PageNumber RelationFiles::size(FileId file, Fork fork) { return PageNumber{impl_->length(file, fork).pages}; }

PageNumber RelationFiles::extend(FileId file, Fork fork, std::uint32_t count) {
  std::uint32_t first = 0;
  std::uint32_t reserved = 0;
  while (!impl_->lengths.add(file, fork, count, kMaxPages, first, reserved)) {
    if (!impl_->length(file, fork).exists) {
      throw_file_error("open", relation_path(file, fork), ENOENT);
    }
  }
  if (first == UINT32_MAX) {
    throw SqlError{sqlstate::kProgramLimitExceeded, fmt::format("cannot extend file \"{}\" beyond {} blocks",
                                                                relation_path(file, fork), kMaxPages)};
  }
  if (first + count > reserved) {
    const std::uint32_t until = first + count + reserve_ahead(first);
    impl_->reserve_space(file, fork, first, until);
    impl_->lengths.note_reserved(file, fork, until);
  }
  return PageNumber{first};
}

void RelationFiles::ensure_size(FileId file, Fork fork, PageNumber pages) {
  if (!impl_->length(file, fork).exists) create(file, fork, true);
  while (!impl_->lengths.raise(file, fork, pages.value)) {
    if (!impl_->length(file, fork).exists) create(file, fork, true);
  }
}

std::uint64_t RelationFiles::size_bytes(FileId file, Fork fork) {
  return std::uint64_t{size(file, fork).value} * kPageSize;
}

bool RelationFiles::read(const PageTag& tag, PageBytes bytes) {
  const std::uint32_t segment = tag.page.value / kPagesPerSegment;
  OpenFiles::Opened* opened = impl_->open.get({tag.file, tag.fork, segment});
  std::size_t got = 0;
  if (opened != nullptr) got = opened->file.read_at(offset_in_segment(tag.page), bytes);
  if (got == kPageSize) return true;
  std::memset(bytes.data() + got, 0, kPageSize - got);
  return tag.page.value < impl_->length(tag.file, tag.fork).pages;
}

void RelationFiles::write(const PageTag& tag, ConstPageBytes bytes) { write_many(tag, bytes.data(), 1); }

void RelationFiles::write_many(const PageTag& first, const std::byte* bytes, std::uint32_t count) {
  const std::uint32_t segment = first.page.value / kPagesPerSegment;
  OpenFiles::Opened* opened = impl_->get_segment(first.file, first.fork, segment);
  opened->file.write_at(offset_in_segment(first.page), {bytes, std::size_t{count} * kPageSize});
  impl_->request_sync({first.file, first.fork, segment}, *opened);
}

void RelationFiles::prefetch(const PageTag& tag, std::uint32_t count) noexcept {
  try {
    OpenFiles::Opened* opened = impl_->open.get({tag.file, tag.fork, tag.page.value / kPagesPerSegment});
    if (opened == nullptr) return;
    const shm::WaitEventScope waiting{shm::WaitEvent::kDataFilePrefetch};
    opened->file.prefetch(offset_in_segment(tag.page), std::size_t{count} * kPageSize);
  } catch (const SqlError&) {
    // A hint only: whoever reads the page reports.
  }
}

void RelationFiles::start_writeback(const PageTag& tag, std::uint32_t count) noexcept {
  try {
    OpenFiles::Opened* opened = impl_->open.get({tag.file, tag.fork, tag.page.value / kPagesPerSegment});
    if (opened != nullptr) {
      const shm::WaitEventScope waiting{shm::WaitEvent::kDataFileFlush};
      opened->file.start_writeback(offset_in_segment(tag.page), std::uint64_t{count} * kPageSize);
    }
  } catch (const SqlError&) {
    // A hint only: the sync reports.
  }
}

void RelationFiles::sync_now(FileId file, Fork fork) {
  const shm::WaitEventScope waiting{shm::WaitEvent::kDataFileImmediateSync};
  impl_->settle(file, fork, impl_->length(file, fork).pages);
  for (std::uint32_t segment = 0;; ++segment) {
    OpenFiles::Opened* opened = impl_->open.get({file, fork, segment});
    if (opened == nullptr) break;
    opened->file.sync();
  }
  // Without its name in the directory the file is lost too.
  sync_directory(data_directory() + "/" + database_directory(file.database));
}

void RelationFiles::sync_segment(FileId file, Fork fork, std::uint32_t segment) {
  OpenFiles::Opened* opened = impl_->open.get({file, fork, segment});
  if (opened == nullptr) return;
  const shm::WaitEventScope waiting{shm::WaitEvent::kDataFileImmediateSync};
  opened->file.sync();
}

void RelationFiles::sync_everything() {
  if (!sync_enabled()) return;
  const shm::WaitEventScope waiting{shm::WaitEvent::kDataFileSync};
  std::vector<std::string> folders{data_directory() + "/global"};
  const std::string base = data_directory() + "/base";
  for (const std::string& name : list_directory(base)) {
    // Temporary files are needed no more.
    if (name.find_first_not_of("0123456789") == std::string::npos) folders.push_back(base + "/" + name);
  }
  for (const std::string& folder : folders) {
    for (const std::string& name : list_directory(folder)) {
      File::open(folder + "/" + name, OpenMode::kReadWrite).sync();
    }
    sync_directory(folder);
  }
}

std::size_t RelationFiles::sync_pending() {
  std::size_t synced = 0;
  for (const SyncRequest& request : impl_->syncs.take()) {
    const Oid database{static_cast<std::uint32_t>(request.file >> 32)};
    if (request.fork == kDirectoryFork) {
      const std::string path = data_directory() + "/" + database_directory(database);
      if (file_exists(path)) sync_directory(path);
      continue;
    }
    const FileId file{database, Oid{static_cast<std::uint32_t>(request.file)}};
    // A file that is gone was dropped after the write.
    OpenFiles::Opened* opened = impl_->open.get({file, static_cast<Fork>(request.fork), request.segment});
    if (opened == nullptr) continue;
    const shm::WaitEventScope waiting{shm::WaitEvent::kDataFileSync};
    const std::int64_t started_ns = monotonic_ns();
    opened->file.sync();
    shm::count(shm::Counter::kBufferSyncs);
    shm::count(shm::Counter::kSyncNs, static_cast<std::uint64_t>(monotonic_ns() - started_ns));
    ++synced;
  }
  return synced;
}

void RelationFiles::settle_lengths() {
  for (const LengthCache::Evicted& entry : impl_->lengths.all()) impl_->settler()(entry);
}

void RelationFiles::reset_unlogged(bool before_redo) {
  close_all();
  for (const FileId file : find_unlogged(data_directory())) {
    if (before_redo) {
      for (const Fork fork : {Fork::kMain, Fork::kFreeSpace, Fork::kVisibility}) unlink_fork(file, fork);
    } else {
      copy_file_durably(data_directory() + "/" + relation_path(file, Fork::kInit),
                        data_directory() + "/" + relation_path(file, Fork::kMain));
      impl_->request_directory_sync(file.database);
    }
    for (const Fork fork : kForks) impl_->lengths.forget(file, fork);
  }
  if (before_redo) impl_->open.note_drop();
}

void RelationFiles::close_all() noexcept { impl_->open.close_all(); }

}  // namespace pinwheel::storage
