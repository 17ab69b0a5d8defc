#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"

namespace pinwheel::shm {

/// How the kernel is asked for the memory (setting shared_memory_type).
enum class MemoryType : std::uint8_t { kMmap, kSysV, kPosix };
/// Setting huge_pages.
enum class HugePages : std::uint8_t { kOff, kOn, kTry };

struct MapOptions {
  MemoryType type = MemoryType::kMmap;
  HugePages huge_pages = HugePages::kTry;
};

/// A named part of the segment; pg_shmem_allocations shows one row for each.
struct Region {
  std::string name;
  std::size_t offset = 0;
  std::size_t size_bytes = 0;
  std::size_t align = kCacheLine;
  /// Makes the initial content in zero-filled memory; may be empty.
  std::function<void(std::byte*)> create;
};

/// Collects what subsystems want in the segment, in the order they declare it. Each subsystem has a function
/// `declare(RegionBuilder&, const Settings&)` that adds its regions, and a constructor that attaches to them.
class RegionBuilder {
 public:
  /// `align` is a power of two, at most 4096; it is raised to a cache line. Names are unique.
  void add_region(std::string_view name, std::size_t size_bytes, std::size_t align = kCacheLine,
                  std::function<void(std::byte*)> create = {});

  /// Adds an array of `count` value-initialised objects.
  template <class T>
  void add_array(std::string_view name, std::size_t count) {
    add_region(name, sizeof(T) * count, alignof(T), [count](std::byte* at) {
      T* first = reinterpret_cast<T*>(at);
      for (std::size_t i = 0; i < count; ++i) ::new (first + i) T();
    });
  }

  std::size_t total_bytes() const noexcept { return total_bytes_; }

 private:
  friend class Segment;
  std::vector<Region> regions_;
  std::size_t total_bytes_ = 0;
};

/// The shared memory of one server, mapped once by the launcher before it forks; addresses are equal in all
/// children. When it dies it is unmapped here (children keep their mapping).
class Segment {
 public:
  /// Maps and creates all regions in order. Errors: FATAL 53200 or XX000 in PostgreSQL's words, with how much
  /// was asked for and what to change.
  Segment(RegionBuilder builder, MapOptions options);
  ~Segment();
  Segment(const Segment&) = delete;
  Segment& operator=(const Segment&) = delete;

  /// First byte of a region. Panics on an unknown name. A start-up matter: keep the pointer.
  std::byte* find(std::string_view name) const;

  template <class T>
  T* as(std::string_view name) const {
    return reinterpret_cast<T*>(find(name));
  }
  /// Null when there is no such region.
  std::byte* find_or_null(std::string_view name) const noexcept;
  std::size_t size_of(std::string_view name) const;

  std::span<const Region> regions() const noexcept { return regions_; }
  std::size_t total_bytes() const noexcept { return total_bytes_; }
  bool uses_huge_pages() const noexcept { return huge_pages_; }
  std::byte* base() const noexcept { return base_; }

 private:
  struct Mapping;
  std::vector<Region> regions_;
  std::unique_ptr<Mapping> mapping_;
  std::byte* base_ = nullptr;
  std::size_t total_bytes_ = 0;
  bool huge_pages_ = false;
};

}  // namespace pinwheel::shm
