#include "base/config_file.h"

#include <algorithm>
#include <cctype>

#include "base/error.h"
#include "base/file.h"
#include "base/sqlstate.h"

namespace pinwheel {
namespace {

constexpr int kDeepestInclude = 10;

bool is_name_start(char c) noexcept { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool is_name_part(char c) noexcept {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$' || c == '.';
}
bool is_bare_value_part(char c) noexcept {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
         std::string_view{"_-./:+$*"}.find(c) != std::string_view::npos;
}

std::string directory_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, slash);
}

/// Reads one line of a file.
class LineParser {
 public:
  LineParser(std::string_view line, const std::string& file, int number)
      : rest_{line}, file_{file}, number_{number} {}

  /// False for an empty line or a comment. Errors: 42601.
  bool parse(ConfigItem& item) {
    skip_space();
    if (at_end()) return false;
    if (!is_name_start(rest_.front())) syntax_error();
    item.name = take_while(is_name_part);
    skip_space();
    if (!rest_.empty() && rest_.front() == '=') {
      rest_.remove_prefix(1);
      skip_space();
    }
    if (at_end()) syntax_error();
    item.value = rest_.front() == '\'' ? take_quoted() : take_bare();
    item.file = file_;
    item.line = number_;
    skip_space();
    if (!at_end()) syntax_error();
    return true;
  }

 private:
  bool at_end() const noexcept { return rest_.empty() || rest_.front() == '#'; }
  void skip_space() noexcept {
    while (!rest_.empty() && std::isspace(static_cast<unsigned char>(rest_.front())) != 0)
      rest_.remove_prefix(1);
  }
  template <class Accepts>
  std::string take_while(Accepts accepts) {
    std::size_t size = 0;
    while (size < rest_.size() && accepts(rest_[size])) ++size;
    std::string taken{rest_.substr(0, size)};
    rest_.remove_prefix(size);
    return taken;
  }
  std::string take_bare() {
    std::string value = take_while(is_bare_value_part);
    if (value.empty()) syntax_error();
    return value;
  }
  std::string take_quoted();
  char take_escape();

  [[noreturn]] void syntax_error() const {
    std::size_t size = 0;
    while (size < rest_.size() && std::isspace(static_cast<unsigned char>(rest_[size])) == 0) ++size;
    const std::string where = "syntax error in file \"" + file_ + "\" line " + std::to_string(number_);
    throw SqlError{sqlstate::kSyntaxError,
                   size == 0 ? where + ", near end of line"
                             : where + ", near token \"" + std::string{rest_.substr(0, size)} + "\""};
  }

  std::string_view rest_;
  const std::string& file_;
  int number_;
};

char LineParser::take_escape() {
  const char c = rest_.front();
  rest_.remove_prefix(1);
  switch (c) {
    case 'b':
      return '\b';
    case 'f':
      return '\f';
    case 'n':
      return '\n';
    case 'r':
      return '\r';
    case 't':
      return '\t';
    default:
      break;
  }
  if (c < '0' || c > '7') return c;
  int octal = c - '0';
  for (int digits = 1; digits < 3 && !rest_.empty() && rest_.front() >= '0' && rest_.front() <= '7';
       ++digits) {
    octal = octal * 8 + (rest_.front() - '0');
    rest_.remove_prefix(1);
  }
  return static_cast<char>(octal);
}

std::string LineParser::take_quoted() {
  const std::string_view whole = rest_;
  rest_.remove_prefix(1);
  std::string value;
  while (!rest_.empty()) {
    const char c = rest_.front();
    rest_.remove_prefix(1);
    if (c == '\'') {
      if (rest_.empty() || rest_.front() != '\'') return value;
      rest_.remove_prefix(1);
      value.push_back('\'');
    } else if (c == '\\' && !rest_.empty()) {
      value.push_back(take_escape());
    } else {
      value.push_back(c);
    }
  }
  rest_ = whole;
  syntax_error();
}

void parse_text(std::string_view text, const std::string& file, int depth, std::vector<ConfigItem>& items);

void parse_file(const std::string& path, bool must_exist, int depth, const ConfigItem* from,
                std::vector<ConfigItem>& items) {
  if (depth > kDeepestInclude) {
    throw SqlError{sqlstate::kProgramLimitExceeded,
                   "could not open configuration file \"" + path + "\": maximum nesting depth exceeded"};
  }
  if (!file_exists(path)) {
    if (!must_exist) return;
    SqlError error{sqlstate::kUndefinedFile,
                   "could not open configuration file \"" + path + "\": No such file or directory"};
    if (from != nullptr) {
      throw std::move(error).context("included from file \"" + from->file + "\" line " +
                                     std::to_string(from->line));
    }
    throw error;
  }
  parse_text(read_file(path), path, depth, items);
}

/// True when the line was an include directive, whose lines then have been appended.
bool follow_include(const ConfigItem& item, int depth, std::vector<ConfigItem>& items) {
  const bool directory = item.name == "include_dir";
  if (!directory && item.name != "include" && item.name != "include_if_exists") return false;
  const std::string path =
      item.value.starts_with('/') ? item.value : directory_of(item.file) + "/" + item.value;
  if (!directory) {
    parse_file(path, item.name == "include", depth + 1, &item, items);
    return true;
  }
  for (const std::string& name : list_directory(path)) {
    if (name.size() > 5 && !name.starts_with('.') && name.ends_with(".conf")) {
      parse_file(path + "/" + name, true, depth + 1, &item, items);
    }
  }
  return true;
}

void parse_text(std::string_view text, const std::string& file, int depth, std::vector<ConfigItem>& items) {
  int number = 0;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text = end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
    ConfigItem item;
    if (!LineParser{line, file, ++number}.parse(item)) continue;
    if (!follow_include(item, depth, items)) items.push_back(std::move(item));
  }
}

}  // namespace

void parse_config_file(const std::string& path, std::vector<ConfigItem>& items) {
  parse_file(path, true, 0, nullptr, items);
}

void parse_config_text(std::string_view text, const std::string& file_name, std::vector<ConfigItem>& items) {
  parse_text(text, file_name, 0, items);
}

std::string quote_config_value(std::string_view text) {
  std::string quoted = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') quoted.push_back(c);
    quoted.push_back(c);
  }
  quoted.push_back('\'');
  return quoted;
}

void alter_auto_config(const std::string& data_directory, std::string_view name, const std::string* value) {
  const std::string path = data_directory + "/postgresql.auto.conf";
  std::vector<ConfigItem> items;
  if (!name.empty() && file_exists(path)) parse_config_file(path, items);
  std::erase_if(items, [&](const ConfigItem& item) {
    return std::equal(item.name.begin(), item.name.end(), name.begin(), name.end(), [](char a, char b) {
      return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
    });
  });
  if (value != nullptr && !name.empty()) items.push_back({std::string{name}, *value, path, 0});
  std::string content =
      "# Do not edit this file manually!\n# It will be overwritten by the ALTER SYSTEM command.\n";
  for (const ConfigItem& item : items) content += item.name + " = " + quote_config_value(item.value) + "\n";
  write_file_durably(path, content);
}

}  // namespace pinwheel
