#include "sql/commands/support.h"

#include <algorithm>
#include <charconv>

#include "sql/catalog/catalog_scan.h"
#include "sql/catalog/relation_lock.h"
#include "sql/catalog/system_tables.h"
#include "sql/commands/dependencies.h"
#include "txn/transaction.h"

namespace pinwheel::sql {

void send_notice(CommandContext& context, std::string message, std::string detail) {
  context.client.notice(
      NoticeLevel::kNotice,
      SqlError{sqlstate::kSuccessfulCompletion, std::move(message)}.detail(std::move(detail)));
}

void send_warning(CommandContext& context, SqlState state, std::string message) {
  context.client.notice(NoticeLevel::kWarning, SqlError{state, std::move(message)});
}

std::string in_quotes(std::string_view name) { return "\"" + std::string{name} + "\""; }

std::string_view relation_kind_word(char kind) {
  switch (kind) {
    case 'i':
      return "index";
    case 'S':
      return "sequence";
    case 'v':
      return "view";
    case 'm':
      return "materialized view";
    case 't':
      return "toast table";
    case 'c':
      return "composite type";
    default:
      return "table";
  }
}

RelationRef find_locked_relation(CommandContext& context, const QualifiedName& name, int mode) {
  return lock_relation_by_name(context.catalog, name.schema, name.name, mode);
}

RelationRef require_relation(CommandContext& context, const QualifiedName& name, int mode, bool nowait) {
  RelationRef found = lock_relation_by_name(context.catalog, name.schema, name.name, mode, nowait);
  if (found) return found;
  if (!name.schema.empty()) context.catalog.require_schema(name.schema);
  context.catalog.throw_no_relation(name.schema, name.name);
}

void refuse_system_relation(const Relation& relation) {
  if (relation.oid >= kFirstNormalOid) return;
  throw SqlError{sqlstate::kInsufficientPrivilege,
                 "permission denied: " + in_quotes(relation.name) + " is a system catalog"};
}

void require_table(const Relation& relation) {
  if (relation.kind != 'r') {
    throw SqlError{sqlstate::kWrongObjectType, in_quotes(relation.name) + " is not a table"};
  }
  refuse_system_relation(relation);
}

namespace {
/// The session's own schema for temporary objects, made at its first use. Named after the session's slot, so
/// that a later session with the slot finds the schema there already.
Oid make_temporary_schema(CommandContext& context) {
  Catalog& catalog = context.catalog;
  if (is_valid(catalog.temporary_schema())) return catalog.temporary_schema();
  if (!catalog.has_database_privilege(catalog.eval().user, catalog.eval().database, kTemporaryPrivilege)) {
    throw SqlError{sqlstate::kInsufficientPrivilege,
                   "permission denied to create temporary tables in database " +
                       in_quotes(catalog.eval().database_name)};
  }
  const std::string name = "pg_temp_" + std::to_string(catalog.transaction().session().value + 1);
  Oid oid = catalog.find_schema(name);
  if (!is_valid(oid)) {
    oid = new_oid(catalog);
    insert_row(catalog, NamespaceRow{oid, name, Oid{10}, std::nullopt});
    catalog.invalidate_schema();
  } else {
    drop_schema_content(catalog, oid);  // a crash left it
  }
  catalog.set_temporary_schema(oid);
  return oid;
}
}  // namespace

Oid creation_schema(CommandContext& context, const QualifiedName& name, char& persistence) {
  Catalog& catalog = context.catalog;
  if (!name.catalog.empty() && name.catalog != catalog.eval().database_name) {
    throw SqlError{sqlstate::kFeatureNotSupported,
                   "cross-database references are not implemented: \"" + std::string{name.catalog} + "." +
                       std::string{name.schema} + "." + std::string{name.name} + "\""};
  }
  if (persistence == 't' || name.schema == "pg_temp") {
    if (!name.schema.empty() && name.schema != "pg_temp") {
      throw SqlError{sqlstate::kInvalidTableDefinition,
                     "cannot create temporary relation in non-temporary schema"};
    }
    persistence = 't';
    return make_temporary_schema(context);
  }
  const Oid schema = catalog.creation_schema(name.schema, persistence);
  if (schema == kCatalogSchema) {
    throw SqlError{sqlstate::kInsufficientPrivilege,
                   "permission denied to create \"pg_catalog." + std::string{name.name} + "\""}
        .detail("System catalog modifications are currently disallowed.");
  }
  if (!catalog.has_schema_privilege(catalog.eval().user, schema, kCreatePrivilege)) {
    throw SqlError{sqlstate::kInsufficientPrivilege,
                   "permission denied for schema " + catalog.schema_name(schema)}
        .position(name.location >= 0 ? name.location + 1 : 0);
  }
  return schema;
}

void notice_skipping(CommandContext& context, std::string_view word, const QualifiedName& name) {
  if (!name.schema.empty() && !is_valid(context.catalog.find_schema(name.schema))) {
    send_notice(context, "schema " + in_quotes(name.schema) + " does not exist, skipping");
    return;
  }
  send_notice(context, std::string{word} + " " + in_quotes(name.name) + " does not exist, skipping");
}

const Option* find_option(std::span<const Option> options, std::string_view name) {
  for (const Option& option : options) {
    if (option.name == name) return &option;
  }
  return nullptr;
}

bool option_bool(const Option& option) {
  if (option.kind == Option::Kind::kNone) return true;
  if (option.kind == Option::Kind::kInteger) {
    if (option.integer == 0) return false;
    if (option.integer == 1) return true;
  }
  std::string text;
  for (const char c : option.text) text += c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  if (text == "true" || text == "on" || text == "t" || text == "yes" || text == "1") return true;
  if (text == "false" || text == "off" || text == "f" || text == "no" || text == "0") return false;
  throw SqlError{sqlstate::kSyntaxError, std::string{option.name} + " requires a Boolean value"};
}

std::int64_t option_integer(const Option& option) {
  if (option.kind == Option::Kind::kInteger) return option.integer;
  std::int64_t number = 0;
  const char* end = option.text.data() + option.text.size();
  const auto [at, error] = std::from_chars(option.text.data(), end, number);
  if (error == std::errc{} && at == end && !option.text.empty()) return number;
  throw SqlError{sqlstate::kSyntaxError, std::string{option.name} + " requires an integer value"};
}

namespace {

struct KnownOption {
  std::string_view name;
  std::string_view kinds;  // of relations
  char type;               // i integer, b boolean, r real, e enum/text
  double min = 0, max = 0;
  std::string_view values = {};  // of enums, as the error's detail lists them
};

constexpr KnownOption kKnownOptions[] = {
    {"fillfactor", "r", 'i', 10, 100},
    {"fillfactor", "i", 'i', 10, 100},
    {"autovacuum_enabled", "r", 'b'},
    {"user_catalog_table", "r", 'b'},
    {"toast_tuple_target", "r", 'i', 128, 8160},
    {"parallel_workers", "r", 'i', 0, 1024},
    {"vacuum_truncate", "r", 'b'},
    {"vacuum_index_cleanup", "r", 'e', 0, 0, "Valid values are \"on\", \"off\", and \"auto\"."},
    {"autovacuum_vacuum_threshold", "r", 'i', 0, 2147483647},
    {"autovacuum_vacuum_insert_threshold", "r", 'i', -1, 2147483647},
    {"autovacuum_analyze_threshold", "r", 'i', 0, 2147483647},
    {"autovacuum_vacuum_scale_factor", "r", 'r', 0, 100},
    {"autovacuum_vacuum_insert_scale_factor", "r", 'r', 0, 100},
    {"autovacuum_analyze_scale_factor", "r", 'r', 0, 100},
    {"autovacuum_vacuum_cost_limit", "r", 'i', 1, 10000},
    {"autovacuum_vacuum_cost_delay", "r", 'r', 0, 100},
    {"autovacuum_freeze_min_age", "r", 'i', 0, 1000000000},
    {"autovacuum_freeze_max_age", "r", 'i', 100000, 2000000000},
    {"autovacuum_freeze_table_age", "r", 'i', 0, 2000000000},
    {"log_autovacuum_min_duration", "r", 'i', -1, 2147483647},
    {"deduplicate_items", "i", 'b'},
    {"security_barrier", "v", 'b'},
    {"security_invoker", "v", 'b'},
    {"check_option", "v", 'e', 0, 0, "Valid values are \"local\" and \"cascaded\"."},
};

std::string check_value(const KnownOption& known, const Option& option) {
  const std::string name{option.name};
  if (known.type == 'b') {
    try {
      return option_bool(option) ? "true" : "false";
    } catch (const SqlError&) {
      throw SqlError{sqlstate::kInvalidParameterValue,
                     "invalid value for boolean option " + in_quotes(name) + ": " + std::string{option.text}};
    }
  }
  if (known.type == 'i' || known.type == 'r') {
    double number = 0;
    const char* end = option.text.data() + option.text.size();
    const auto [at, error] = std::from_chars(option.text.data(), end, number);
    const bool whole = known.type == 'r' || number == static_cast<double>(static_cast<std::int64_t>(number));
    if (error != std::errc{} || at != end || !whole) {
      throw SqlError{sqlstate::kInvalidParameterValue,
                     std::string{"invalid value for "} + (known.type == 'i' ? "integer" : "floating point") +
                         " option " + in_quotes(name) + ": " + std::string{option.text}};
    }
    if (number < known.min || number > known.max) {
      const auto text_of = [&](double bound) {
        return known.type == 'i' ? std::to_string(static_cast<std::int64_t>(bound)) : std::to_string(bound);
      };
      throw SqlError{sqlstate::kInvalidParameterValue,
                     "value " + std::string{option.text} + " out of bounds for option " + in_quotes(name)}
          .detail("Valid values are between \"" + text_of(known.min) + "\" and \"" + text_of(known.max) +
                  "\".");
    }
  }
  return std::string{option.text};
}

const KnownOption& known_option(std::string_view name, char kind) {
  for (const KnownOption& known : kKnownOptions) {
    if (known.name == name && known.kinds.find(kind) != std::string_view::npos) return known;
  }
  throw SqlError{sqlstate::kInvalidParameterValue, "unrecognized parameter " + in_quotes(name)};
}

}  // namespace

std::vector<std::string> check_relation_options(std::span<const Option> options, char kind) {
  return change_relation_options({}, options, kind, false);
}

std::vector<std::string> change_relation_options(std::vector<std::string> stored,
                                                 std::span<const Option> options, char kind, bool reset) {
  for (const Option& option : options) {
    if (option.name == "oids") {
      if (option_bool(option)) {
        throw SqlError{sqlstate::kFeatureNotSupported, "tables declared WITH OIDS are not supported"};
      }
      continue;
    }
    // Options of the toast table are accepted and have no effect here.
    if (option.name.starts_with("toast.")) continue;
    const std::string prefix = std::string{option.name} + "=";
    const KnownOption& known = known_option(option.name, kind);
    std::erase_if(stored, [&](const std::string& entry) { return entry.starts_with(prefix); });
    if (!reset) stored.push_back(prefix + check_value(known, option));
  }
  return stored;
}

}  // namespace pinwheel::sql
