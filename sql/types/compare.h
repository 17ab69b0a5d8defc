#pragma once

#include <cstdint>

#include "base/ids.h"
#include "sql/types/datum.h"
#include "sql/types/eval_context.h"

namespace pinwheel::sql {

/// What comparing may need: how to fetch toasted values and how to order text.
struct CompareContext {
  Oid collation{};         // 0, 100 (default), 950 (C): byte order
  Arena* arena = nullptr;  // scratch; null: values must be plain
  Detoaster* detoaster = nullptr;
};

/// <0, 0, >0 as in the type's default btree opclass. No nulls.
using CompareFn = int (*)(Datum a, Datum b, const CompareContext& context);
/// Equal values (by the default btree opclass) hash equal, across the types of one family (int2/4/8;
/// text/varchar).
using HashFn = std::uint64_t (*)(Datum value, const CompareContext& context);
/// Equality as the type's `=`; cheaper than compare for text.
using EqualFn = bool (*)(Datum a, Datum b, const CompareContext& context);

/// Null when the type has no order (json, void...). Arrays compare elementwise. Resolve once per plan, not
/// per row.
CompareFn find_compare(Oid type);
HashFn find_hash(Oid type);
EqualFn find_equal(Oid type);

/// Code for a btree support function (pg_amproc, amprocnum 1) such as btint48cmp: `a` and `b` may be of
/// different types of one family. Null when the procedure is none.
CompareFn find_compare_procedure(Oid procedure);
/// The order of two types within one family (int4 with int8, date with timestamp when `a` and `b` are in one
/// opfamily and need no time zone); null when there is none.
CompareFn find_cross_compare(Oid left, Oid right);

/// Bits that order like the value when compared as unsigned integers, for sort keys and B-tree pages: exact
/// for by-value types (true), a prefix for text and bytea (false: ties need the comparison).
bool abbreviated_key(Oid type, Datum value, const CompareContext& context, std::uint64_t* key);

}  // namespace pinwheel::sql
