#include "base/file.h"

#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <catch2/catch.hpp>
#include <cerrno>
#include <csignal>

#include "base/bytes.h"
#include "tests/base/error_text.h"
#include "tests/base/test_directory.h"

namespace pinwheel {
namespace {

/// Transfers one byte at a time, interrupts every other call, and fails where told.
class TroublesomeFileSystem final : public FileSystem {
 public:
  int open(const std::string& path, int flags, mode_t mode) override { return real_.open(path, flags, mode); }
  int close(int fd) override { return real_.close(fd); }
  ssize_t read_at(int fd, void* bytes, std::size_t size, std::uint64_t offset) override {
    return interrupts() ? -EINTR : real_.read_at(fd, bytes, std::min<std::size_t>(size, 1), offset);
  }
  ssize_t write_at(int fd, const void* bytes, std::size_t size, std::uint64_t offset) override {
    if (disk_full) return -ENOSPC;
    return interrupts() ? -EINTR : real_.write_at(fd, bytes, std::min<std::size_t>(size, 1), offset);
  }
  ssize_t write_pieces_at(int fd, const iovec* pieces, int count, std::uint64_t offset) override {
    if (interrupts()) return -EINTR;
    iovec first = pieces[0];
    first.iov_len = std::min<std::size_t>(first.iov_len, 2);
    return real_.write_pieces_at(fd, count > 0 ? &first : pieces, 1, offset);
  }
  int sync(int fd) override { return sync_fails ? -EIO : real_.sync(fd); }
  int truncate(int fd, std::uint64_t size) override { return real_.truncate(fd, size); }
  int allocate(int fd, std::uint64_t offset, std::uint64_t size) override {
    return real_.allocate(fd, offset, size);
  }
  std::int64_t size(int fd) override { return real_.size(fd); }
  int unlink(const std::string& path) override { return real_.unlink(path); }
  int rename(const std::string& from, const std::string& to) override { return real_.rename(from, to); }
  int make_directory(const std::string& path, mode_t mode) override {
    return real_.make_directory(path, mode);
  }
  int remove_directory(const std::string& path) override { return real_.remove_directory(path); }
  int sync_directory(const std::string& path) override { return real_.sync_directory(path); }
  int list(const std::string& path, std::vector<std::string>& names) override {
    return real_.list(path, names);
  }
  bool exists(const std::string& path) override { return real_.exists(path); }

  bool disk_full = false;
  bool sync_fails = false;

 private:
  bool interrupts() { return (++calls_ & 1) != 0; }
  PosixFileSystem real_;
  int calls_ = 0;
};

struct Installed {
  explicit Installed(FileSystem& files) { set_file_system(&files); }
  ~Installed() { set_file_system(nullptr); }
};

}  // namespace

TEST_CASE("short and interrupted transfers are continued", "[base][file]") {
  const test::TestDirectory directory;
  TroublesomeFileSystem files;
  const Installed installed{files};
  const File file = File::open(directory / "f", OpenMode::kCreate);
  file.write_at(0, as_byte_span("hello world"));
  std::array<std::byte, 11> bytes{};
  file.read_exactly_at(0, bytes);
  CHECK(as_text(bytes) == "hello world");
  char one[] = "abc", two[] = "", three[] = "defg";
  std::array<iovec, 3> pieces{{{one, 3}, {two, 0}, {three, 4}}};
  file.write_pieces_at(2, pieces);
  file.read_exactly_at(0, bytes);
  CHECK(as_text(bytes) == "heabcdefgld");
}

TEST_CASE("reads stop at the end of the file", "[base][file]") {
  const test::TestDirectory directory;
  const File file = File::open(directory / "f", OpenMode::kCreate);
  file.write_at(0, as_byte_span("abc"));
  std::array<std::byte, 8> bytes{};
  CHECK(file.read_at(1, bytes) == 2);
  CHECK(file.read_at(100, bytes) == 0);
  CHECK(test::error_of([&] { file.read_exactly_at(0, bytes); }) ==
        "XX001 could not read file \"" + (directory / "f") + "\": read only 3 of 8 bytes at offset 0");
}

TEST_CASE("errors of files carry PostgreSQL's words and codes", "[base][file]") {
  const test::TestDirectory directory;
  CHECK(test::error_of([&] { read_file(directory / "none"); }) ==
        "58P01 could not open file \"" + (directory / "none") + "\": No such file or directory");
  CHECK_FALSE(read_file_if_exists(directory / "none"));
  CHECK_FALSE(File::open_if_exists(directory / "none", OpenMode::kRead));
  TroublesomeFileSystem files;
  const Installed installed{files};
  const File file = File::open(directory / "f", OpenMode::kCreate);
  files.disk_full = true;
  CHECK(test::error_of([&] { file.write_at(0, as_byte_span("x")); }) ==
        "53100 could not write file \"" + (directory / "f") + "\": No space left on device");
}

TEST_CASE("a failed sync panics", "[base][file]") {
  const test::TestDirectory directory;
  const pid_t child = ::fork();
  if (child == 0) {
    std::signal(SIGABRT, SIG_DFL);
    TroublesomeFileSystem files;
    files.sync_fails = true;
    set_file_system(&files);
    ::close(STDERR_FILENO);
    File::open(directory / "f", OpenMode::kCreate).sync();
    ::_exit(0);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK((WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT));
}

TEST_CASE("a file is replaced as a whole", "[base][file]") {
  const test::TestDirectory directory;
  write_file_durably(directory / "f", std::string(10'000, 'a'));
  write_file_durably(directory / "f", "new");
  CHECK(read_file(directory / "f") == "new");
  CHECK(list_directory(directory.path()) == std::vector<std::string>{"f"});
  CHECK(remove_file_if_exists(directory / "f"));
  CHECK_FALSE(remove_file_if_exists(directory / "f"));
}

}  // namespace pinwheel
