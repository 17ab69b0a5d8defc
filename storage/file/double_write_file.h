#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "storage/file/double_write.h"

namespace pinwheel::storage {

// What saving and restoring share of the double-write files (docs/formats/double_write.md).

inline constexpr std::string_view kDoubleWriteFolder = "pg_double_write";

/// Opens the file of an area, made if it is missing (and its name durable).
File open_double_write_file(const std::string& data_directory, std::uint32_t area);

DoubleWriteHeader make_double_write_header(const PageTag& tag, ConstPageBytes page,
                                           std::uint64_t system_identifier, Lsn redo) noexcept;

/// The header of a slot that was written whole, by this cluster; nothing otherwise.
std::optional<DoubleWriteHeader> check_double_write_slot(
    std::span<const std::byte, kDoubleWriteSlotBytes> slot, std::uint64_t system_identifier) noexcept;

}  // namespace pinwheel::storage
