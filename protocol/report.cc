#include "protocol/report.h"

#include <string>

namespace pinwheel::protocol {
namespace {

void field(MessageWriter& out, char code, std::string_view text) {
  if (text.empty()) return;
  out.byte(code);
  out.string(text);
}

void write_report(MessageWriter& out, Backend type, std::string_view severity, const SqlError& report) {
  const ErrorFields& fields = report.fields();
  out.begin(type);
  field(out, 'S', severity);
  field(out, 'V', severity);
  field(out, 'C', report.state().view());
  out.byte('M');
  out.string(report.message());
  field(out, 'D', fields.detail);
  field(out, 'H', fields.hint);
  if (fields.position > 0) field(out, 'P', std::to_string(fields.position));
  field(out, 'W', fields.context);
  field(out, 's', fields.schema_name);
  field(out, 't', fields.table_name);
  field(out, 'c', fields.column_name);
  field(out, 'd', fields.data_type_name);
  field(out, 'n', fields.constraint_name);
  out.byte('\0');
  out.end();
}

}  // namespace

void write_error(MessageWriter& out, const SqlError& error) {
  write_report(out, Backend::kErrorResponse, error.severity() == Severity::kFatal ? "FATAL" : "ERROR", error);
}

void write_notice(MessageWriter& out, std::string_view severity, const SqlError& notice) {
  write_report(out, Backend::kNoticeResponse, severity, notice);
}

void write_parameter_status(MessageWriter& out, std::string_view name, std::string_view value) {
  out.begin(Backend::kParameterStatus);
  out.string(name);
  out.string(value);
  out.end();
}

void write_ready_for_query(MessageWriter& out, char status) {
  out.begin(Backend::kReadyForQuery);
  out.byte(status);
  out.end();
}

void write_command_complete(MessageWriter& out, std::string_view tag) {
  out.begin(Backend::kCommandComplete);
  out.string(tag);
  out.end();
}

}  // namespace pinwheel::protocol
