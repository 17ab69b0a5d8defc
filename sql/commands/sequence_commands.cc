#include "base/sqlstate.h"
#include "sql/catalog/catalog_scan.h"
#include "sql/catalog/relation_lock.h"
#include "sql/commands/commands_list.h"
#include "sql/commands/constraints.h"
#include "sql/commands/dependencies.h"
#include "sql/commands/relation_create.h"
#include "sql/commands/sequence_options.h"
#include "sql/commands/sequences.h"
#include "sql/commands/support.h"
#include "sql/types/type_oids.h"

namespace pinwheel::sql {
namespace {

/// OWNED BY table.column, or NONE.
void set_owner_column(CommandContext& context, Oid sequence_oid, std::span<std::string_view> owned_by) {
  Catalog& catalog = context.catalog;
  CatalogScan scan{catalog, kDependTable, std::vector<CatalogKey>{{1, kClassTable}, {2, sequence_oid}}};
  while (scan.next()) {
    const char type = scan.values()[6].as_char();
    if (type == 'i') {
      throw SqlError{sqlstate::kFeatureNotSupported, "cannot change ownership of identity sequence"};
    }
    if (type == 'a' && scan.values()[3].as_oid() == kClassTable)
      delete_tuple(catalog, kDependTable, scan.tuple_id());
  }
  if (owned_by.size() == 1) {
    if (owned_by[0] == "none") return;
    throw SqlError{sqlstate::kSyntaxError, "invalid OWNED BY option"}.hint(
        "Specify OWNED BY table.column or OWNED BY NONE.");
  }
  QualifiedName name;
  name.name = owned_by[owned_by.size() - 2];
  if (owned_by.size() > 2) name.schema = owned_by[owned_by.size() - 3];
  const RelationRef table = require_relation(context, name, kAccessShareLock);
  if (table->kind != 'r') {
    throw SqlError{sqlstate::kWrongObjectType,
                   "sequence cannot be owned by relation " + in_quotes(table->name)};
  }
  const RelationRef sequence = catalog.require_relation(sequence_oid);
  if (sequence->owner != table->owner) {
    throw SqlError{sqlstate::kObjectNotInPrerequisiteState,
                   "sequence must have same owner as table it is linked to"};
  }
  if (sequence->schema != table->schema) {
    throw SqlError{sqlstate::kObjectNotInPrerequisiteState,
                   "sequence must be in same schema as table it is linked to"};
  }
  const Column& column = require_column(*table, owned_by.back());
  own_sequence(catalog, sequence_oid, table->oid, column.number, false);
}

}  // namespace

std::string run_create_sequence(CommandContext& context, const CreateSequenceUtility& utility) {
  Catalog& catalog = context.catalog;
  char persistence = utility.name.persistence;
  const Oid schema = creation_schema(context, utility.name, persistence);
  const std::string name{utility.name.name};
  if (utility.if_not_exists && name_is_taken(catalog, schema, name)) {
    context.client.notice(
        NoticeLevel::kNotice,
        SqlError{sqlstate::kDuplicateTable, "relation " + in_quotes(name) + " already exists, skipping"});
    return "CREATE SEQUENCE";
  }
  const Oid oid =
      create_sequence(context, schema, name, persistence, catalog.eval().user, utility.options, kInt8Type);
  if (const Option* owned = find_option(utility.options, "owned_by"))
    set_owner_column(context, oid, owned->list);
  return "CREATE SEQUENCE";
}

std::string run_alter_sequence(CommandContext& context, const AlterSequenceUtility& utility) {
  Catalog& catalog = context.catalog;
  const RelationRef sequence = find_locked_relation(context, utility.name, kShareRowExclusiveLock);
  if (!sequence) {
    if (!utility.missing_ok) catalog.throw_no_relation(utility.name.schema, utility.name.name);
    notice_skipping(context, "relation", utility.name);
    return "ALTER SEQUENCE";
  }
  if (sequence->kind != 'S') {
    throw SqlError{sqlstate::kWrongObjectType, in_quotes(sequence->name) + " is not a sequence"};
  }
  catalog.check_relation_owner(*sequence);
  const SequenceInfo present = catalog.sequence(sequence->oid).value();
  const SequenceSettings settings = read_sequence_options(context, utility.options, &present, present.type);
  TupleId at;
  auto row = find_row<SequenceRow>(catalog, {{1, sequence->oid}}, &at);
  row->seqtypid = settings.info.type;
  row->seqstart = settings.info.start;
  row->seqincrement = settings.info.increment;
  row->seqmax = settings.info.max;
  row->seqmin = settings.info.min;
  row->seqcache = settings.info.cache;
  row->seqcycle = settings.info.cycle;
  update_row(catalog, at, *row);
  catalog.invalidate_relation(sequence->oid);
  if (settings.restart) {
    rewrite_sequence(catalog, sequence->oid, *settings.restart, false);
  } else {
    SequenceValues values{catalog};
    const auto last = values.last_value(sequence->oid);
    const std::int64_t value = last.value_or(settings.info.start);
    if (value < settings.info.min || value > settings.info.max) {
      const bool low = value < settings.info.min;
      throw SqlError{sqlstate::kInvalidParameterValue,
                     "RESTART value (" + std::to_string(value) + ") cannot be " + (low ? "less" : "greater") +
                         " than " + (low ? "MINVALUE (" : "MAXVALUE (") +
                         std::to_string(low ? settings.info.min : settings.info.max) + ")"};
    }
    rewrite_sequence(catalog, sequence->oid, value, last.has_value());
  }
  if (settings.has_owned_by) set_owner_column(context, sequence->oid, settings.owned_by);
  return "ALTER SEQUENCE";
}

}  // namespace pinwheel::sql
