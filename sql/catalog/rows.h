#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "sql/catalog/acl.h"
#include "sql/catalog/system_tables.h"
#include "sql/types/datum.h"

/// One struct per catalog that code reads or writes, fields named and ordered as the table's columns. How a
/// field's C++ type maps to its column's SQL type is said in row_codec.h.
///
/// Expressions (pg_node_tree columns) hold SQL text that parses under search_path pg_catalog.
/// pg_index.indexprs joins several expressions by the character 0x1F.
namespace pinwheel::sql {

/// A column that is always zero here (xids that exist for freezing).
struct UnusedXid {};
/// A value of any type; the bytes live in the arena that the row was read with. Null when `present` is false.
struct AnyValue {
  bool present = false;
  Datum value{};
};
using NodeTree = std::optional<std::string>;
using AclColumn = std::optional<std::vector<AclItem>>;
using TextList = std::vector<std::string>;  // empty = NULL
inline constexpr char kExpressionSeparator = '\x1F';

struct ClassRow {
  static constexpr Oid kTable = kClassTable;
  Oid oid;
  std::string relname;
  Oid relnamespace, reltype, reloftype, relowner, relam, relfilenode, reltablespace;
  std::int32_t relpages = 0;
  float reltuples = -1;
  std::int32_t relallvisible = 0;
  Oid reltoastrelid;
  bool relhasindex = false, relisshared = false;
  char relpersistence = 'p', relkind = 'r';
  std::int16_t relnatts = 0, relchecks = 0;
  bool relhasrules = false, relhastriggers = false, relhassubclass = false, relrowsecurity = false;
  bool relforcerowsecurity = false, relispopulated = true;
  char relreplident = 'd';
  bool relispartition = false;
  Oid relrewrite;
  UnusedXid relfrozenxid, relminmxid;
  AclColumn relacl;
  TextList reloptions;
  NodeTree relpartbound;

  template <class V>
  void visit(V&& v) {
    v(oid, relname, relnamespace, reltype, reloftype, relowner, relam, relfilenode, reltablespace, relpages,
      reltuples, relallvisible, reltoastrelid, relhasindex, relisshared, relpersistence, relkind, relnatts,
      relchecks, relhasrules, relhastriggers, relhassubclass, relrowsecurity, relforcerowsecurity,
      relispopulated, relreplident, relispartition, relrewrite, relfrozenxid, relminmxid, relacl, reloptions,
      relpartbound);
  }
};

struct AttributeRow {
  static constexpr Oid kTable = kAttributeTable;
  Oid attrelid;
  std::string attname;
  Oid atttypid;
  std::int32_t attstattarget = -1;
  std::int16_t attlen = 0, attnum = 0;
  std::int32_t attndims = 0, attcacheoff = -1, atttypmod = -1;
  bool attbyval = false;
  char attalign = 'i', attstorage = 'p', attcompression = '\0';
  bool attnotnull = false, atthasdef = false, atthasmissing = false;
  char attidentity = '\0', attgenerated = '\0';
  bool attisdropped = false, attislocal = true;
  std::int32_t attinhcount = 0;
  Oid attcollation;
  AclColumn attacl;
  TextList attoptions, attfdwoptions;
  AnyValue attmissingval;

  template <class V>
  void visit(V&& v) {
    v(attrelid, attname, atttypid, attstattarget, attlen, attnum, attndims, attcacheoff, atttypmod, attbyval,
      attalign, attstorage, attcompression, attnotnull, atthasdef, atthasmissing, attidentity, attgenerated,
      attisdropped, attislocal, attinhcount, attcollation, attacl, attoptions, attfdwoptions, attmissingval);
  }
};

struct TypeRow {
  static constexpr Oid kTable = kTypeTable;
  Oid oid;
  std::string typname;
  Oid typnamespace, typowner;
  std::int16_t typlen = -1;
  bool typbyval = false;
  char typtype = 'b', typcategory = 'U';
  bool typispreferred = false, typisdefined = true;
  char typdelim = ',';
  Oid typrelid, typsubscript, typelem, typarray, typinput, typoutput, typreceive, typsend, typmodin,
      typmodout, typanalyze;
  char typalign = 'i', typstorage = 'x';
  bool typnotnull = false;
  Oid typbasetype;
  std::int32_t typtypmod = -1, typndims = 0;
  Oid typcollation;
  NodeTree typdefaultbin;
  std::optional<std::string> typdefault;
  AclColumn typacl;

