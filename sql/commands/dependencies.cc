#include "sql/commands/dependencies.h"

#include <algorithm>

#include "base/sqlstate.h"
#include "sql/catalog/catalog_scan.h"
#include "sql/catalog/relation_lock.h"
#include "sql/commands/drop_object.h"
#include "sql/commands/support.h"
#include "sql/deparse/deparse.h"

namespace pinwheel::sql {
namespace {

struct FoundObject {
  ObjectAddress object;
  /// What it was found through; unset for the objects named.
  ObjectAddress through;
  bool original = false;
  bool silent = false;  // goes automatically: not an obstacle, not worth a notice
};

/// Finds everything that must go with some objects, dependents before what they depend on.
class DependentSearch {
 public:
  DependentSearch(Catalog& catalog, const std::vector<ObjectAddress>& originals)
      : catalog_{catalog}, originals_{originals} {}

  void run() {
    for (const ObjectAddress& object : originals_) {
      if (is_original_part(object)) continue;
      refuse_part(object);
      visit({object, {}, true, true});
    }
  }
  /// Without refusing objects that are parts of others: everything named goes anyway.
  void run_for_parts_too() {
    for (const ObjectAddress& object : originals_) visit({object, {}, true, true});
  }
  const std::vector<FoundObject>& targets() const { return targets_; }

 private:
  bool is_original(const ObjectAddress& object) const {
    return std::ranges::find(originals_, object) != originals_.end();
  }
  /// A column of a table that is to be dropped as a whole.
  bool is_original_part(const ObjectAddress& object) const {
    return object.part != 0 && is_original({object.catalog, object.object, 0});
  }

  /// The object that `object` is a part of, if any.
  std::optional<ObjectAddress> owner_of(const ObjectAddress& object) {
    std::optional<ObjectAddress> owner;
    scan_rows<DependRow>(catalog_, {{1, object.catalog}, {2, object.object}}, [&](DependRow& row, TupleId) {
      if (row.objsubid != object.part || row.deptype != 'i') return true;
      owner = ObjectAddress{row.refclassid, row.refobjid, row.refobjsubid};
      return false;
    });
    return owner;
  }

  void refuse_part(const ObjectAddress& object) {
    const auto owner = owner_of(object);
    if (!owner || is_original(*owner) || is_original({owner->catalog, owner->object, 0})) return;
    const std::string name = describe_object(catalog_, *owner);
    throw SqlError{sqlstate::kDependentObjectsStillExist,
                   "cannot drop " + describe_object(catalog_, object) + " because " + name + " requires it"}
        .hint("You can drop " + name + " instead.");
  }

  FoundObject* find(const ObjectAddress& object) {
    for (FoundObject& target : targets_) {
      if (target.object == object) return &target;
      // The whole table covers its columns.
      if (target.object.part == 0 && target.object.catalog == object.catalog &&
          target.object.object == object.object) {
        return &target;
      }
    }
    return nullptr;
  }

  void lock(const ObjectAddress& object) {
    if (object.catalog == kClassTable) lock_relation(catalog_, object.object, kAccessExclusiveLock);
    if (object.catalog == kConstraintTable) {
      const auto row = find_row<ConstraintRow>(catalog_, {{1, object.object}});
      if (row && is_valid(row->conrelid)) lock_relation(catalog_, row->conrelid, kAccessExclusiveLock);
    }
    if (object.catalog == kAttrDefTable) {
      const auto row = find_row<AttrDefRow>(catalog_, {{1, object.object}});
      if (row) lock_relation(catalog_, row->adrelid, kAccessExclusiveLock);
    }
  }

  void visit(FoundObject target) {
    if (FoundObject* known = find(target.object)) {
      known->silent |= target.silent;
      return;
    }
    if (std::ranges::find(stack_, target.object) != stack_.end()) return;
    if (!target.original) lock(target.object);
    stack_.push_back(target.object);

    struct Dependent {
      ObjectAddress object;
      char type;
    };
    std::vector<Dependent> dependents;
    scan_rows<DependRow>(catalog_, {{4, target.object.catalog}, {5, target.object.object}},
                         [&](DependRow& row, TupleId) {
                           if (target.object.part != 0 && row.refobjsubid != target.object.part) return true;
                           // A part of the object itself (a table's own constraint on another of its
                           // columns...).
                           if (row.classid == target.object.catalog && row.objid == target.object.object)
                             return true;
                           dependents.push_back({{row.classid, row.objid, row.objsubid}, row.deptype});
                           return true;
                         });
    // Newest first, so that what was made last goes first.
    std::ranges::stable_sort(dependents, [](const Dependent& a, const Dependent& b) {
      return a.object.object > b.object.object ||
             (a.object.object == b.object.object && a.object.part > b.object.part);
    });
    for (Dependent& dependent : dependents) {
      if (dependent.type == 'n' || dependent.type == 'a') {
        // What is part of something else goes with that: a view's rule with the view.
        const auto owner = owner_of(dependent.object);
        if (owner && !(*owner == target.object)) {
          if (owner->catalog == target.object.catalog && owner->object == target.object.object) continue;
          dependent.object = *owner;
        }
      }
      const bool silent = dependent.type != 'n' || is_original(dependent.object);
      visit({dependent.object, target.object, is_original(dependent.object), silent});
    }
    stack_.pop_back();
    if (FoundObject* known = find(target.object)) {
      known->silent |= target.silent;
      return;
    }
    targets_.push_back(target);
  }

