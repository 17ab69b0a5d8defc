#include <catch2/catch.hpp>
#include <cstring>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "tests/wal/log_fixture.h"
#include "wal/log.h"
#include "wal/reader.h"
#include "wal/replay.h"

using namespace pinwheel;
using namespace pinwheel::wal;
using test::Cluster;
using test::TemporaryDirectory;

namespace {

constexpr std::uint8_t kKind = 0x70;

Lsn insert_text(Log& log, std::string_view text) {
  RecordBuilder record{RmgrId::kGeneric, kKind};
  record.data(as_byte_span(text));
  return log.insert(record, Xid{3});
}

std::vector<std::string> read_texts(const SegmentFiles& files, Lsn from, Lsn* end = nullptr,
                                    StopReason* stop = nullptr) {
  std::vector<std::string> texts;
  Reader reader{files, from};
  while (const RecordView* record = reader.next()) {
    if (record->rmgr() == RmgrId::kGeneric) texts.emplace_back(as_text(record->data()));
  }
  if (end != nullptr) *end = reader.position();
  if (stop != nullptr) *stop = reader.stop_reason();
  return texts;
}

void overwrite(const SegmentFiles& files, Lsn at, std::span<const std::byte> bytes) {
  const File file = File::open(files.path_of(files.segment_of(at)), OpenMode::kReadWrite);
  file.write_at(kSegmentHeaderBytes + at.value % files.segment_bytes(), bytes);
}

}  // namespace

TEST_CASE("a new log is empty and starts at the first segment", "[wal][log]") {
  TemporaryDirectory directory;
  Cluster cluster{test::small_options(directory.path())};
  auto log = cluster.attach();
  CHECK(log->in_recovery());
  CHECK(log->is_durable(Lsn{1u << 30}));
  log->start_new();
  CHECK_FALSE(log->in_recovery());
  CHECK(log->insert_position() == Lsn{64u << 10});
  CHECK(log->flushed_position() == Lsn{64u << 10});
  CHECK_FALSE(log->is_durable(Lsn{(64u << 10) + 1}));
}

TEST_CASE("flushed records are found in the files, unflushed ones are not called durable", "[wal][log]") {
  TemporaryDirectory directory;
  LogOptions options = test::small_options(directory.path());
  options.insert_method = GENERATE(InsertMethod::kReserve, InsertMethod::kSlots, InsertMethod::kSingleLock);
  Cluster cluster{options};
  auto log = cluster.attach();
  log->start_new();
  const Lsn first = insert_text(*log, "one");
  const Lsn second = insert_text(*log, "two");
  CHECK(second > first);
  CHECK_FALSE(log->is_durable(first));
  log->flush_to(first);
  CHECK(log->is_durable(first));
  log->flush_to(second);
  const Lsn third = insert_text(*log, "three");
  CHECK_FALSE(log->is_durable(third));
  CHECK(read_texts(log->files(), first_lsn(options.segment_bytes)) == std::vector<std::string>{"one", "two"});
}

TEST_CASE("every sync method makes a log that can be read", "[wal][log]") {
  TemporaryDirectory directory;
  LogOptions options = test::small_options(directory.path());
  options.sync_method =
      GENERATE(SyncMethod::kFdatasync, SyncMethod::kFsync, SyncMethod::kOpenDatasync, SyncMethod::kOpenSync);
  Cluster cluster{options};
  auto log = cluster.attach();
  log->start_new();
  log->flush_to(insert_text(*log, "one"));
  insert_text(*log, "two");
  log->set_sync_method(SyncMethod::kFdatasync);
  log->flush_to(insert_text(*log, "three"));
  CHECK(read_texts(log->files(), first_lsn(options.segment_bytes)) ==
        std::vector<std::string>{"one", "two", "three"});
}

