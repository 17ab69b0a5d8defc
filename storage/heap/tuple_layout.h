#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/arena.h"
#include "storage/heap/tuple.h"

namespace pinwheel::storage {

/// How one attribute's values lie in a tuple: the facts of pg_attribute that matter here.
struct AttributeLayout {
  std::int16_t length = 0;  // attlen: bytes, -1 varlena, -2 zero-terminated
  std::uint8_t align = 1;   // 1, 2, 4, 8
  bool by_value = false;    // the 8-byte value itself, sign-extended; else a pointer to the bytes
  bool not_null = false;    // never null, in no stored tuple
  char storage = 'p';       // attstorage: p plain, x extended, m main, e external
  bool operator==(const AttributeLayout&) const = default;
};

/// What a value that is not kept by value points to.
inline const std::byte* bytes_of(std::uint64_t value) noexcept {
  return reinterpret_cast<const std::byte*>(value);
}

/// Bytes of a varlena as stored (docs/formats/varlena.md): its first byte tells its kind.
inline std::size_t varlena_size(const std::byte* at) noexcept {
  const auto first = static_cast<std::uint8_t>(*at);
  if ((first & 1) != 0) return first == 1 ? 20u : first >> 1;
  return load<std::uint32_t>(at) >> 2;
}
inline bool varlena_is_external(const std::byte* at) noexcept { return static_cast<std::uint8_t>(*at) == 1; }
inline bool varlena_is_compressed(const std::byte* at) noexcept {
  return (static_cast<std::uint8_t>(*at) & 3) == 2;
}

/// A tuple in private memory, header included, to be given to Heap. form_tuple fills everything but xmin,
/// xmax, commands and next.
struct FormedTuple {
  std::byte* bytes = nullptr;
  std::uint32_t length = 0;
  TupleHeader& header() const noexcept { return *reinterpret_cast<TupleHeader*>(bytes); }
};

/// Row layout of a relation, made once per catalog entry. Knows where leading attributes of fixed width that
/// are never null lie, so that reading them is a load.
class TupleLayout {
 public:
  TupleLayout() = default;
  /// `missing_*`: values of attributes that tuples older than ALTER TABLE ADD COLUMN lack (empty: null).
  /// By-reference ones must outlive the layout.
  explicit TupleLayout(std::span<const AttributeLayout> attributes,
                       std::span<const std::uint64_t> missing_values = {},
                       std::span<const std::uint8_t> missing_is_null = {});

  std::size_t attribute_count() const noexcept { return attributes_.size(); }
  const AttributeLayout& attribute(std::size_t i) const noexcept { return attributes_[i]; }
  /// Attributes [0, n) lie at offset(i) in every tuple.
  std::size_t fixed_count() const noexcept { return fixed_count_; }
  /// Attributes [0, n) lie at offset(i) in every tuple without nulls; n >= fixed_count().
  std::size_t offset_count() const noexcept { return offsets_.size(); }
  std::uint32_t fixed_offset(std::size_t i) const noexcept { return offsets_[i]; }
  std::uint64_t missing_value(std::size_t i) const noexcept { return i < missing_.size() ? missing_[i] : 0; }
  bool missing_is_null(std::size_t i) const noexcept {
    return i >= missing_null_.size() || missing_null_[i] != 0;
  }

 private:
  std::vector<AttributeLayout> attributes_;
  std::vector<std::uint32_t> offsets_;
  std::size_t fixed_count_ = 0;
  std::vector<std::uint64_t> missing_;
  std::vector<std::uint8_t> missing_null_;
};

/// Where reading a tuple stopped, to go on later.
struct DeformState {
  std::uint32_t attribute = 0;  // next to read
  std::uint32_t offset = 0;     // its offset before alignment, from data()
};

/// Bytes of the tuple that form_tuple would make.
std::size_t formed_size(const TupleLayout& layout, const std::uint64_t* values, const bool* nulls) noexcept;

/// Lays values out as a tuple in `arena`. Plain varlenas of up to 126 bytes get a one-byte header unless the
/// attribute's storage is plain. Does not shorten what is too long: see Toaster. Errors: 54011 beyond 1600
/// attributes, 53200.
FormedTuple form_tuple(const TupleLayout& layout, const std::uint64_t* values, const bool* nulls,
                       Arena& arena);

/// Reads attributes [state.attribute, upto) into `values` and `nulls`. By-reference values point into the
/// tuple: they live as long as its bytes stay. Missing trailing attributes get the layout's missing values.
void deform_more(const HeapTupleView& tuple, const TupleLayout& layout, std::size_t upto, DeformState& state,
                 std::uint64_t* values, bool* nulls) noexcept;
inline void deform(const HeapTupleView& tuple, const TupleLayout& layout, std::size_t upto,
                   std::uint64_t* values, bool* nulls) noexcept {
  DeformState state;
  deform_more(tuple, layout, upto, state, values, nulls);
}
/// One attribute (0-based).
std::uint64_t fetch_attribute(const HeapTupleView& tuple, const TupleLayout& layout, std::size_t attribute,
                              bool& is_null) noexcept;

/// Index tuples use the same rules without a header: sizes, forms and reads packed values at `to`/`from`
/// (8-aligned). Null attributes take no bytes.
std::size_t packed_size(const TupleLayout& layout, std::size_t count, const std::uint64_t* values,
                        const bool* nulls) noexcept;
void pack_values(const TupleLayout& layout, std::size_t count, const std::uint64_t* values, const bool* nulls,
                 std::byte* to) noexcept;
/// `null_bitmap`: one bit per attribute, 1 = not null; nullptr = none is null.
void unpack_values(const TupleLayout& layout, std::size_t count, const std::byte* from,
                   const std::byte* null_bitmap, std::uint64_t* values, bool* nulls) noexcept;

}  // namespace pinwheel::storage
