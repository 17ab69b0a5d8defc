#include <signal.h>

#include <catch2/catch.hpp>
#include <cstring>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/failpoints.h"
#include "tests/wal/log_fixture.h"
#include "wal/log.h"
#include "wal/reader.h"

using namespace pinwheel;
using namespace pinwheel::wal;
using test::Cluster;
using test::TemporaryDirectory;

namespace {

constexpr std::uint8_t kKind = 0x70;

std::uint32_t chosen_seed() {
  const char* given = std::getenv("PINWHEEL_TEST_SEED");
  return given != nullptr ? static_cast<std::uint32_t>(std::strtoul(given, nullptr, 10))
                          : std::random_device{}();
}

/// Content of record `number` of `writer`: who, which, then bytes that follow from both.
std::vector<std::byte> make_content(std::uint32_t writer, std::uint32_t number, std::size_t size) {
  std::vector<std::byte> bytes(8 + size);
  store(bytes.data(), writer);
  store(bytes.data() + 4, number);
  for (std::size_t i = 8; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(writer * 7 + number + i);
  return bytes;
}

std::size_t random_size(std::mt19937& random) {
  switch (random() % 20) {
    case 0:
      return 30'000 + random() % 20'000;  // about and beyond the ring
    case 1:
    case 2:
      return random() % 9000;
    default:
      return random() % 300;
  }
}

bool insert_many(Log& log, std::uint32_t writer, std::uint32_t count, std::uint32_t seed) {
  std::mt19937 random{seed + writer};
  for (std::uint32_t number = 0; number < count; ++number) {
    const std::vector<std::byte> content = make_content(writer, number, random_size(random));
    RecordBuilder record{RmgrId::kGeneric, kKind};
    record.data(content);
    const Lsn end = log.insert(record, Xid{writer + 3});
    if (random() % 16 == 0) log.flush_to(end);
    if (random() % 16 == 0 && log.is_durable(end) && log.flushed_position() < end) return false;
  }
  log.flush_to(log.insert_position());
  return true;
}

}  // namespace

TEST_CASE("concurrent inserters of all methods leave a log without gaps", "[wal][log][concurrency]") {
  const std::uint32_t seed = chosen_seed();
  INFO("PINWHEEL_TEST_SEED=" << seed);
  TemporaryDirectory directory;
  LogOptions options = test::small_options(directory.path());
  options.segment_bytes = 1u << 20;
  options.insert_method = GENERATE(InsertMethod::kReserve, InsertMethod::kSlots, InsertMethod::kSingleLock);
  options.insert_locks = 3;
  Cluster cluster{options};
  cluster.attach()->start_new();
  set_sync_enabled(false);  // the interleaving matters here, not the disk
  constexpr std::uint32_t kWriters = 4;
  constexpr std::uint32_t kRecords = 400;
  std::vector<pid_t> children;
  for (std::uint32_t writer = 0; writer < kWriters; ++writer) {
    children.push_back(cluster.spawn(shm::ProcessKind::kBackend, [&, writer](Log& log) {
      return insert_many(log, writer, kRecords, seed);
    }));
  }
  for (const pid_t child : children) CHECK(test::ended_well(child));
  set_sync_enabled(true);

  auto log = cluster.attach();
  CHECK(log->flushed_position() == log->insert_position());
  Reader reader{log->files(), first_lsn(options.segment_bytes)};
  std::map<std::uint32_t, std::uint32_t> next;
  std::uint64_t total = 0;
  while (const RecordView* record = reader.next()) {
    REQUIRE(record->rmgr() == RmgrId::kGeneric);
    const auto writer = load<std::uint32_t>(record->data().data());
    const auto number = load<std::uint32_t>(record->data().data() + 4);
    CHECK(number == next[writer]);
    ++next[writer];
    const std::vector<std::byte> expected = make_content(writer, number, record->data().size() - 8);
    REQUIRE(std::memcmp(expected.data(), record->data().data(), expected.size()) == 0);
    ++total;
  }
  CHECK(total == std::uint64_t{kWriters} * kRecords);
  CHECK(reader.position() == log->insert_position());
}

TEST_CASE("a page's first change after a moving redo point always has an image", "[wal][log][concurrency]") {
  const std::uint32_t seed = chosen_seed();
  INFO("PINWHEEL_TEST_SEED=" << seed);
  TemporaryDirectory directory;
  LogOptions options = test::small_options(directory.path());
  options.segment_bytes = 1u << 20;
  options.insert_method = GENERATE(InsertMethod::kReserve, InsertMethod::kSlots, InsertMethod::kSingleLock);
  Cluster cluster{options};
  cluster.attach()->start_new();
  set_sync_enabled(false);
  std::vector<pid_t> children;
  for (std::uint32_t writer = 0; writer < 3; ++writer) {
    children.push_back(cluster.spawn(shm::ProcessKind::kBackend, [&, writer](Log& log) {
      // Two pages of its own, latched by nobody else.
      std::vector<std::byte> pages[2] = {std::vector<std::byte>(kPageSize),
                                         std::vector<std::byte>(kPageSize)};
      for (std::uint32_t i = 0; i < 2000; ++i) {
        std::vector<std::byte>& page = pages[i % 2];
        const PageTag tag{FileId{Oid{1}, Oid{writer}}, Fork::kMain, PageNumber{i % 2}};
        RecordBuilder record{RmgrId::kGeneric, kKind};
        record.block(0, tag, page.data(), kBlockDefault, PageHole{64, 8000});
        const Lsn end = log.insert(record, Xid{3});
        store(page.data(), end.value);
      }
      return true;
    }));
  }
  children.push_back(cluster.spawn(shm::ProcessKind::kCheckpointer, [&](Log& log) {
    std::mt19937 random{seed};
    for (int i = 0; i < 300; ++i) {
      const Lsn redo = log.begin_checkpoint();
      if (log.redo_position() != redo) return false;
      for (unsigned spin = random() % 20'000; spin > 0; --spin) shm::cpu_pause();
    }
    return true;
  }));
  for (const pid_t child : children) CHECK(test::ended_well(child));
  set_sync_enabled(true);

  auto log = cluster.attach();
  log->flush_to(log->insert_position());
  Reader reader{log->files(), first_lsn(options.segment_bytes)};
  std::map<PageTag, bool> protected_since_redo;
  std::uint64_t records = 0;
  std::uint64_t redos = 0;
  std::uint64_t unprotected = 0;
  while (const RecordView* record = reader.next()) {
    if (record->is(RmgrId::kXlog, XlogKind::kCheckpointRedo)) {
      protected_since_redo.clear();
      ++redos;
    } else if (record->rmgr() == RmgrId::kGeneric) {
      ++records;
      bool& is_protected = protected_since_redo[record->block(0)->tag];
      if (record->block(0)->has_image) is_protected = true;
      if (!is_protected) ++unprotected;
    }
  }
  CHECK(unprotected == 0);
  CHECK(records == 3 * 2000);
  CHECK(redos == 300);
  CHECK(reader.position() == log->insert_position());
}

TEST_CASE("an insertion overtaken by a redo point gives up its space and takes the image",
          "[wal][log][failpoint]") {
  TemporaryDirectory directory;
  LogOptions options = test::small_options(directory.path());
  Cluster cluster{options};
  auto log = cluster.attach();
  log->start_new();
  log->begin_checkpoint();
  const Lsn before = log->insert_position();
  const std::string gate = directory.path() + "/gate";
  write_file_durably(gate, "x");
  const pid_t child = cluster.spawn(shm::ProcessKind::kBackend, [&](Log& mine) {
    failpoint::arm("wal-insert-reserved=1*pause(" + gate + ")");
    std::vector<std::byte> page(kPageSize);
    store(page.data(), before.value);  // changed after the old redo point: no image needed
    RecordBuilder record{RmgrId::kGeneric, kKind};
    record.block(0, PageTag{}, page.data());
    mine.insert(record, Xid{3});
    return true;
  });
  while (log->insert_position() == before) sched_yield();
  const Lsn redo = log->begin_checkpoint();
  CHECK(redo > before);
  // The reserved record is not filled: nothing beyond may count as filled, and a flush must not pass it.
  std::filesystem::remove(gate);
  CHECK(test::ended_well(child));
  log->flush_to(log->insert_position());

  Reader reader{log->files(), before};
  const RecordView* padding = reader.next();
  REQUIRE(padding != nullptr);
  CHECK(padding->is(RmgrId::kXlog, XlogKind::kNoop));
  CHECK(padding->start() == before);
  const RecordView* marker = reader.next();
  REQUIRE(marker != nullptr);
  CHECK(marker->is(RmgrId::kXlog, XlogKind::kCheckpointRedo));
  const RecordView* retried = reader.next();
  REQUIRE(retried != nullptr);
  CHECK(retried->rmgr() == RmgrId::kGeneric);
  CHECK(retried->block(0)->has_image);
}

TEST_CASE("a process killed between reservation and fill leaves a hole that nothing passes",
          "[wal][log][recovery]") {
  TemporaryDirectory directory;
  Cluster cluster{test::small_options(directory.path())};
  auto log = cluster.attach();
  log->start_new();
  const auto insert = [](Log& to, std::string_view text) {
    RecordBuilder record{RmgrId::kGeneric, kKind};
    record.data(as_byte_span(text));
    return to.insert(record, Xid{3});
  };
  const Lsn good = insert(*log, "good");
  const pid_t child = cluster.spawn(shm::ProcessKind::kBackend, [&](Log& mine) {
    failpoint::arm("wal-insert-reserved=crash");
    insert(mine, "hole");
    return true;
  });
  CHECK_FALSE(test::ended_well(child));
  insert(*log, "beyond");
  CHECK(log->run_flusher_once(true));
  CHECK(log->flushed_position() == good);
  CHECK_FALSE(log->run_flusher_once(true));

  cluster.restart();
  auto next = cluster.attach();
  Reader reader{next->files(), first_lsn(cluster.options.segment_bytes)};
  REQUIRE(reader.next() != nullptr);
  CHECK(reader.next() == nullptr);
  CHECK(reader.position() == good);
}

TEST_CASE("committing sessions are woken by one flush of the walwriter", "[wal][log][commit]") {
  TemporaryDirectory directory;
  LogOptions options = test::small_options(directory.path());
  const FlushBy by = GENERATE(FlushBy::kFlusher, FlushBy::kSelfIfIdle);
  Cluster cluster{options};
  cluster.attach()->start_new();
  const pid_t walwriter = cluster.spawn(shm::ProcessKind::kWalwriter, [](Log& log) {
    log.become_flusher();
    for (;;) {
      while (log.run_flusher_once(false)) {
      }
      const std::uint32_t requests =
          shm::wait_for_requests(shm::WaitEvent::kWalWriterMain, Deadline::after_ms(200));
      if ((requests & shm::kRequestShutdown) != 0) return true;
      if (requests == 0) log.run_flusher_once(true);
    }
  });
  std::vector<pid_t> children;
  for (std::uint32_t writer = 0; writer < 3; ++writer) {
    children.push_back(cluster.spawn(shm::ProcessKind::kBackend, [&, writer](Log& log) {
      const shm::SessionIndex session = cluster.sessions->acquire(shm::ProcessKind::kBackend);
      shm::PlainParker parker{*cluster.sessions, session};
      shm::set_current_session(&cluster.sessions->slot(session), &parker, session);
      for (int i = 0; i < 200; ++i) {
        RecordBuilder record{RmgrId::kGeneric, kKind};
        record.data(&writer, sizeof writer);
        const Lsn end = log.insert(record, Xid{3});
        // A pending cancel must neither end the wait early nor be lost.
        if (i == 100) cluster.sessions->slot(session).interrupts.fetch_or(shm::kInterruptCancel);
        log.wait_durable(end, session, parker, by);
        if (log.flushed_position() < end) return false;
        if (i == 100) {
          std::atomic<std::uint32_t>& bits = cluster.sessions->slot(session).interrupts;
          if ((bits.exchange(0) & shm::kInterruptCancel) == 0) return false;
        }
      }
      return true;
    }));
  }
  for (const pid_t child : children) CHECK(test::ended_well(child));
  cluster.processes->request(shm::ProcessKind::kWalwriter, shm::kRequestShutdown);
  CHECK(test::ended_well(walwriter));
  CHECK(cluster.processes->sum(shm::Counter::kWalRecords) == 600);
  CHECK(cluster.processes->sum(shm::Counter::kWalSyncs) <= 601);
  CHECK(cluster.processes->sum(shm::Counter::kWalCommitsFlushed) >= 300);
}

TEST_CASE("the walwriter makes asynchronous commits durable without being asked", "[wal][log][commit]") {
  TemporaryDirectory directory;
  Cluster cluster{test::small_options(directory.path())};
  auto log = cluster.attach();
  log->start_new();
  RecordBuilder record{RmgrId::kGeneric, kKind};
  record.data("x", 1);
  const Lsn end = log->insert(record, Xid{3});
  CHECK_FALSE(log->run_flusher_once(false));
  CHECK_FALSE(log->is_durable(end));
  CHECK(log->run_flusher_once(true));
  CHECK(log->is_durable(end));
}

TEST_CASE("the checkpointer is told about volume and prepares the next segment", "[wal][log][segment]") {
  TemporaryDirectory directory;
  Cluster cluster{test::small_options(directory.path())};
  auto log = cluster.attach();
  log->settings().checkpoint_after_bytes = 50'000;
  log->start_new();
  CHECK_FALSE(log->checkpoint_due());
  CHECK_FALSE(log->prepare_segments());
  const std::vector<std::byte> content(40'000);
  RecordBuilder record{RmgrId::kGeneric, kKind};
  record.data(content);
  log->flush_to(log->insert(record, Xid{3}));
  CHECK_FALSE(log->checkpoint_due());
  CHECK(log->prepare_segments());
  CHECK_FALSE(log->prepare_segments());
  CHECK(log->files().exists(2));
  log->insert(record, Xid{3});
  CHECK(log->checkpoint_due());
  log->begin_checkpoint();
  CHECK_FALSE(log->checkpoint_due());
}
