#include "clog/multixacts.h"

#include <fmt/core.h>

#include <algorithm>
#include <new>

#include "base/error.h"
#include "base/sqlstate.h"
#include "clog/multixact_record.h"
#include "clog/redo.h"
#include "wal/log.h"

namespace pinwheel::clog {

namespace {
constexpr std::uint64_t kWordsPerPage = kPageSize / 8;
constexpr std::size_t kCacheEntries = 64;

// An offsets word: index of the first member << 16 | number of members.
constexpr unsigned kCountBits = 16;
// A members word: xid << 3 | MemberStatus.
constexpr unsigned kStatusBits = 3;

SlruOptions offset_options(const std::string& data_directory) {
  return {.name = "MultiXactOffset",
          .directory = data_directory + "/pg_multixact/offsets",
          .subject = "multixact",
          .tranche = shm::Tranche::kMultixactOffset,
          .buffers = 16,
          .banks = 1,
          .hits = shm::Counter::kMultixactHits,
          .reads = shm::Counter::kMultixactReads};
}
SlruOptions member_options(const std::string& data_directory) {
  return {.name = "MultiXactMember",
          .directory = data_directory + "/pg_multixact/members",
          .subject = "multixact",
          .tranche = shm::Tranche::kMultixactMember,
          .buffers = 32,
          .banks = 1,
          .hits = shm::Counter::kMultixactMemberHits,
          .reads = shm::Counter::kMultixactMemberReads};
}

std::uint64_t encode(const MultiXactMember& member) {
  return member.xid.value << kStatusBits | static_cast<std::uint64_t>(member.status);
}
}  // namespace

struct Multixacts::Shared {
  shm::LwLock latch{shm::Tranche::kMultixactGen};
  // Protected by `latch`.
  std::uint64_t next_id = kFirstMultiXact.value;
  std::uint64_t next_offset = 0;
};

void Multixacts::declare(shm::RegionBuilder& builder, const std::string& data_directory) {
  Slru::declare(builder, offset_options(data_directory));
  Slru::declare(builder, member_options(data_directory));
  builder.add_region("Multixact ids", sizeof(Shared), alignof(Shared),
                     [](std::byte* at) { ::new (at) Shared(); });
}

Multixacts::Multixacts(const shm::Segment& segment, const std::string& data_directory, wal::Log& log)
    : shared_{segment.as<Shared>("Multixact ids")},
      offsets_{segment, offset_options(data_directory), nullptr},
      members_{segment, member_options(data_directory), nullptr},
      log_{log} {}

MultiXactId Multixacts::create(std::span<const MultiXactMember> members, Xid xid) {
  DB_ASSERT(!members.empty());
  if (members.size() > kMaxMultiXactMembers) {
    throw SqlError{sqlstate::kProgramLimitExceeded, "multixact \"members\" limit exceeded"};
  }
  for (const Cached& cached : cache_) {
    if (std::ranges::equal(cached.members, members)) return cached.id;
  }
  MultiXactId id;
  std::uint64_t offset;
  {
    shm::ExclusiveGuard guard{shared_->latch};
    id = MultiXactId{shared_->next_id++};
    offset = shared_->next_offset;
    shared_->next_offset += members.size();
  }
  // Stored before it is logged: a checkpoint whose redo point follows the record then finds the words dirty.
  // Dying in between leaves words that nobody refers to; the id is given again and they are overwritten.
  store(id, offset, members);
  std::vector<std::uint64_t> words(members.size());
  std::ranges::transform(members, words.begin(), encode);
  const MultixactCreateRecord header{id.value, offset, static_cast<std::uint32_t>(members.size()), 0};
  wal::RecordBuilder record{wal::RmgrId::kMultixact, MultixactKind::kCreate};
  record.data(header);
  record.data(words.data(), words.size() * sizeof(std::uint64_t));
  log_.insert(record, xid);
  remember(id, members);
  return id;
}

void Multixacts::remember(MultiXactId id, std::span<const MultiXactMember> members) {
  if (cache_.size() >= kCacheEntries) cache_.pop_back();
  cache_.insert(cache_.begin(), Cached{id, {members.begin(), members.end()}});
}

void Multixacts::store(MultiXactId id, std::uint64_t offset, std::span<const MultiXactMember> members) {
  std::size_t done = 0;
  while (done < members.size()) {
    const std::uint64_t page = (offset + done) / kWordsPerPage;
    const std::uint64_t first = (offset + done) % kWordsPerPage;
    const std::size_t count = std::min<std::size_t>(members.size() - done, kWordsPerPage - first);
    members_.update<shm::LatchMode::kShared>(page, id.value, [&](auto words) {
      for (std::size_t i = 0; i < count; ++i) {
        words[first + i].store(encode(members[done + i]), std::memory_order_relaxed);
      }
    });
    done += count;
  }
  // Last, and releasing: who finds the members' place finds the members.
  offsets_.update<shm::LatchMode::kShared>(id.value / kWordsPerPage, id.value, [&](auto words) {
    words[id.value % kWordsPerPage].store(offset << kCountBits | members.size(), std::memory_order_release);
  });
}

void Multixacts::read(MultiXactId id, std::vector<MultiXactMember>& members) {
  members.clear();
  for (const Cached& cached : cache_) {
    if (cached.id == id) {
      members = cached.members;
      return;
    }
  }
  const std::uint64_t place = offsets_.read_word(
      id.value / kWordsPerPage, static_cast<std::uint32_t>(id.value % kWordsPerPage), id.value);
  const std::size_t count = place & ((1u << kCountBits) - 1);
  if (count == 0) {
    throw SqlError{sqlstate::kDataCorrupted,
                   fmt::format("MultiXactId {} has not been created yet -- apparent wraparound", id.value)};
  }
  members.reserve(count);
  for (std::uint64_t at = place >> kCountBits; members.size() < count; ++at) {
    const std::uint64_t word =
        members_.read_word(at / kWordsPerPage, static_cast<std::uint32_t>(at % kWordsPerPage), id.value);
    members.push_back(
        {Xid{word >> kStatusBits}, static_cast<MemberStatus>(word & ((1u << kStatusBits) - 1))});
  }
  remember(id, members);
}

MultiXactId Multixacts::next_id() const noexcept {
  shm::SharedGuard guard{shared_->latch};
  return MultiXactId{shared_->next_id};
}

std::uint64_t Multixacts::next_offset() const noexcept {
  shm::SharedGuard guard{shared_->latch};
  return shared_->next_offset;
}

void Multixacts::start(MultiXactId next_id, std::uint64_t next_offset) noexcept {
  shm::ExclusiveGuard guard{shared_->latch};
  shared_->next_id = std::max(next_id.value, kFirstMultiXact.value);
  shared_->next_offset = next_offset;
}

void Multixacts::redo_create(MultiXactId id, std::uint64_t offset, std::span<const MultiXactMember> members) {
  store(id, offset, members);
  shm::ExclusiveGuard guard{shared_->latch};
  shared_->next_id = std::max(shared_->next_id, id.value + 1);
  shared_->next_offset = std::max(shared_->next_offset, offset + members.size());
}

void Multixacts::flush() {
  members_.flush();
  offsets_.flush();
}

}  // namespace pinwheel::clog
