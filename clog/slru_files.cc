// The part of Slru that touches files: reads, write-back, flush, truncation.
#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <optional>
#include <utility>

#include "base/error.h"
#include "base/failpoints.h"
#include "base/file.h"
#include "base/sqlstate.h"
#include "clog/slru.h"
#include "clog/slru_internal.h"
#include "shm/interrupts.h"
#include "wal/log.h"

namespace pinwheel::clog {

namespace {
constexpr std::uint64_t segment_of(std::uint64_t page) { return page / kPagesPerSegment; }
constexpr std::uint64_t offset_of(std::uint64_t page) { return page % kPagesPerSegment * kPageSize; }

/// The segment that a file name in an SLRU's folder stands for.
std::optional<std::uint64_t> parse_segment_name(const std::string& name) {
  std::uint64_t segment = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), segment, 16);
  if (error != std::errc{} || end != name.data() + name.size() || name.size() < 4) return std::nullopt;
  return segment;
}
}  // namespace

std::string Slru::segment_path(std::uint64_t segment) const {
  return fmt::format("{}/{:04X}", options_.directory, segment);
}

void Slru::throw_access_error(SqlState state, std::string detail, std::uint64_t subject_id) const {
  throw SqlError{state, fmt::format("could not access status of {} {}", options_.subject, subject_id)}.detail(
      std::move(detail));
}

void Slru::read_page_from_file(std::uint64_t page, std::span<std::byte> bytes, std::uint64_t subject_id) {
  const std::string path = segment_path(segment_of(page));
  const bool may_be_missing = page >= new_from();
  header_->read.fetch_add(1, std::memory_order_relaxed);
  const shm::WaitEventScope waiting{shm::WaitEvent::kSlruRead};
  std::size_t got = 0;
  std::optional<File> file;
  try {
    file = File::open_if_exists(path, OpenMode::kRead);
    if (file) got = file->read_at(offset_of(page), bytes);
  } catch (const SqlError& error) {
    throw_access_error(error.state(),
                       fmt::format("Could not read from file \"{}\" at offset {}: {}.", path, offset_of(page),
                                   error.message()),
                       subject_id);
  }
  if (got == bytes.size()) return;
  if (may_be_missing) {
    std::fill(bytes.begin() + static_cast<std::ptrdiff_t>(got), bytes.end(), std::byte{0});
    return;
  }
  if (!file) {
    throw_access_error(sqlstate::kUndefinedFile,
                       fmt::format("Could not open file \"{}\": No such file or directory.", path),
                       subject_id);
  }
  throw_access_error(
      sqlstate::kDataCorrupted,
      fmt::format("Could not read from file \"{}\" at offset {}: read too few bytes.", path, offset_of(page)),
      subject_id);
}

void Slru::write_page_to_file(std::uint64_t page, std::span<const std::byte> bytes) {
  const std::uint64_t segment = segment_of(page);
  {
    const shm::WaitEventScope waiting{shm::WaitEvent::kSlruWrite};
    const File file = File::open(segment_path(segment), OpenMode::kCreate);
    file.write_at(offset_of(page), bytes);
  }
  // Noted after the write and before the slot's io word is freed: a flush that takes the note syncs the
  // write, and a flush that found the page clean has waited for the io word, so the note is there for it.
  note_written(segment);
  header_->written.fetch_add(1, std::memory_order_relaxed);
}

void Slru::note_written(std::uint64_t segment) noexcept {
  shm::SpinGuard guard{header_->written_lock};
  header_->first_written = std::min(header_->first_written, segment);
  header_->last_written = std::max(header_->last_written, segment);
}

void Slru::write_slot(std::uint32_t slot, shm::ExclusiveGuard& guard) {
  SlotMeta& meta = meta_[slot];
  const std::uint64_t page = page_of_slot(slot);
  meta.io.store(kSlotBusy, std::memory_order_relaxed);
  meta.dirty.store(0, std::memory_order_relaxed);
  const Lsn lsn{meta.lsn.load(std::memory_order_relaxed)};
  // A copy taken under the latch: changes go on while it is written, and make the page dirty again.
  alignas(kCacheLine) std::byte copy[kPageSize];
  const std::span<std::atomic<std::uint64_t>> from = words(slot);
  for (std::size_t i = 0; i < from.size(); ++i) {
    const std::uint64_t word = from[i].load(std::memory_order_relaxed);
    std::memcpy(copy + i * sizeof word, &word, sizeof word);
  }
  guard.release();
  try {
    // WAL before data: a commit must not be on disk here when its record is not.
    if (log_ != nullptr && is_valid(lsn)) log_->flush_to(lsn);
    failpoint::hit("slru_write");
    write_page_to_file(page, copy);
  } catch (...) {
    guard = shm::ExclusiveGuard{banks_[slot / bank_size_].latch};
    meta.dirty.store(1, std::memory_order_relaxed);
    end_io(slot);
    throw;
  }
  guard = shm::ExclusiveGuard{banks_[slot / bank_size_].latch};
  if (options_.hits == shm::Counter::kClogHits) shm::count(shm::Counter::kClogWrites);
  end_io(slot);
}

