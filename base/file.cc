#include "base/file.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "base/error.h"
#include "base/sqlstate.h"

namespace pinwheel {
namespace {

/// Process-wide handles: the seam's implementation and the setting fsync.
PosixFileSystem posix;
FileSystem* current = &posix;
bool sync_is_enabled = true;

int result_of(int returned) noexcept { return returned < 0 ? -errno : returned; }
ssize_t result_of(ssize_t returned) noexcept { return returned < 0 ? -errno : returned; }

std::string parent_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

int flags_of(OpenMode mode) noexcept {
  switch (mode) {
    case OpenMode::kRead:
      return O_RDONLY;
    case OpenMode::kReadWrite:
      return O_RDWR;
    case OpenMode::kCreate:
      return O_RDWR | O_CREAT;
    case OpenMode::kCreateNew:
      return O_RDWR | O_CREAT | O_EXCL;
    case OpenMode::kTruncate:
      return O_RDWR | O_CREAT | O_TRUNC;
  }
  return O_RDONLY;
}

int open_retrying(const std::string& path, int flags) {
  int fd;
  do {
    fd = current->open(path, flags | O_CLOEXEC, 0600);
  } while (fd == -EINTR);
  return fd;
}

SqlState state_of(int error_number) noexcept {
  switch (error_number) {
    case ENOENT:
      return sqlstate::kUndefinedFile;
    case EEXIST:
      return sqlstate::kDuplicateFile;
    case EACCES:
    case EPERM:
    case EROFS:
      return sqlstate::kInsufficientPrivilege;
    case ENOSPC:
    case EDQUOT:
      return sqlstate::kDiskFull;
    case ENFILE:
    case EMFILE:
      return sqlstate::kInsufficientResources;
    case ENOTDIR:
    case EISDIR:
    case ENOTEMPTY:
      return sqlstate::kWrongObjectType;
    default:
      return sqlstate::kIoError;
  }
}

[[noreturn]] void throw_error(const std::string& message, int error_number) {
  SqlError error{state_of(error_number), message + ": " + std::strerror(error_number)};
  if (error_number == ENOSPC) throw std::move(error).hint("Check free disk space.");
  throw error;
}

}  // namespace

int PosixFileSystem::open(const std::string& path, int flags, mode_t mode) {
  return result_of(::open(path.c_str(), flags, mode));
}
int PosixFileSystem::close(int fd) { return result_of(::close(fd)); }
ssize_t PosixFileSystem::read_at(int fd, void* bytes, std::size_t size_bytes, std::uint64_t offset) {
  return result_of(::pread(fd, bytes, size_bytes, static_cast<off_t>(offset)));
}
ssize_t PosixFileSystem::write_at(int fd, const void* bytes, std::size_t size_bytes, std::uint64_t offset) {
  return result_of(::pwrite(fd, bytes, size_bytes, static_cast<off_t>(offset)));
}
ssize_t PosixFileSystem::write_pieces_at(int fd, const iovec* pieces, int count, std::uint64_t offset) {
  return result_of(::pwritev(fd, pieces, count, static_cast<off_t>(offset)));
}
int PosixFileSystem::sync(int fd) { return result_of(::fdatasync(fd)); }
int PosixFileSystem::truncate(int fd, std::uint64_t size_bytes) {
  return result_of(::ftruncate(fd, static_cast<off_t>(size_bytes)));
}
int PosixFileSystem::allocate(int fd, std::uint64_t offset, std::uint64_t size_bytes) {
  return -::posix_fallocate(fd, static_cast<off_t>(offset), static_cast<off_t>(size_bytes));
}
std::int64_t PosixFileSystem::size(int fd) {
  struct stat status;
  if (::fstat(fd, &status) != 0) return -errno;
  return status.st_size;
}
int PosixFileSystem::unlink(const std::string& path) { return result_of(::unlink(path.c_str())); }
int PosixFileSystem::rename(const std::string& from, const std::string& to) {
  return result_of(std::rename(from.c_str(), to.c_str()));
}
int PosixFileSystem::make_directory(const std::string& path, mode_t mode) {
  return result_of(::mkdir(path.c_str(), mode));
}
int PosixFileSystem::remove_directory(const std::string& path) { return result_of(::rmdir(path.c_str())); }
int PosixFileSystem::sync_directory(const std::string& path) {
  const int fd = result_of(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (fd < 0) return fd;
  const int result = result_of(::fsync(fd));
  ::close(fd);
  return result;
}
int PosixFileSystem::list(const std::string& path, std::vector<std::string>& names) {
  DIR* directory = ::opendir(path.c_str());
  if (directory == nullptr) return -errno;
  names.clear();
  errno = 0;
  while (const dirent* entry = ::readdir(directory)) {
    const std::string_view name{entry->d_name};
    if (name != "." && name != "..") names.emplace_back(name);
    errno = 0;
  }
  const int error_number = errno;
  ::closedir(directory);
  std::sort(names.begin(), names.end());
  return -error_number;
}
bool PosixFileSystem::exists(const std::string& path) { return ::access(path.c_str(), F_OK) == 0; }

FileSystem& file_system() noexcept { return *current; }
void set_file_system(FileSystem* replacement) noexcept {
  current = replacement == nullptr ? &posix : replacement;
}
void set_sync_enabled(bool enabled) noexcept { sync_is_enabled = enabled; }
bool sync_enabled() noexcept { return sync_is_enabled; }

void throw_file_error(std::string_view action, const std::string& path, int error_number) {
  throw_error("could not " + std::string{action} + " file \"" + path + "\"", error_number);
}

File::File(File&& other) noexcept : fd_{std::exchange(other.fd_, -1)}, path_{std::move(other.path_)} {}

File& File::operator=(File&& other) noexcept {
  if (this != &other) {
    close();
    fd_ = std::exchange(other.fd_, -1);
    path_ = std::move(other.path_);
  }
  return *this;
}

File::~File() { close(); }

void File::close() noexcept {
  if (fd_ >= 0) current->close(std::exchange(fd_, -1));
}

File File::open(const std::string& path, OpenMode mode, int extra_flags) {
  const int fd = open_retrying(path, flags_of(mode) | extra_flags);
  if (fd < 0) throw_file_error(mode == OpenMode::kCreateNew ? "create" : "open", path, -fd);
  return File{fd, path};
}

std::optional<File> File::open_if_exists(const std::string& path, OpenMode mode) {
  const int fd = open_retrying(path, flags_of(mode));
  if (fd == -ENOENT) return std::nullopt;
  if (fd < 0) throw_file_error("open", path, -fd);
  return File{fd, path};
}

std::size_t File::read_at(std::uint64_t offset, std::span<std::byte> bytes) const {
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t got = current->read_at(fd_, bytes.data() + done, bytes.size() - done, offset + done);
    if (got == -EINTR) continue;
    if (got < 0) throw_file_error("read", path_, static_cast<int>(-got));
    if (got == 0) break;
    done += static_cast<std::size_t>(got);
  }
  return done;
}

void File::read_exactly_at(std::uint64_t offset, std::span<std::byte> bytes) const {
  const std::size_t got = read_at(offset, bytes);
  if (got != bytes.size()) {
    throw SqlError{sqlstate::kDataCorrupted, "could not read file \"" + path_ + "\": read only " +
                                                 std::to_string(got) + " of " + std::to_string(bytes.size()) +
                                                 " bytes at offset " + std::to_string(offset)};
  }
}

void File::write_at(std::uint64_t offset, std::span<const std::byte> bytes) const {
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t put = current->write_at(fd_, bytes.data() + done, bytes.size() - done, offset + done);
    if (put == -EINTR) continue;
    // A write of nothing without an error is what a full disk looks like.
    if (put <= 0) throw_file_error("write", path_, put == 0 ? ENOSPC : static_cast<int>(-put));
    done += static_cast<std::size_t>(put);
  }
}

