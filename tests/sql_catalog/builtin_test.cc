#include <catch2/catch.hpp>

#include "sql/catalog/builtin.h"
#include "sql/catalog/system_tables.h"
#include "sql/types/type_oids.h"

namespace pinwheel::sql {

TEST_CASE("operators are found by name and operand types", "[sql_catalog][builtin]") {
  const BuiltinOperator* equal = find_operator("=", kInt4Type, kInt4Type);
  REQUIRE(equal != nullptr);
  CHECK(equal->oid == Oid{96});
  CHECK(equal->procedure == Oid{65});
  CHECK(find_operator("=", kInt4Type, kUuidType) == nullptr);
}

TEST_CASE("varchar is ordered by text's class, arrays by the polymorphic one", "[sql_catalog][builtin]") {
  constexpr Oid kBtree{403};
  REQUIRE(default_operator_class(kVarCharType, kBtree) != nullptr);
  CHECK(default_operator_class(kVarCharType, kBtree)->input_type == kTextType);
  REQUIRE(default_operator_class(kInt4ArrayType, kBtree) != nullptr);
  CHECK(default_operator_class(kInt4ArrayType, kBtree)->input_type == kAnyArrayType);
  CHECK(default_operator_class(kJsonType, kBtree) == nullptr);
}

TEST_CASE("a family gives the operator of a strategy across types", "[sql_catalog][builtin]") {
  const BuiltinOperatorClass* integers = default_operator_class(kInt4Type, Oid{403});
  REQUIRE(integers != nullptr);
  CHECK(family_operator(integers->family, kInt4Type, kInt8Type, 3) ==
        find_operator("=", kInt4Type, kInt8Type)->oid);
  CHECK(family_operator(integers->family, kInt4Type, kTextType, 3) == kInvalidOid);
}

TEST_CASE("casts are found by their two types", "[sql_catalog][builtin]") {
  REQUIRE(find_cast(kInt4Type, kInt8Type) != nullptr);
  CHECK(find_cast(kInt4Type, kInt8Type)->context == 'i');
  CHECK(find_cast(kTextType, kInt4Type) == nullptr);
  CHECK(is_binary_coercible(kVarCharType, kTextType));
  CHECK_FALSE(is_binary_coercible(kInt4Type, kInt8Type));
}

TEST_CASE("the system's tables are known with their columns and indexes", "[sql_catalog][system_tables]") {
  const SystemRelation* pg_class = find_system_relation(kClassTable);
  REQUIRE(pg_class != nullptr);
  CHECK(pg_class->name == "pg_class");
  CHECK(pg_class->columns.size() == 33);
  CHECK(pg_class->columns[0].name == "oid");
  REQUIRE(pg_class->indexes.size() == 3);
  CHECK(find_system_index(Oid{2662})->table == kClassTable);
  CHECK(find_system_relation(Oid{16384}) == nullptr);
}

}  // namespace pinwheel::sql
