#include "storage/btree/sorter.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "shm/interrupts.h"
#include "storage/btree/compare.h"

namespace pinwheel::storage::btree_detail {

namespace {
constexpr std::size_t kBlockBytes = 1u << 20;
/// Bytes of a run that are read at once.
constexpr std::size_t kRunBufferBytes = 256u << 10;
constexpr std::size_t kLengthBytes = 8;  // before each entry in the file, so that entries stay aligned
}  // namespace

EntrySorter::EntrySorter(const BTreeIndex& index, std::size_t memory_bytes, std::string directory)
    : index_{index},
      memory_bytes_{std::max(memory_bytes, 2 * kBlockBytes)},
      directory_{std::move(directory)},
      has_prefix_{index.keys[0].order != KeyOrder::kFunction} {}

EntrySorter::~EntrySorter() = default;

std::byte* EntrySorter::allocate(std::size_t size) {
  size = align_item(size);
  if (blocks_.empty() || block_used_ + size > kBlockBytes) {
    if (!blocks_.empty()) ++block_;
    if (block_ == blocks_.size()) blocks_.push_back(std::make_unique_for_overwrite<std::byte[]>(kBlockBytes));
    block_used_ = 0;
    used_bytes_ += kBlockBytes;
  }
  std::byte* at = blocks_[block_].get() + block_used_;
  block_used_ += size;
  return at;
}

void EntrySorter::add(IndexItem item) {
  if (used_bytes_ + entries_.size() * sizeof(Entry) >= memory_bytes_) spill();
  std::byte* bytes = allocate(item.length());
  std::memcpy(bytes, item.bytes(), item.length());
  Entry entry{0, bytes, item.length(), false};
  if (has_prefix_) {
    entry.prefix_is_null = item.is_null(0);
    if (!entry.prefix_is_null) {
      const KeyColumn& column = index_.keys[0];
      entry.prefix = fetch_by_value(item.data(), index_.layout.attribute(0).length);
      if (column.order == KeyOrder::kSigned) entry.prefix ^= std::uint64_t{1} << 63;
      if (column.descending) entry.prefix = ~entry.prefix;
    }
  }
  entries_.push_back(entry);
}

bool EntrySorter::is_less(const Entry& a, const Entry& b) const noexcept {
  if (has_prefix_) {
    if (a.prefix_is_null != b.prefix_is_null) return a.prefix_is_null == index_.keys[0].nulls_first;
    if (a.prefix != b.prefix) return a.prefix < b.prefix;
    if (index_.keys.size() == 1) {
      return IndexItem{a.bytes, a.length}.id() < IndexItem{b.bytes, b.length}.id();
    }
  }
  return compare_entries(index_, {a.bytes, a.length}, {b.bytes, b.length}) < 0;
}

void EntrySorter::sort_memory() {
  const auto less = [this](const Entry& a, const Entry& b) { return is_less(a, b); };
  if (!std::is_sorted(entries_.begin(), entries_.end(), less))
    std::sort(entries_.begin(), entries_.end(), less);
}

void EntrySorter::spill() {
  if (!file_.is_open()) {
    if (!file_system().exists(directory_)) make_directory(directory_);
    const std::string path =
        fmt::format("{}/pgsql_tmp{}.{}", directory_, ::getpid(), static_cast<const void*>(this));
    file_ = File::open(path, OpenMode::kTruncate);
    // Nobody else needs the name, and a crash leaves no file.
    remove_file(path);
    shm::count_for_session(shm::SessionCounter::kTempFiles);
  }
  sort_memory();
  Run run;
  run.at = file_size_;
  std::vector<std::byte> buffer;
  buffer.reserve(kBlockBytes + 2 * kMaxEntrySize);
  for (const Entry& entry : entries_) {
    shm::check_interrupts();
    const std::size_t at = buffer.size();
    buffer.resize(at + kLengthBytes + align_item(entry.length));
    store(buffer.data() + at, std::uint64_t{entry.length});
    std::memcpy(buffer.data() + at + kLengthBytes, entry.bytes, entry.length);
    if (buffer.size() >= kBlockBytes) {
      file_.write_at(file_size_, buffer);
      file_size_ += buffer.size();
      buffer.clear();
    }
  }
  file_.write_at(file_size_, buffer);
  file_size_ += buffer.size();
  shm::count_for_session(shm::SessionCounter::kTempBytes, file_size_ - run.at);
  run.end = file_size_;
  runs_.push_back(std::move(run));
  entries_.clear();
  block_ = block_used_ = 0;
  used_bytes_ = blocks_.empty() ? 0 : kBlockBytes;
}

bool EntrySorter::is_later(std::size_t a, std::size_t b) const noexcept {
  return compare_entries(index_, runs_[a].head, runs_[b].head) > 0;
}

void EntrySorter::sort() {
  if (runs_.empty()) {
    sort_memory();
    return;
  }
  if (!entries_.empty()) spill();
  blocks_.clear();
  entries_.shrink_to_fit();
  const std::size_t share = std::max(memory_bytes_ / runs_.size() / 2, 4 * align_item(kMaxEntrySize));
  for (std::size_t i = 0; i < runs_.size(); ++i) {
    runs_[i].buffer.resize(std::min(share, kRunBufferBytes));
    if (advance(runs_[i])) heap_.push_back(i);
  }
  const auto later = [this](std::size_t a, std::size_t b) { return is_later(a, b); };
  std::make_heap(heap_.begin(), heap_.end(), later);
}

/// Steps to the run's next entry; false at its end.
bool EntrySorter::advance(Run& run) {
  const std::size_t left = run.size - run.used;
  const std::size_t needed =
      left < kLengthBytes ? 0 : kLengthBytes + align_item(load<std::uint64_t>(&run.buffer[run.used]));
  if (left == 0 || needed == 0 || left < needed) {
    if (left == 0 && run.at == run.end) return false;
    std::memmove(run.buffer.data(), run.buffer.data() + run.used, left);
    const auto wanted = std::min<std::uint64_t>(run.buffer.size() - left, run.end - run.at);
    file_.read_exactly_at(run.at, {run.buffer.data() + left, wanted});
    run.at += wanted;
    run.used = 0;
    run.size = left + wanted;
  }
  const auto length = static_cast<std::uint16_t>(load<std::uint64_t>(&run.buffer[run.used]));
  run.head = {run.buffer.data() + run.used + kLengthBytes, length};
  run.used += kLengthBytes + align_item(length);
  return true;
}

IndexItem EntrySorter::next() {
  if (runs_.empty()) {
    if (next_entry_ == entries_.size()) return {};
    const Entry& entry = entries_[next_entry_++];
    return {entry.bytes, entry.length};
  }
  const auto later = [this](std::size_t a, std::size_t b) { return is_later(a, b); };
  // The run that gave the last entry is stepped only now, because its buffer held it.
  if (current_ != ~std::size_t{0} && advance(runs_[current_])) {
    heap_.push_back(current_);
    std::push_heap(heap_.begin(), heap_.end(), later);
  }
  current_ = ~std::size_t{0};
  if (heap_.empty()) return {};
  std::pop_heap(heap_.begin(), heap_.end(), later);
  current_ = heap_.back();
  heap_.pop_back();
  return runs_[current_].head;
}

}  // namespace pinwheel::storage::btree_detail
