#pragma once

#include "sql/types/compare.h"

/// The order of each kind of value, for operators that know their types. All are CompareFns (equal_text an
/// EqualFn).
namespace pinwheel::sql::orderings {

int compare_signed(Datum a, Datum b, const CompareContext& context);
int compare_unsigned(Datum a, Datum b, const CompareContext& context);
int compare_oid(Datum a, Datum b, const CompareContext& context);
int compare_char(Datum a, Datum b, const CompareContext& context);
int compare_float4(Datum a, Datum b, const CompareContext& context);
int compare_float8(Datum a, Datum b, const CompareContext& context);
int compare_float48(Datum a, Datum b, const CompareContext& context);
int compare_float84(Datum a, Datum b, const CompareContext& context);
int compare_text(Datum a, Datum b, const CompareContext& context);
bool equal_text(Datum a, Datum b, const CompareContext& context);
int compare_bpchar(Datum a, Datum b, const CompareContext& context);
int compare_name(Datum a, Datum b, const CompareContext& context);
int compare_name_text(Datum a, Datum b, const CompareContext& context);
int compare_text_name(Datum a, Datum b, const CompareContext& context);
int compare_numeric(Datum a, Datum b, const CompareContext& context);
int compare_uuid(Datum a, Datum b, const CompareContext& context);
int compare_tid(Datum a, Datum b, const CompareContext& context);
int compare_interval(Datum a, Datum b, const CompareContext& context);
int compare_timetz(Datum a, Datum b, const CompareContext& context);
int compare_date_timestamp(Datum a, Datum b, const CompareContext& context);
int compare_timestamp_date(Datum a, Datum b, const CompareContext& context);
int compare_bits(Datum a, Datum b, const CompareContext& context);
int compare_array(Datum a, Datum b, const CompareContext& context);
int compare_record(Datum a, Datum b, const CompareContext& context);

}  // namespace pinwheel::sql::orderings
