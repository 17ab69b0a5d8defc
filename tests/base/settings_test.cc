#include "base/settings.h"

#include <catch2/catch.hpp>

#include "base/config_file.h"
#include "base/file.h"
#include "tests/base/error_text.h"
#include "tests/base/test_directory.h"

namespace pinwheel {
namespace {

constexpr SetAuthority kUser{false};
constexpr SetAuthority kSuperuser{true};

std::string refused(SessionSettings& session, std::string_view name, std::string_view value) {
  return test::error_of([&] { session.set(name, value, SetScope::kSession, kUser); });
}

struct Fixture {
  ServerSettings server;
  SessionSettings session{server};
  std::string work_mem() const { return session.show(param::kWorkMem); }
  void set(std::string_view value, SetScope scope = SetScope::kSession) {
    session.set("work_mem", value, scope, kUser);
  }
};

}  // namespace

TEST_CASE_METHOD(Fixture, "a session starts with the server's values and SET changes only itself",
                 "[base][settings]") {
  server.set("work_mem", "8MB", SettingSource::kCommandLine);
  SessionSettings other{server};
  CHECK(session.get_int(param::kWorkMem) == 8192);
  set("1MB");
  CHECK(session.get_int(param::kWorkMem) == 1024);
  CHECK(other.get_int(param::kWorkMem) == 8192);
  session.reset("work_mem", SetScope::kSession, kUser);
  CHECK(work_mem() == "8MB");
}

TEST_CASE_METHOD(Fixture, "SET lasts when the transaction commits and is undone when it aborts",
                 "[base][settings]") {
  session.begin_nest();
  set("1MB");
  session.end_nest(true);
  CHECK(work_mem() == "1MB");
  session.begin_nest();
  set("2MB");
  set("3MB");
  session.end_nest(false);
  CHECK(work_mem() == "1MB");
}

TEST_CASE_METHOD(Fixture, "SET LOCAL ends with the transaction, a SET beneath it stays", "[base][settings]") {
  session.begin_nest();
  set("2MB");
  set("3MB", SetScope::kLocal);
  CHECK(work_mem() == "3MB");
  session.end_nest(true);
  CHECK(work_mem() == "2MB");
  session.begin_nest();
  set("5MB", SetScope::kLocal);
  session.end_nest(true);
  CHECK(work_mem() == "2MB");
  set("9MB", SetScope::kLocal);  // outside a transaction
  CHECK(work_mem() == "2MB");
}

TEST_CASE_METHOD(Fixture, "savepoints undo what was set after them", "[base][settings]") {
  session.begin_nest();
  set("1MB");
  session.begin_nest();
  set("2MB");
  session.end_nest(false);  // rollback to savepoint
  CHECK(work_mem() == "1MB");
  session.begin_nest();
  set("3MB", SetScope::kLocal);
  session.end_nest(true);  // release
  CHECK(work_mem() == "3MB");
  session.begin_nest();
  set("4MB");
  session.end_nest(true);
  CHECK(work_mem() == "4MB");
  session.end_nest(true);
  CHECK(work_mem() == "4MB");
  session.begin_nest();
  session.begin_nest();
  set("7MB");
  session.end_nest(true);
  session.end_nest(false);
  CHECK(work_mem() == "4MB");
}

TEST_CASE_METHOD(Fixture, "a released SET LOCAL over an outer SET ends with the transaction",
                 "[base][settings]") {
  session.begin_nest();
  set("1MB");
  session.begin_nest();
  set("2MB", SetScope::kLocal);
  session.end_nest(true);
  CHECK(work_mem() == "2MB");
  session.end_nest(true);
  CHECK(work_mem() == "1MB");
}

TEST_CASE_METHOD(Fixture, "a function's setting ends with the function", "[base][settings]") {
  session.begin_nest();
  session.begin_nest();
  set("2MB", SetScope::kSave);
  CHECK(work_mem() == "2MB");
  session.end_nest(true);
  CHECK(work_mem() == "4MB");
  session.end_nest(true);
}

TEST_CASE_METHOD(Fixture, "what may not be set is refused in PostgreSQL's words", "[base][settings]") {
  CHECK(refused(session, "nonsense", "1") == "42704 unrecognized configuration parameter \"nonsense\"");
  CHECK(refused(session, "port", "1") ==
        "55P02 parameter \"port\" cannot be changed without restarting the server");
  CHECK(refused(session, "fsync", "off") == "55P02 parameter \"fsync\" cannot be changed now");
  CHECK(refused(session, "block_size", "1") == "55P02 parameter \"block_size\" cannot be changed");
  CHECK(refused(session, "log_connections", "on") ==
        "55P02 parameter \"log_connections\" cannot be set after connection start");
  CHECK(refused(session, "deadlock_timeout", "1s") ==
        "42501 permission denied to set parameter \"deadlock_timeout\"");
  CHECK(test::error_of([&] { session.set("deadlock_timeout", "1s", SetScope::kSession, kSuperuser); }) ==
        "none");
  CHECK(test::error_of([&] { (void)session.show("nonsense", kUser); }) ==
        "42704 unrecognized configuration parameter \"nonsense\"");
  CHECK(test::error_of([&] { (void)session.show("data_directory", kUser); }) ==
        "42501 must be superuser or have privileges of pg_read_all_settings to examine \"data_directory\"");
}

TEST_CASE_METHOD(Fixture, "custom parameters come to be when set", "[base][settings]") {
  CHECK_FALSE(session.find("app.user", kUser));
  session.begin_nest();
  session.set("app.user", "ann", SetScope::kSession, kUser);
  CHECK(session.show("APP.user", kUser) == "ann");
  session.end_nest(false);
  CHECK(session.show("app.user", kUser).empty());
  CHECK(refused(session, "app.", "x") == "42602 invalid configuration parameter name \"app.\"");
  CHECK(refused(session, "1a.b", "x") == "42602 invalid configuration parameter name \"1a.b\"");
}

TEST_CASE_METHOD(Fixture, "what the client sent at start is what RESET returns to", "[base][settings]") {
  session.set_initial("work_mem", "6MB", SettingSource::kUser, kUser);
  session.set_initial("work_mem", "7MB", SettingSource::kClient, kUser);
  session.set_initial("work_mem", "5MB", SettingSource::kDatabase, kUser);  // weaker
  CHECK(work_mem() == "7MB");
  set("1MB");
  session.reset_all();
  CHECK(work_mem() == "7MB");
}

TEST_CASE_METHOD(Fixture, "changes of reported parameters are told once, undone ones never",
                 "[base][settings]") {
  CHECK(session.all_reports().size() == 13);
  session.set("application_name", "a", SetScope::kSession, kUser);
  session.set("work_mem", "1MB", SetScope::kSession, kUser);
  CHECK(session.take_reports() ==
        std::vector<std::pair<std::string, std::string>>{{"application_name", "a"}});
  CHECK(session.take_reports().empty());
  session.begin_nest();
  session.set("application_name", "b", SetScope::kLocal, kUser);
  session.end_nest(true);
  CHECK(session.take_reports().empty());
}

TEST_CASE("a configuration file sets, reload follows it, sessions follow the server",
          "[base][settings][config]") {
  const test::TestDirectory directory;
  ServerSettings server;
  const auto load = [&](std::string_view text, bool reload) {
    write_file_durably(directory / "postgresql.conf", text);
    return server.load_files(directory / "postgresql.conf", directory.path(), reload);
  };
  load("work_mem = 1MB\nwork_mem = 2MB\nport = 6000\napp.x = y\nmax_connections = 7\n", false);
  CHECK(server.get_int(param::kWorkMem) == 2048);
  CHECK(server.source_line(param::kWorkMem) == 2);
  server.set("port", "6001", SettingSource::kCommandLine);
  SessionSettings untouched{server}, changed{server};
  changed.set("work_mem", "9MB", SetScope::kSession, kUser);
  CHECK(changed.show("app.x", kUser) == "y");

  const std::vector<param::Id> ids =
      load("work_mem = 3MB\nport = 6002\nmax_connections = 8\nfsync = off\n", true);
  for (SessionSettings* session : {&untouched, &changed}) session->follow_server(ids);
  CHECK(untouched.show(param::kWorkMem) == "3MB");
  CHECK(changed.show(param::kWorkMem) == "9MB");
  CHECK_FALSE(changed.get_bool(param::kFsync));
  CHECK(server.get_int(param::kPort) == 6001);         // the command line is stronger
  CHECK(server.get_int(param::kMaxConnections) == 7);  // needs a restart
  CHECK(server.pending_restart(param::kMaxConnections));

  CHECK(load("work_mem = 5MB\nfsync = maybe\n", true).empty());  // one bad line: nothing changes
  CHECK(server.get_int(param::kWorkMem) == 3072);
  load("fsync = off\napplication_name = x\n", true);
  CHECK(server.show(param::kWorkMem) == "4MB");  // no longer in the file
  (void)changed.all_reports();
  load("fsync = off\napplication_name = y\n", true);
  for (SessionSettings* session : {&untouched, &changed}) session->follow_server();
  CHECK(untouched.show(param::kWorkMem) == "4MB");
  CHECK(changed.show(param::kWorkMem) == "9MB");
  CHECK(changed.take_reports() ==
        std::vector<std::pair<std::string, std::string>>{{"application_name", "y"}});
}

TEST_CASE("at start an error in a file names the file and the line", "[base][settings][config]") {
  const test::TestDirectory directory;
  ServerSettings server;
  const auto load = [&](std::string_view text) {
    write_file_durably(directory / "c", text);
    return test::error_of([&] { server.load_files(directory / "c", directory.path(), false); });
  };
  const std::string file = directory / "c";
  CHECK(load("\nwork_memo = 1\n") ==
        "42704 unrecognized configuration parameter \"work_memo\" in file \"" + file + "\" line 2");
  CHECK(load("port = 0\n") ==
        "22023 0 is outside the valid range for parameter \"port\" (1 .. 65535) in file \"" + file +
            "\" line 1");
  CHECK(load("server_version = 1\n") ==
        "55P02 parameter \"server_version\" cannot be changed in file \"" + file + "\" line 1");
}

TEST_CASE_METHOD(Fixture, "the list tells sources, ranges and words", "[base][settings]") {
  set("1MB");
  bool seen_work_mem = false, seen_hidden = false;
  for (const SettingRow& row : session.list(kUser)) {
    if (row.name == "work_mem") {
      seen_work_mem = true;
      CHECK(row.setting == "1024");
      CHECK(row.unit == "kB");
      CHECK(row.source == "session");
      CHECK(row.boot_value == "4096");
      CHECK(row.reset_value == "4096");
      CHECK(row.min_value == "64");
      CHECK(row.category == "Resource Usage / Memory");
    }
    seen_hidden |= row.name == "data_directory" || row.name == "is_superuser";
  }
  CHECK(seen_work_mem);
  CHECK_FALSE(seen_hidden);
}

}  // namespace pinwheel