TEST_CASE("records longer than the ring and than a segment pass whole", "[wal][log]") {
  TemporaryDirectory directory;
  LogOptions options = test::small_options(directory.path());
  options.insert_method = GENERATE(InsertMethod::kReserve, InsertMethod::kSlots, InsertMethod::kSingleLock);
  Cluster cluster{options};
  auto log = cluster.attach();
  log->start_new();
  std::vector<std::string> texts;
  for (const std::size_t size : {10u, 40'000u, 3u, 32'768u, 200'000u, 1u}) {
    texts.emplace_back(size, static_cast<char>('a' + texts.size()));
    log->flush_to(insert_text(*log, texts.back()));
  }
  CHECK(read_texts(log->files(), first_lsn(options.segment_bytes)) == texts);
}

TEST_CASE("the log goes on after a restart where its last whole record ends", "[wal][log][recovery]") {
  TemporaryDirectory directory;
  Cluster cluster{test::small_options(directory.path())};
  const Lsn start = first_lsn(cluster.options.segment_bytes);
  {
    auto log = cluster.attach();
    log->start_new();
    insert_text(*log, "one");
    log->flush_to(insert_text(*log, "two"));
  }
  cluster.restart();
  Lsn end;
  auto log = cluster.attach();
  CHECK(read_texts(log->files(), start, &end).size() == 2);
  log->start_after_recovery(end, start);
  CHECK(log->insert_position() == end);
  log->flush_to(insert_text(*log, "three"));
  CHECK(read_texts(log->files(), start) == std::vector<std::string>{"one", "two", "three"});
}

TEST_CASE("a torn record ends the log, and what stood behind it can never come back",
          "[wal][log][recovery]") {
  TemporaryDirectory directory;
  Cluster cluster{test::small_options(directory.path())};
  const Lsn start = first_lsn(cluster.options.segment_bytes);
  Lsn torn_at;
  Lsn old_end;
  {
    auto log = cluster.attach();
    log->start_new();
    torn_at = insert_text(*log, "kept");
    insert_text(*log, "torn");
    insert_text(*log, "behind");
    // Behind in the next segment too.
    while (log->files().segment_of(log->insert_position()) < 3) insert_text(*log, std::string(5000, 'x'));
    old_end = insert_text(*log, "far behind");
    log->flush_to(old_end);
    const std::byte damage[1] = {std::byte{0xFF}};
    overwrite(log->files(), torn_at + 26, damage);
  }
  cluster.restart();
  auto log = cluster.attach();
  Lsn end;
  StopReason stop;
  CHECK(read_texts(log->files(), start, &end, &stop) == std::vector<std::string>{"kept"});
  CHECK(end == torn_at);
  CHECK(stop == StopReason::kBadChecksum);
  log->start_after_recovery(end, start);
  // Same length as the torn record, so that the old one behind it would follow seamlessly.
  log->flush_to(insert_text(*log, "TORN"));
  CHECK(read_texts(log->files(), start) == std::vector<std::string>{"kept", "TORN"});
  CHECK_FALSE(log->files().exists(2));
  CHECK_FALSE(log->files().exists(log->files().segment_of(old_end)));
}

TEST_CASE("a segment switch pads to the next segment and the log reads on", "[wal][log][segment]") {
  TemporaryDirectory directory;
  LogOptions options = test::small_options(directory.path());
  options.insert_method = GENERATE(InsertMethod::kReserve, InsertMethod::kSlots, InsertMethod::kSingleLock);
  Cluster cluster{options};
  auto log = cluster.attach();
  log->start_new();
  CHECK(log->switch_segment() == log->insert_position());  // nothing in it yet
  const Lsn end = insert_text(*log, "one");
  CHECK(log->switch_segment() == end);
  CHECK(log->insert_position() == Lsn{2 * options.segment_bytes});
  // Leave less than a header in the segment.
  const std::uint64_t room = options.segment_bytes - 24 - 8;
  insert_text(*log, std::string(room, 'b'));
  CHECK(log->insert_position() == Lsn{3 * options.segment_bytes - 8});
  log->switch_segment();
  CHECK(log->files().segment_of(log->insert_position()) == 3);
  log->flush_to(insert_text(*log, "three"));
  CHECK(read_texts(log->files(), first_lsn(options.segment_bytes)) ==
        std::vector<std::string>{"one", std::string(room, 'b'), "three"});
}

TEST_CASE("segments before the redo point are recycled and their old records never read",
          "[wal][log][segment]") {
  TemporaryDirectory directory;
  Cluster cluster{test::small_options(directory.path())};
  auto log = cluster.attach();
  log->settings().min_wal_bytes = 4 * cluster.options.segment_bytes;
  log->settings().max_wal_bytes = 4 * cluster.options.segment_bytes;
  log->start_new();
  unsigned recycled = 0;
  for (int round = 0; round < 6; ++round) {
    std::vector<std::string> texts;
    for (int i = 0; i < 40; ++i) {
      texts.push_back(std::to_string(round) + std::string(6000, 'r'));
      log->flush_to(insert_text(*log, texts.back()));
    }
    const Lsn redo = log->begin_checkpoint();
    insert_text(*log, "after redo");
    CheckpointData data{};
    data.redo = redo.value;
    const Log::CheckpointPosition position = log->log_checkpoint(data, false);
    CHECK(read_checkpoint_record(log->files(), position.start) == data);
    recycled += log->finish_checkpoint(redo).recycled;
    Lsn end;
    CHECK(read_texts(log->files(), redo, &end) == std::vector<std::string>{"after redo"});
    CHECK(end == position.end);
    CHECK_FALSE(log->files().exists(log->files().segment_of(redo) - 1));
  }
  CHECK(recycled > 0);
}

TEST_CASE("segment names are PostgreSQL's", "[wal][segment]") {
  CHECK(segment_file_name(1, 16u << 20) == "000000010000000000000001");
  CHECK(segment_file_name(256, 16u << 20) == "000000010000000100000000");
  CHECK(parse_segment_file_name("000000010000000100000000", 16u << 20) == 256);
  CHECK(parse_segment_file_name("000000010000000000000100", 16u << 20) == std::nullopt);
  CHECK(parse_segment_file_name("xlogtemp.12", 16u << 20) == std::nullopt);
  CHECK(parse_segment_file_name("00000001000000000000000G", 16u << 20) == std::nullopt);
  CHECK(format_lsn(Lsn{0x1'0150A2C8}) == "1/150A2C8");
  CHECK(parse_lsn("1/150A2C8") == Lsn{0x1'0150A2C8});
  CHECK(parse_lsn("1/") == std::nullopt);
  CHECK(parse_lsn("1/123456789") == std::nullopt);
}

TEST_CASE("a segment file's header stands where the format document says, and damage to it is refused",
          "[wal][segment][format]") {
  TemporaryDirectory directory;
  make_directory(directory.path() + "/pg_wal");
  SegmentFiles files{directory.path(), 64u << 10, 0x0102030405060708};
  REQUIRE(files.create(3));
  CHECK_FALSE(files.create(3));
  const std::string path = files.path_of(3);
  const std::string bytes = read_file(path);
  CHECK(bytes.size() == kSegmentHeaderBytes + (64u << 10));
  CHECK(bytes.substr(0, 8) == "PWWALSG1");
  CHECK(load<std::uint32_t>(bytes.data() + 8) == 1);
  CHECK(load<std::uint32_t>(bytes.data() + 12) == 64u << 10);
  CHECK(load<std::uint64_t>(bytes.data() + 16) == 3);
  CHECK(load<std::uint64_t>(bytes.data() + 24) == 0x0102030405060708);
  CHECK(bytes.find_first_not_of('\0', 36) == std::string::npos);
  CHECK(files.open_for_read(3).has_value());
  for (std::size_t at = 0; at < 36; ++at) {
    std::string bad = bytes;
    bad[at] = static_cast<char>(bad[at] ^ 0x10);
    write_file_durably(path, bad);
    CHECK_FALSE(files.open_for_read(3).has_value());
  }
}

TEST_CASE("wal_buffers is chosen from shared_buffers unless it is set", "[wal][log]") {
  CHECK(choose_buffer_pages(-1, 16384, 16u << 20) == 512);
  CHECK(choose_buffer_pages(-1, 1'000'000, 16u << 20) == 2048);
  CHECK(choose_buffer_pages(-1, 16, 16u << 20) == 8);
  CHECK(choose_buffer_pages(1, 16384, 16u << 20) == 4);
  CHECK(choose_buffer_pages(77, 16384, 16u << 20) == 77);
}

TEST_CASE("replay applies every record once and can be run again", "[wal][replay]") {
  TemporaryDirectory directory;
  Cluster cluster{test::small_options(directory.path())};
  auto log = cluster.attach();
  log->start_new();
  insert_text(*log, "before");
  const Lsn redo = log->begin_checkpoint();
  insert_text(*log, "a");
  insert_text(*log, "b");
  const Lsn end = insert_text(*log, "c");
  log->flush_to(end);

  std::vector<std::string> applied;
  RmgrRegistry registry;
  registry.add({RmgrId::kGeneric, "Generic",
                [](RedoContext& context, const RecordView& record) {
                  context.owner_as<std::vector<std::string>>().emplace_back(as_text(record.data()));
                },
                nullptr, &applied});
  ReplayCallbacks callbacks;
  callbacks.quiet = true;
  for (int run = 0; run < 2; ++run) {
    applied.clear();
    const ReplayResult result = replay(log->files(), redo, registry, callbacks);
    CHECK(applied == std::vector<std::string>{"a", "b", "c"});
    CHECK(result.end == end);
    CHECK(result.record_count == 4);
  }
  // A start that is no redo point, a record without an owner.
  CHECK_THROWS_AS(replay(log->files(), first_lsn(cluster.options.segment_bytes), registry, callbacks),
                  SqlError);
  CHECK_THROWS_AS(replay(log->files(), redo, RmgrRegistry{}, callbacks), SqlError);
}

TEST_CASE("a failing redo names the record in its context", "[wal][replay]") {
  TemporaryDirectory directory;
  Cluster cluster{test::small_options(directory.path())};
  auto log = cluster.attach();
  log->start_new();
  const Lsn redo = log->begin_checkpoint();
  log->flush_to(insert_text(*log, "x"));
  RmgrRegistry registry;
  registry.add({RmgrId::kGeneric, "Generic", [](RedoContext&, const RecordView&) {
                  throw SqlError{SqlState{"XX001"}, "bad"};
                }});
  ReplayCallbacks callbacks;
  callbacks.quiet = true;
  try {
    replay(log->files(), redo, registry, callbacks);
    FAIL();
  } catch (const SqlError& error) {
    CHECK(error.fields().context.find("WAL redo at 0/10018 for rmgr: Generic") == 0);
  }
}
