#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "bench/canned/reply.h"

namespace pinwheel::canned {

/// One client's conversation: bytes in, bytes out, no sockets.
///
/// Answers start-up, the simple and the extended protocol with canned replies; what a client may observe of
/// order, transaction status and error skipping is as in PostgreSQL 15. Whatever is not understood is
/// answered with an error (0A000, 26000, 34000), or ends the conversation (08P01).
class CannedSession {
 public:
  /// `burn_us`: microseconds of this thread's CPU spent on each executed statement.
  CannedSession(std::int32_t id, std::int64_t burn_us) : id_{id}, burn_us_{burn_us} {}

  /// Answers the whole messages at the start of `input`, appending to `output`. Returns the bytes used up;
  /// the rest must come again, with more behind it.
  std::size_t feed(std::string_view input, std::string& output);

  /// The client said good-bye or broke the protocol: send what is in output and close.
  bool is_over() const noexcept { return over_; }

 private:
  struct Statement {
    CannedReply reply;
    int parameters = 0;
  };
  struct Portal {
    CannedReply reply;
    bool binary = false;  // format of the result columns
  };

  std::size_t feed_startup(std::string_view input, std::string& output);
  void greet(std::string& output) const;
  void answer(char type, std::string_view body, std::string& output);
  void query(std::string_view text, std::string& output);
  void parse(std::string_view body, std::string& output);
  void bind(std::string_view body, std::string& output);
  void describe(std::string_view body, std::string& output);
  void close(std::string_view body, std::string& output);
  void run(const CannedReply& reply, bool binary, std::string& output);
  void fail(std::string_view sqlstate, std::string_view message, std::string& output);
  void end_conversation(std::string_view message, std::string& output);
  void ready(std::string& output) const;

  std::int32_t id_;
  std::int64_t burn_us_;
  bool started_ = false;
  bool over_ = false;
  bool skipping_ = false;   // an extended-protocol message failed: all up to Sync are ignored
  char transaction_ = 'I';  // ReadyForQuery's status
  std::map<std::string, Statement, std::less<>> statements_;
  std::map<std::string, Portal, std::less<>> portals_;
};

}  // namespace pinwheel::canned
