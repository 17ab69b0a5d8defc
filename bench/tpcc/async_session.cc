#include "bench/tpcc/async_session.h"

#include <utility>

namespace pinwheel::tpcc {
namespace {

constexpr const char* kBeginName = "begin";

}  // namespace

AsyncSession::AsyncSession(EventLoop& loop, const std::string& dsn, std::string_view isolation)
    : loop_{loop}, connection_{dsn} {
  connection_.prepare(kBeginName, ("BEGIN ISOLATION LEVEL " + std::string{isolation}).c_str());
  for (const StatementDefinition& statement : kStatements) connection_.prepare(statement.name, statement.sql);
  loop_.add(PQsocket(connection_.native()), *this);
}

AsyncSession::~AsyncSession() {
  if (PQsocket(connection_.native()) >= 0) loop_.remove(PQsocket(connection_.native()));
  PQclear(result_);
}

AsyncSession::Pending AsyncSession::begin() {
  offsets_.clear();
  return send(kBeginName);
}

AsyncSession::Pending AsyncSession::send(const char* statement) {
  values_.clear();
  for (const std::size_t offset : offsets_) values_.push_back(text_.data() + offset);
  sent_ = PQsendQueryPrepared(connection_.native(), statement, static_cast<int>(values_.size()),
                              values_.data(), nullptr, nullptr, /*resultFormat=*/0) == 1;
  return Pending{*this};
}

void AsyncSession::on_readable() {
  // A lost connection stays "busy"; asking for its result does not block, and reports the loss.
  const bool lost = PQconsumeInput(connection_.native()) == 0;
  while (lost || PQisBusy(connection_.native()) == 0) {
    PGresult* result = PQgetResult(connection_.native());
    if (result == nullptr) {
      sent_ = false;
      if (waiter_) std::exchange(waiter_, nullptr).resume();
      return;
    }
    if (result_ == nullptr) {
      result_ = result;
    } else {
      PQclear(result);
    }
  }
}

Result AsyncSession::take_result() { return Result{connection_.native(), std::exchange(result_, nullptr)}; }

}  // namespace pinwheel::tpcc
