#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/arena.h"
#include "sql/catalog/rows.h"
#include "sql/catalog/system_tables.h"
#include "sql/types/eval_context.h"

namespace pinwheel::sql {

/// Converts between the fields of row structs and the values of a catalog's columns:
///
///   Oid, bool, char, intN, float   the by-value types of that width
///   std::string                    name or text, by the column's type
///   std::optional<T>               nullable T
///   std::vector<int16/Oid>         int2vector/oidvector, or an array type (empty = NULL)
///   std::vector<float/string>      float4[], text[] (empty = NULL)
///   AclColumn                      aclitem[]
///   AnyValue                       the value as it is (detoasted)
///
/// Copies land in `arena`.
class RowReader {
 public:
  RowReader(std::span<const SystemColumn> columns, const Datum* values, const bool* nulls, Arena& arena,
            Detoaster* detoaster)
      : columns_{columns}, values_{values}, nulls_{nulls}, arena_{arena}, detoaster_{detoaster} {}
  template <class... Fields>
  void operator()(Fields&... fields) {
    (one(fields), ...);
  }

 private:
  template <class Field>
  void one(Field& field) {
    if (nulls_[index_]) {
      field = Field{};
    } else {
      read(values_[index_], columns_[index_], field);
    }
    ++index_;
  }
  template <class T>
  void read(Datum value, const SystemColumn& column, std::optional<T>& field) {
    read(value, column, field.emplace());
  }
  void read(Datum value, const SystemColumn&, Oid& field) { field = value.as_oid(); }
  void read(Datum value, const SystemColumn&, bool& field) { field = value.as_bool(); }
  void read(Datum value, const SystemColumn&, char& field) { field = value.as_char(); }
  void read(Datum value, const SystemColumn&, std::int16_t& field) { field = value.as_int16(); }
  void read(Datum value, const SystemColumn&, std::int32_t& field) { field = value.as_int32(); }
  void read(Datum value, const SystemColumn&, std::int64_t& field) { field = value.as_int64(); }
  void read(Datum value, const SystemColumn&, float& field) { field = value.as_float4(); }
  void read(Datum, const SystemColumn&, UnusedXid&) {}
  void read(Datum value, const SystemColumn& column, std::string& field);
  void read(Datum value, const SystemColumn& column, std::vector<std::int16_t>& field);
  void read(Datum value, const SystemColumn& column, std::vector<Oid>& field);
  void read(Datum value, const SystemColumn& column, std::vector<float>& field);
  void read(Datum value, const SystemColumn& column, std::vector<std::string>& field);
  void read(Datum value, const SystemColumn& column, std::vector<AclItem>& field);
  void read(Datum value, const SystemColumn& column, AnyValue& field);

  std::span<const SystemColumn> columns_;
  const Datum* values_;
  const bool* nulls_;
  Arena& arena_;
  Detoaster* detoaster_;
  std::size_t index_ = 0;
};

class RowWriter {
 public:
  /// `values` and `nulls` have room for all columns.
  RowWriter(std::span<const SystemColumn> columns, Datum* values, bool* nulls, Arena& arena)
      : columns_{columns}, values_{values}, nulls_{nulls}, arena_{arena} {}
  template <class... Fields>
  void operator()(const Fields&... fields) {
    (one(fields), ...);
  }

 private:
  template <class Field>
  void one(const Field& field) {
    nulls_[index_] = false;
    values_[index_] = write(columns_[index_], field);
    ++index_;
  }
  Datum null() {
    nulls_[index_] = true;
    return Datum{};
  }
  template <class T>
  Datum write(const SystemColumn& column, const std::optional<T>& field) {
    return field ? write(column, *field) : null();
  }
  Datum write(const SystemColumn&, Oid field) { return Datum::from_oid(field); }
  Datum write(const SystemColumn&, bool field) { return Datum::from_bool(field); }
  Datum write(const SystemColumn&, char field) { return Datum::from_char(field); }
  Datum write(const SystemColumn&, std::int16_t field) { return Datum::from_int16(field); }
  Datum write(const SystemColumn&, std::int32_t field) { return Datum::from_int32(field); }
  Datum write(const SystemColumn&, std::int64_t field) { return Datum::from_int64(field); }
  Datum write(const SystemColumn&, float field) { return Datum::from_float4(field); }
  Datum write(const SystemColumn&, const UnusedXid&) { return Datum::from_int64(0); }
  Datum write(const SystemColumn& column, const std::string& field);
  Datum write(const SystemColumn& column, const std::vector<std::int16_t>& field);
  Datum write(const SystemColumn& column, const std::vector<Oid>& field);
  Datum write(const SystemColumn& column, const std::vector<float>& field);
  Datum write(const SystemColumn& column, const std::vector<std::string>& field);
  Datum write(const SystemColumn& column, const std::vector<AclItem>& field);
  Datum write(const SystemColumn& column, const AnyValue& field);

  std::span<const SystemColumn> columns_;
  Datum* values_;
  bool* nulls_;
  Arena& arena_;
  std::size_t index_ = 0;
};

}  // namespace pinwheel::sql
