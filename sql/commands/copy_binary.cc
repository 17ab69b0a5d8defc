#include "sql/commands/copy_binary.h"

#include <cstring>

#include "base/error.h"
#include "base/sqlstate.h"

namespace pinwheel::sql {
namespace {

[[noreturn]] void bad_format(std::string message) {
  throw SqlError{sqlstate::kBadCopyFileFormat, std::move(message)};
}

std::uint32_t network_word(std::string_view bytes) {
  std::uint32_t word = 0;
  for (const char c : bytes) word = word << 8 | static_cast<unsigned char>(c);
  return word;
}

/// Flag bits that a reader must know.
constexpr std::uint32_t kHasOids = 1u << 16;
constexpr std::uint32_t kCriticalFlags = 0xFFFF0000u;

}  // namespace

bool CopyBinaryReader::take(std::size_t size, std::string_view& bytes) {
  if (piece_.size() >= size) [[likely]] {
    bytes = piece_.substr(0, size);
    piece_.remove_prefix(size);
    return true;
  }
  buffer_.assign(piece_);
  piece_ = {};
  while (buffer_.size() < size) {
    if (!source_(piece_)) {
      ended_ = true;
      return false;
    }
    const std::size_t now = std::min(size - buffer_.size(), piece_.size());
    buffer_.append(piece_.substr(0, now));
    piece_.remove_prefix(now);
  }
  bytes = buffer_;
  return true;
}

bool CopyBinaryReader::take_int32(std::int32_t& value) {
  std::string_view bytes;
  if (!take(4, bytes)) return false;
  value = static_cast<std::int32_t>(network_word(bytes));
  return true;
}

void CopyBinaryReader::read_header() {
  std::string_view signature;
  if (!take(kBinarySignature.size(), signature) || signature != kBinarySignature) {
    bad_format("COPY file signature not recognized");
  }
  std::int32_t word = 0;
  if (!take_int32(word)) bad_format("invalid COPY file header (missing flags)");
  const auto flags = static_cast<std::uint32_t>(word);
  if ((flags & kHasOids) != 0) bad_format("invalid COPY file header (WITH OIDS)");
  if ((flags & kCriticalFlags) != 0) bad_format("unrecognized critical flags in COPY file header");
  if (!take_int32(word) || word < 0) bad_format("invalid COPY file header (missing length)");
  std::string_view extension;
  if (!take(static_cast<std::size_t>(word), extension)) bad_format("invalid COPY file header (wrong length)");
}

bool CopyBinaryReader::next(std::vector<CopyField>& fields, std::size_t expected) {
  ++row_number_;
  fields.clear();
  row_.clear();
  std::string_view bytes;
  if (ended_ || !take(2, bytes)) return false;
  const auto count = static_cast<std::int16_t>(network_word(bytes));
  if (count == -1) {
    // Whatever follows must be nothing.
    if (take(1, bytes)) bad_format("received copy data after EOF marker");
    return false;
  }
  if (count < 0 || static_cast<std::size_t>(count) != expected) {
    bad_format("row field count is " + std::to_string(count) + ", expected " + std::to_string(expected));
  }
  // Fields are kept by their place until all are there: growing moves them.
  std::vector<CopyField>& out = fields;
  for (std::int16_t i = 0; i < count; ++i) {
    std::int32_t size = 0;
    if (!take_int32(size)) bad_format("unexpected EOF in COPY data");
    if (size == -1) {
      out.push_back({{}, true});
      continue;
    }
    if (size < 0) bad_format("invalid field size");
    if (!take(static_cast<std::size_t>(size), bytes)) bad_format("unexpected EOF in COPY data");
    row_.append(bytes);
    out.push_back({{nullptr, static_cast<std::size_t>(size)}, false});
  }
  const char* at = row_.data();
  for (CopyField& field : out) {
    if (field.is_null) continue;
    field.text = {at, field.text.size()};
    at += field.text.size();
  }
  return true;
}

void CopyBinaryReader::drain() {
  while (!ended_ && source_(piece_)) {
  }
  ended_ = true;
}

}  // namespace pinwheel::sql
