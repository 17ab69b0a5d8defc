#include "clog/slru.h"

#include <algorithm>
#include <climits>
#include <cstring>
#include <new>

#include "base/error.h"
#include "clog/slru_internal.h"
#include "shm/futex.h"

namespace pinwheel::clog {

namespace {
constexpr std::size_t align_to(std::size_t at, std::size_t align) { return (at + align - 1) & ~(align - 1); }
}  // namespace

/// Offsets of the parts within the region.
struct Slru::Shape {
  std::uint32_t banks, bank_size;
  std::size_t banks_at, tags_at, meta_at, lsns_at, pages_at, total;

  explicit Shape(const SlruOptions& options) {
    DB_ASSERT(options.banks > 0 && options.buffers > 0);
    banks = std::min(options.banks, options.buffers);
    bank_size = (options.buffers + banks - 1) / banks;
    // With two slots a bank can always hold a page while it writes another.
    bank_size = std::max(bank_size, 2u);
    const std::size_t slots = std::size_t{banks} * bank_size;
    banks_at = align_to(sizeof(Header), kCacheLine);
    tags_at = banks_at + banks * sizeof(Bank);
    meta_at = align_to(tags_at + slots * sizeof(std::uint64_t), kCacheLine);
    lsns_at = align_to(meta_at + slots * sizeof(SlotMeta), kCacheLine);
    pages_at = align_to(lsns_at + slots * options.lsn_groups * sizeof(std::uint64_t), 4096);
    total = pages_at + slots * kPageSize;
  }
};

void Slru::declare(shm::RegionBuilder& builder, const SlruOptions& options) {
  const Shape shape{options};
  const shm::Tranche tranche = options.tranche;
  builder.add_region(std::string{options.name} + " SLRU", shape.total, 4096, [shape, tranche](std::byte* at) {
    ::new (at) Header();
    for (std::uint32_t i = 0; i < shape.banks; ++i) {
      ::new (at + shape.banks_at + i * sizeof(Bank)) Bank(tranche);
    }
    const std::size_t slots = std::size_t{shape.banks} * shape.bank_size;
    auto* meta = reinterpret_cast<SlotMeta*>(at + shape.meta_at);
    for (std::size_t i = 0; i < slots; ++i) ::new (meta + i) SlotMeta();
    // Tags, LSNs and pages are all zero, as the segment already is.
  });
}

Slru::Slru(const shm::Segment& segment, SlruOptions options, wal::Log* log)
    : options_{std::move(options)}, log_{log} {
  const Shape shape{options_};
  std::byte* base = segment.find(std::string{options_.name} + " SLRU");
  header_ = reinterpret_cast<Header*>(base);
  banks_ = reinterpret_cast<Bank*>(base + shape.banks_at);
  tags_ = reinterpret_cast<std::atomic<std::uint64_t>*>(base + shape.tags_at);
  meta_ = reinterpret_cast<SlotMeta*>(base + shape.meta_at);
  lsns_ = reinterpret_cast<std::atomic<std::uint64_t>*>(base + shape.lsns_at);
  pages_ = reinterpret_cast<std::atomic<std::uint64_t>*>(base + shape.pages_at);
  bank_count_ = shape.banks;
  bank_size_ = shape.bank_size;
}

void Slru::set_new_from(std::uint64_t page) noexcept {
  header_->new_from.store(page, std::memory_order_relaxed);
}

std::uint64_t Slru::new_from() const noexcept { return header_->new_from.load(std::memory_order_relaxed); }

// ---- Reading ----

bool Slru::find_cached(std::uint64_t page, Location& location) noexcept {
  const std::uint64_t tag = tags_[last_.slot].load(std::memory_order_acquire);
  if (tag == last_.tag && page_of_tag(tag) == page && state_of_tag(tag) == kValid) [[likely]] {
    location = last_;
    return true;
  }
  const std::uint32_t first = bank_of(page) * bank_size_;
  for (std::uint32_t slot = first; slot < first + bank_size_; ++slot) {
    const std::uint64_t seen = tags_[slot].load(std::memory_order_acquire);
    if (page_of_tag(seen) == page && state_of_tag(seen) == kValid) {
      touch(slot);
      location = last_ = {slot, seen};
      return true;
    }
  }
  return false;
}

std::uint64_t Slru::read_word(std::uint64_t page, std::uint32_t word_index, std::uint64_t subject_id) {
  Lsn ignored;
  return read_word(page, word_index, subject_id, 0, ignored);
}

std::uint64_t Slru::read_word(std::uint64_t page, std::uint32_t word_index, std::uint64_t subject_id,
                              std::uint32_t group, Lsn& lsn) {
  Location location;
  if (find_cached(page, location)) [[likely]] {
    // The word first, acquiring: its writer raised the LSN before it.
    const std::uint64_t word = words(location.slot)[word_index].load(std::memory_order_acquire);
    lsn = read_lsn(location.slot, group);
    if (still_there(location)) [[likely]] {
      shm::count(options_.hits);
      return word;
    }
  }
  shm::ExclusiveGuard guard{bank_latch(page)};
  const std::uint32_t slot = bring_in(page, subject_id, guard);
  last_ = {slot, tags_[slot].load(std::memory_order_relaxed)};
  lsn = read_lsn(slot, group);
  return words(slot)[word_index].load(std::memory_order_relaxed);
}

std::uint64_t Slru::read_word_latched(std::uint64_t page, std::uint32_t word_index, std::uint64_t subject_id,
                                      std::uint32_t group, Lsn& lsn) {
  shm::SharedGuard guard;
  const std::uint32_t slot = find_latched<shm::LatchMode::kShared>(page, subject_id, guard);
  shm::count(options_.hits);
  lsn = read_lsn(slot, group);
  return words(slot)[word_index].load(std::memory_order_relaxed);
}

Lsn Slru::read_lsn(std::uint32_t slot, std::uint32_t group) const noexcept {
  if (options_.lsn_groups == 0) return kInvalidLsn;
  return Lsn{lsns_[std::size_t{slot} * options_.lsn_groups + group].load(std::memory_order_relaxed)};
}

// ---- Slots ----

std::uint32_t Slru::find_in_bank(std::uint64_t page, std::uint64_t& tag) const noexcept {
  const std::uint32_t first = bank_of(page) * bank_size_;
  for (std::uint32_t slot = first; slot < first + bank_size_; ++slot) {
    tag = tags_[slot].load(std::memory_order_relaxed);
    if (page_of_tag(tag) == page && state_of_tag(tag) != kEmpty) return slot;
  }
  return kNoSlot;
}

template <>
std::uint32_t Slru::find_latched<shm::LatchMode::kExclusive>(std::uint64_t page, std::uint64_t subject_id,
                                                             shm::ExclusiveGuard& guard) {
  guard = shm::ExclusiveGuard{bank_latch(page)};
  return bring_in(page, subject_id, guard);
}

template <>
std::uint32_t Slru::find_latched<shm::LatchMode::kShared>(std::uint64_t page, std::uint64_t subject_id,
                                                          shm::SharedGuard& guard) {
  for (;;) {
    guard = shm::SharedGuard{bank_latch(page)};
    std::uint64_t tag;
    const std::uint32_t slot = find_in_bank(page, tag);
    if (slot != kNoSlot && state_of_tag(tag) == kValid) {
      touch(slot);
      return slot;
    }
    guard.release();
    shm::ExclusiveGuard exclusive{bank_latch(page)};
    bring_in(page, subject_id, exclusive);
  }
}

std::uint32_t Slru::choose_victim(std::uint32_t bank) const noexcept {
  const std::uint32_t first = bank * bank_size_;
  const std::uint32_t now = banks_[bank].clock.load(std::memory_order_relaxed);
  std::uint32_t victim = kNoSlot;
  std::uint32_t greatest_age = 0;
  for (std::uint32_t slot = first; slot < first + bank_size_; ++slot) {
    if (meta_[slot].io.load(std::memory_order_relaxed) != kSlotIdle) continue;
    if (state_of_tag(tags_[slot].load(std::memory_order_relaxed)) == kEmpty) return slot;
    const std::uint32_t age = now - meta_[slot].used.load(std::memory_order_relaxed);
    if (victim == kNoSlot || age > greatest_age) {
      victim = slot;
      greatest_age = age;
    }
  }
  return victim;
}

std::uint32_t Slru::claim_slot(std::uint64_t page, shm::ExclusiveGuard& guard, bool& fresh) {
  for (;;) {
    std::uint64_t tag;
    const std::uint32_t slot = find_in_bank(page, tag);
    if (slot != kNoSlot) {
      if (state_of_tag(tag) == kValid) {
        fresh = false;
        return slot;
      }
      wait_for_io(slot, guard);
      continue;
    }
    const std::uint32_t victim = choose_victim(bank_of(page));
    if (victim == kNoSlot) {
      wait_for_io(bank_of(page) * bank_size_, guard);
      continue;
    }
    if (meta_[victim].dirty.load(std::memory_order_relaxed) != 0) {
      // The latch is free meanwhile: look at everything again.
      write_slot(victim, guard);
      continue;
    }
    if (state_of_tag(tags_[victim].load(std::memory_order_relaxed)) == kValid) {
      shm::count(shm::Counter::kClogEvictions);
    }
    set_tag(victim, page, kLoading);
    meta_[victim].io.store(kSlotBusy, std::memory_order_relaxed);
    fresh = true;
    return victim;
  }
}

std::uint32_t Slru::bring_in(std::uint64_t page, std::uint64_t subject_id, shm::ExclusiveGuard& guard) {
  bool fresh;
  const std::uint32_t slot = claim_slot(page, guard, fresh);
  if (!fresh) {
    touch(slot);
    return slot;
  }
  guard.release();
  alignas(kCacheLine) std::byte buffer[kPageSize];
  try {
    read_page_from_file(page, buffer, subject_id);
  } catch (...) {
    guard = shm::ExclusiveGuard{bank_latch(page)};
    empty_slot(slot);
    end_io(slot);
    throw;
  }
  guard = shm::ExclusiveGuard{bank_latch(page)};
  shm::count(options_.reads);
  finish_loading(slot, page, buffer);
  return slot;
}

void Slru::finish_loading(std::uint32_t slot, std::uint64_t page, const std::byte* bytes) noexcept {
  const std::span<std::atomic<std::uint64_t>> to = words(slot);
  for (std::size_t i = 0; i < to.size(); ++i) {
    std::uint64_t word = 0;
    if (bytes != nullptr) std::memcpy(&word, bytes + i * sizeof word, sizeof word);
    to[i].store(word, std::memory_order_relaxed);
  }
  for (std::uint32_t i = 0; i < options_.lsn_groups; ++i) {
    lsns_[std::size_t{slot} * options_.lsn_groups + i].store(0, std::memory_order_relaxed);
  }
  meta_[slot].lsn.store(0, std::memory_order_relaxed);
  meta_[slot].dirty.store(0, std::memory_order_relaxed);
  set_tag(slot, page, kValid);
  touch(slot);
  end_io(slot);
}

void Slru::zero_page(std::uint64_t page) {
  shm::ExclusiveGuard guard{bank_latch(page)};
  bool fresh;
  const std::uint32_t slot = claim_slot(page, guard, fresh);
  if (fresh) {
    finish_loading(slot, page, nullptr);
  } else {
    for (std::atomic<std::uint64_t>& word : words(slot)) word.store(0, std::memory_order_relaxed);
  }
  mark_dirty(slot);
  header_->zeroed.fetch_add(1, std::memory_order_relaxed);
}

void Slru::set_tag(std::uint32_t slot, std::uint64_t page, std::uint64_t state) noexcept {
  const std::uint64_t version =
      ((tags_[slot].load(std::memory_order_relaxed) >> kVersionShift) + 1) & kVersionMask;
  tags_[slot].store(page << kPageShift | version << kVersionShift | state, std::memory_order_release);
  // Optimistic readers must see this tag before any later change of the words.
  std::atomic_thread_fence(std::memory_order_release);
}

void Slru::touch(std::uint32_t slot) noexcept {
  // Writes nothing while the same page stays the latest one used.
  Bank& bank = banks_[slot / bank_size_];
  const std::uint32_t now = bank.clock.load(std::memory_order_relaxed);
  if (meta_[slot].used.load(std::memory_order_relaxed) == now && now != 0) return;
  bank.clock.store(now + 1, std::memory_order_relaxed);
  meta_[slot].used.store(now + 1, std::memory_order_relaxed);
}

void Slru::mark_dirty(std::uint32_t slot) noexcept {
  if (meta_[slot].dirty.load(std::memory_order_relaxed) == 0) {
    meta_[slot].dirty.store(1, std::memory_order_relaxed);
  }
}

void Slru::raise_lsn(std::uint32_t slot, GroupRange groups, Lsn lsn) noexcept {
  const auto raise = [lsn](std::atomic<std::uint64_t>& word) {
    std::uint64_t seen = word.load(std::memory_order_relaxed);
    while (seen < lsn.value && !word.compare_exchange_weak(seen, lsn.value, std::memory_order_relaxed)) {
    }
  };
  raise(meta_[slot].lsn);
  std::atomic<std::uint64_t>* lsns = lsns_ + std::size_t{slot} * options_.lsn_groups;
  for (std::uint32_t group = groups.first; group <= groups.last; ++group) raise(lsns[group]);
}

void Slru::wait_for_io(std::uint32_t slot, shm::ExclusiveGuard& guard) noexcept {
  std::atomic<std::uint32_t>& io = meta_[slot].io;
  std::uint32_t seen = kSlotBusy;
  if (!io.compare_exchange_strong(seen, kSlotBusyWithWaiters) && seen == kSlotIdle) return;
  guard.release();
  shm::futex_wait(io, kSlotBusyWithWaiters);
  guard = shm::ExclusiveGuard{banks_[slot / bank_size_].latch};
}

void Slru::end_io(std::uint32_t slot) noexcept {
  if (meta_[slot].io.exchange(kSlotIdle) == kSlotBusyWithWaiters) shm::futex_wake(meta_[slot].io, INT_MAX);
}

}  // namespace pinwheel::clog
