#include "storage/heap/toaster.h"

#include <lz4.h>

#include <cstring>
#include <string_view>

#include "base/error.h"

namespace pinwheel::storage {

namespace {

/// Values shorter than this gain nothing out of line.
constexpr std::size_t kSmallestToasted = 24;
constexpr std::size_t kSmallestCompressed = 32;

std::uint64_t value_of(const std::byte* at) noexcept { return reinterpret_cast<std::uintptr_t>(at); }

std::string_view payload(const std::byte* varlena) noexcept {
  const std::size_t header = (static_cast<std::uint8_t>(*varlena) & 1) != 0 ? 1 : 4;
  return {reinterpret_cast<const char*>(varlena) + header, varlena_size(varlena) - header};
}

const std::byte* store_out_of_line(const std::byte* value, ToastStore& store, ToastIdSource& ids,
                                   const WriteContext& context, Arena& arena) {
  std::string_view bytes = payload(value);
  auto raw_size = static_cast<std::uint32_t>(bytes.size());
  const bool compressed = varlena_is_compressed(value);
  if (compressed) {
    raw_size = load<std::uint32_t>(value + 4);
    bytes.remove_prefix(4);
  }
  const ToastPointer where = store.store(ids.next_value_id(), bytes, raw_size, compressed, context);
  auto* result = static_cast<std::byte*>(arena.allocate(2 + sizeof(ToastPointer), 1));
  result[0] = std::byte{1};
  result[1] = std::byte{18};
  std::memcpy(result + 2, &where, kToastPointerBytes);
  return result;
}

/// State of one row that is being shortened.
class Shortener {
 public:
  Shortener(const TupleLayout& layout, std::uint64_t* values, const bool* nulls, Arena& arena)
      : layout_{layout},
        values_{values},
        nulls_{nulls},
        arena_{arena},
        tried_{arena.make_array<bool>(layout.attribute_count())} {}

  bool too_long(std::size_t limit) const noexcept { return formed_size(layout_, values_, nulls_) > limit; }

  /// The longest value with one of these storages that may still be compressed, or -1.
  int longest(std::string_view storages, bool to_compress) const noexcept {
    int best = -1;
    std::size_t best_size = to_compress ? kSmallestCompressed : kSmallestToasted;
    for (std::size_t i = 0; i < layout_.attribute_count(); ++i) {
      const AttributeLayout& attribute = layout_.attribute(i);
      if (nulls_[i] || attribute.length != -1 || storages.find(attribute.storage) == std::string_view::npos)
        continue;
      const std::byte* value = bytes_of(values_[i]);
      if (varlena_is_external(value) || (to_compress && (tried_[i] || varlena_is_compressed(value))))
        continue;
      const std::size_t size = varlena_size(value);
      if (size > best_size) {
        best = static_cast<int>(i);
        best_size = size;
      }
    }
    return best;
  }

  void compress(int attribute) {
    tried_[attribute] = true;
    if (const std::byte* shorter = compress_varlena(bytes_of(values_[attribute]), arena_)) {
      values_[attribute] = value_of(shorter);
    }
  }

  void move_out(int attribute, ToastStore& store, ToastIdSource& ids, const WriteContext& context) {
    values_[attribute] =
        value_of(store_out_of_line(bytes_of(values_[attribute]), store, ids, context, arena_));
  }

  std::size_t size_of(int attribute) const noexcept { return varlena_size(bytes_of(values_[attribute])); }

 private:
  const TupleLayout& layout_;
  std::uint64_t* values_;
  const bool* nulls_;
  Arena& arena_;
  bool* tried_;
};

}  // namespace

const std::byte* compress_varlena(const std::byte* value, Arena& arena) {
  const std::string_view bytes = payload(value);
  // What would save less than a quarter is not worth decompressing.
  const std::size_t limit = bytes.size() - bytes.size() / 4;
  if (bytes.size() < kSmallestCompressed || bytes.size() > LZ4_MAX_INPUT_SIZE || limit <= 8) return nullptr;
  auto* result = static_cast<std::byte*>(arena.allocate(limit + 8, 4));
  const int size = LZ4_compress_default(bytes.data(), reinterpret_cast<char*>(result) + 8,
                                        static_cast<int>(bytes.size()), static_cast<int>(limit));
  if (size <= 0) return nullptr;
  pinwheel::store(result, static_cast<std::uint32_t>((size + 8) << 2 | 2));
  pinwheel::store(result + 4, static_cast<std::uint32_t>(bytes.size()));
  return result;
}

void toast_values(const TupleLayout& layout, std::uint64_t* values, const bool* nulls, ToastStore* store,
                  ToastIdSource* ids, const WriteContext& context, Arena& arena) {
  if (formed_size(layout, values, nulls) <= kToastThreshold) return;
  Shortener row{layout, values, nulls, arena};
  while (row.too_long(kToastThreshold)) {
    const int attribute = row.longest("x", true);
    if (attribute < 0) break;
    row.compress(attribute);
    // Too long all by itself: out at once, so that others need not be compressed.
    if (store != nullptr && row.size_of(attribute) > kToastThreshold)
      row.move_out(attribute, *store, *ids, context);
  }
  while (store != nullptr && row.too_long(kToastThreshold)) {
    const int attribute = row.longest("xe", false);
    if (attribute < 0) break;
    row.move_out(attribute, *store, *ids, context);
  }
  while (row.too_long(kToastThreshold)) {
    const int attribute = row.longest("m", true);
    if (attribute < 0) break;
    row.compress(attribute);
  }
  // Main values leave the row only when it would not fit on a page otherwise.
  while (store != nullptr && row.too_long(kMaxTupleSize)) {
    const int attribute = row.longest("m", false);
    if (attribute < 0) break;
    row.move_out(attribute, *store, *ids, context);
  }
}

void remove_toasted(const TupleLayout& layout, const HeapTupleView& old_tuple,
                    const std::uint64_t* kept_values, const bool* kept_nulls, ToastStore& store,
                    const WriteContext& context) {
  if ((old_tuple.infomask() & kTupleHasExternal) == 0) return;
  // Copied before anything is removed: the tuple's page may be pruned.
  std::vector<std::uint32_t> gone;
  for (std::size_t i = 0; i < layout.attribute_count(); ++i) {
    if (layout.attribute(i).length != -1 || i >= old_tuple.attribute_count()) continue;
    bool is_null = false;
    const std::uint64_t value = fetch_attribute(old_tuple, layout, i, is_null);
    if (is_null || !varlena_is_external(bytes_of(value))) continue;
    ToastPointer old_pointer;
    std::memcpy(static_cast<void*>(&old_pointer), bytes_of(value) + 2, kToastPointerBytes);
    bool kept = false;
    for (std::size_t j = 0; kept_values != nullptr && j < layout.attribute_count() && !kept; ++j) {
      if (kept_nulls[j] || layout.attribute(j).length != -1 || !varlena_is_external(bytes_of(kept_values[j])))
        continue;
      ToastPointer new_pointer;
      std::memcpy(static_cast<void*>(&new_pointer), bytes_of(kept_values[j]) + 2, kToastPointerBytes);
      kept = new_pointer.value_id == old_pointer.value_id &&
             new_pointer.toast_relation == old_pointer.toast_relation;
    }
    if (!kept) gone.push_back(old_pointer.value_id);
  }
  for (const std::uint32_t value_id : gone) store.remove(value_id, context);
}

}  // namespace pinwheel::storage
