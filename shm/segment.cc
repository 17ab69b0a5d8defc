#include "shm/segment.h"

#include <sys/mman.h>
#include <unistd.h>

#include <boost/interprocess/anonymous_shared_memory.hpp>
#include <boost/interprocess/mapped_region.hpp>
#include <boost/interprocess/shared_memory_object.hpp>
#include <boost/interprocess/xsi_shared_memory.hpp>
#include <cerrno>
#include <cstring>
#include <optional>

#include "base/error.h"
#include "base/file.h"
#include "base/sqlstate.h"

namespace pinwheel::shm {
namespace {

namespace ipc = boost::interprocess;

constexpr std::size_t kLargestAlign = 4096;

std::size_t round_up(std::size_t value, std::size_t unit) noexcept {
  return (value + unit - 1) / unit * unit;
}

/// A descriptor that Boost.Interprocess can map.
class MemoryFile {
 public:
  explicit MemoryFile(int fd) noexcept : fd_{fd} {}
  ~MemoryFile() { ::close(fd_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  ipc::mapping_handle_t get_mapping_handle() const noexcept { return {fd_, false}; }

 private:
  int fd_;
};

/// Size of a huge page; 0 when the system has none.
std::size_t huge_page_bytes() {
  const std::optional<std::string> info = read_file_if_exists("/proc/meminfo");
  if (!info) return 0;
  const std::size_t at = info->find("Hugepagesize:");
  return at == std::string::npos ? 0 : std::strtoull(info->c_str() + at + 13, nullptr, 10) * 1024;
}

/// Huge pages from the system's reserve; nothing when there are not enough, with the reason in
/// `error_number`.
std::optional<ipc::mapped_region> try_map_huge(std::size_t& size_bytes, int& error_number) {
  const std::size_t page = huge_page_bytes();
  error_number = ENOSYS;
  if (page == 0) return std::nullopt;
  const int fd = ::memfd_create("pinwheel", MFD_CLOEXEC | MFD_HUGETLB);
  if (fd < 0) {
    error_number = errno;
    return std::nullopt;
  }
  const MemoryFile file{fd};
  const std::size_t rounded = round_up(size_bytes, page);
  if (::ftruncate(fd, static_cast<off_t>(rounded)) != 0) {
    error_number = errno;
    return std::nullopt;
  }
  try {
    ipc::mapped_region region{file, ipc::read_write, 0, rounded};
    size_bytes = rounded;
    return region;
  } catch (const ipc::interprocess_exception& failed) {
    error_number = failed.get_native_error();
    return std::nullopt;
  }
}

ipc::mapped_region map_sysv(std::size_t size_bytes) {
  const ipc::xsi_key key;  // IPC_PRIVATE
  ipc::xsi_shared_memory memory{ipc::create_only, key, size_bytes, 0600};
  struct Remover {
    int id;
    // At once, in failure too: the segment lives as long as it is attached, and nothing is left behind by a
    // crash.
    ~Remover() { ipc::xsi_shared_memory::remove(id); }
  } const remover{memory.get_shmid()};
  return ipc::mapped_region{memory, ipc::read_write};
}

ipc::mapped_region map_posix(std::size_t size_bytes) {
  const std::string name = "/pinwheel." + std::to_string(::getpid());
  ipc::shared_memory_object::remove(name.c_str());  // left by a killed server that had our pid
  ipc::shared_memory_object memory{ipc::create_only, name.c_str(), ipc::read_write, ipc::permissions{0600}};
  ipc::shared_memory_object::remove(name.c_str());
  memory.truncate(static_cast<ipc::offset_t>(size_bytes));
  return ipc::mapped_region{memory, ipc::read_write, 0, size_bytes};
}

ipc::mapped_region map_small_pages(std::size_t size_bytes, MemoryType type) {
  switch (type) {
    case MemoryType::kMmap:
      return ipc::anonymous_shared_memory(size_bytes);
    case MemoryType::kSysV:
      return map_sysv(size_bytes);
    case MemoryType::kPosix:
      return map_posix(size_bytes);
  }
  DB_PANIC("unknown memory type");
}

[[noreturn]] void throw_no_memory(std::string_view kind, std::size_t size_bytes, int error_number) {
  throw SqlError{sqlstate::kOutOfMemory,
                 "could not map " + std::string{kind} + " shared memory: " + std::strerror(error_number)}
      .hint("The request for a shared memory segment of " + std::to_string(size_bytes) +
            " bytes exceeds the available memory, swap space or huge pages. To make it smaller, lower "
            "shared_buffers or max_connections; or set huge_pages to off.")
      .fatal();
}

}  // namespace

struct Segment::Mapping {
  ipc::mapped_region region;
};

void RegionBuilder::add_region(std::string_view name, std::size_t size_bytes, std::size_t align,
                               std::function<void(std::byte*)> create) {
  align = std::max(align, kCacheLine);
  DB_ASSERT((align & (align - 1)) == 0 && align <= kLargestAlign);
  for (const Region& region : regions_) DB_ASSERT(region.name != name);
  total_bytes_ = round_up(total_bytes_, align);
  regions_.push_back({std::string{name}, total_bytes_, size_bytes, align, std::move(create)});
  total_bytes_ += size_bytes;
}

Segment::Segment(RegionBuilder builder, MapOptions options) : regions_{std::move(builder.regions_)} {
  total_bytes_ = round_up(std::max<std::size_t>(builder.total_bytes_, 1), kLargestAlign);
  int error_number = 0;
  if (options.huge_pages != HugePages::kOff && options.type == MemoryType::kMmap) {
    if (auto region = try_map_huge(total_bytes_, error_number)) {
      huge_pages_ = true;
      mapping_ = std::make_unique<Mapping>(Mapping{std::move(*region)});
    }
  }
  if (!mapping_ && options.huge_pages == HugePages::kOn) {
    throw_no_memory("huge-page", total_bytes_, options.type == MemoryType::kMmap ? error_number : ENOSYS);
  }
  if (!mapping_) {
    try {
      mapping_ = std::make_unique<Mapping>(Mapping{map_small_pages(total_bytes_, options.type)});
    } catch (const ipc::interprocess_exception& failed) {
      throw_no_memory(options.type == MemoryType::kMmap   ? "anonymous"
                      : options.type == MemoryType::kSysV ? "System V"
                                                          : "POSIX",
                      total_bytes_, failed.get_native_error() == 0 ? ENOMEM : failed.get_native_error());
    }
    // Transparent huge pages where the system allows them on request: far fewer page faults and page tables.
    if (options.huge_pages == HugePages::kTry) {
      ::madvise(mapping_->region.get_address(), total_bytes_, MADV_HUGEPAGE);
    }
  }
  base_ = static_cast<std::byte*>(mapping_->region.get_address());
  for (const Region& region : regions_) {
    if (region.create) region.create(base_ + region.offset);
  }
}

Segment::~Segment() = default;

std::byte* Segment::find_or_null(std::string_view name) const noexcept {
  for (const Region& region : regions_) {
    if (region.name == name) return base_ + region.offset;
  }
  return nullptr;
}

std::byte* Segment::find(std::string_view name) const {
  std::byte* found = find_or_null(name);
  if (found == nullptr) DB_PANIC("no shared memory region \"" + std::string{name} + "\"");
  return found;
}

std::size_t Segment::size_of(std::string_view name) const {
  for (const Region& region : regions_) {
    if (region.name == name) return region.size_bytes;
  }
  DB_PANIC("no shared memory region \"" + std::string{name} + "\"");
}

}  // namespace pinwheel::shm
