#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

struct iovec;

namespace pinwheel {

/// The seam between the server and the operating system's files, replaced in tests that inject faults.
/// Methods mirror system calls: a negative result is -errno; reads and writes may be short. File adds the
/// rest.
class FileSystem {
 public:
  virtual ~FileSystem() = default;
  virtual int open(const std::string& path, int flags, mode_t mode) = 0;
  virtual int close(int fd) = 0;
  virtual ssize_t read_at(int fd, void* bytes, std::size_t size_bytes, std::uint64_t offset) = 0;
  virtual ssize_t write_at(int fd, const void* bytes, std::size_t size_bytes, std::uint64_t offset) = 0;
  virtual ssize_t write_pieces_at(int fd, const iovec* pieces, int count, std::uint64_t offset) = 0;
  /// fdatasync.
  virtual int sync(int fd) = 0;
  virtual int truncate(int fd, std::uint64_t size_bytes) = 0;
  virtual int allocate(int fd, std::uint64_t offset, std::uint64_t size_bytes) = 0;
  virtual std::int64_t size(int fd) = 0;
  virtual int unlink(const std::string& path) = 0;
  virtual int rename(const std::string& from, const std::string& to) = 0;
  virtual int make_directory(const std::string& path, mode_t mode) = 0;
  virtual int remove_directory(const std::string& path) = 0;
  /// fsync of a directory: makes creations, renames and unlinks in it durable.
  virtual int sync_directory(const std::string& path) = 0;
  /// Names in a directory, without "." and "..", sorted.
  virtual int list(const std::string& path, std::vector<std::string>& names) = 0;
  virtual bool exists(const std::string& path) = 0;
};

/// The real thing.
class PosixFileSystem final : public FileSystem {
 public:
  int open(const std::string& path, int flags, mode_t mode) override;
  int close(int fd) override;
  ssize_t read_at(int fd, void* bytes, std::size_t size_bytes, std::uint64_t offset) override;
  ssize_t write_at(int fd, const void* bytes, std::size_t size_bytes, std::uint64_t offset) override;
  ssize_t write_pieces_at(int fd, const iovec* pieces, int count, std::uint64_t offset) override;
  int sync(int fd) override;
  int truncate(int fd, std::uint64_t size_bytes) override;
  int allocate(int fd, std::uint64_t offset, std::uint64_t size_bytes) override;
  std::int64_t size(int fd) override;
  int unlink(const std::string& path) override;
  int rename(const std::string& from, const std::string& to) override;
  int make_directory(const std::string& path, mode_t mode) override;
  int remove_directory(const std::string& path) override;
  int sync_directory(const std::string& path) override;
  int list(const std::string& path, std::vector<std::string>& names) override;
  bool exists(const std::string& path) override;
};

/// This process's file system; PosixFileSystem unless a test has set another.
FileSystem& file_system() noexcept;
/// nullptr sets the real one again. The caller keeps `replacement` alive.
void set_file_system(FileSystem* replacement) noexcept;

/// The setting `fsync`: when false, File::sync, sync_directory and write_file_durably skip the system call.
void set_sync_enabled(bool enabled) noexcept;
bool sync_enabled() noexcept;

enum class OpenMode : std::uint8_t {
  kRead,
  kReadWrite,
  kCreate,     // read and write; made if absent
  kCreateNew,  // read and write; an error if it exists
  kTruncate,   // read and write; made if absent, emptied if not
};

/// An open file, closed when it dies. All offsets are in bytes. Calls are retried on EINTR and continued
/// after short transfers. Errors, in PostgreSQL's words: 58030 io_error, 53100 disk_full, 58P01
/// undefined_file, 42501 insufficient_privilege, 53000 too many open files.
class [[nodiscard]] File {
 public:
  File() = default;
  File(File&& other) noexcept;
  File& operator=(File&& other) noexcept;
  ~File();

  /// `extra_flags` are passed to open(2) (O_DIRECT, O_DSYNC...).
  static File open(const std::string& path, OpenMode mode, int extra_flags = 0);
  /// Nothing when there is no such file.
  static std::optional<File> open_if_exists(const std::string& path, OpenMode mode);

  /// Bytes read: fewer than asked only at the end of the file.
  std::size_t read_at(std::uint64_t offset, std::span<std::byte> bytes) const;
  /// Errors: XX001 when the file ends before.
  void read_exactly_at(std::uint64_t offset, std::span<std::byte> bytes) const;
  void write_at(std::uint64_t offset, std::span<const std::byte> bytes) const;
  /// Writes several pieces one after the other in as few system calls as can be. Changes `pieces`.
  void write_pieces_at(std::uint64_t offset, std::span<iovec> pieces) const;
  /// Makes all bytes written so far durable. Panics on failure: the kernel may have dropped the dirty pages,
  /// so a retry that succeeds would prove nothing.
  void sync() const;
  std::uint64_t size() const;
  void truncate(std::uint64_t size_bytes) const;
  /// Makes room on disk (zeroes where nothing was); grows the file.
  void allocate(std::uint64_t offset, std::uint64_t size_bytes) const;
  /// Asks the kernel to start reading; never fails.
  void prefetch(std::uint64_t offset, std::uint64_t size_bytes) const noexcept;
  /// Asks the kernel to start writing dirty pages of the range; no durability. Never fails.
  void start_writeback(std::uint64_t offset, std::uint64_t size_bytes) const noexcept;

  bool is_open() const noexcept { return fd_ >= 0; }
  int fd() const noexcept { return fd_; }
  const std::string& path() const noexcept { return path_; }
  void close() noexcept;

 private:
  File(int fd, std::string path) : fd_{fd}, path_{std::move(path)} {}
  int fd_ = -1;
  std::string path_;
};

/// Whole content of a file. Errors as File's.
std::string read_file(const std::string& path);
std::optional<std::string> read_file_if_exists(const std::string& path);
/// Replaces `path` so that after a crash either the old or the new content is there: writes path.tmp, syncs
/// it, renames it, syncs the directory.
void write_file_durably(const std::string& path, std::string_view content);
void remove_file(const std::string& path);
/// False when it was not there.
bool remove_file_if_exists(const std::string& path);
void rename_file(const std::string& from, const std::string& to);
void make_directory(const std::string& path, mode_t mode = 0700);
/// Panics on failure, as File::sync.
void sync_directory(const std::string& path);
std::vector<std::string> list_directory(const std::string& path);
bool file_exists(const std::string& path);

/// Throws the SqlError for a failed call: `could not <action> file "<path>": <reason>`.
[[noreturn]] void throw_file_error(std::string_view action, const std::string& path, int error_number);

}  // namespace pinwheel
