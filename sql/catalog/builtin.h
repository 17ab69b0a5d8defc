#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "base/ids.h"

/// The rows of the catalogs that only the server itself fills, as constant tables made from
/// sql/catalog/data/*.tsv at build time. Lookups here touch no page. Rows of pg_proc whose function is not
/// implemented are left out of name lookups.
namespace pinwheel::sql {

/// pg_am.oid of the only index access method.
inline constexpr Oid kBtreeMethod{403};

struct BuiltinProc {
  Oid oid;
  std::string_view name;
  Oid language;  // 12 internal, 14 sql
  float cost;
  float rows;
  Oid variadic;
  Oid support;
  char kind;  // f a w p
  bool leakproof;
  bool strict;
  bool returns_set;
  char volatility;
  char parallel;
  std::uint8_t default_count;
  Oid result;
  std::span<const Oid> args;      // input arguments
  std::span<const Oid> all_args;  // with OUT ones; empty when there are none
  std::string_view arg_modes;     // one letter (i o b v t) per all_args; "" when all are IN
  std::span<const std::string_view> arg_names;
  std::string_view arg_defaults;  // text of the default expressions, ", " between them
  std::string_view source;        // pg_proc.prosrc
  std::string_view description;
};

struct BuiltinOperator {
  Oid oid;
  std::string_view name;
  char kind;  // b binary, l prefix
  bool can_merge;
  bool can_hash;
  Oid left;  // 0 for prefix operators
  Oid right;
  Oid result;
  Oid commutator;
  Oid negator;
  Oid procedure;
  Oid restrict_estimator;
  Oid join_estimator;
  std::string_view description;
};

struct BuiltinCast {
  Oid oid;
  Oid source;
  Oid target;
  Oid procedure;
  char context;  // i implicit, a assignment, e explicit
  char method;   // f function, b binary coercible, i through I/O
};

struct BuiltinOperatorClass {
  Oid oid;
  Oid method;
  std::string_view name;
  Oid family;
  Oid input_type;
  bool is_default;
  Oid key_type;
};

struct BuiltinOperatorFamily {
  Oid oid;
  Oid method;
  std::string_view name;
};

/// Member operator of a family.
struct BuiltinFamilyOperator {
  Oid oid;
  Oid family;
  Oid left;
  Oid right;
  std::int16_t strategy;  // btree: 1 < 2 <= 3 = 4 >= 5 >
  char purpose;
  Oid op;
  Oid method;
  Oid sort_family;
};

/// Support function of a family.
struct BuiltinFamilyProc {
  Oid oid;
  Oid family;
  Oid left;
  Oid right;
  std::int16_t number;  // btree: 1 compare
  Oid procedure;
};

struct BuiltinAggregate {
  Oid procedure;
  char kind;  // n normal, o ordered-set, h hypothetical-set
  std::int16_t direct_args;
  Oid transition_type;
  Oid sort_operator;
};

struct BuiltinCollation {
  Oid oid;
  std::string_view name;
  char provider;
  bool deterministic;
  std::int32_t encoding;
  std::string_view collate, ctype, icu_locale;  // "" = null
};

struct BuiltinLanguage {
  Oid oid;
  std::string_view name;
  bool is_pl, trusted;
  Oid call_handler, inline_handler, validator;
};

struct BuiltinAccessMethod {
  Oid oid;
  std::string_view name;
  Oid handler;
  char type;
};

std::span<const BuiltinProc> builtin_proc_rows();
std::span<const BuiltinOperator> builtin_operators();
std::span<const BuiltinCast> builtin_casts();
std::span<const BuiltinOperatorClass> builtin_operator_classes();
std::span<const BuiltinOperatorFamily> builtin_operator_families();
std::span<const BuiltinFamilyOperator> builtin_family_operators();
std::span<const BuiltinFamilyProc> builtin_family_procs();
std::span<const BuiltinCollation> builtin_collations();
std::span<const BuiltinLanguage> builtin_languages();
std::span<const BuiltinAccessMethod> builtin_access_methods();

/// Null when there is no such row.
const BuiltinProc* find_proc(Oid oid);
/// All of one name, implemented ones only.
std::span<const BuiltinProc* const> find_procs(std::string_view name);
/// Null when the procedure is no aggregate.
const BuiltinAggregate* find_aggregate_facts(Oid procedure);
const BuiltinOperator* find_operator(Oid oid);
/// All of one name ("=", "||").
std::span<const BuiltinOperator* const> find_operators(std::string_view name);
/// The operator with exactly these operand types (left 0 = prefix); null when there is none.
const BuiltinOperator* find_operator(std::string_view name, Oid left, Oid right);
const BuiltinCast* find_cast(Oid source, Oid target);
const BuiltinOperatorClass* find_operator_class(Oid oid);
const BuiltinOperatorClass* find_operator_class(Oid method, std::string_view name);
/// The default class of the method (403 btree, 405 hash) for a type, following binary-coercible types
/// (varchar uses text's) and polymorphic classes (arrays use array_ops); null when the type has none.
const BuiltinOperatorClass* default_operator_class(Oid type, Oid method);
const BuiltinOperatorFamily* find_operator_family(Oid oid);
/// Operator of a family for a strategy and operand types; 0 when there is none.
Oid family_operator(Oid family, Oid left, Oid right, int strategy);
/// The family membership of an operator in btree or hash families (first found with `method`); null when
/// none.
const BuiltinFamilyOperator* operator_membership(Oid op, Oid method);
/// As above, within one family.
const BuiltinFamilyOperator* operator_in_family(Oid op, Oid family);
/// Support function; 0 when there is none.
Oid family_proc(Oid family, Oid left, Oid right, int number);
const BuiltinCollation* find_collation(Oid oid);
const BuiltinCollation* find_collation(std::string_view name);

/// True when values of `source` are values of `target` as they stand (cast method 'b', or equal, or an array
/// to anyarray and the like).
bool is_binary_coercible(Oid source, Oid target);

}  // namespace pinwheel::sql
