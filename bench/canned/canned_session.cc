#include "bench/canned/canned_session.h"

#include <array>
#include <ctime>
#include <utility>

#include "base/bytes.h"
#include "base/clock.h"
#include "bench/canned/message_writer.h"

namespace pinwheel::canned {
namespace {

constexpr std::uint32_t kProtocolMajor = 3;
constexpr std::uint32_t kCancelRequest = 80'877'102;
constexpr std::uint32_t kSslRequest = 80'877'103;
constexpr std::uint32_t kGssRequest = 80'877'104;
constexpr std::uint32_t kMaxStartupBytes = 10'000;
constexpr std::uint32_t kMaxMessageBytes = 1 << 20;
constexpr std::int32_t kInt4Oid = 23;
constexpr std::int32_t kCannedValue = 1;

struct Parameter {
  std::string_view name, value;
};
constexpr std::array kReportedParameters{
    Parameter{"server_version", "15.0 (pw-canned)"},
    Parameter{"server_encoding", "UTF8"},
    Parameter{"client_encoding", "UTF8"},
    Parameter{"DateStyle", "ISO, MDY"},
    Parameter{"TimeZone", "Etc/UTC"},
    Parameter{"integer_datetimes", "on"},
    Parameter{"standard_conforming_strings", "on"},
};

constexpr std::array<std::string_view, 3> kPartitionColumns{"n", "partstrat", "count"};

int column_count(RowShape shape) noexcept {
  switch (shape) {
    case RowShape::kNone:
      return 0;
    case RowShape::kOneInteger:
      return 1;
    case RowShape::kPartitions:
      return static_cast<int>(kPartitionColumns.size());
  }
  return 0;
}

void write_row_description(RowShape shape, bool binary, std::string& output) {
  const int columns = column_count(shape);
  MessageWriter message{output, 'T'};
  message.integer(static_cast<std::int16_t>(columns));
  for (int column = 0; column < columns; ++column) {
    message.zero_terminated(columns == 1 ? "value" : kPartitionColumns[static_cast<std::size_t>(column)]);
    message.integer<std::int32_t>(0).integer<std::int16_t>(0).integer(kInt4Oid);
    message.integer<std::int16_t>(4).integer<std::int32_t>(-1).integer<std::int16_t>(binary ? 1 : 0);
  }
}

void write_integer(MessageWriter& message, std::int32_t value, bool binary) {
  if (binary) {
    message.integer<std::int32_t>(4).integer(value);
  } else {
    const std::string text = std::to_string(value);
    message.integer(static_cast<std::int32_t>(text.size())).bytes(text);
  }
}

void write_row(RowShape shape, bool binary, std::string& output) {
  MessageWriter message{output, 'D'};
  message.integer(static_cast<std::int16_t>(column_count(shape)));
  write_integer(message, kCannedValue, binary);
  if (shape != RowShape::kPartitions) return;
  message.integer<std::int32_t>(-1);  // no partition strategy, and no partitions
  write_integer(message, 0, binary);
}

/// CPU time rather than elapsed time: while other processes run, nothing is burned here.
void burn(std::int64_t us) {
  const auto cpu_ns = [] { return clock_detail::read_ns(CLOCK_THREAD_CPUTIME_ID); };
  for (const std::int64_t end = cpu_ns() + us * 1000; cpu_ns() < end;) {
  }
}

}  // namespace

std::size_t CannedSession::feed(std::string_view input, std::string& output) {
  std::size_t used = 0;
  while (!over_) {
    const std::string_view rest = input.substr(used);
    if (!started_) {
      const std::size_t taken = feed_startup(rest, output);
      if (taken == 0) break;
      used += taken;
      continue;
    }
    if (rest.size() < 5) break;
    const auto length = load_network<std::uint32_t>(rest.data() + 1);
    if (length < 4 || length > kMaxMessageBytes) {
      end_conversation("invalid message length", output);
      break;
    }
    if (rest.size() < std::size_t{length} + 1) break;
    answer(rest[0], rest.substr(5, length - 4), output);
    used += std::size_t{length} + 1;
  }
  return used;
}

std::size_t CannedSession::feed_startup(std::string_view input, std::string& output) {
  if (input.size() < 4) return 0;
  const auto length = load_network<std::uint32_t>(input.data());
  if (length < 8 || length > kMaxStartupBytes) {
    over_ = true;
    return 0;
  }
  if (input.size() < length) return 0;
  const auto code = load_network<std::uint32_t>(input.data() + 4);
  if (code == kSslRequest || code == kGssRequest) {
    output += 'N';
  } else if (code == kCancelRequest) {
    over_ = true;
  } else if (code >> 16 == kProtocolMajor) {
    started_ = true;
    greet(output);
  } else {
    end_conversation("unsupported frontend protocol", output);
  }
  return length;
}

void CannedSession::greet(std::string& output) const {
  MessageWriter{output, 'R'}.integer<std::int32_t>(0);
  for (const Parameter& parameter : kReportedParameters)
    MessageWriter{output, 'S'}.zero_terminated(parameter.name).zero_terminated(parameter.value);
  MessageWriter{output, 'K'}.integer(id_).integer<std::int32_t>(0);
  ready(output);
}

void CannedSession::answer(char type, std::string_view body, std::string& output) {
  if (skipping_ && type != 'S' && type != 'X') return;
  switch (type) {
    case 'Q':
      return query(body.substr(0, body.find('\0')), output);
    case 'P':
      return parse(body, output);
    case 'B':
      return bind(body, output);
    case 'D':
      return describe(body, output);
    case 'C':
      return close(body, output);
    case 'E': {
      const auto found = portals_.find(body.substr(0, body.find('\0')));
      if (found == portals_.end()) return fail("34000", "portal does not exist", output);
      return run(found->second.reply, found->second.binary, output);
    }
    case 'S':
      skipping_ = false;
      return ready(output);
    case 'H':
      return;  // output is sent whenever input runs out: nothing to flush
    case 'X':
      over_ = true;
      return;
    default:
      return end_conversation("invalid frontend message type", output);
  }
}

void CannedSession::query(std::string_view text, std::string& output) {
  bool empty = true;
  while (!text.empty()) {
    const CannedReply reply = reply_to(take_statement(text));
    if (reply.is_empty()) continue;
    empty = false;
    if (reply.shape != RowShape::kNone) write_row_description(reply.shape, false, output);
    run(reply, false, output);
    if (std::exchange(skipping_, false)) break;
  }
  if (empty) MessageWriter{output, 'I'};
  ready(output);
}

void CannedSession::parse(std::string_view body, std::string& output) {
  ByteReader reader{body};
  std::string_view name, text;
  if (!reader.read_zero_terminated(name) || !reader.read_zero_terminated(text))
    return end_conversation("invalid Parse message", output);
  const Statement statement{reply_to(text), parameter_count(text)};
  if (const auto found = statements_.find(name); found != statements_.end()) {
    found->second = statement;
  } else {
    statements_.emplace(name, statement);
  }
  MessageWriter{output, '1'};
}

void CannedSession::bind(std::string_view body, std::string& output) {
  ByteReader reader{body};
  std::string_view portal_name, statement_name;
  reader.read_zero_terminated(portal_name);
  reader.read_zero_terminated(statement_name);
  std::uint16_t count = 0, format = 0;
  for (reader.read_network(count); count > 0 && reader.ok(); --count) reader.read_network(format);
  for (reader.read_network(count); count > 0 && reader.ok(); --count) {
    std::int32_t size = 0;
    std::string_view value;
    if (reader.read_network(size) && size > 0) reader.read_text(value, static_cast<std::size_t>(size));
  }
  // One format for all columns, or the first column's, which in a canned row is that of every column.
  std::uint16_t result_format = 0;
  if (reader.read_network(count) && count > 0) reader.read_network(result_format);
  if (!reader.ok()) return end_conversation("invalid Bind message", output);

  const auto statement = statements_.find(statement_name);
  if (statement == statements_.end()) return fail("26000", "prepared statement does not exist", output);
  const Portal portal{statement->second.reply, result_format == 1};
  if (const auto found = portals_.find(portal_name); found != portals_.end()) {
    found->second = portal;
  } else {
    portals_.emplace(portal_name, portal);
  }
  MessageWriter{output, '2'};
}

void CannedSession::describe(std::string_view body, std::string& output) {
  if (body.empty()) return end_conversation("invalid Describe message", output);
  const std::string_view name = body.substr(1, body.substr(1).find('\0'));
  CannedReply reply;
  bool binary = false;
  if (body[0] == 'S') {
    const auto found = statements_.find(name);
    if (found == statements_.end()) return fail("26000", "prepared statement does not exist", output);
    reply = found->second.reply;
    MessageWriter message{output, 't'};
    message.integer(static_cast<std::int16_t>(found->second.parameters));
    for (int i = 0; i < found->second.parameters; ++i) message.integer(kInt4Oid);
  } else {
    const auto found = portals_.find(name);
    if (found == portals_.end()) return fail("34000", "portal does not exist", output);
    reply = found->second.reply;
    binary = found->second.binary;
  }
  if (reply.shape == RowShape::kNone) {
    MessageWriter{output, 'n'};
  } else {
    write_row_description(reply.shape, binary, output);
  }
}

void CannedSession::close(std::string_view body, std::string& output) {
  if (body.empty()) return end_conversation("invalid Close message", output);
  const std::string_view name = body.substr(1, body.substr(1).find('\0'));
  if (body[0] == 'S') {
    if (const auto found = statements_.find(name); found != statements_.end()) statements_.erase(found);
  } else if (const auto found = portals_.find(name); found != portals_.end()) {
    portals_.erase(found);
  }
  MessageWriter{output, '3'};
}

void CannedSession::run(const CannedReply& reply, bool binary, std::string& output) {
  if (reply.is_refused()) return fail("0A000", "no canned reply to this statement", output);
  if (reply.is_empty()) {
    MessageWriter{output, 'I'};
    return;
  }
  if (burn_us_ > 0) burn(burn_us_);
  if (reply.shape != RowShape::kNone) write_row(reply.shape, binary, output);
  const bool failed_end = reply.effect == TransactionEffect::kEnd && transaction_ == 'E';
  MessageWriter{output, 'C'}.zero_terminated(failed_end ? "ROLLBACK" : reply.tag);
  if (reply.effect == TransactionEffect::kBegin) transaction_ = 'T';
  if (reply.effect == TransactionEffect::kEnd) transaction_ = 'I';
}

void CannedSession::fail(std::string_view sqlstate, std::string_view message, std::string& output) {
  if (transaction_ == 'T') transaction_ = 'E';
  skipping_ = true;
  MessageWriter error{output, 'E'};
  error.bytes("S").zero_terminated("ERROR").bytes("V").zero_terminated("ERROR");
  error.bytes("C").zero_terminated(sqlstate).bytes("M").zero_terminated(message).zero_terminated("");
}

void CannedSession::end_conversation(std::string_view message, std::string& output) {
  over_ = true;
  MessageWriter error{output, 'E'};
  error.bytes("S").zero_terminated("FATAL").bytes("V").zero_terminated("FATAL");
  error.bytes("C").zero_terminated("08P01").bytes("M").zero_terminated(message).zero_terminated("");
}

void CannedSession::ready(std::string& output) const {
  MessageWriter{output, 'Z'}.bytes(std::string_view{&transaction_, 1});
}

}  // namespace pinwheel::canned
