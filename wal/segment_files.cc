#include "wal/segment_files.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <memory>

#include "base/bytes.h"
#include "base/checksum.h"
#include "base/error.h"
#include "base/sqlstate.h"
#include "shm/interrupts.h"

namespace pinwheel::wal {
namespace {

constexpr std::size_t kZeroChunk = 256u << 10;
constexpr std::string_view kTemporaryPrefix = "xlogtemp.";

constexpr std::uint64_t segments_per_id(std::uint32_t segment_bytes) { return (1ULL << 32) / segment_bytes; }

int open_flags(SyncMethod method) {
  if (!sync_enabled()) return 0;
  switch (method) {
    case SyncMethod::kOpenDatasync:
      return O_DSYNC;
    case SyncMethod::kOpenSync:
      return O_SYNC;
    case SyncMethod::kFdatasync:
    case SyncMethod::kFsync:
      return 0;
  }
  return 0;
}

void sync_file(const File& file, SyncMethod method) {
  if (method == SyncMethod::kFsync && sync_enabled()) {
    if (::fsync(file.fd()) != 0) DB_PANIC("could not fsync file \"" + file.path() + "\": " + strerror(errno));
    return;
  }
  file.sync();
}

bool all_zero(std::span<const std::byte> bytes) {
  return bytes.empty() ||
         (bytes[0] == std::byte{0} && std::memcmp(bytes.data(), bytes.data() + 1, bytes.size() - 1) == 0);
}

/// Renames unless `to` exists (false then). Overwriting a segment that another process has begun to use would
/// lose log, hence not plain rename(2).
bool rename_if_absent(const std::string& from, const std::string& to) {
  if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) return true;
  if (errno == EEXIST) return false;
  if (errno != EINVAL && errno != ENOSYS) throw_file_error("rename", from, errno);
  // File systems without that flag: a second name, then drop the first.
  if (::link(from.c_str(), to.c_str()) != 0) {
    if (errno == EEXIST) return false;
    throw_file_error("link", from, errno);
  }
  remove_file(from);
  return true;
}

[[noreturn]] void panic_on(const char* what, const std::exception& error) noexcept {
  try {
    DB_PANIC(std::string{what} + ": " + error.what());
  } catch (...) {
    DB_PANIC(what);
  }
}

}  // namespace

std::string segment_file_name(SegmentNumber segment, std::uint32_t segment_bytes) {
  char name[32];
  const std::uint64_t per_id = segments_per_id(segment_bytes);
  std::snprintf(name, sizeof name, "%08X%08X%08X", 1u, static_cast<unsigned>(segment / per_id),
                static_cast<unsigned>(segment % per_id));
  return name;
}

std::optional<SegmentNumber> parse_segment_file_name(std::string_view name,
                                                     std::uint32_t segment_bytes) noexcept {
  if (name.size() != 24) return std::nullopt;
  std::uint32_t parts[3];
  for (unsigned i = 0; i < 3; ++i) {
    const char* first = name.data() + i * 8;
    const auto [end, error] = std::from_chars(first, first + 8, parts[i], 16);
    if (error != std::errc{} || end != first + 8) return std::nullopt;
  }
  if (parts[0] != 1 || parts[2] >= segments_per_id(segment_bytes)) return std::nullopt;
  return parts[1] * segments_per_id(segment_bytes) + parts[2];
}

SegmentFiles::SegmentFiles(std::string data_directory, std::uint32_t segment_bytes,
                           std::uint64_t system_identifier)
    : directory_{std::move(data_directory) + "/pg_wal"},
      segment_bytes_{segment_bytes},
      system_identifier_{system_identifier} {}

std::string SegmentFiles::path_of(SegmentNumber segment) const {
  return directory_ + "/" + segment_file_name(segment, segment_bytes_);
}

bool SegmentFiles::exists(SegmentNumber segment) const { return file_exists(path_of(segment)); }

void SegmentFiles::write_header(const File& file, SegmentNumber segment) const {
  SegmentHeader header{
      SegmentHeader::kMagic, SegmentHeader::kVersion, segment_bytes_, segment, system_identifier_, 0, 0};
  header.checksum = crc32c(0, &header, offsetof(SegmentHeader, checksum));
  file.write_at(0, std::as_bytes(std::span{&header, 1}));
}

std::optional<File> SegmentFiles::open_for_read(SegmentNumber segment) const {
  std::optional<File> file = File::open_if_exists(path_of(segment), OpenMode::kRead);
  if (!file) return std::nullopt;
  std::byte bytes[sizeof(SegmentHeader)];
  if (file->read_at(0, bytes) != sizeof bytes) return std::nullopt;
  const auto header = load<SegmentHeader>(bytes);
  const bool good = header.magic == SegmentHeader::kMagic && header.version == SegmentHeader::kVersion &&
                    header.segment_bytes == segment_bytes_ && header.segment == segment &&
                    header.system_identifier == system_identifier_ &&
                    header.checksum == crc32c(0, bytes, offsetof(SegmentHeader, checksum));
  return good ? std::move(file) : std::nullopt;
}

