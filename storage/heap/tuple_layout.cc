#include "storage/heap/tuple_layout.h"

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "base/sqlstate.h"

namespace pinwheel::storage {

namespace {

constexpr std::size_t kShortPayloadMax = 126;

constexpr std::size_t align_to(std::size_t offset, std::size_t align) noexcept {
  return (offset + align - 1) & ~(align - 1);
}

std::uint64_t fetch_by_value(const std::byte* from, int length) noexcept {
  switch (length) {
    case 4:
      return static_cast<std::uint64_t>(static_cast<std::int64_t>(load<std::int32_t>(from)));
    case 8:
      return load<std::uint64_t>(from);
    case 2:
      return static_cast<std::uint64_t>(static_cast<std::int64_t>(load<std::int16_t>(from)));
    default:
      return static_cast<std::uint64_t>(static_cast<std::int64_t>(load<std::int8_t>(from)));
  }
}

std::uint64_t fetch_at(const std::byte* from, const AttributeLayout& attribute) noexcept {
  return attribute.by_value ? fetch_by_value(from, attribute.length) : reinterpret_cast<std::uintptr_t>(from);
}

/// How a varlena goes into a tuple.
struct VarlenaForm {
  std::size_t size;
  bool aligned;
  bool shorten;  // the long header becomes a short one
};
VarlenaForm varlena_form(const std::byte* value, const AttributeLayout& attribute) noexcept {
  const std::size_t size = varlena_size(value);
  const auto first = static_cast<std::uint8_t>(*value);
  if ((first & 1) != 0) return {size, false, false};
  if ((first & 2) == 0 && attribute.storage != 'p' && size - 4 <= kShortPayloadMax)
    return {size - 3, false, true};
  return {size, true, false};
}

/// Offset after the attribute, if it begins at or after `offset`.
std::size_t offset_after(std::size_t offset, const AttributeLayout& attribute, std::uint64_t value) noexcept {
  if (attribute.length > 0)
    return align_to(offset, attribute.align) + static_cast<std::size_t>(attribute.length);
  if (attribute.length == -1) {
    const VarlenaForm form = varlena_form(bytes_of(value), attribute);
    return (form.aligned ? align_to(offset, attribute.align) : offset) + form.size;
  }
  return align_to(offset, attribute.align) + std::strlen(reinterpret_cast<const char*>(bytes_of(value))) + 1;
}

/// Writes one value at `base + offset`, zeroing the padding before it. Returns the offset after it.
std::size_t write_value(std::byte* base, std::size_t offset, const AttributeLayout& attribute,
                        std::uint64_t value) noexcept {
  VarlenaForm form{};
  bool aligned = true;
  if (attribute.length == -1) {
    form = varlena_form(bytes_of(value), attribute);
    aligned = form.aligned;
  }
  const std::size_t at = aligned ? align_to(offset, attribute.align) : offset;
  std::memset(base + offset, 0, at - offset);
  std::byte* to = base + at;
  if (attribute.by_value) {
    std::memcpy(to, &value, static_cast<std::size_t>(attribute.length));
    return at + static_cast<std::size_t>(attribute.length);
  }
  if (attribute.length > 0) {
    std::memcpy(to, bytes_of(value), static_cast<std::size_t>(attribute.length));
    return at + static_cast<std::size_t>(attribute.length);
  }
  if (attribute.length == -1) {
    if (form.shorten) {
      *to = static_cast<std::byte>(form.size << 1 | 1);
      std::memcpy(to + 1, bytes_of(value) + 4, form.size - 1);
    } else {
      std::memcpy(to, bytes_of(value), form.size);
    }
    return at + form.size;
  }
  const std::size_t size = std::strlen(reinterpret_cast<const char*>(bytes_of(value))) + 1;
  std::memcpy(to, bytes_of(value), size);
  return at + size;
}

/// Where the attribute that follows `offset` begins: padding bytes are zero, a short header never is.
std::size_t value_start(const std::byte* base, std::size_t offset,
                        const AttributeLayout& attribute) noexcept {
  if (attribute.length == -1 && base[offset] != std::byte{0}) return offset;
  return align_to(offset, attribute.align);
}

std::size_t value_end(const std::byte* base, std::size_t start, const AttributeLayout& attribute) noexcept {
  if (attribute.length > 0) return start + static_cast<std::size_t>(attribute.length);
  if (attribute.length == -1) return start + varlena_size(base + start);
  return start + std::strlen(reinterpret_cast<const char*>(base + start)) + 1;
}

}  // namespace

TupleLayout::TupleLayout(std::span<const AttributeLayout> attributes,
                         std::span<const std::uint64_t> missing_values,
                         std::span<const std::uint8_t> missing_is_null)
    : attributes_{attributes.begin(), attributes.end()},
      missing_{missing_values.begin(), missing_values.end()},
      missing_null_{missing_is_null.begin(), missing_is_null.end()} {
  std::size_t offset = 0;
  bool never_null = true;
  for (const AttributeLayout& attribute : attributes_) {
    if (attribute.length <= 0) break;
    offset = align_to(offset, attribute.align);
    offsets_.push_back(static_cast<std::uint32_t>(offset));
    offset += static_cast<std::size_t>(attribute.length);
    never_null = never_null && attribute.not_null;
    if (never_null) fixed_count_ = offsets_.size();
  }
}

std::size_t formed_size(const TupleLayout& layout, const std::uint64_t* values, const bool* nulls) noexcept {
  const std::size_t count = layout.attribute_count();
  bool has_nulls = false;
  for (std::size_t i = 0; i < count; ++i) has_nulls |= nulls[i];
  return tuple_data_offset(count, has_nulls) + packed_size(layout, count, values, nulls);
}

FormedTuple form_tuple(const TupleLayout& layout, const std::uint64_t* values, const bool* nulls,
                       Arena& arena) {
  const std::size_t count = layout.attribute_count();
  if (count > kMaxAttributes) {
    throw SqlError{sqlstate::kTooManyColumns, "number of columns (" + std::to_string(count) +
                                                  ") exceeds limit (" + std::to_string(kMaxAttributes) + ")"};
  }
  bool has_nulls = false;
  std::uint16_t infomask = 0;
  std::size_t size = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (nulls[i]) {
      has_nulls = true;
      continue;
    }
    const AttributeLayout& attribute = layout.attribute(i);
    if (attribute.length < 0) infomask |= kTupleHasVarWidth;
    if (attribute.length == -1 && varlena_is_external(bytes_of(values[i]))) infomask |= kTupleHasExternal;
    size = offset_after(size, attribute, values[i]);
  }
  if (has_nulls) infomask |= kTupleHasNulls;
  const std::size_t data_offset = tuple_data_offset(count, has_nulls);
  FormedTuple tuple;
  tuple.length = static_cast<std::uint32_t>(data_offset + size);
  tuple.bytes =
      static_cast<std::byte*>(arena.allocate(std::max(tuple.length, std::uint32_t{sizeof(TupleHeader)}), 8));
  std::memset(tuple.bytes, 0, data_offset);
  TupleHeader& header = tuple.header();
  header.infomask = infomask;
  header.infomask2 = static_cast<std::uint16_t>(count);
  header.data_offset = static_cast<std::uint8_t>(data_offset);
  std::byte* data = tuple.bytes + data_offset;
  std::size_t offset = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (nulls[i]) continue;
    if (has_nulls) {
      tuple.bytes[kTupleHeaderBytes + i / 8] |= static_cast<std::byte>(1u << (i % 8));
    }
    offset = write_value(data, offset, layout.attribute(i), values[i]);
  }
  return tuple;
}

