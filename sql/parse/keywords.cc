#include "sql/parse/keywords.h"

#include <pg_query.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "base/error.h"
#include "sql/parse/parser.h"
#include "sql/parse/raw_node.h"

namespace pinwheel::sql {
namespace {

struct ScanCall {
  std::string word;
  std::optional<KeywordKind> kind;
};

/// What the scanner takes a word for; nothing when it is a plain identifier.
void run_scanner(void* argument) {
  ScanCall& call = *static_cast<ScanCall*>(argument);
  PgQueryScanResult result = pg_query_scan(call.word.c_str());
  if (result.error == nullptr) {
    PgQuery__ScanResult* scan = pg_query__scan_result__unpack(
        nullptr, result.pbuf.len, reinterpret_cast<const std::uint8_t*>(result.pbuf.data));
    if (scan != nullptr && scan->n_tokens == 1) {
      switch (scan->tokens[0]->keyword_kind) {
        case PG_QUERY__KEYWORD_KIND__UNRESERVED_KEYWORD:
          call.kind = KeywordKind::kUnreserved;
          break;
        case PG_QUERY__KEYWORD_KIND__COL_NAME_KEYWORD:
          call.kind = KeywordKind::kColumnName;
          break;
        case PG_QUERY__KEYWORD_KIND__TYPE_FUNC_NAME_KEYWORD:
          call.kind = KeywordKind::kTypeOrFunctionName;
          break;
        case PG_QUERY__KEYWORD_KIND__RESERVED_KEYWORD:
          call.kind = KeywordKind::kReserved;
          break;
        default:
          break;
      }
    }
    if (scan != nullptr) pg_query__scan_result__free_unpacked(scan, nullptr);
  }
  pg_query_free_scan_result(result);
}

bool is_bare_label(const std::string& word) {
  try {
    return parse("SELECT 1 " + word).statements().size() == 1;
  } catch (const SqlError&) {
    return false;
  }
}

/// The grammar's tokens bear the words' names: "ABORT_P" is "abort".
std::vector<Keyword> find_keywords() {
  std::vector<Keyword> found;
  const ProtobufCEnumDescriptor& tokens = pg_query__token__descriptor;
  for (unsigned i = 0; i < tokens.n_values; ++i) {
    ScanCall call{tokens.values[i].name, std::nullopt};
    if (call.word.ends_with("_P")) call.word.resize(call.word.size() - 2);
    for (char& c : call.word) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
    call_on_main_stack(run_scanner, &call);
    if (call.kind) found.push_back({call.word, *call.kind, is_bare_label(call.word)});
  }
  std::ranges::sort(found, {}, &Keyword::word);
  return found;
}

}  // namespace

std::span<const Keyword> keywords() {
  static const std::vector<Keyword> kFound = find_keywords();
  return kFound;
}

}  // namespace pinwheel::sql