bool SegmentFiles::create(SegmentNumber segment) {
  const std::string path = path_of(segment);
  if (file_exists(path)) return false;
  const std::string temporary = directory_ + "/" + std::string{kTemporaryPrefix} + std::to_string(getpid());
  {
    const shm::WaitEventScope waiting{shm::WaitEvent::kWalInitWrite};
    const File file = File::open(temporary, OpenMode::kTruncate);
    const std::uint64_t size = kSegmentHeaderBytes + segment_bytes_;
    if (zero_fill_) {
      // Real zeros, not fallocate: extents marked unwritten would cost a metadata write at each first sync.
      const auto zeros = std::make_unique<std::byte[]>(kZeroChunk);
      for (std::uint64_t at = 0; at < size; at += kZeroChunk) {
        file.write_at(at, {zeros.get(), std::min<std::uint64_t>(kZeroChunk, size - at)});
      }
    } else {
      file.truncate(size);
    }
    write_header(file, segment);
    const shm::WaitEventScope syncing{shm::WaitEvent::kWalInitSync};
    file.sync();
  }
  const bool made = rename_if_absent(temporary, path);
  if (!made) remove_file_if_exists(temporary);
  sync_directory(directory_);
  return made;
}

File& SegmentFiles::writable(SegmentNumber segment, SyncMethod method) {
  const int flags = open_flags(method);
  if (open_.is_open() && open_segment_ == segment && open_flags_ == flags) return open_;
  create(segment);
  if (!open_for_read(segment)) {
    throw SqlError{sqlstate::kDataCorrupted,
                   "invalid header in log segment file \"" + path_of(segment) + "\""};
  }
  open_ = File::open(path_of(segment), OpenMode::kReadWrite, flags);
  open_segment_ = segment;
  open_flags_ = flags;
  return open_;
}

void SegmentFiles::write(Lsn at, std::span<const std::byte> bytes, SyncMethod method) noexcept {
  try {
    while (!bytes.empty()) {
      const std::uint64_t offset = at.value % segment_bytes_;
      const std::size_t size = std::min<std::uint64_t>(bytes.size(), segment_bytes_ - offset);
      writable(segment_of(at), method).write_at(kSegmentHeaderBytes + offset, bytes.first(size));
      at = at + size;
      bytes = bytes.subspan(size);
    }
  } catch (const std::exception& error) {
    panic_on("could not write to log file", error);
  }
}

void SegmentFiles::sync(Lsn from, Lsn to, SyncMethod method) noexcept {
  if (to <= from) return;
  try {
    for (SegmentNumber segment = segment_of(from); segment <= segment_of(Lsn{to.value - 1}); ++segment) {
      sync_file(writable(segment, method), method);
    }
  } catch (const std::exception& error) {
    panic_on("could not sync log file", error);
  }
}

void SegmentFiles::sync_existing(SegmentNumber first) {
  for (SegmentNumber segment = first;; ++segment) {
    const std::optional<File> file = File::open_if_exists(path_of(segment), OpenMode::kReadWrite);
    if (!file) return;
    file->sync();
  }
}

SegmentFiles::Recycled SegmentFiles::recycle(SegmentNumber keep_from, SegmentNumber current, unsigned spare) {
  Recycled result;
  SegmentNumber future = current + 1;
  for (const std::string& name : list_directory(directory_)) {
    const std::optional<SegmentNumber> segment = parse_segment_file_name(name, segment_bytes_);
    if (!segment || *segment >= keep_from) continue;
    const std::string path = path_of(*segment);
    while (future <= current + spare && exists(future)) ++future;
    bool renamed = false;
    if (future <= current + spare) {
      // The new header must be durable before the new name is: if the process dies in between, a file below
      // the redo point has a foreign header, and nobody reads it again.
      const File file = File::open(path, OpenMode::kReadWrite);
      write_header(file, future);
      file.sync();
      renamed = rename_if_absent(path, path_of(future));
    }
    if (renamed) {
      ++result.recycled;
    } else {
      remove_file(path);
      ++result.removed;
    }
  }
  if (result.removed + result.recycled != 0) sync_directory(directory_);
  return result;
}

void SegmentFiles::truncate_after(Lsn end) {
  open_.close();
  const SegmentNumber last = segment_of(end);
  // Later segments first: whatever they hold was never reachable.
  for (const std::string& name : list_directory(directory_)) {
    const std::optional<SegmentNumber> segment = parse_segment_file_name(name, segment_bytes_);
    if (segment && *segment > last) remove_file(path_of(*segment));
  }
  if (exists(last) && !open_for_read(last)) remove_file(path_of(last));
  sync_directory(directory_);
  create(last);

  const File file = File::open(path_of(last), OpenMode::kReadWrite);
  const auto buffer = std::make_unique<std::byte[]>(kZeroChunk);
  std::uint64_t at = kSegmentHeaderBytes + end.value % segment_bytes_;
  const std::uint64_t file_end = kSegmentHeaderBytes + segment_bytes_;
  while (at < file_end) {
    const std::size_t size = std::min<std::uint64_t>(kZeroChunk, file_end - at);
    const std::span<std::byte> chunk{buffer.get(), size};
    // Mostly zero already: reading is cheaper than writing the whole segment again.
    if (file.read_at(at, chunk) != size || !all_zero(chunk)) {
      std::memset(buffer.get(), 0, size);
      file.write_at(at, chunk);
    }
    at += size;
  }
  file.sync();
}

void SegmentFiles::remove_leftovers() noexcept {
  try {
    for (const std::string& name : list_directory(directory_)) {
      if (name.starts_with(kTemporaryPrefix)) remove_file_if_exists(directory_ + "/" + name);
    }
  } catch (const std::exception&) {
    // They only waste space; the next start tries again.
  }
}

}  // namespace pinwheel::wal
