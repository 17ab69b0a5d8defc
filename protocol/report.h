#pragma once

#include <string_view>

#include "base/error.h"
#include "protocol/writer.h"

namespace pinwheel::protocol {

/// Appends an ErrorResponse with the fields S V C M D H P W s t c d n that `error` carries.
void write_error(MessageWriter& out, const SqlError& error);

/// Appends a NoticeResponse; `severity` is NOTICE, WARNING, INFO, LOG or DEBUG.
void write_notice(MessageWriter& out, std::string_view severity, const SqlError& notice);

void write_parameter_status(MessageWriter& out, std::string_view name, std::string_view value);

/// `status` is 'I' idle, 'T' in a transaction block, 'E' in a failed one.
void write_ready_for_query(MessageWriter& out, char status);

void write_command_complete(MessageWriter& out, std::string_view tag);

}  // namespace pinwheel::protocol
