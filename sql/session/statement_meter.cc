#include "sql/session/statement_meter.h"

#include "base/checksum.h"
#include "base/clock.h"
#include "sql/session/session_state.h"

namespace pinwheel::sql {

std::uint64_t statement_id(std::string_view normalized_text) noexcept {
  const std::uint64_t hash = xxh3_64(normalized_text.data(), normalized_text.size());
  return hash != 0 ? hash : 1;
}

namespace {

void show_query_id(shm::SessionSlot& slot, std::uint64_t query_id) noexcept {
  if (slot.activity.query_id == query_id) return;
  shm::ActivityWriter activity{slot};
  activity->query_id = query_id;
}

}  // namespace

StatementMeter::StatementMeter(SessionState& session, std::uint64_t query_id) noexcept : session_{session} {
  if (session.measuring || session.activity == nullptr) return;
  const bool counts =
      session.settings.get_enum<StatementsTrack>(param::kPgStatStatementsTrack) != StatementsTrack::kNone;
  show_query_id(session.slot, counts ? query_id : 0);
  if (!counts) return;
  log_ = session.activity->log().statements();
  if (log_ == nullptr) return;
  query_id_ = query_id;
  session.measuring = true;
  started_ns_ = monotonic_ns();
  scope_.emplace();
  buffers_before_ = scope_->meter().buffers();
  log_before_ = scope_->meter().log();
}

StatementMeter::~StatementMeter() {
  if (log_ != nullptr) session_.measuring = false;
}

StatementUse StatementMeter::use() const noexcept {
  StatementUse use;
  use.total_ms = static_cast<double>(monotonic_ns() - started_ns_) * 1e-6;
  const shm::BufferUsage buffers = scope_->meter().buffers() - buffers_before_;
  const shm::LogUsage log = scope_->meter().log() - log_before_;
  use.pages_hit = buffers.hits;
  use.pages_read = buffers.reads;
  use.pages_dirtied = buffers.dirtied;
  use.pages_written = buffers.written;
  use.wal_records = log.records;
  use.wal_bytes = log.bytes;
  return use;
}

void StatementMeter::log(StatementTicket& ticket, std::string_view text, StatementUse use) {
  const StatementKey key{session_.eval.user, session_.eval.database, query_id_};
  log_->add(ticket, key, text, use.total_ms, use);
}

void StatementMeter::finish(const SharedPlan& plan, std::uint64_t rows, const StatementUse* before) {
  if (log_ == nullptr) return;
  StatementUse once = use();
  if (before != nullptr && before->calls != 0) {
    StatementUse sum = *before;
    once.calls = 1;
    sum.add(once);
    once = sum;
  }
  once.rows = rows;
  log(plan.ticket, plan.statement_text, once);
}

void StatementMeter::finish(std::string_view text, std::uint64_t rows) {
  if (log_ == nullptr) return;
  StatementUse once = use();
  once.rows = rows;
  StatementTicket ticket;
  log(ticket, text, once);
}

void StatementMeter::suspend(StatementUse& sum) {
  if (log_ == nullptr) return;
  StatementUse part = use();
  part.calls = 1;
  sum.add(part);
}

}  // namespace pinwheel::sql
