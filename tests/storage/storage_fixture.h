#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/arena.h"
#include "shm/process.h"
#include "shm/segment.h"
#include "shm/session_slot.h"
#include "storage/heap/heap.h"
#include "storage/heap/transaction_oracle.h"
#include "storage/storage.h"
#include "tests/base/test_directory.h"
#include "wal/log.h"

namespace pinwheel::storage::test {

using pinwheel::test::TestDirectory;

/// A storage engine over a directory: shared memory, log and files. `in_recovery`: the log takes no records.
struct Engine {
  explicit Engine(const std::string& directory, std::size_t frames = 64, bool in_recovery = false,
                  BufferPoolOptions buffers = {}) {
    std::filesystem::create_directories(directory + "/base/5");
    std::filesystem::create_directories(directory + "/global");
    std::filesystem::create_directories(directory + "/pg_wal");
    log_options.data_directory = directory;
    log_options.system_identifier = 42;
    log_options.segment_bytes = 1u << 20;
    log_options.buffer_pages = 64;
    log_options.process_capacity = 8;
    log_options.session_capacity = 8;
    options.buffers = buffers;
    options.buffers.frames = frames;
    options.files.data_directory = directory;
    options.files.size_cache_entries = 128;
    shm::RegionBuilder builder;
    shm::ProcessTable::declare(builder, 8);
    shm::SessionTable::declare(builder, 6, 2);
    wal::Log::declare(builder, log_options);
    Storage::declare(builder, options);
    builder.add_region("Test Scratch", 1u << 20);
    segment = std::make_unique<shm::Segment>(std::move(builder),
                                             shm::MapOptions{shm::MemoryType::kMmap, shm::HugePages::kOff});
    processes = std::make_unique<shm::ProcessTable>(*segment);
    processes->create_event_fds();
    processes->reserve(shm::ProcessKind::kLauncher);  // slot 0, which an unattached process uses
    log = std::make_unique<wal::Log>(*segment, log_options, nullptr, nullptr);
    if (!in_recovery) {
      log->start_new();
      redo = log->begin_checkpoint();
    }
    storage = std::make_unique<Storage>(*segment, options, *log);
  }

  /// Runs `body(Storage&)` -> bool in a forked process with handles of its own.
  template <class Body>
  pid_t spawn(Body body) {
    const shm::ProcessIndex index = processes->reserve(shm::ProcessKind::kBackend);
    std::fflush(nullptr);
    const pid_t pid = ::fork();
    if (pid != 0) return pid;
    int status = 1;
    try {
      processes->attach(index);
      wal::Log own_log{*segment, log_options, nullptr, nullptr};
      Storage own{*segment, options, own_log};
      status = body(own) ? 0 : 2;
    } catch (const std::exception& error) {
      std::fprintf(stderr, "child: %s\n", error.what());
    }
    ::_exit(status);
  }

