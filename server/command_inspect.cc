// controldata, waldump: looking at a cluster's files.

#include <fmt/format.h>

#include <cstdio>
#include <ctime>

#include "base/clock.h"
#include "base/error.h"
#include "base/sqlstate.h"
#include "server/commands.h"
#include "server/recovery.h"
#include "wal/control_file.h"
#include "wal/describe.h"
#include "wal/reader.h"
#include "wal/segment_files.h"

namespace pinwheel::server {
namespace {

std::string local_time(std::int64_t us) {
  const std::time_t seconds = (us + kPostgresEpochUs) / 1'000'000;
  char text[64];
  std::tm parts{};
  ::localtime_r(&seconds, &parts);
  std::strftime(text, sizeof text, "%a %d %b %Y %H:%M:%S %Z", &parts);
  return text;
}

void print(std::string_view label, const std::string& value) {
  std::fputs(fmt::format("{:<38}{}\n", std::string{label} + ":", value).c_str(), stdout);
}

const std::string& require_directory(const CommonOptions& options) {
  if (options.data_directory.empty()) {
    throw SqlError{sqlstate::kInvalidParameterValue, "no data directory specified"};
  }
  return options.data_directory;
}

}  // namespace

int command_controldata(const CommonOptions& options) {
  const wal::ControlData control = wal::read_control_file(require_directory(options));
  const wal::CheckpointData& checkpoint = control.checkpoint_copy;
  print("pg_control version number", std::to_string(control.version));
  print("Catalog version number", std::to_string(control.catalog_version));
  print("Database system identifier", std::to_string(control.system_identifier));
  print("Database cluster state", std::string{wal::cluster_state_name(control.state)});
  print("pg_control last modified", local_time(control.modified_us));
  print("Latest checkpoint location", wal::format_lsn(Lsn{control.checkpoint}));
  print("Latest checkpoint's REDO location", wal::format_lsn(Lsn{checkpoint.redo}));
  print("Latest checkpoint's REDO WAL file",
        wal::segment_file_name(checkpoint.redo / control.segment_bytes, control.segment_bytes));
  print("Latest checkpoint's TimeLineID", std::to_string(checkpoint.timeline));
  print("Latest checkpoint's full_page_writes", checkpoint.full_page_writes != 0 ? "on" : "off");
  print("Latest checkpoint's NextXID", std::to_string(checkpoint.next_xid));
  print("Latest checkpoint's NextOID", std::to_string(checkpoint.next_oid));
  print("Latest checkpoint's NextMultiXactId", std::to_string(checkpoint.next_multixact));
  print("Latest checkpoint's NextMultiOffset", std::to_string(checkpoint.next_multixact_member));
  print("Latest checkpoint's oldestActiveXID", std::to_string(checkpoint.oldest_active_xid));
  print("Time of latest checkpoint", local_time(checkpoint.time_us));
  print("Database block size", std::to_string(control.page_bytes));
  print("Blocks per segment of large relation", std::to_string(control.relation_segment_pages));
  print("Bytes per WAL segment", std::to_string(control.segment_bytes));
  print("Data page checksum version", std::to_string(control.data_checksums));
  return 0;
}

int command_waldump(const CommonOptions& options, const std::string& from, const std::string& to) {
  const std::string& directory = require_directory(options);
  const wal::ControlData control = wal::read_control_file(directory);
  Lsn start{control.checkpoint_copy.redo};
  Lsn stop{~std::uint64_t{0}};
  const auto read_position = [](const std::string& text, Lsn& position) {
    if (text.empty()) return;
    const auto parsed = wal::parse_lsn(text);
    if (!parsed) throw SqlError{sqlstate::kInvalidParameterValue, "invalid WAL location: \"" + text + "\""};
    position = *parsed;
  };
  read_position(from, start);
  read_position(to, stop);
  wal::RmgrRegistry registry;
  register_describers(registry);
  const wal::SegmentFiles files{directory, control.segment_bytes, control.system_identifier};
  wal::Reader reader{files, start};
  while (const wal::RecordView* record = reader.next()) {
    if (record->start() >= stop) return 0;
    std::puts(wal::describe_record(registry, *record).c_str());
  }
  std::fprintf(stderr, "pinwheel: end of the log: %s\n", reader.stop_message().c_str());
  return 0;
}

}  // namespace pinwheel::server
