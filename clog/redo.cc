#include "clog/redo.h"

#include <fmt/core.h>

#include <cstring>
#include <vector>

#include "base/error.h"
#include "base/sqlstate.h"
#include "clog/clog.h"
#include "clog/multixact_record.h"
#include "wal/record.h"

namespace pinwheel::clog {

namespace {
/// The members that follow the fixed part. Errors: XX001.
std::vector<MultiXactMember> read_members(const wal::RecordView& record,
                                          const MultixactCreateRecord& header) {
  const std::span<const std::byte> rest = record.data().subspan(sizeof header);
  if (rest.size() != std::size_t{header.count} * sizeof(std::uint64_t)) {
    throw SqlError{sqlstate::kDataCorrupted, "multixact record has the wrong length"};
  }
  std::vector<MultiXactMember> members(header.count);
  for (std::size_t i = 0; i < members.size(); ++i) {
    std::uint64_t word;
    std::memcpy(&word, rest.data() + i * sizeof word, sizeof word);
    members[i] = {Xid{word >> 3}, static_cast<MemberStatus>(word & 7)};
  }
  return members;
}

void check_kind(const wal::RecordView& record) {
  if (record.kind() != static_cast<std::uint8_t>(MultixactKind::kCreate)) {
    throw SqlError{sqlstate::kDataCorrupted, fmt::format("unknown multixact record kind {}", record.kind())};
  }
}
}  // namespace

void redo_multixact(wal::RedoContext& context, const wal::RecordView& record) {
  check_kind(record);
  const auto header = record.data_as<MultixactCreateRecord>();
  Clog& clog = context.owner_as<Clog>();
  const std::vector<MultiXactMember> members = read_members(record, header);
  clog.multixacts.redo_create(MultiXactId{header.id}, header.offset, members);
  for (const MultiXactMember& member : members) clog.xids.observe(member.xid);
}

std::string describe_multixact(const wal::RecordView& record) {
  static constexpr const char* kNames[] = {"keysh",    "sh",  "fornokeyupd", "forupd",
                                           "nokeyupd", "upd", "?",           "?"};
  check_kind(record);
  const auto header = record.data_as<MultixactCreateRecord>();
  std::string text =
      fmt::format("CREATE_ID {} offset {} nmembers {}:", header.id, header.offset, header.count);
  for (const MultiXactMember& member : read_members(record, header)) {
    text += fmt::format(" {} ({})", member.xid.value, kNames[static_cast<int>(member.status)]);
  }
  return text;
}

void redo_next_oid(Clog& clog, const wal::RecordView& record) {
  std::uint32_t next;
  if (record.data().size() != sizeof next) {
    throw SqlError{sqlstate::kDataCorrupted, "next-OID record has the wrong length"};
  }
  std::memcpy(&next, record.data().data(), sizeof next);
  clog.xids.redo_next_oid(Oid{next});
}

}  // namespace pinwheel::clog