void deform_more(const HeapTupleView& tuple, const TupleLayout& layout, std::size_t upto, DeformState& state,
                 std::uint64_t* values, bool* nulls) noexcept {
  const std::size_t stored = std::min<std::size_t>(upto, tuple.attribute_count());
  const bool has_nulls = tuple.has_nulls();
  const std::byte* data = tuple.data();
  std::size_t i = state.attribute;
  std::size_t offset = state.offset;
  if (!has_nulls) {
    const std::size_t fixed = std::min(stored, layout.offset_count());
    for (; i < fixed; ++i) {
      const AttributeLayout& attribute = layout.attribute(i);
      const std::size_t start = layout.fixed_offset(i);
      values[i] = fetch_at(data + start, attribute);
      nulls[i] = false;
      offset = start + static_cast<std::size_t>(attribute.length);
    }
  }
  for (; i < stored; ++i) {
    if (has_nulls && tuple.is_null(static_cast<unsigned>(i))) {
      values[i] = 0;
      nulls[i] = true;
      continue;
    }
    const AttributeLayout& attribute = layout.attribute(i);
    const std::size_t start = value_start(data, offset, attribute);
    values[i] = fetch_at(data + start, attribute);
    nulls[i] = false;
    offset = value_end(data, start, attribute);
  }
  for (; i < upto; ++i) {
    nulls[i] = layout.missing_is_null(i);
    values[i] = layout.missing_value(i);
  }
  state.attribute = static_cast<std::uint32_t>(i);
  state.offset = static_cast<std::uint32_t>(offset);
}

