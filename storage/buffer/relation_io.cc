#include "storage/buffer/relation_io.h"

#include <bit>

#include "storage/buffer/descriptor.h"

namespace pinwheel::storage {
namespace {

constexpr std::string_view kRelationIoRegion = "Relation I/O Statistics";
/// Places looked at before a file counts as absent, or the table as full.
constexpr std::size_t kMostProbes = 64;
/// An unused entry, and one whose file is gone; neither is the word of a file: databases' oids are small.
constexpr std::uint64_t kUnused = 0;
constexpr std::uint64_t kGone = ~std::uint64_t{0};

std::uint64_t word_of_file(FileId file) noexcept {
  return AtomicPageTag::file_word({file, Fork::kMain, PageNumber{0}});
}
/// A database's sum stands under the word of its file 0, which is none; the shared catalogs' under
/// relation 1.
std::uint64_t word_of_database(Oid database) noexcept {
  return word_of_file({database, Oid{is_valid(database) ? 0u : 1u}});
}
std::size_t place_of(std::uint64_t word) noexcept {
  return static_cast<std::size_t>((word ^ word >> 29) * 0xD6E8FEB86659FD93ull >> 20);
}

}  // namespace

struct RelationIo::Entry {
  std::atomic<std::uint64_t> file_word{kUnused};
  std::atomic<std::uint64_t> hits{0};
  std::atomic<std::uint64_t> reads{0};

  void clear() noexcept {
    hits.store(0, std::memory_order_relaxed);
    reads.store(0, std::memory_order_relaxed);
  }
};

void RelationIo::declare(shm::RegionBuilder& builder, std::size_t files) {
  // Zeroes are what an entry begins with: memory that is never used is never touched.
  builder.add_region(kRelationIoRegion, sizeof(Entry) * std::bit_ceil(files), alignof(Entry));
}

RelationIo::RelationIo(const shm::Segment& segment)
    : recent_{},
      entries_{segment.as<Entry>(kRelationIoRegion)},
      mask_{std::bit_floor(segment.size_of(kRelationIoRegion) / sizeof(Entry)) - 1} {}

void RelationIo::replace(Recent& entry, std::uint64_t file_word) noexcept {
  add(entry.file_word, entry.hits, entry.reads);
  entry = {file_word, 0, 0};
}

void RelationIo::hand_over() noexcept {
  for (Recent& entry : recent_) replace(entry, entry.file_word);
}

void RelationIo::add(std::uint64_t file_word, std::uint64_t hits, std::uint64_t reads) noexcept {
  if (hits == 0 && reads == 0) return;
  const Oid database{static_cast<std::uint32_t>(file_word >> 32)};
  for (const std::uint64_t word : {file_word, word_of_database(database)}) {
    Entry* entry = find_or_make(word);
    if (entry == nullptr) continue;
    entry->hits.fetch_add(hits, std::memory_order_relaxed);
    entry->reads.fetch_add(reads, std::memory_order_relaxed);
  }
}

RelationIo::Entry* RelationIo::find(std::uint64_t file_word) const noexcept {
  const std::size_t start = place_of(file_word);
  for (std::size_t i = 0; i < kMostProbes; ++i) {
    Entry& entry = entries_[(start + i) & mask_];
    const std::uint64_t found = entry.file_word.load(std::memory_order_acquire);
    if (found == file_word) return &entry;
    if (found == kUnused) return nullptr;
  }
  return nullptr;
}

RelationIo::Entry* RelationIo::find_or_make(std::uint64_t file_word) noexcept {
  if (Entry* known = find(file_word)) return known;
  const std::size_t start = place_of(file_word);
  for (std::size_t i = 0; i < kMostProbes; ++i) {
    Entry& entry = entries_[(start + i) & mask_];
    std::uint64_t found = entry.file_word.load(std::memory_order_acquire);
    // Two that enter one file at once may make it twice; what the second place holds is lost. Hints bear
    // that.
    while (found == kUnused || found == kGone) {
      if (entry.file_word.compare_exchange_weak(found, file_word, std::memory_order_acq_rel)) return &entry;
    }
    if (found == file_word) return &entry;
  }
  return nullptr;
}

PageRequests RelationIo::of_file(FileId file) const noexcept {
  const Entry* entry = find(word_of_file(file));
  if (entry == nullptr) return {};
  return {entry->hits.load(std::memory_order_relaxed), entry->reads.load(std::memory_order_relaxed)};
}

PageRequests RelationIo::of_database(Oid database) const noexcept {
  const Entry* entry = find(word_of_database(database));
  if (entry == nullptr) return {};
  return {entry->hits.load(std::memory_order_relaxed), entry->reads.load(std::memory_order_relaxed)};
}

void RelationIo::reset_file(FileId file) noexcept {
  if (Entry* entry = find(word_of_file(file))) entry->clear();
}

void RelationIo::reset_database(Oid database) noexcept {
  for (std::size_t i = 0; i <= mask_; ++i) {
    const std::uint64_t word = entries_[i].file_word.load(std::memory_order_acquire);
    if (word != kUnused && word != kGone && word >> 32 == database.value) entries_[i].clear();
  }
}

void RelationIo::forget_database(Oid database) noexcept {
  for (std::size_t i = 0; i <= mask_; ++i) {
    const std::uint64_t word = entries_[i].file_word.load(std::memory_order_acquire);
    if (word == kUnused || word == kGone || word >> 32 != database.value) continue;
    entries_[i].clear();
    entries_[i].file_word.store(kGone, std::memory_order_release);
  }
}

void RelationIo::forget_file(FileId file) noexcept {
  Entry* entry = find(word_of_file(file));
  if (entry == nullptr) return;
  entry->clear();
  entry->file_word.store(kGone, std::memory_order_release);
}

}  // namespace pinwheel::storage