void File::write_pieces_at(std::uint64_t offset, std::span<iovec> pieces) const {
  constexpr std::size_t kMostPieces = 1024;  // IOV_MAX
  while (!pieces.empty()) {
    const int count = static_cast<int>(std::min(pieces.size(), kMostPieces));
    const ssize_t put = current->write_pieces_at(fd_, pieces.data(), count, offset);
    if (put == -EINTR) continue;
    std::size_t left = put > 0 ? static_cast<std::size_t>(put) : 0;
    const bool all_empty = pieces.front().iov_len == 0;
    if (put <= 0 && !all_empty) throw_file_error("write", path_, put == 0 ? ENOSPC : static_cast<int>(-put));
    offset += left;
    while (!pieces.empty() && left >= pieces.front().iov_len) {
      left -= pieces.front().iov_len;
      pieces = pieces.subspan(1);
    }
    if (left > 0) {
      pieces.front().iov_base = static_cast<char*>(pieces.front().iov_base) + left;
      pieces.front().iov_len -= left;
    }
  }
}

void File::sync() const {
  if (!sync_is_enabled) return;
  int result;
  do {
    result = current->sync(fd_);
  } while (result == -EINTR);
  if (result < 0) DB_PANIC("could not fsync file \"" + path_ + "\": " + std::strerror(-result));
}