void Slru::flush() {
  for (std::uint32_t slot = 0; slot < bank_count_ * bank_size_; ++slot) {
    shm::ExclusiveGuard guard{banks_[slot / bank_size_].latch};
    while (meta_[slot].io.load(std::memory_order_relaxed) != kSlotIdle) wait_for_io(slot, guard);
    if (slot_is_valid(slot) && meta_[slot].dirty.load(std::memory_order_relaxed) != 0)
      write_slot(slot, guard);
  }
  std::uint64_t first, last;
  {
    shm::SpinGuard guard{header_->written_lock};
    first = std::exchange(header_->first_written, ~std::uint64_t{0});
    last = std::exchange(header_->last_written, 0);
  }
  header_->flushes.fetch_add(1, std::memory_order_relaxed);
  if (first > last) return;
  const shm::WaitEventScope waiting{shm::WaitEvent::kSlruFlushSync};
  for (std::uint64_t segment = first; segment <= last; ++segment) {
    const std::optional<File> file = File::open_if_exists(segment_path(segment), OpenMode::kReadWrite);
    if (file) file->sync();
  }
  sync_directory(options_.directory);
}

bool Slru::exists_on_disk(std::uint64_t page) const {
  header_->exists.fetch_add(1, std::memory_order_relaxed);
  const std::optional<File> file = File::open_if_exists(segment_path(segment_of(page)), OpenMode::kRead);
  return file && file->size() >= offset_of(page) + kPageSize;
}

void Slru::drop_slots(std::uint64_t from, std::uint64_t to) {
  for (std::uint32_t slot = 0; slot < bank_count_ * bank_size_; ++slot) {
    shm::ExclusiveGuard guard{banks_[slot / bank_size_].latch};
    while (meta_[slot].io.load(std::memory_order_relaxed) != kSlotIdle) wait_for_io(slot, guard);
    if (!slot_is_valid(slot)) continue;
    const std::uint64_t page = page_of_slot(slot);
    if (page < from || page >= to) continue;
    meta_[slot].dirty.store(0, std::memory_order_relaxed);
    empty_slot(slot);
  }
}

void Slru::truncate(std::uint64_t cutoff) {
  const std::uint64_t first_kept = segment_of(cutoff);
  if (first_kept == 0) return;
  drop_slots(0, first_kept * kPagesPerSegment);
  for (const std::string& name : list_directory(options_.directory)) {
    const std::optional<std::uint64_t> segment = parse_segment_name(name);
    if (segment && *segment < first_kept) remove_file_if_exists(segment_path(*segment));
  }
  header_->truncates.fetch_add(1, std::memory_order_relaxed);
}

void Slru::discard_from(std::uint64_t first) {
  drop_slots(first, ~std::uint64_t{0});
  const std::uint64_t boundary = segment_of(first);
  for (const std::string& name : list_directory(options_.directory)) {
    const std::optional<std::uint64_t> segment = parse_segment_name(name);
    if (!segment || *segment < boundary) continue;
    if (*segment > boundary || offset_of(first) == 0) {
      remove_file_if_exists(segment_path(*segment));
      continue;
    }
    const File file = File::open(segment_path(*segment), OpenMode::kReadWrite);
    if (file.size() > offset_of(first)) file.truncate(offset_of(first));
    note_written(*segment);
  }
}

void Slru::reset() { discard_from(0); }

SlruStats Slru::stats() const noexcept {
  const auto read = [](const std::atomic<std::uint64_t>& n) { return n.load(std::memory_order_relaxed); };
  return {read(header_->zeroed), read(header_->read),    read(header_->written),
          read(header_->exists), read(header_->flushes), read(header_->truncates)};
}

SlruStats Slru::stats(const shm::ProcessTable& processes) const noexcept {
  SlruStats all = stats();
  const std::uint64_t hits = processes.sum(options_.hits);
  const std::uint64_t before = header_->hits_before.load(std::memory_order_relaxed);
  all.hits = hits < before ? 0 : hits - before;
  all.reset_at_us = header_->reset_at_us.load(std::memory_order_relaxed);
  return all;
}

void Slru::reset_stats(const shm::ProcessTable& processes, std::int64_t now_us) const noexcept {
  for (std::atomic<std::uint64_t>* count : {&header_->zeroed, &header_->read, &header_->written,
                                            &header_->exists, &header_->flushes, &header_->truncates}) {
    count->store(0, std::memory_order_relaxed);
  }
  header_->hits_before.store(processes.sum(options_.hits), std::memory_order_relaxed);
  header_->reset_at_us.store(now_us, std::memory_order_relaxed);
}

}  // namespace pinwheel::clog