  wal::LogOptions log_options;
  StorageOptions options;
  std::unique_ptr<shm::Segment> segment;
  std::unique_ptr<shm::ProcessTable> processes;
  std::unique_ptr<wal::Log> log;
  std::unique_ptr<Storage> storage;
  Lsn redo;  // where a replay begins
};

inline bool ended_well(pid_t pid) {
  int status = 0;
  return ::waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/// Transactions as the test says they are.
class FakeOracle final : public TransactionOracle {
 public:
  XidState state(Xid xid) override {
    if (xid.value < kFirstNormalXid.value) return XidState::kCommitted;
    if (own.contains(xid.value)) return XidState::kSelf;
    const auto found = ended.find(xid.value);
    return found == ended.end() ? XidState::kRunning : found->second;
  }
  bool is_durable(Xid) override { return durable; }
  void multixact_members(Xid multixact, std::vector<MultixactMember>& members) override {
    members = multis.at(multixact.value);
  }
  Xid make_multixact(std::span<const MultixactMember> members) override {
    multis[++next_multi] = {members.begin(), members.end()};
    return Xid{next_multi};
  }
  Xid removal_horizon() override { return horizon; }

  void commit(std::uint64_t xid) {
    own.erase(xid);
    ended[xid] = XidState::kCommitted;
  }
  void abort(std::uint64_t xid) {
    own.erase(xid);
    ended[xid] = XidState::kAborted;
  }

  std::set<std::uint64_t> own;
  std::map<std::uint64_t, XidState> ended;
  std::map<std::uint64_t, std::vector<MultixactMember>> multis;
  std::uint64_t next_multi = 0;
  Xid horizon{3};
  bool durable = true;
};

/// Sees what is committed now, or the own transaction's: newest versions.
struct LatestVisible {
  FakeOracle* oracle;
  bool operator()(const HeapTupleView& tuple) const {
    const auto counts = [&](Xid xid) {
      const XidState state = oracle->state(xid);
      return state == XidState::kCommitted || state == XidState::kSelf;
    };
    if ((tuple.infomask() & kTupleXminAborted) != 0 || !counts(tuple.xmin())) return false;
    if (!is_valid(tuple.xmax()) || (tuple.infomask() & (kTupleXmaxInvalid | kTupleXmaxLockOnly)) != 0)
      return true;
    if ((tuple.infomask() & kTupleXmaxIsMulti) != 0) {
      for (const MultixactMember& member : oracle->multis.at(tuple.xmax().value)) {
        if (member.is_update) return !counts(member.xid);
      }
      return true;
    }
    return !counts(tuple.xmax());
  }
};

/// Rows (int4 not null, int4, text).
inline const TupleLayout& row_layout() {
  static const AttributeLayout kAttributes[] = {
      {4, 4, true, true, 'p'}, {4, 4, true, false, 'p'}, {-1, 4, false, false, 'x'}};
  static const TupleLayout kLayout{kAttributes};
  return kLayout;
}

inline FormedTuple make_row(Arena& arena, std::int32_t key, std::int32_t number, std::string_view text) {
  auto* varlena = static_cast<std::byte*>(arena.allocate(text.size() + 4, 4));
  store(varlena, static_cast<std::uint32_t>((text.size() + 4) << 2));
  std::memcpy(varlena + 4, text.data(), text.size());
  const std::uint64_t values[] = {static_cast<std::uint64_t>(key), static_cast<std::uint64_t>(number),
                                  reinterpret_cast<std::uintptr_t>(varlena)};
  const bool nulls[] = {false, false, false};
  return form_tuple(row_layout(), values, nulls, arena);
}

inline std::int32_t row_int(const HeapTupleView& tuple, std::size_t attribute) {
  bool is_null = false;
  return static_cast<std::int32_t>(fetch_attribute(tuple, row_layout(), attribute, is_null));
}

inline std::string row_text(const HeapTupleView& tuple) {
  bool is_null = false;
  const auto* varlena = reinterpret_cast<const std::byte*>(fetch_attribute(tuple, row_layout(), 2, is_null));
  const std::size_t header = (static_cast<std::uint8_t>(*varlena) & 1) != 0 ? 1 : 4;
  return {reinterpret_cast<const char*>(varlena) + header, varlena_size(varlena) - header};
}

inline constexpr FileId kTable{Oid{5}, Oid{16384}};
inline PageTag page_of(std::uint32_t number) { return {kTable, Fork::kMain, PageNumber{number}}; }

/// Makes the table, of pages that say their numbers at byte 4000.
inline void fill(Storage& storage, std::uint32_t pages) {
  storage.files.create(kTable, Fork::kMain);
  for (std::uint32_t i = 0; i < pages; ++i) {
    WriteGuard guard = storage.pool.extend(kTable, Fork::kMain);
    DB_ASSERT(guard.number().value == i);
    guard.page().init(PageKind::kHeap);
    store(guard.page().data() + 4000, std::uint64_t{i});
    store(guard.page().data() + 4008, std::uint64_t{0});
  }
}

/// Uses a page that fill() made; panics if it is another one.
inline void touch(Storage& storage, std::uint32_t number) {
  const ReadGuard guard = storage.pool.read_page(page_of(number));
  DB_ASSERT(load<std::uint64_t>(guard.page().data() + 4000) == number);
}

}  // namespace pinwheel::storage::test
