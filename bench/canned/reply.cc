#include "bench/canned/reply.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace pinwheel::canned {
namespace {

struct Row {
  std::string_view word;
  CannedReply reply;
};

constexpr std::array kReplies{
    Row{"select", {RowShape::kOneInteger, TransactionEffect::kNone, "SELECT 1"}},
    Row{"show", {RowShape::kOneInteger, TransactionEffect::kNone, "SHOW"}},
    Row{"update", {RowShape::kNone, TransactionEffect::kNone, "UPDATE 1"}},
    Row{"insert", {RowShape::kNone, TransactionEffect::kNone, "INSERT 0 1"}},
    Row{"delete", {RowShape::kNone, TransactionEffect::kNone, "DELETE 1"}},
    Row{"begin", {RowShape::kNone, TransactionEffect::kBegin, "BEGIN"}},
    Row{"start", {RowShape::kNone, TransactionEffect::kBegin, "START TRANSACTION"}},
    Row{"end", {RowShape::kNone, TransactionEffect::kEnd, "COMMIT"}},
    Row{"commit", {RowShape::kNone, TransactionEffect::kEnd, "COMMIT"}},
    Row{"rollback", {RowShape::kNone, TransactionEffect::kEnd, "ROLLBACK"}},
    Row{"abort", {RowShape::kNone, TransactionEffect::kEnd, "ROLLBACK"}},
    Row{"set", {RowShape::kNone, TransactionEffect::kNone, "SET"}},
    Row{"vacuum", {RowShape::kNone, TransactionEffect::kNone, "VACUUM"}},
    Row{"truncate", {RowShape::kNone, TransactionEffect::kNone, "TRUNCATE TABLE"}},
    Row{"copy", {}},
};

bool is_space(char c) noexcept { return std::isspace(static_cast<unsigned char>(c)) != 0; }

bool same_word(std::string_view written, std::string_view lower) noexcept {
  return std::equal(written.begin(), written.end(), lower.begin(), lower.end(),
                    [](char a, char b) { return std::tolower(static_cast<unsigned char>(a)) == b; });
}

}  // namespace

CannedReply reply_to(std::string_view statement) noexcept {
  const auto begin = std::find_if_not(statement.begin(), statement.end(), is_space);
  const auto end = std::find_if(begin, statement.end(),
                                [](char c) { return std::isalpha(static_cast<unsigned char>(c)) == 0; });
  if (begin == statement.end()) return {RowShape::kNone, TransactionEffect::kNone, ""};
  const std::string_view word{begin, end};
  const auto found = std::find_if(kReplies.begin(), kReplies.end(),
                                  [word](const Row& row) { return same_word(word, row.word); });
  if (found == kReplies.end()) return {RowShape::kNone, TransactionEffect::kNone, "OK"};
  CannedReply reply = found->reply;
  if (reply.shape == RowShape::kOneInteger && statement.find("partstrat") != std::string_view::npos)
    reply.shape = RowShape::kPartitions;
  return reply;
}

std::string_view take_statement(std::string_view& text) noexcept {
  char quote = 0;
  std::size_t at = 0;
  for (; at < text.size(); ++at) {
    const char c = text[at];
    if (quote != 0) {
      if (c == quote) quote = 0;
    } else if (c == '\'' || c == '"') {
      quote = c;
    } else if (c == ';') {
      break;
    }
  }
  const std::string_view statement = text.substr(0, at);
  text.remove_prefix(std::min(at + 1, text.size()));
  return statement;
}

int parameter_count(std::string_view statement) noexcept {
  int highest = 0;
  for (std::size_t at = statement.find('$'); at != std::string_view::npos; at = statement.find('$', at)) {
    int number = 0;
    for (++at; at < statement.size() && std::isdigit(static_cast<unsigned char>(statement[at])) != 0; ++at)
      number = std::min(number * 10 + (statement[at] - '0'), 65'535);
    highest = std::max(highest, number);
  }
  return highest;
}

}  // namespace pinwheel::canned