  template <class V>
  void visit(V&& v) {
    v(oid, typname, typnamespace, typowner, typlen, typbyval, typtype, typcategory, typispreferred,
      typisdefined, typdelim, typrelid, typsubscript, typelem, typarray, typinput, typoutput, typreceive,
      typsend, typmodin, typmodout, typanalyze, typalign, typstorage, typnotnull, typbasetype, typtypmod,
      typndims, typcollation, typdefaultbin, typdefault, typacl);
  }
};

struct IndexRow {
  static constexpr Oid kTable = kIndexTable;
  Oid indexrelid, indrelid;
  std::int16_t indnatts = 0, indnkeyatts = 0;
  bool indisunique = false, indnullsnotdistinct = false, indisprimary = false, indisexclusion = false;
  bool indimmediate = true, indisclustered = false, indisvalid = true, indcheckxmin = false,
       indisready = true;
  bool indislive = true, indisreplident = false;
  std::vector<std::int16_t> indkey;
  std::vector<Oid> indcollation, indclass;
  std::vector<std::int16_t> indoption;  // per key: 1 descending, 2 nulls first
  NodeTree indexprs, indpred;

  template <class V>
  void visit(V&& v) {
    v(indexrelid, indrelid, indnatts, indnkeyatts, indisunique, indnullsnotdistinct, indisprimary,
      indisexclusion, indimmediate, indisclustered, indisvalid, indcheckxmin, indisready, indislive,
      indisreplident, indkey, indcollation, indclass, indoption, indexprs, indpred);
  }
};

struct ConstraintRow {
  static constexpr Oid kTable = kConstraintTable;
  Oid oid;
  std::string conname;
  Oid connamespace;
  char contype = 'c';  // c check, f foreign key, p primary key, u unique
  bool condeferrable = false, condeferred = false, convalidated = true;
  Oid conrelid, contypid, conindid, conparentid, confrelid;
  char confupdtype = ' ', confdeltype = ' ', confmatchtype = ' ';
  bool conislocal = true;
  std::int32_t coninhcount = 0;
  bool connoinherit = true;
  std::vector<std::int16_t> conkey, confkey;
  std::vector<Oid> conpfeqop, conppeqop, conffeqop;
  std::vector<std::int16_t> confdelsetcols;
  std::vector<Oid> conexclop;
  NodeTree conbin;