std::uint64_t File::size() const {
  const std::int64_t size_bytes = current->size(fd_);
  if (size_bytes < 0) throw_file_error("stat", path_, static_cast<int>(-size_bytes));
  return static_cast<std::uint64_t>(size_bytes);
}

void File::truncate(std::uint64_t size_bytes) const {
  int result;
  do {
    result = current->truncate(fd_, size_bytes);
  } while (result == -EINTR);
  if (result < 0) throw_file_error("truncate", path_, -result);
}

void File::allocate(std::uint64_t offset, std::uint64_t size_bytes) const {
  int result;
  do {
    result = current->allocate(fd_, offset, size_bytes);
  } while (result == -EINTR);
  if (result < 0) throw_file_error("extend", path_, -result);
}

void File::prefetch(std::uint64_t offset, std::uint64_t size_bytes) const noexcept {
  ::posix_fadvise(fd_, static_cast<off_t>(offset), static_cast<off_t>(size_bytes), POSIX_FADV_WILLNEED);
}

void File::start_writeback(std::uint64_t offset, std::uint64_t size_bytes) const noexcept {
  ::sync_file_range(fd_, static_cast<off64_t>(offset), static_cast<off64_t>(size_bytes),
                    SYNC_FILE_RANGE_WRITE);
}

std::string read_file(const std::string& path) {
  const File file = File::open(path, OpenMode::kRead);
  // Read to the end rather than by size(): files under /proc say 0.
  std::string content;
  std::size_t got = 0;
  do {
    const std::size_t begin = content.size();
    content.resize(begin + std::max<std::size_t>(file.size() + 1, 4096));
    got = file.read_at(begin, std::as_writable_bytes(std::span{content}.subspan(begin)));
    const bool at_end = got < content.size() - begin;
    content.resize(begin + got);
    if (at_end) break;
  } while (got > 0);
  return content;
}

std::optional<std::string> read_file_if_exists(const std::string& path) {
  if (!current->exists(path)) return std::nullopt;
  return read_file(path);
}

void write_file_durably(const std::string& path, std::string_view content) {
  const std::string temporary = path + ".tmp";
  {
    const File file = File::open(temporary, OpenMode::kTruncate);
    file.write_at(0, std::as_bytes(std::span{content}));
    // Before the rename: otherwise a crash could leave the new name with the old emptiness.
    file.sync();
  }
  rename_file(temporary, path);
  sync_directory(parent_of(path));
}

void remove_file(const std::string& path) {
  const int result = current->unlink(path);
  if (result < 0) throw_file_error("remove", path, -result);
}

bool remove_file_if_exists(const std::string& path) {
  const int result = current->unlink(path);
  if (result == -ENOENT) return false;
  if (result < 0) throw_file_error("remove", path, -result);
  return true;
}

void rename_file(const std::string& from, const std::string& to) {
  const int result = current->rename(from, to);
  if (result < 0) throw_error("could not rename file \"" + from + "\" to \"" + to + "\"", -result);
}

void make_directory(const std::string& path, mode_t mode) {
  const int result = current->make_directory(path, mode);
  if (result < 0) throw_error("could not create directory \"" + path + "\"", -result);
}

void sync_directory(const std::string& path) {
  if (!sync_is_enabled) return;
  const int result = current->sync_directory(path);
  if (result < 0) DB_PANIC("could not fsync file \"" + path + "\": " + std::strerror(-result));
}

std::vector<std::string> list_directory(const std::string& path) {
  std::vector<std::string> names;
  const int result = current->list(path, names);
  if (result < 0) throw_error("could not open directory \"" + path + "\"", -result);
  return names;
}

bool file_exists(const std::string& path) { return current->exists(path); }

}  // namespace pinwheel
