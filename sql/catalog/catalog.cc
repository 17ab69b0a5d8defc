#include "sql/catalog/catalog.h"

#include <algorithm>

#include "base/sqlstate.h"
#include "sql/catalog/catalog_scan.h"
#include "sql/catalog/catalog_state.h"
#include "sql/catalog/relation_builder.h"
#include "sql/catalog/system_views.h"

namespace pinwheel::sql {
namespace {

/// Names of the system's own tables, views and indexes in pg_catalog and information_schema.
Oid find_system_name(Oid schema, std::string_view name) {
  static const StringMap<Oid> catalog_names = [] {
    StringMap<Oid> names;
    for (const SystemRelation& relation : system_relations()) {
      if (relation.kind == 'v' && system_view_source(relation.schema, relation.name).empty()) continue;
      names.emplace(std::to_string(relation.schema.value) + "/" + std::string{relation.name}, relation.oid);
      for (const SystemIndex& index : relation.indexes) {
        names.emplace("11/" + std::string{index.name}, index.oid);
      }
    }
    return names;
  }();
  const auto found = catalog_names.find(std::to_string(schema.value) + "/" + std::string{name});
  return found != catalog_names.end() ? found->second : kInvalidOid;
}

}  // namespace

DatabaseEntries& Catalog::State::shared_entries() {
  return catalog.services_.cache.database(catalog.eval_.database);
}

Catalog::Catalog(CatalogServices& services, EvalContext& eval, txn::Transaction& transaction)
    : services_{services}, eval_{eval}, transaction_{transaction}, state_{std::make_unique<State>(*this)} {
  transaction_.add_hooks(*state_);
}

Catalog::~Catalog() {
  // The transaction outlives its hooks by a little: what is open must end while they can still be called.
  if (transaction_.active()) transaction_.abort();
}

// --- Keeping up -----------------------------------------------------------------------------------------

void Catalog::accept_invalidations() {
  services_.cache.catch_up();
  if (state_->seen_generation != services_.cache.generation()) [[unlikely]] {
    state_->seen_generation = services_.cache.generation();
    state_->overlay.clear();
    state_->shared_overlay.clear();
    if (state_->own_generation != 0) state_->own_generation = services_.cache.next_number();
  }
}

std::uint64_t Catalog::generation() const {
  return state_->own_generation != 0 ? state_->own_generation : services_.cache.generation();
}

std::uint64_t Catalog::relation_version(Oid oid) {
  const RelationRef current = relation(oid);
  return current ? current->version : 0;
}

// --- Relations ------------------------------------------------------------------------------------------

RelationRef Catalog::relation(Oid oid) {
  const bool changed = state_->changed_relations.contains(oid);
  DatabaseEntries& entries = changed ? state_->overlay : state_->shared_entries();
  if (const auto found = entries.relations.find(oid); found != entries.relations.end()) return found->second;

  const std::uint64_t position = services_.cache.applied();
  std::unique_ptr<Relation> built;
  if (const SystemRelation* facts = find_system_relation(oid)) {
    if (facts->kind == 'v' && system_view_source(facts->schema, facts->name).empty()) return {};
    built = build_system_relation(*facts, eval_.database);
  } else if (const SystemIndex* index = find_system_index(oid)) {
    built = build_system_index(*index, eval_.database);
  } else {
    const auto row = find_row<ClassRow>(*this, {{1, oid}});
    if (!row) return {};
    built = build_relation(*this, *row);
  }
  built->version = services_.cache.next_number();
  RelationRef made{built.release()};
  // Reading may have let other sessions of this process run and apply newer invalidations: then what was read
  // may be old already, good for this call only.
  if (services_.cache.applied() == position) {
    DatabaseEntries& target = changed ? state_->overlay : state_->shared_entries();
    target.relations.insert_or_assign(oid, made);
  }
  return made;
}

RelationRef Catalog::require_relation(Oid oid) {
  RelationRef found = relation(oid);
  if (!found) {
    throw SqlError{sqlstate::kInternalError, "could not open relation with OID " + std::to_string(oid.value)};
  }
  return found;
}

Oid Catalog::find_relation_oid(std::string_view schema, std::string_view name) {
  const auto find_in = [&](Oid in) -> Oid {
    if (const Oid found = find_system_name(in, name); is_valid(found)) return found;
    if (in == kCatalogSchema) return kInvalidOid;
    return state_->find_named<ClassRow>(&DatabaseEntries::relation_names, in, name);
  };
  if (!schema.empty()) {
    const Oid in = find_schema(schema);
    return is_valid(in) ? find_in(in) : kInvalidOid;
  }
  for (const Oid in : search_path()) {
    if (const Oid found = find_in(in); is_valid(found)) return found;
  }
  return kInvalidOid;
}

RelationRef Catalog::find_relation(std::string_view schema, std::string_view name) {
  const Oid oid = find_relation_oid(schema, name);
  return is_valid(oid) ? relation(oid) : RelationRef{};
}

void Catalog::throw_no_relation(std::string_view schema, std::string_view name) {
  if (schema.empty()) {
    throw SqlError{sqlstate::kUndefinedTable, "relation \"" + std::string{name} + "\" does not exist"};
  }
  throw SqlError{sqlstate::kUndefinedTable,
                 "relation \"" + std::string{schema} + "." + std::string{name} + "\" does not exist"};
}

bool Catalog::relation_is_visible(Oid oid) {
  const RelationRef found = relation(oid);
  if (!found) return false;
  // Visible: the first relation of that name along the path is this one.
  return find_relation_oid("", found->name) == oid;
}

std::string Catalog::relation_name(Oid oid) {
  const RelationRef found = relation(oid);
  return found ? found->name : std::string{};
}

std::optional<SequenceInfo> Catalog::sequence(Oid oid) {
  const auto row = find_row<SequenceRow>(*this, {{1, oid}});
  if (!row) return std::nullopt;
  return SequenceInfo{oid,         row->seqtypid, row->seqstart, row->seqincrement,
                      row->seqmax, row->seqmin,   row->seqcache, row->seqcycle};
}

// --- Changes --------------------------------------------------------------------------------------------

void Catalog::State::note(InvalidationKind kind, Oid database, Oid object) {
  own_generation = catalog.services_.cache.next_number();
  for (const InvalidationMessage& message : pending) {
    if (message.kind == kind && message.object == object) return;
  }
  pending.push_back({database, kind, object});
}

void Catalog::invalidate_relation(Oid oid) {
  state_->changed_relations.insert(oid);
  state_->names_changed = true;
  state_->overlay.drop_relation(oid);
  state_->note(InvalidationKind::kRelation, eval_.database, oid);
}

void Catalog::invalidate_type(Oid oid) {
  state_->changed_types.insert(oid);
  state_->names_changed = true;
  state_->overlay.types.erase(oid);
  state_->overlay.type_names.clear();
  state_->note(InvalidationKind::kType, eval_.database, oid);
}

void Catalog::invalidate_schema() {
  state_->schemas_changed = true;
  state_->overlay.schemas.reset();
  state_->overlay.relation_names.clear();
  state_->overlay.type_names.clear();
  state_->path_valid = false;
  state_->note(InvalidationKind::kSchema, eval_.database, kInvalidOid);
}

void Catalog::invalidate_statistics(Oid relation) {
  state_->changed_statistics.insert(relation);
  state_->overlay.statistics.erase(relation);
  state_->note(InvalidationKind::kStatistics, eval_.database, relation);
}

void Catalog::invalidate_shared() {
  state_->shared_changed = true;
  state_->shared_overlay.clear();
  state_->path_valid = false;
  state_->note(InvalidationKind::kShared, kInvalidOid, kInvalidOid);
}

void Catalog::note_new_file(FileId file) { state_->new_files.push_back({file, transaction_.nest_level()}); }

bool Catalog::is_new_file(FileId file) const {
  return std::ranges::any_of(state_->new_files,
                             [&](const State::NewFile& known) { return known.file == file; });
}

bool Catalog::is_new_file_of_level(FileId file) const {
  return std::ranges::any_of(state_->new_files, [&](const State::NewFile& known) {
    return known.file == file && known.level == transaction_.nest_level();
  });
}

bool Catalog::has_changes() const { return !state_->pending.empty(); }

std::span<const std::byte> Catalog::State::commit_payload() { return std::as_bytes(std::span{pending}); }

void Catalog::State::after_commit() noexcept {
  // After CLOG and the running set, before locks are released: whoever gets a lock of ours next sees the
  // messages, and a snapshot taken after them sees the rows. If the process dies before, the segment and all
  // caches with it go.
  if (!pending.empty()) {
    catalog.services_.invalidations.append(pending);
    catalog.services_.cache.catch_up();
  }
  temporary_schema_is_new = false;
  forget_changes();
}

void Catalog::State::after_abort() noexcept {
  forget_temporary_schema();
  forget_changes();
}

void Catalog::State::commit_subtransaction(int level) noexcept {
  for (NewFile& known : new_files) known.level = std::min(known.level, level - 1);
}

void Catalog::State::abort_subtransaction(int) noexcept {
  // The messages stay: too many are harmless. What the overlay holds may have been taken back.
  new_files.clear();  // some may be of the part taken back: forgetting the others only costs speed
  overlay.clear();
  shared_overlay.clear();
  path_valid = false;
  if (own_generation != 0) own_generation = catalog.services_.cache.next_number();
}

/// The schema that the transaction took back is made again when it is needed.
void Catalog::State::forget_temporary_schema() noexcept {
  if (!temporary_schema_is_new) return;
  temporary_schema = {};
  temporary_schema_is_new = false;
  path_valid = false;
}

void Catalog::State::forget_changes() noexcept {
  new_files.clear();
  if (own_generation == 0) return;
  pending.clear();
  changed_relations.clear();
  changed_types.clear();
  changed_statistics.clear();
  names_changed = schemas_changed = shared_changed = false;
  overlay.clear();
  shared_overlay.clear();
  own_generation = 0;
  path_valid = false;
}

}  // namespace pinwheel::sql
