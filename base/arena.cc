#include "base/arena.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include "base/error.h"
#include "base/sqlstate.h"

namespace pinwheel {
namespace {

constexpr std::size_t kLargestDoubledBlock = std::size_t{1} << 20;

[[noreturn]] void throw_out_of_memory(std::size_t size_bytes) {
  throw SqlError{sqlstate::kOutOfMemory, "out of memory"}.detail("Failed on request of size " +
                                                                 std::to_string(size_bytes) + ".");
}

}  // namespace

Arena::~Arena() { free_blocks(first_); }

void Arena::reset() noexcept {
  if (first_ == nullptr) return;
  free_blocks(first_->next);
  first_->next = nullptr;
  last_ = first_;
  cursor_ = reinterpret_cast<std::uintptr_t>(first_) + sizeof(Block);
  end_ = reinterpret_cast<std::uintptr_t>(first_) + first_->size_bytes;
}

void* Arena::allocate_slow(std::size_t size_bytes, std::size_t align) {
  const std::size_t needed = sizeof(Block) + size_bytes + align;
  if (needed < size_bytes) throw_out_of_memory(size_bytes);
  // Blocks double, so a big statement makes few of them; what is larger than that gets a block of its size.
  const std::size_t doubled =
      last_ == nullptr ? first_block_bytes_ : std::min(last_->size_bytes * 2, kLargestDoubledBlock);
  const std::size_t block_bytes = std::max(doubled, needed);
  if (budget_ != nullptr &&
      (block_bytes > budget_->limit_bytes || budget_->used_bytes > budget_->limit_bytes - block_bytes)) {
    throw_out_of_memory(size_bytes);
  }
  Block* block = static_cast<Block*>(std::malloc(block_bytes));
  if (block == nullptr) throw_out_of_memory(size_bytes);
  block->next = nullptr;
  block->size_bytes = block_bytes;
  held_bytes_ += block_bytes;
  if (budget_ != nullptr) budget_->used_bytes += block_bytes;
  (first_ == nullptr ? first_ : last_->next) = block;
  last_ = block;
  const std::uintptr_t begin = reinterpret_cast<std::uintptr_t>(block) + sizeof(Block);
  const std::uintptr_t at = (begin + (align - 1)) & ~static_cast<std::uintptr_t>(align - 1);
  cursor_ = at + size_bytes;
  end_ = reinterpret_cast<std::uintptr_t>(block) + block_bytes;
  return reinterpret_cast<void*>(at);
}

void Arena::free_blocks(Block* from) noexcept {
  while (from != nullptr) {
    Block* next = from->next;
    held_bytes_ -= from->size_bytes;
    if (budget_ != nullptr) budget_->used_bytes -= from->size_bytes;
    std::free(from);
    from = next;
  }
}

}  // namespace pinwheel
