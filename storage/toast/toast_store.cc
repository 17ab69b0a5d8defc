#include "storage/toast/toast_store.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/arena.h"
#include "base/error.h"
#include "base/sqlstate.h"
#include "shm/interrupts.h"

namespace pinwheel::storage {

namespace {

/// chunk_id oid, chunk_seq int4, chunk_data bytea (storage plain).
const TupleLayout& chunk_layout() {
  static const AttributeLayout kAttributes[] = {
      {4, 4, true, true, 'p'}, {4, 4, true, true, 'p'}, {-1, 4, false, true, 'p'}};
  static const TupleLayout kLayout{kAttributes};
  return kLayout;
}
constexpr bool kNoNulls[] = {false, false, false};

struct Chunk {
  std::uint32_t value_id;
  std::int32_t sequence;
  const std::byte* data;
  std::size_t size;
};

Chunk read_chunk(const HeapTupleView& tuple) noexcept {
  std::uint64_t values[3];
  bool nulls[3];
  deform(tuple, chunk_layout(), 3, values, nulls);
  const auto* varlena = reinterpret_cast<const std::byte*>(values[2]);
  const std::size_t header = (static_cast<std::uint8_t>(*varlena) & 1) != 0 ? 1 : 4;
  return {static_cast<std::uint32_t>(values[0]), static_cast<std::int32_t>(values[1]), varlena + header,
          varlena_size(varlena) - header};
}

}  // namespace

ToastPointer ToastStore::store(std::uint32_t value_id, std::string_view bytes, std::uint32_t raw_size,
                               bool compressed, const WriteContext& context) {
  Arena arena;
  InsertState state;
  std::int32_t sequence = 0;
  for (std::size_t at = 0; at < bytes.size(); at += kToastChunkBytes, ++sequence) {
    shm::check_interrupts();
    const std::size_t size = std::min(kToastChunkBytes, bytes.size() - at);
    auto* varlena = static_cast<std::byte*>(arena.allocate(size + 4, 4));
    pinwheel::store(varlena, static_cast<std::uint32_t>((size + 4) << 2));
    std::memcpy(varlena + 4, bytes.data() + at, size);
    const std::uint64_t values[] = {value_id, static_cast<std::uint64_t>(sequence),
                                    reinterpret_cast<std::uintptr_t>(varlena)};
    const FormedTuple tuple = form_tuple(chunk_layout(), values, kNoNulls, arena);
    const TupleId id = heap_.insert(tuple, context, state);
    index_.insert(value_id, sequence, id);
    arena.reset();
  }
  return {relation_,
          value_id,
          raw_size,
          static_cast<std::uint32_t>(bytes.size()),
          static_cast<std::uint8_t>(compressed ? 1 : 0),
          0};
}

void ToastStore::fetch(const ToastPointer& pointer, std::byte* to, TransactionOracle& oracle) {
  std::vector<TupleId> ids;
  index_.find(pointer.value_id, ids);
  const std::size_t chunks = (pointer.stored_size + kToastChunkBytes - 1) / kToastChunkBytes;
  std::vector<bool> seen(chunks, false);
  Pin pin;
  for (const TupleId id : ids) {
    const HeapTupleView tuple = heap_.fetch_version(id, pin);
    // An index entry may outlive its row; and chunks of an insert that aborted do not count.
    if (!tuple.valid() || oracle.state(tuple.xmin()) == XidState::kAborted) continue;
    const Chunk chunk = read_chunk(tuple);
    if (chunk.value_id != pointer.value_id) continue;
    const std::size_t at = static_cast<std::size_t>(chunk.sequence) * kToastChunkBytes;
    if (chunk.sequence < 0 || static_cast<std::size_t>(chunk.sequence) >= chunks ||
        chunk.size != std::min<std::size_t>(kToastChunkBytes, pointer.stored_size - at)) {
      throw SqlError{sqlstate::kDataCorrupted,
                     fmt::format("unexpected chunk number {} for toast value {} in pg_toast_{}",
                                 chunk.sequence, pointer.value_id, relation_.value)};
    }
    std::memcpy(to + at, chunk.data, chunk.size);
    seen[static_cast<std::size_t>(chunk.sequence)] = true;
  }
  const auto missing = std::find(seen.begin(), seen.end(), false);
  if (missing != seen.end()) {
    throw SqlError{sqlstate::kDataCorrupted,
                   fmt::format("missing chunk number {} for toast value {} in pg_toast_{}",
                               missing - seen.begin(), pointer.value_id, relation_.value)};
  }
}

void ToastStore::remove(std::uint32_t value_id, const WriteContext& context) {
  std::vector<TupleId> ids;
  index_.find(value_id, ids);
  Pin pin;
  for (const TupleId id : ids) {
    const HeapTupleView tuple = heap_.fetch_version(id, pin);
    if (!tuple.valid() || read_chunk(tuple).value_id != value_id) continue;
    // Versions that are dead or gone already need nothing.
    heap_.remove(id, context);
  }
}

}  // namespace pinwheel::storage
