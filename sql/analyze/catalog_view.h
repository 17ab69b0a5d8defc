#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/ids.h"

namespace pinwheel::sql {

/// What analysis asks of the catalogs, and the shapes of the answers. Implemented by sql/catalog for a
/// session (whose search path and user apply) and by a double in tests. Everything returned by pointer or
/// span lives until the statement ends; lookups that find nothing return null, 0 or an empty span, never an
/// error.

struct ViewedColumn {
  std::string_view name;  ///< "" when dropped
  Oid type;
  std::int32_t type_modifier = -1;
  Oid collation;
  bool dropped = false;
  bool not_null = false;
  char identity = 0;                ///< 'a' always, 'd' by default, 0 none
  bool generated = false;           ///< GENERATED ... STORED: default_source is its expression
  std::string_view default_source;  ///< "" none
};

/// An index that ON CONFLICT might infer.
struct ViewedIndex {
  Oid oid;
  std::string_view constraint;  ///< name of the constraint that owns it, "" none
  bool unique = false;
  bool immediate = true;
  bool primary = false;
  std::span<const std::int16_t> keys;             ///< key attribute numbers; 0 = an expression
  std::span<const std::string_view> expressions;  ///< sources of the expression keys, in order
  std::string_view predicate;                     ///< "" none
};

struct ViewedRelation {
  Oid oid;
  Oid schema;
  std::string_view schema_name;
  std::string_view name;
  char kind = 'r';  ///< pg_class.relkind
  char persistence = 'p';
  Oid row_type;
  Oid owner;
  std::span<const ViewedColumn> columns;      ///< by attribute number, dropped ones included
  std::string_view view_text;                 ///< kind 'v': the defining SELECT, fully qualified
  std::span<const ViewedIndex> indexes;       ///< may be filled for tables only
  std::span<const std::int16_t> primary_key;  ///< attribute numbers; for functional dependency in GROUP BY
};

struct ViewedType {
  Oid oid;
  Oid schema;
  std::string_view schema_name;
  std::string_view name;  ///< pg_type.typname
  char kind = 'b';        ///< b base, c composite, d domain, e enum, p pseudo, r range, m multirange
  char category = 'U';
  bool preferred = false;
  bool by_value = false;
  std::int16_t length = -1;
  Oid element;  ///< typelem of true arrays only (typsubscript = array_subscript_handler), and of the two
                ///< vectors
  Oid array;
  Oid relation;   ///< composites
  Oid base_type;  ///< domains
  std::int32_t base_modifier = -1;
  Oid collation;
  bool fixed_subscript = false;  ///< name, int2vector, oidvector: subscriptable but no true array
};

struct ViewedFunction {
  Oid oid;
  Oid schema;
  std::string_view schema_name;
  std::string_view name;
  char kind = 'f';  ///< f function, p procedure, a aggregate, w window
  Oid result;
  bool returns_set = false;
  bool strict = false;
  char volatility = 'v';
  Oid variadic;                                 ///< element type, 0 none
  std::span<const Oid> args;                    ///< input arguments
  std::span<const Oid> all_args;                ///< with OUT arguments; empty = args
  std::string_view arg_modes;                   ///< one of i o b v t per all_args; "" = all in
  std::span<const std::string_view> arg_names;  ///< per all_args; may be empty
  std::span<const std::string_view> defaults;   ///< source texts of the last arguments' defaults
  // aggregates
  char aggregate_kind = 'n';  ///< n normal, o ordered-set, h hypothetical-set
  int direct_args = 0;
  Oid transition_type;
};

struct ViewedOperator {
  Oid oid;
  Oid schema;
  std::string_view schema_name;
  std::string_view name;
  Oid left;  ///< 0: prefix operator
  Oid right;
  Oid result;
  Oid function;
  Oid commutator;
  Oid negator;
  bool can_hash = false;
  bool can_merge = false;
};

struct ViewedCast {
  Oid function;        ///< 0 with method 'b' or 'i'
  char context = 'e';  ///< i implicit, a assignment, e explicit
  char method = 'f';   ///< f function, b binary-coercible, i by input and output
};

/// The operators of a type's default btree (or hash) operator class; 0 where it has none.
struct SortOperators {
  Oid less, equal, greater;
  Oid family;
  Oid input_type;  ///< the class's type, to which the value is binary-coercible or relabelled
};

/// Membership of an operator in a btree family.
struct OperatorFamilyEntry {
  Oid family;
  int strategy;  ///< 1 <, 2 <=, 3 =, 4 >=, 5 >
  Oid left, right;
};

class AnalyzerCatalog {
 public:
  virtual ~AnalyzerCatalog() = default;

  // Schemas and relations. `schema` "" searches along search_path (temporary schema and pg_catalog implied).
  /// 0 when there is no such schema.
  virtual Oid find_schema(std::string_view name) = 0;
  /// Takes the lock `table_lock` (1 AccessShare ... 8) before it returns a relation found, so that what is
  /// analyzed stays.
  virtual const ViewedRelation* find_relation(std::string_view schema, std::string_view name,
                                              int table_lock) = 0;
  virtual const ViewedRelation* relation(Oid oid) = 0;
  /// True when the bare name would find it.
  virtual bool relation_is_visible(Oid oid) = 0;
  virtual std::string_view database_name() = 0;

  // Types
  virtual Oid find_type(std::string_view schema, std::string_view name) = 0;
  virtual const ViewedType* type(Oid oid) = 0;
  virtual bool type_is_visible(Oid oid) = 0;

  // Functions and operators: all of that name that are visible (earlier schemas hide equal signatures of
  // later ones), or all in `schema`.
  virtual std::span<const ViewedFunction* const> find_functions(std::string_view schema,
                                                                std::string_view name) = 0;
  virtual const ViewedFunction* function(Oid oid) = 0;
  virtual std::span<const ViewedOperator* const> find_operators(std::string_view schema,
                                                                std::string_view name) = 0;
  virtual const ViewedOperator* op(Oid oid) = 0;

  // Casts and operator classes
  virtual std::optional<ViewedCast> find_cast(Oid source, Oid target) = 0;
  /// Default btree class of the type itself or of what it is binary-coercible to (varchar -> text, arrays ->
  /// anyarray, composites -> record, enums -> anyenum).
  virtual SortOperators sort_operators(Oid type) = 0;
  virtual std::span<const OperatorFamilyEntry> btree_memberships(Oid op) = 0;
  /// The operator of a btree family for a strategy and a pair of types; 0 none.
  virtual Oid family_operator(Oid family, int strategy, Oid left, Oid right) = 0;

  // Collations
  virtual Oid find_collation(std::string_view schema, std::string_view name) = 0;
  /// Name, schema-qualified when it is not visible; quoted as needed.
  virtual std::string collation_name(Oid oid) = 0;
  /// 0 when there is no such constraint on the relation.
  virtual Oid find_constraint_index(Oid relation, std::string_view constraint) = 0;
};

}  // namespace pinwheel::sql
