#pragma once

#include <cstddef>
#include <cstring>
#include <memory_resource>
#include <string_view>
#include <type_traits>
#include <utility>

namespace pinwheel {

/// Counts the bytes of all arenas of one owner (a session) and bounds them.
///
/// Exceeding `limit_bytes` raises 53200 (out of memory) in the allocation that would pass it.
struct ArenaBudget {
  std::size_t used_bytes = 0;
  std::size_t limit_bytes = ~std::size_t{0};
};

/// Bump allocator for values that die together (a session, transaction, statement or row). Nothing is freed
/// one by one; reset() frees all but the first block, which is kept for reuse, so a steady statement never
/// calls malloc. Destructors of what lies in it are not run: put only trivially destructible things here, or
/// containers that take their memory from resource().
class Arena {
 public:
  explicit Arena(ArenaBudget* budget = nullptr, std::size_t first_block_bytes = 8192)
      : budget_{budget}, first_block_bytes_{first_block_bytes} {}
  ~Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  /// `align` is a power of two, at most 64. Errors: 53200.
  void* allocate(std::size_t size_bytes, std::size_t align = 8) {
    std::uintptr_t at = (cursor_ + (align - 1)) & ~static_cast<std::uintptr_t>(align - 1);
    if (at + size_bytes <= end_ && cursor_ != 0) [[likely]] {
      cursor_ = at + size_bytes;
      return reinterpret_cast<void*>(at);
    }
    return allocate_slow(size_bytes, align);
  }

  template <class T, class... Args>
  T* make(Args&&... args) {
    static_assert(std::is_trivially_destructible_v<T>, "arenas do not run destructors");
    return ::new (allocate(sizeof(T), alignof(T))) T(std::forward<Args>(args)...);
  }

  /// Value-initialised array of `count` elements.
  template <class T>
  T* make_array(std::size_t count) {
    static_assert(std::is_trivially_destructible_v<T>, "arenas do not run destructors");
    T* first = static_cast<T*>(allocate(sizeof(T) * count, alignof(T)));
    for (std::size_t i = 0; i < count; ++i) ::new (first + i) T();
    return first;
  }

  std::string_view copy(std::string_view text) {
    char* to = static_cast<char*>(allocate(text.size() + 1, 1));
    if (!text.empty()) std::memcpy(to, text.data(), text.size());
    to[text.size()] = '\0';
    return {to, text.size()};
  }

  /// Frees everything allocated since construction or the last reset.
  void reset() noexcept;

  /// Bytes held from the system, used or not.
  std::size_t held_bytes() const noexcept { return held_bytes_; }

  /// Lets standard pmr containers live in this arena; their deallocations are no-ops.
  std::pmr::memory_resource* resource() noexcept { return &resource_; }

 private:
  struct Block {
    Block* next;
    std::size_t size_bytes;  // of the whole block, header included
  };
  class Resource : public std::pmr::memory_resource {
   public:
    explicit Resource(Arena* arena) : arena_{arena} {}

   private:
    void* do_allocate(std::size_t bytes, std::size_t align) override {
      return arena_->allocate(bytes, align);
    }
    void do_deallocate(void*, std::size_t, std::size_t) override {}
    bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override {
      return this == &other;
    }
    Arena* arena_;
  };

  void* allocate_slow(std::size_t size_bytes, std::size_t align);
  void free_blocks(Block* from) noexcept;

  std::uintptr_t cursor_ = 0;
  std::uintptr_t end_ = 0;
  Block* first_ = nullptr;  // kept by reset()
  Block* last_ = nullptr;
  ArenaBudget* budget_;
  std::size_t first_block_bytes_;
  std::size_t held_bytes_ = 0;
  Resource resource_{this};
};

}  // namespace pinwheel
