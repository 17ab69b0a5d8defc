#include "sql/types/collation.h"

#include <unicode/ucasemap.h>
#include <unicode/uchar.h>
#include <unicode/ucol.h>
#include <unicode/ustring.h>

#include <cstring>
#include <iterator>

#include "sql/types/io_errors.h"
#include "sql/types/type_oids.h"
#include "sql/types/utf8.h"

namespace pinwheel::sql {

namespace {

/// The ICU rows of sql/catalog/data/pg_collation.tsv.
constexpr struct {
  Oid oid;
  const char* locale;
} kIcuCollations[] = {{Oid{12342}, ""},   {Oid{12453}, "de"}, {Oid{12481}, "en"}, {Oid{12579}, "en-US"},
                      {Oid{12663}, "fr"}, {Oid{12767}, "ja"}, {Oid{13136}, "zh"}};

const char* locale_of(Oid collation) {
  for (const auto& entry : kIcuCollations) {
    if (entry.oid == collation) return entry.locale;
  }
  return nullptr;
}

/// Opened once per process: a collator has no state between comparisons.
UCollator* collator_of(Oid collation) {
  static UCollator* opened[std::size(kIcuCollations)];
  for (std::size_t i = 0; i < std::size(kIcuCollations); ++i) {
    if (kIcuCollations[i].oid != collation) continue;
    if (!opened[i]) {
      UErrorCode status = U_ZERO_ERROR;
      opened[i] = ucol_open(kIcuCollations[i].locale, &status);
      if (U_FAILURE(status)) throw_unsupported("could not open ICU collator");
    }
    return opened[i];
  }
  return nullptr;
}

int compare_bytes(std::string_view a, std::string_view b) {
  const int c = a.compare(b);
  return c;
}

bool is_ascii(std::string_view text) {
  for (unsigned char c : text) {
    if (c >= 0x80) return false;
  }
  return true;
}

std::string change_ascii(std::string_view text, CaseChange change) {
  std::string result{text};
  bool start = true;
  for (char& c : result) {
    const bool lower = c >= 'a' && c <= 'z';
    const bool upper = c >= 'A' && c <= 'Z';
    const bool want_upper = change == CaseChange::kUpper || (change == CaseChange::kTitle && start);
    if (want_upper && lower) c = static_cast<char>(c - 32);
    if (!want_upper && upper) c = static_cast<char>(c + 32);
    start = !(lower || upper || (c >= '0' && c <= '9') || static_cast<unsigned char>(c) >= 0x80);
  }
  return result;
}

/// One character at a time: lengths of result characters may differ in bytes, not in number, as with C
/// libraries.
std::string change_simply(std::string_view text, CaseChange change) {
  std::string result;
  result.reserve(text.size());
  bool start = true;
  for (std::size_t at = 0; at < text.size();) {
    const auto code = static_cast<UChar32>(decode_utf8(text.substr(at)));
    at += static_cast<std::size_t>(utf8_length(static_cast<unsigned char>(text[at])));
    const bool up = change == CaseChange::kUpper || (change == CaseChange::kTitle && start);
    append_utf8(result, static_cast<std::uint32_t>(up ? u_toupper(code) : u_tolower(code)));
    start = !u_isalnum(code);
  }
  return result;
}

}  // namespace

int compare_collated(std::string_view a, std::string_view b, Oid collation) {
  UCollator* collator = collator_of(collation);
  if (!collator) return compare_bytes(a, b);
  UErrorCode status = U_ZERO_ERROR;
  const UCollationResult result = ucol_strcollUTF8(collator, a.data(), static_cast<int32_t>(a.size()),
                                                   b.data(), static_cast<int32_t>(b.size()), &status);
  if (U_FAILURE(status)) throw_unsupported("collation failed");
  return result == UCOL_EQUAL ? compare_bytes(a, b) : static_cast<int>(result);
}

std::string change_case(std::string_view text, CaseChange change, Oid collation) {
  const char* locale = locale_of(collation);
  if (collation == kCCollation || collation == kPosixCollation || (!locale && is_ascii(text))) {
    return change_ascii(text, change);
  }
  if (!locale) return change_simply(text, change);
  UErrorCode status = U_ZERO_ERROR;
  UCaseMap* map = ucasemap_open(locale, 0, &status);
  std::string result(text.size() * 3 + 4, '\0');
  const auto convert = change == CaseChange::kLower   ? ucasemap_utf8ToLower
                       : change == CaseChange::kUpper ? ucasemap_utf8ToUpper
                                                      : nullptr;
  int32_t size = 0;
  if (convert) {
    size = convert(map, result.data(), static_cast<int32_t>(result.size()), text.data(),
                   static_cast<int32_t>(text.size()), &status);
  } else {
    size = ucasemap_utf8ToTitle(map, result.data(), static_cast<int32_t>(result.size()), text.data(),
                                static_cast<int32_t>(text.size()), &status);
  }
  ucasemap_close(map);
  if (U_FAILURE(status)) throw_unsupported("case conversion failed");
  result.resize(static_cast<std::size_t>(size));
  return result;
}

}  // namespace pinwheel::sql
