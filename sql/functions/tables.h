#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "sql/functions/function.h"

/// The tables of built-in functions that find_function() merges, one per area. Private to sql/functions.
namespace pinwheel::sql::functions {

std::span<const BuiltinFunction> comparison_functions();
std::span<const BuiltinFunction> integer_functions();
std::span<const BuiltinFunction> float_functions();
std::span<const BuiltinFunction> numeric_functions();
std::span<const BuiltinFunction> text_functions();
std::span<const BuiltinFunction> binary_functions();
std::span<const BuiltinFunction> quoting_functions();
std::span<const BuiltinFunction> pattern_functions();
std::span<const BuiltinFunction> regexp_functions();
std::span<const BuiltinFunction> datetime_functions();
std::span<const BuiltinFunction> datetime_arithmetic_functions();
std::span<const BuiltinFunction> number_format_functions();
std::span<const BuiltinFunction> date_format_functions();
std::span<const BuiltinFunction> date_read_functions();
std::span<const BuiltinFunction> array_functions();
std::span<const BuiltinFunction> bit_functions();
std::span<const BuiltinFunction> misc_functions();
std::span<const BuiltinFunction> type_io_functions();
std::span<const BuiltinFunction> hash_functions();
std::span<const BuiltinFunction> catalog_functions();
std::span<const BuiltinFunction> aggregate_functions();
std::span<const BuiltinFunction> statistics_functions();

/// string_to_array's split: a null separator gives single characters.
std::vector<std::string_view> split_text(std::string_view text, std::string_view separator,
                                         bool separator_null);

std::span<const SetFunction> set_functions();
std::span<const SetFunction> regexp_set_functions();

}  // namespace pinwheel::sql::functions
