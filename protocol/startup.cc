#include "protocol/startup.h"

#include <string>

#include "base/error.h"
#include "base/sqlstate.h"
#include "protocol/message.h"
#include "protocol/reader.h"

namespace pinwheel::protocol {
namespace {

using Settings = std::vector<std::pair<std::string, std::string>>;

/// Splits `options` at unescaped white space; a backslash takes the next character literally.
std::vector<std::string> split_options(std::string_view text) {
  std::vector<std::string> words;
  std::string word;
  bool in_word = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool space = c == ' ' || (c >= '\t' && c <= '\r');
    if (space) {
      if (in_word) words.push_back(std::move(word));
      word.clear();
      in_word = false;
      continue;
    }
    in_word = true;
    if (c == '\\' && i + 1 < text.size()) {
      word += text[++i];
    } else {
      word += c;
    }
  }
  if (in_word) words.push_back(std::move(word));
  return words;
}

SqlError invalid_option(std::string_view word) {
  return SqlError{sqlstate::kSyntaxError,
                  "invalid command-line argument for server process: " + std::string{word}}
      .hint("Try \"pinwheel --help\" for more information.")
      .fatal();
}

void add_assignment(std::string_view assignment, std::string_view word, Settings& settings) {
  const std::size_t equals = assignment.find('=');
  if (equals == std::string_view::npos || equals == 0) throw invalid_option(word);
  std::string name{assignment.substr(0, equals)};
  for (char& c : name) c = c == '-' ? '_' : c;
  settings.emplace_back(std::move(name), assignment.substr(equals + 1));
}

void parse_options(std::string_view text, Settings& settings) {
  const std::vector<std::string> words = split_options(text);
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (word.starts_with("--")) {
      add_assignment(std::string_view{word}.substr(2), word, settings);
    } else if (word == "-c") {
      if (++i == words.size()) throw invalid_option(word);
      add_assignment(words[i], words[i], settings);
    } else if (word.starts_with("-c")) {
      add_assignment(std::string_view{word}.substr(2), word, settings);
    } else {
      throw invalid_option(word);
    }
  }
}

void parse_session(MessageReader reader, StartupPacket& packet) {
  std::string options;
  while (true) {
    const std::string_view name = reader.string();
    if (name.empty()) break;
    const std::string_view value = reader.string();
    if (name == "user") {
      packet.user = value;
    } else if (name == "database") {
      packet.database = value;
    } else if (name == "options") {
      options = value;
    } else if (name == "replication") {
      packet.replication = value != "false" && value != "off" && value != "0" && value != "no";
    } else if (name.starts_with("_pq_.")) {
      packet.unknown_extensions.emplace_back(name);
    } else {
      packet.settings.emplace_back(name, value);
    }
  }
  if (!reader.at_end()) {
    throw SqlError{sqlstate::kProtocolViolation,
                   "invalid startup packet layout: expected terminator as last byte"}
        .fatal();
  }
  parse_options(options, packet.settings);
  if (packet.user.empty()) {
    throw SqlError{sqlstate::kInvalidAuthorizationSpecification,
                   "no PostgreSQL user name specified in startup packet"}
        .fatal();
  }
  if (packet.database.empty()) packet.database = packet.user;
}

}  // namespace

StartupPacket parse_startup(std::string_view payload) {
  MessageReader reader{payload};
  StartupPacket packet;
  const auto code = static_cast<std::uint32_t>(reader.int32());
  switch (code) {
    case kCancelRequestCode:
      packet.kind = StartupKind::kCancel;
      packet.cancel_pid = reader.int32();
      packet.cancel_secret = reader.int32();
      return packet;
    case kSslRequestCode:
      packet.kind = StartupKind::kSslRequest;
      return packet;
    case kGssEncRequestCode:
      packet.kind = StartupKind::kGssEncRequest;
      return packet;
    default:
      break;
  }
  const std::uint32_t major = code >> 16;
  const std::uint32_t minor = code & 0xFFFF;
  if (major != 3) {
    throw SqlError{sqlstate::kFeatureNotSupported, "unsupported frontend protocol " + std::to_string(major) +
                                                       "." + std::to_string(minor) +
                                                       ": server supports 3.0 to 3.0"}
        .fatal();
  }
  packet.minor_version = static_cast<int>(minor);
  try {
    parse_session(reader, packet);
  } catch (SqlError& error) {
    throw std::move(error).fatal();
  }
  return packet;
}

}  // namespace pinwheel::protocol
