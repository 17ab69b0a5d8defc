#include "sql/types/io_errors.h"

namespace pinwheel::sql {

namespace {
std::string quoted(std::string_view text) { return "\"" + std::string{text} + "\""; }
}  // namespace

void throw_bad_syntax(std::string_view type, std::string_view text) {
  throw SqlError{sqlstate::kInvalidTextRepresentation,
                 "invalid input syntax for type " + std::string{type} + ": " + quoted(text)};
}

void throw_text_out_of_range(std::string_view type, std::string_view text) {
  throw SqlError{sqlstate::kNumericValueOutOfRange,
                 "value " + quoted(text) + " is out of range for type " + std::string{type}};
}

void throw_out_of_range(std::string_view type) {
  throw SqlError{sqlstate::kNumericValueOutOfRange, std::string{type} + " out of range"};
}

void throw_division_by_zero() { throw SqlError{sqlstate::kDivisionByZero, "division by zero"}; }

void throw_bad_binary() {
  throw SqlError{sqlstate::kInvalidBinaryRepresentation, "incorrect binary data format"};
}

void throw_unsupported(std::string message) {
  throw SqlError{sqlstate::kFeatureNotSupported, std::move(message)};
}

}  // namespace pinwheel::sql
