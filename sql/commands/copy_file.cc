#include "sql/commands/copy_file.h"

#include <sys/stat.h>

#include "base/error.h"
#include "base/sqlstate.h"

namespace pinwheel::sql {
namespace {

constexpr std::size_t kPieceBytes = 65536;

/// As File::open, in the words that COPY has for it.
File open_for(const std::string& path, OpenMode mode, const char* purpose, const char* verb) {
  struct stat facts {};
  if (::stat(path.c_str(), &facts) == 0 && S_ISDIR(facts.st_mode)) {
    throw SqlError{sqlstate::kWrongObjectType, "\"" + path + "\" is a directory"};
  }
  try {
    return File::open(path, mode);
  } catch (const SqlError& error) {
    const std::size_t colon = error.message().rfind(": ");
    const std::string reason = colon == std::string::npos ? std::string{} : error.message().substr(colon);
    throw SqlError{error.state(), "could not open file \"" + path + "\" for " + purpose + reason}.hint(
        std::string{"COPY "} + (mode == OpenMode::kRead ? "FROM" : "TO") +
        " instructs the PostgreSQL server process to " + verb +
        " a file. You may want a client-side facility such as psql's \\copy.");
  }
}

}  // namespace

CopyInputFile::CopyInputFile(const std::string& path)
    : file_{open_for(path, OpenMode::kRead, "reading", "read")}, bytes_(kPieceBytes) {}

bool CopyInputFile::next(std::string_view& data) {
  const std::size_t got = file_.read_at(offset_, bytes_);
  offset_ += got;
  data = {reinterpret_cast<const char*>(bytes_.data()), got};
  return got > 0;
}

CopyOutputFile::CopyOutputFile(const std::string& path)
    : file_{path.starts_with('/')
                ? open_for(path, OpenMode::kTruncate, "writing", "write")
                : throw SqlError{sqlstate::kInvalidName, "relative path not allowed for COPY to file"}} {}

void CopyOutputFile::write(std::string_view data) {
  buffer_ += data;
  if (buffer_.size() >= kPieceBytes) flush();
}

void CopyOutputFile::finish() { flush(); }

void CopyOutputFile::flush() {
  file_.write_at(offset_, std::as_bytes(std::span{buffer_}));
  offset_ += buffer_.size();
  buffer_.clear();
}

}  // namespace pinwheel::sql
