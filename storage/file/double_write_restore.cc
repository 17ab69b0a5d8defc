// Double-write files: their slots, and what recovery does with them.
#include <fmt/format.h>

#include <cstring>
#include <map>
#include <tuple>

#include "base/bytes.h"
#include "base/checksum.h"
#include "base/log.h"
#include "storage/file/double_write_file.h"
#include "storage/file/relation_files.h"

namespace pinwheel::storage {

namespace {

std::string folder_of(const std::string& data_directory) {
  return data_directory + "/" + std::string{kDoubleWriteFolder};
}

std::uint32_t slot_checksum(const std::byte* header, ConstPageBytes page) noexcept {
  return crc32c(crc32c(0, header, offsetof(DoubleWriteHeader, checksum)), page.data(), page.size());
}

/// Where the newest copy of a page is.
struct Newest {
  Lsn lsn;
  std::string path;
  std::uint64_t offset = 0;
};
using PageKey = std::tuple<std::uint32_t, std::uint32_t, std::uint8_t, std::uint32_t>;

using SlotBytes = std::array<std::byte, kDoubleWriteSlotBytes>;

/// False at the end of the file.
bool read_slot(const File& file, std::uint64_t offset, SlotBytes& slot) {
  return file.read_at(offset, slot) == slot.size();
}

void collect(const std::string& path, std::uint64_t system_identifier, Lsn redo,
             std::map<PageKey, Newest>& newest) {
  const File file = File::open(path, OpenMode::kRead);
  SlotBytes slot;
  for (std::uint64_t offset = 0; read_slot(file, offset, slot); offset += slot.size()) {
    const auto header = check_double_write_slot(slot, system_identifier);
    // Older than the redo point: the checkpoint that made it has synced what was written in place.
    if (!header || header->redo < redo.value) continue;
    Newest& best = newest[{header->database, header->relation, header->fork, header->page}];
    if (header->lsn >= best.lsn.value) best = {Lsn{header->lsn}, path, offset};
  }
}

bool is_all_zero(ConstPageBytes page) noexcept {
  return page[0] == std::byte{0} && std::memcmp(page.data(), page.data() + 1, page.size() - 1) == 0;
}

/// Whether what is in place is an interrupted write of `copy`, or an older version. A page of zeroes was
/// never written: replay makes it anew. A later LSN belongs to a later write that is durable.
bool must_restore(ConstPageBytes in_place, ConstPageBytes copy) noexcept {
  if (is_all_zero(in_place) || std::memcmp(in_place.data(), copy.data(), kPageSize) == 0) return false;
  return ConstPage{in_place.data()}.lsn() <= ConstPage{copy.data()}.lsn();
}

}  // namespace

File open_double_write_file(const std::string& data_directory, std::uint32_t area) {
  const std::string folder = folder_of(data_directory);
  if (!file_exists(folder)) {
    try {
      make_directory(folder);
    } catch (const SqlError&) {
      if (!file_exists(folder)) throw;  // else another process was first
    }
    sync_directory(data_directory);
  }
  File file = File::open(folder + fmt::format("/{:04X}", area), OpenMode::kCreate);
  sync_directory(folder);
  return file;
}

DoubleWriteHeader make_double_write_header(const PageTag& tag, ConstPageBytes page,
                                           std::uint64_t system_identifier, Lsn redo) noexcept {
  DoubleWriteHeader header{.magic = DoubleWriteHeader::kMagic,
                           .system_identifier = system_identifier,
                           .redo = redo.value,
                           .lsn = ConstPage{page.data()}.lsn().value,
                           .database = tag.file.database.value,
                           .relation = tag.file.relation.value,
                           .page = tag.page.value,
                           .fork = static_cast<std::uint8_t>(tag.fork),
                           .reserved = {},
                           .checksum = 0,
                           .reserved2 = 0};
  header.checksum = slot_checksum(reinterpret_cast<const std::byte*>(&header), page);
  return header;
}

std::optional<DoubleWriteHeader> check_double_write_slot(
    std::span<const std::byte, kDoubleWriteSlotBytes> slot, std::uint64_t system_identifier) noexcept {
  const auto header = load<DoubleWriteHeader>(slot.data());
  if (header.magic != DoubleWriteHeader::kMagic || header.system_identifier != system_identifier)
    return std::nullopt;
  const ConstPageBytes page{slot.data() + kDoubleWriteHeaderBytes, kPageSize};
  if (header.checksum != slot_checksum(slot.data(), page)) return std::nullopt;
  return header;
}

std::size_t restore_torn_pages(RelationFiles& files, std::uint64_t system_identifier, Lsn redo) {
  const std::string folder = folder_of(files.data_directory());
  if (!file_exists(folder)) return 0;
  std::map<PageKey, Newest> newest;
  for (const std::string& name : list_directory(folder)) {
    collect(folder + "/" + name, system_identifier, redo, newest);
  }
  std::size_t restored = 0;
  SlotBytes slot;
  alignas(8) std::byte in_place[kPageSize];
  for (const auto& [key, best] : newest) {
    const auto& [database, relation, fork, page] = key;
    const PageTag tag{{Oid{database}, Oid{relation}}, static_cast<Fork>(fork), PageNumber{page}};
    // Dropped or cut off since, or never grown so far: nothing is there to be torn.
    if (!files.exists(tag.file, tag.fork) || !files.read(tag, PageBytes{in_place, kPageSize})) continue;
    if (!read_slot(File::open(best.path, OpenMode::kRead), best.offset, slot)) continue;
    const ConstPageBytes copy{slot.data() + kDoubleWriteHeaderBytes, kPageSize};
    if (!must_restore(ConstPageBytes{in_place, kPageSize}, copy)) continue;
    files.write(tag, copy);
    ++restored;
  }
  if (restored > 0) log(LogLevel::kLog, "restored {} half-written pages from their copies", restored);
  return restored;
}

}  // namespace pinwheel::storage