  template <class V>
  void visit(V&& v) {
    v(oid, conname, connamespace, contype, condeferrable, condeferred, convalidated, conrelid, contypid,
      conindid, conparentid, confrelid, confupdtype, confdeltype, confmatchtype, conislocal, coninhcount,
      connoinherit, conkey, confkey, conpfeqop, conppeqop, conffeqop, confdelsetcols, conexclop, conbin);
  }
};

struct AttrDefRow {
  static constexpr Oid kTable = kAttrDefTable;
  Oid oid, adrelid;
  std::int16_t adnum = 0;
  NodeTree adbin;
  template <class V>
  void visit(V&& v) {
    v(oid, adrelid, adnum, adbin);
  }
};

struct NamespaceRow {
  static constexpr Oid kTable = kNamespaceTable;
  Oid oid;
  std::string nspname;
  Oid nspowner;
  AclColumn nspacl;
  template <class V>
  void visit(V&& v) {
    v(oid, nspname, nspowner, nspacl);
  }
};

/// Object (classid, objid, objsubid) depends on the referenced one. deptype: n normal, a auto, i internal,
/// e extension, p pin (not stored).
struct DependRow {
  static constexpr Oid kTable = kDependTable;
  Oid classid, objid;
  std::int32_t objsubid = 0;
  Oid refclassid, refobjid;
  std::int32_t refobjsubid = 0;
  char deptype = 'n';
  template <class V>
  void visit(V&& v) {
    v(classid, objid, objsubid, refclassid, refobjid, refobjsubid, deptype);
  }
};

struct ShDependRow {
  static constexpr Oid kTable = kShDependTable;
  Oid dbid, classid, objid;
  std::int32_t objsubid = 0;
  Oid refclassid, refobjid;
  char deptype = 'o';  // o owner, a acl
  template <class V>
  void visit(V&& v) {
    v(dbid, classid, objid, objsubid, refclassid, refobjid, deptype);
  }
};

struct DescriptionRow {
  static constexpr Oid kTable = kDescriptionTable;
  Oid objoid, classoid;
  std::int32_t objsubid = 0;
  std::string description;
  template <class V>
  void visit(V&& v) {
    v(objoid, classoid, objsubid, description);
  }
};

struct ShDescriptionRow {
  static constexpr Oid kTable = kShDescriptionTable;
  Oid objoid, classoid;
  std::string description;
  template <class V>
  void visit(V&& v) {
    v(objoid, classoid, description);
  }
};

struct SequenceRow {
  static constexpr Oid kTable = kSequenceTable;
  Oid seqrelid, seqtypid;
  std::int64_t seqstart = 1, seqincrement = 1, seqmax = 0, seqmin = 1, seqcache = 1;
  bool seqcycle = false;
  template <class V>
  void visit(V&& v) {
    v(seqrelid, seqtypid, seqstart, seqincrement, seqmax, seqmin, seqcache, seqcycle);
  }
};

struct RewriteRow {
  static constexpr Oid kTable = kRewriteTable;
  Oid oid;
  std::string rulename;
  Oid ev_class;
  char ev_type = '1', ev_enabled = 'O';
  bool is_instead = true;
  NodeTree ev_qual, ev_action;  // ev_action: the view's SELECT
  template <class V>
  void visit(V&& v) {
    v(oid, rulename, ev_class, ev_type, ev_enabled, is_instead, ev_qual, ev_action);
  }
};

struct AuthIdRow {
  static constexpr Oid kTable = kAuthIdTable;
  Oid oid;
  std::string rolname;
  bool rolsuper = false, rolinherit = true, rolcreaterole = false, rolcreatedb = false, rolcanlogin = false;
  bool rolreplication = false, rolbypassrls = false;
  std::int32_t rolconnlimit = -1;
  std::optional<std::string> rolpassword;
  std::optional<std::int64_t> rolvaliduntil;
  template <class V>
  void visit(V&& v) {
    v(oid, rolname, rolsuper, rolinherit, rolcreaterole, rolcreatedb, rolcanlogin, rolreplication,
      rolbypassrls, rolconnlimit, rolpassword, rolvaliduntil);
  }
};

struct AuthMembersRow {
  static constexpr Oid kTable = kAuthMembersTable;
  Oid roleid, member, grantor;
  bool admin_option = false;
  template <class V>
  void visit(V&& v) {
    v(roleid, member, grantor, admin_option);
  }
};

struct DatabaseRow {
  static constexpr Oid kTable = kDatabaseTable;
  Oid oid;
  std::string datname;
  Oid datdba;
  std::int32_t encoding = 6;
  char datlocprovider = 'c';
  bool datistemplate = false, datallowconn = true;
  std::int32_t datconnlimit = -1;
  UnusedXid datfrozenxid, datminmxid;
  Oid dattablespace;
  std::string datcollate, datctype;
  std::optional<std::string> daticulocale, datcollversion;
  AclColumn datacl;
  template <class V>
  void visit(V&& v) {
    v(oid, datname, datdba, encoding, datlocprovider, datistemplate, datallowconn, datconnlimit, datfrozenxid,
      datminmxid, dattablespace, datcollate, datctype, daticulocale, datcollversion, datacl);
  }
};

struct TablespaceRow {
  static constexpr Oid kTable = kTablespaceTable;
  Oid oid;
  std::string spcname;
  Oid spcowner;
  AclColumn spcacl;
  TextList spcoptions;
  template <class V>
  void visit(V&& v) {
    v(oid, spcname, spcowner, spcacl, spcoptions);
  }
};

struct DbRoleSettingRow {
  static constexpr Oid kTable = kDbRoleSettingTable;
  Oid setdatabase, setrole;
  TextList setconfig;
  template <class V>
  void visit(V&& v) {
    v(setdatabase, setrole, setconfig);
  }
};

/// Slots: kind 1 most common values (numbers: frequencies), 2 histogram, 3 correlation (numbers[0]).
struct StatisticRow {
  static constexpr Oid kTable = kStatisticTable;
  static constexpr int kSlots = 5;
  Oid starelid;
  std::int16_t staattnum = 0;
  bool stainherit = false;
  float stanullfrac = 0;
  std::int32_t stawidth = 0;
  float stadistinct = 0;
  std::int16_t stakind[kSlots]{};
  Oid staop[kSlots]{}, stacoll[kSlots]{};
  std::vector<float> stanumbers[kSlots];  // empty = NULL
  AnyValue stavalues[kSlots];
  template <class V>
  void visit(V&& v) {
    v(starelid, staattnum, stainherit, stanullfrac, stawidth, stadistinct, stakind[0], stakind[1], stakind[2],
      stakind[3], stakind[4], staop[0], staop[1], staop[2], staop[3], staop[4], stacoll[0], stacoll[1],
      stacoll[2], stacoll[3], stacoll[4], stanumbers[0], stanumbers[1], stanumbers[2], stanumbers[3],
      stanumbers[4], stavalues[0], stavalues[1], stavalues[2], stavalues[3], stavalues[4]);
  }
};

}  // namespace pinwheel::sql