  Catalog& catalog_;
  const std::vector<ObjectAddress>& originals_;
  std::vector<ObjectAddress> stack_;
  std::vector<FoundObject> targets_;
};

std::string qualified(Catalog& catalog, const Relation& relation) {
  return quote_qualified(catalog.relation_is_visible(relation.oid) ? "" : relation.schema_name,
                         relation.name);
}

std::string describe_relation(Catalog& catalog, Oid oid) {
  const RelationRef relation = catalog.relation(oid);
  if (!relation) return "relation " + std::to_string(oid.value);
  return std::string{relation_kind_word(relation->kind)} + " " + qualified(catalog, *relation);
}

constexpr int kMaxReported = 100;

void report(CommandContext& context, const DependentSearch& search,
            const std::vector<ObjectAddress>& originals, bool cascade) {
  Catalog& catalog = context.catalog;
  std::string detail;
  std::string last;
  int count = 0;
  const auto& targets = search.targets();
  for (auto target = targets.rbegin(); target != targets.rend(); ++target) {
    if (target->original || target->silent) continue;
    ++count;
    if (count > kMaxReported) continue;
    last = describe_object(catalog, target->object);
    if (!detail.empty()) detail += '\n';
    detail += cascade ? "drop cascades to " + last
                      : last + " depends on " + describe_object(catalog, target->through);
  }
  if (count == 0) return;
  if (count > kMaxReported) {
    detail += "\nand " + std::to_string(count - kMaxReported) + " other objects (see server log for list)";
  }
  if (cascade) {
    if (count == 1) return send_notice(context, "drop cascades to " + last);
    return send_notice(context, "drop cascades to " + std::to_string(count) + " other objects", detail);
  }
  const std::string what =
      originals.size() == 1
          ? describe_object(catalog, originals.front()) + " because other objects depend on it"
          : std::string{"desired object(s) because other objects depend on them"};
  throw SqlError{sqlstate::kDependentObjectsStillExist, "cannot drop " + what}.detail(detail).hint(
      "Use DROP ... CASCADE to drop the dependent objects too.");
}

}  // namespace

void add_dependency(Catalog& catalog, const ObjectAddress& dependent, const ObjectAddress& referenced,
                    DependencyType type) {
  // The system's own objects cannot be dropped, so nothing needs to remember them.
  if (referenced.object < kFirstNormalOid && referenced.object != kPublicSchema) return;
  insert_row(catalog, DependRow{dependent.catalog, dependent.object, dependent.part, referenced.catalog,
                                referenced.object, referenced.part, static_cast<char>(type)});
}

void remove_dependencies_of(Catalog& catalog, const ObjectAddress& dependent) {
  CatalogScan scan{catalog, kDependTable,
                   std::vector<CatalogKey>{{1, dependent.catalog}, {2, dependent.object}}};
  while (scan.next()) {
    if (dependent.part != 0 && scan.values()[2].as_int32() != dependent.part) continue;
    delete_tuple(catalog, kDependTable, scan.tuple_id());
  }
}

std::string describe_object(Catalog& catalog, const ObjectAddress& object) {
  if (object.catalog == kClassTable) {
    const std::string relation = describe_relation(catalog, object.object);
    if (object.part == 0) return relation;
    const RelationRef of = catalog.relation(object.object);
    const std::string column = of ? of->column(static_cast<std::int16_t>(object.part)).name : "?";
    return "column " + quote_identifier(column) + " of " + relation;
  }
  if (object.catalog == kConstraintTable) {
    const auto row = find_row<ConstraintRow>(catalog, {{1, object.object}});
    if (!row) return "constraint " + std::to_string(object.object.value);
    return "constraint " + quote_identifier(row->conname) + " on " +
           describe_relation(catalog, row->conrelid);
  }
  if (object.catalog == kAttrDefTable) {
    const auto row = find_row<AttrDefRow>(catalog, {{1, object.object}});
    if (!row) return "default value " + std::to_string(object.object.value);
    return "default value for " + describe_object(catalog, {kClassTable, row->adrelid, row->adnum});
  }
  if (object.catalog == kRewriteTable) {
    const auto row = find_row<RewriteRow>(catalog, {{1, object.object}});
    if (!row) return "rule " + std::to_string(object.object.value);
    return "rule " + quote_identifier(row->rulename) + " on " + describe_relation(catalog, row->ev_class);
  }
  if (object.catalog == kTypeTable) return "type " + catalog.format_type(object.object);
  if (object.catalog == kNamespaceTable)
    return "schema " + quote_identifier(catalog.schema_name(object.object));
  if (object.catalog == kAuthIdTable) return "role " + quote_identifier(catalog.role_name(object.object));
  if (object.catalog == kDatabaseTable) {
    const auto database = catalog.database(object.object);
    return "database " + (database ? quote_identifier(database->name) : std::to_string(object.object.value));
  }
  return "object " + std::to_string(object.object.value);
}

void drop_schema_content(Catalog& catalog, Oid schema) {
  std::vector<ObjectAddress> objects;
  for (const ClassRow& row : find_rows<ClassRow>(catalog, {})) {
    // Indexes and toast tables go with their tables.
    const bool independent = row.relkind != 'i' && row.relkind != 't';
    if (row.relnamespace == schema && independent) objects.push_back({kClassTable, row.oid});
  }
  if (objects.empty()) return;
  DependentSearch search{catalog, objects};
  search.run_for_parts_too();
  for (const FoundObject& found : search.targets()) drop_one_object(catalog, found.object);
}

void drop_objects(CommandContext& context, const std::vector<ObjectAddress>& objects, bool cascade) {
  if (objects.empty()) return;
  DependentSearch search{context.catalog, objects};
  search.run();
  report(context, search, objects, cascade);
  for (const FoundObject& target : search.targets()) drop_one_object(context.catalog, target.object);
}

}  // namespace pinwheel::sql
