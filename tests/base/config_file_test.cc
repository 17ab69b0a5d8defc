#include "base/config_file.h"

#include <catch2/catch.hpp>

#include "base/file.h"
#include "tests/base/error_text.h"
#include "tests/base/test_directory.h"

namespace pinwheel {
namespace {

std::string parsed(std::string_view text) {
  std::vector<ConfigItem> items;
  parse_config_text(text, "f", items);
  std::string shown;
  for (const ConfigItem& item : items) {
    shown += std::to_string(item.line) + ":" + item.name + "=" + item.value + ";";
  }
  return shown;
}

}  // namespace

TEST_CASE("lines of a configuration file", "[base][config]") {
  CHECK(parsed("a = 1\nb 2\n\n# c = 3\n  d='x y'  # why\n") == "1:a=1;2:b=2;5:d=x y;");
  CHECK(parsed("a = 'it''s'\nb='a\\'b\\n\\101'") == "1:a=it's;2:b=a'b\nA;");
  CHECK(parsed("shared_buffers = 128MB\nx.y = -1.5e3\nt=''") == "1:shared_buffers=128MB;2:x.y=-1.5e3;3:t=;");
}

TEST_CASE("a line that is no setting names file, line and token", "[base][config]") {
  CHECK(test::error_of([] { parsed("a = 1\nb = = 2\n"); }) ==
        "42601 syntax error in file \"f\" line 2, near token \"=\"");
  CHECK(test::error_of([] { parsed("a = 1 2\n"); }) ==
        "42601 syntax error in file \"f\" line 1, near token \"2\"");
  CHECK(test::error_of([] { parsed("a\n"); }) == "42601 syntax error in file \"f\" line 1, near end of line");
  CHECK(test::error_of([] { parsed("a = 'x\n"); }) ==
        "42601 syntax error in file \"f\" line 1, near token \"'x\"");
}

TEST_CASE("includes are relative to the including file and stand in its order", "[base][config]") {
  const test::TestDirectory directory;
  make_directory(directory / "d");
  write_file_durably(directory / "d/2.conf", "c = 2\n");
  write_file_durably(directory / "d/1.conf", "c = 1\n");
  write_file_durably(directory / "d/ignored.txt", "c = 3\n");
  write_file_durably(directory / "more.conf", "b = 1\n");
  write_file_durably(directory / "main.conf",
                     "a = 1\ninclude 'more.conf'\ninclude_if_exists 'none.conf'\ninclude_dir 'd'\nz = 1\n");
  std::vector<ConfigItem> items;
  parse_config_file(directory / "main.conf", items);
  std::string order;
  for (const ConfigItem& item : items) order += item.name + item.value + " ";
  CHECK(order == "a1 b1 c1 c2 z1 ");
  CHECK(items[1].file == directory / "more.conf");
}

TEST_CASE("a missing include and a file that includes itself are errors", "[base][config]") {
  const test::TestDirectory directory;
  write_file_durably(directory / "a.conf", "include 'none.conf'\n");
  write_file_durably(directory / "b.conf", "include 'b.conf'\n");
  std::vector<ConfigItem> items;
  CHECK(test::error_of([&] { parse_config_file(directory / "a.conf", items); }) ==
        "58P01 could not open configuration file \"" + (directory / "none.conf") +
            "\": No such file or directory");
  CHECK(test::error_of([&] { parse_config_file(directory / "b.conf", items); }).starts_with("54000 "));
}

TEST_CASE("ALTER SYSTEM replaces, removes and empties lines", "[base][config]") {
  const test::TestDirectory directory;
  const auto content = [&] {
    std::vector<ConfigItem> items;
    parse_config_file(directory / "postgresql.auto.conf", items);
    std::string shown;
    for (const ConfigItem& item : items) shown += item.name + "=" + item.value + ";";
    return shown;
  };
  const std::string one = "1", tricky = "a'b\\c";
  alter_auto_config(directory.path(), "work_mem", &one);
  alter_auto_config(directory.path(), "search_path", &tricky);
  CHECK(content() == "work_mem=1;search_path=a'b\\c;");
  alter_auto_config(directory.path(), "WORK_MEM", nullptr);
  CHECK(content() == "search_path=a'b\\c;");
  alter_auto_config(directory.path(), "", nullptr);
  CHECK(content().empty());
}

}  // namespace pinwheel