std::uint64_t fetch_attribute(const HeapTupleView& tuple, const TupleLayout& layout, std::size_t attribute,
                              bool& is_null) noexcept {
  if (attribute >= tuple.attribute_count()) {
    is_null = layout.missing_is_null(attribute);
    return layout.missing_value(attribute);
  }
  const bool has_nulls = tuple.has_nulls();
  if (has_nulls && tuple.is_null(static_cast<unsigned>(attribute))) {
    is_null = true;
    return 0;
  }
  is_null = false;
  const std::byte* data = tuple.data();
  const std::size_t direct = has_nulls ? layout.fixed_count() : layout.offset_count();
  if (attribute < direct) return fetch_at(data + layout.fixed_offset(attribute), layout.attribute(attribute));
  std::size_t offset = 0;
  std::size_t i = direct;
  if (direct > 0) {
    offset = layout.fixed_offset(direct - 1) + static_cast<std::size_t>(layout.attribute(direct - 1).length);
  }
  for (;; ++i) {
    if (has_nulls && tuple.is_null(static_cast<unsigned>(i))) continue;
    const AttributeLayout& at = layout.attribute(i);
    const std::size_t start = value_start(data, offset, at);
    if (i == attribute) return fetch_at(data + start, at);
    offset = value_end(data, start, at);
  }
}

std::size_t packed_size(const TupleLayout& layout, std::size_t count, const std::uint64_t* values,
                        const bool* nulls) noexcept {
  std::size_t offset = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (!nulls[i]) offset = offset_after(offset, layout.attribute(i), values[i]);
  }
  return offset;
}

void pack_values(const TupleLayout& layout, std::size_t count, const std::uint64_t* values, const bool* nulls,
                 std::byte* to) noexcept {
  std::size_t offset = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (!nulls[i]) offset = write_value(to, offset, layout.attribute(i), values[i]);
  }
}

void unpack_values(const TupleLayout& layout, std::size_t count, const std::byte* from,
                   const std::byte* null_bitmap, std::uint64_t* values, bool* nulls) noexcept {
  std::size_t offset = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (null_bitmap != nullptr && (static_cast<std::uint8_t>(null_bitmap[i / 8]) >> (i % 8) & 1) == 0) {
      values[i] = 0;
      nulls[i] = true;
      continue;
    }
    const AttributeLayout& attribute = layout.attribute(i);
    const std::size_t start = value_start(from, offset, attribute);
    values[i] = fetch_at(from + start, attribute);
    nulls[i] = false;
    offset = value_end(from, start, attribute);
  }
}

}  // namespace pinwheel::storage
