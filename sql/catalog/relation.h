#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/arena.h"
#include "base/ids.h"
#include "sql/catalog/acl.h"
#include "sql/catalog/ref.h"
#include "sql/types/compare.h"
#include "sql/types/datum.h"
#include "storage/btree/key.h"
#include "storage/heap/heap.h"
#include "storage/heap/tuple_layout.h"

namespace pinwheel::sql {

/// One column, dropped ones included: columns[i] has number i + 1.
struct Column {
  std::string name;  // "" once dropped
  std::int16_t number = 0;
  Oid type;
  std::int32_t type_modifier = -1;
  Oid collation;
  std::int16_t length = 0;  // as TypeInfo
  bool by_value = false;
  char align = 'i';
  char storage = 'p';
  bool not_null = false;
  bool dropped = false;
  char identity = 0;   // 'a' always, 'd' by default, 0 none
  char generated = 0;  // 's' stored, 0 none
  /// Source of DEFAULT, of nextval() for serial, or of the generation expression; "" = none. Parses under
  /// search_path pg_catalog: other names in it are qualified.
  std::string default_source;
  Oid default_oid;  // pg_attrdef row
  /// Identity columns: the sequence that gives values; 0 none.
  Oid identity_sequence;
  /// Value that rows written before ADD COLUMN ... DEFAULT have; the bytes belong to the relation.
  bool has_missing = false;
  Datum missing{};
  int statistics_target = -1;
  std::vector<AclItem> acl;
};

/// One key (or INCLUDE) column of an index.
struct IndexKey {
  std::int16_t column = 0;  // of the table; 0 = expression
  std::string expression;   // source, when column == 0
  Oid type;                 // as stored in the index
  std::int32_t type_modifier = -1;
  Oid collation;
  Oid operator_class;
  Oid operator_family;
  Oid compare_procedure;
  CompareFn compare = nullptr;  // of two values of `type`
  std::int16_t length = 0;
  bool by_value = false;
  char align = 'i';
  bool descending = false;
  bool nulls_first = false;
};

/// A comparison function with what it needs, as storage's indexes call it through compare_key.
struct KeyCompareContext {
  CompareFn compare = nullptr;
  CompareContext context;
};
/// A storage::KeyCompare; `context` is a KeyCompareContext.
int compare_key(std::uint64_t a, std::uint64_t b, const void* context);

/// What inserting into, checking and scanning an index needs.
struct IndexInfo {
  Oid oid;
  std::string name;
  FileId file;
  Oid table;
  Oid access_method;  // 403 btree
  int key_count = 0;  // keys[0 .. key_count) order the index; the rest are INCLUDE columns
  std::vector<IndexKey> keys;
  bool unique = false;
  bool nulls_not_distinct = false;
  bool primary = false;
  bool immediate = true;  // false: the unique check may wait for the end of the statement or transaction
  bool valid = true;      // may be used by queries
  bool ready = true;      // must be inserted into
  bool has_expressions = false;
  storage::TupleLayout layout;  // of index tuples: all of `keys`
  storage::Persistence persistence = storage::Persistence::kPermanent;
  /// What storage::BTree works on: layout of all `keys`, order, file. Outlives every BTree made of it.
  storage::BTreeIndex btree;
  /// What the key columns' comparisons need; btree.keys point here.
  std::unique_ptr<KeyCompareContext[]> compare_contexts;
  std::string predicate;  // source; "" = none
  int fill_factor = 90;
  /// The constraint it backs (primary key, unique); 0 none.
  Oid constraint;
  std::int32_t pages = 0;
  float tuples = -1;
};

struct CheckConstraint {
  Oid oid;
  std::string name;
  std::string source;  // boolean expression over the table's columns
  bool validated = true;
  bool no_inherit = false;
};

/// Both sides of a foreign key see the same struct.
struct ForeignKey {
  Oid oid;
  std::string name;
  Oid from_table;
  Oid to_table;
  std::vector<std::int16_t> from_columns;
  std::vector<std::int16_t> to_columns;
  /// Per column: pk = fk, pk = pk and fk = fk operators (pg_constraint.conpfeqop...).
  std::vector<Oid> pk_fk_equal, pk_pk_equal, fk_fk_equal;
  Oid index;  // unique index of to_table
  char match = 's';
  char on_update = 'a', on_delete = 'a';  // a no action, r restrict, c cascade, n set null, d set default
  bool deferrable = false;
  bool initially_deferred = false;
  bool validated = true;
};

/// WITH (...) of tables.
struct RelationOptions {
  int fill_factor = 100;
  bool autovacuum_enabled = true;
  int toast_tuple_target = 2032;
  bool security_barrier = false;
  /// All of them, "name=value", as in pg_class.reloptions.
  std::vector<std::string> all;
};

/// The catalogs' whole knowledge of one relation: PostgreSQL's relcache entry.
///
/// Immutable once built and shared by the sessions of a process; whoever holds a RelationRef may use it
/// although the cache has moved on. What it says holds while a lock on the relation is held and invalidations
/// were accepted after that lock was got (Catalog::accept_invalidations).
class Relation : public RefCounted {
 public:
  Oid oid;
  std::string name;
  Oid schema;
  std::string schema_name;
  char kind = 'r';  // r table, i index, S sequence, t toast table, v view, m materialized view, c composite
  char persistence = 'p';  // p permanent, u unlogged, t temporary
  bool shared = false;     // one for all databases
  FileId file;             // relation 0: no files (views)
  Oid row_type;
  Oid owner;
  Oid access_method;
  std::vector<AclItem> acl;
  bool has_acl = false;  // false: the owner's defaults hold

  std::vector<Column> columns;
  storage::TupleLayout layout;  // rows; dropped columns are among the attributes
  storage::HeapRelation heap;
  std::vector<IndexInfo> indexes;  // of tables; by oid
  std::vector<CheckConstraint> checks;
  std::vector<ForeignKey> references;     // this table is from_table
  std::vector<ForeignKey> referenced_by;  // this table is to_table
  /// Set for kind 'i' only: its own description, the same as in its table's `indexes`.
  std::vector<IndexInfo> self_index;

  Oid toast_table;
  Oid toast_index;
  FileId toast_file;
  FileId toast_index_file;
  RelationOptions options;
  Oid primary_key_index;

  /// View definition: a SELECT that parses under search_path pg_catalog. "" unless a view.
  std::string view_source;

  /// Statistics of the last VACUUM or ANALYZE; tuples -1 = never.
  std::int32_t pages = 0;
  float tuples = -1;
  std::int32_t all_visible_pages = 0;

  /// Changes whenever the entry is built anew; unique within the process. Cached plans remember it.
  std::uint64_t version = 0;

  bool is_table() const { return kind == 'r' || kind == 'm' || kind == 't'; }
  bool is_temporary() const { return persistence == 't'; }
  bool logged() const { return persistence == 'p'; }
  /// Null when there is no such live column.
  const Column* find_column(std::string_view column_name) const;
  const Column& column(std::int16_t number) const { return columns[static_cast<std::size_t>(number) - 1]; }
  const IndexInfo* find_index(Oid index) const;
  const IndexInfo* primary_key() const { return find_index(primary_key_index); }

  /// Memory of missing values.
  Arena values;
};

using RelationRef = Ref<Relation>;

}  // namespace pinwheel::sql
