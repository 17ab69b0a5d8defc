#include "base/sqlstate.h"
#include "sql/catalog/catalog_scan.h"
#include "sql/commands/commands_list.h"
#include "sql/commands/database_files.h"
#include "sql/commands/support.h"
#include "storage/storage.h"
#include "txn/transaction.h"

namespace pinwheel::sql {
namespace {

constexpr Oid kDefaultTablespace{1663};

/// Locks a database as an object of the cluster: sessions hold RowExclusive on theirs.
void lock_database(Catalog& catalog, Oid database, txn::LockMode mode) {
  static_cast<void>(
      catalog.transaction().locks().lock(txn::LockTag::object(kInvalidOid, kDatabaseTable, database), mode));
}

DatabaseRow require_database(Catalog& catalog, std::string_view name) {
  auto row = find_row<DatabaseRow>(catalog, {{2, name}});
  if (!row) throw SqlError{sqlstate::kUndefinedDatabase, "database " + in_quotes(name) + " does not exist"};
  return std::move(*row);
}

void check_options(const CreateDatabaseUtility& utility) {
  for (const Option& option : utility.options) {
    const bool known = option.name == "template" || option.name == "owner" || option.name == "encoding" ||
                       option.name == "lc_collate" || option.name == "lc_ctype" || option.name == "locale" ||
                       option.name == "is_template" || option.name == "allow_connections" ||
                       option.name == "connection_limit" || option.name == "tablespace" ||
                       option.name == "strategy" || option.name == "locale_provider";
    if (!known)
      throw SqlError{sqlstate::kSyntaxError, "option " + in_quotes(option.name) + " not recognized"};
    if (option.name == "encoding") {
      std::string text;
      for (const char c : option.text) {
        if (c != '-' && c != '_') text += c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
      }
      if (text != "utf8" && text != "unicode" && text != "6" && text != "default") {
        throw SqlError{sqlstate::kFeatureNotSupported,
                       "encoding " + in_quotes(option.text) + " is not supported"};
      }
    }
    if (option.name == "tablespace" && option.text != "pg_default" && option.text != "default") {
      throw SqlError{sqlstate::kUndefinedObject, "tablespace " + in_quotes(option.text) + " does not exist"};
    }
  }
}

}  // namespace

std::string run_create_database(CommandContext& context, const CreateDatabaseUtility& utility) {
  Catalog& catalog = context.catalog;
  check_options(utility);
  const auto self = catalog.role(catalog.eval().user);
  if (!self || !(self->superuser || self->create_database)) {
    throw SqlError{sqlstate::kInsufficientPrivilege, "permission denied to create database"};
  }
  const auto text_option = [&](std::string_view name, std::string_view otherwise) {
    const Option* option = find_option(utility.options, name);
    return option != nullptr && option->text != "default" ? option->text : otherwise;
  };
  const std::string template_name{text_option("template", "template1")};
  const DatabaseRow source = [&] {
    auto row = find_row<DatabaseRow>(catalog, {{2, std::string_view{template_name}}});
    if (!row) {
      throw SqlError{sqlstate::kUndefinedDatabase,
                     "template database " + in_quotes(template_name) + " does not exist"};
    }
    return std::move(*row);
  }();
  if (!source.datistemplate && !catalog.has_privileges_of(catalog.eval().user, source.datdba)) {
    throw SqlError{sqlstate::kInsufficientPrivilege,
                   "permission denied to copy database " + in_quotes(template_name)};
  }
  if (catalog.find_database(utility.name)) {
    throw SqlError{sqlstate::kDuplicateDatabase, "database " + in_quotes(utility.name) + " already exists"};
  }
  lock_database(catalog, source.oid, txn::LockMode::kShare);
  if (source.oid != catalog.eval().database && sessions_in_database(context, source.oid) > 0) {
    throw SqlError{sqlstate::kObjectInUse,
                   "source database " + in_quotes(template_name) + " is being accessed by other users"};
  }
  DatabaseRow row = source;
  row.oid = new_oid(catalog);
  row.datname = utility.name;
  const std::string_view owner = text_option("owner", "");
  row.datdba = owner.empty() ? catalog.eval().user : catalog.require_role(owner);
  const Option* is_template = find_option(utility.options, "is_template");
  row.datistemplate = is_template != nullptr && option_bool(*is_template);
  const Option* allow = find_option(utility.options, "allow_connections");
  row.datallowconn = allow == nullptr || option_bool(*allow);
  const Option* limit = find_option(utility.options, "connection_limit");
  row.datconnlimit = limit != nullptr ? static_cast<std::int32_t>(option_integer(*limit)) : -1;
  row.dattablespace = kDefaultTablespace;
  row.datacl.reset();
  insert_row(catalog, row);
  catalog.invalidate_shared();
  copy_database(context, source.oid, row.oid);
  return "CREATE DATABASE";
}

std::string run_drop_database(CommandContext& context, const DropDatabaseUtility& utility) {
  Catalog& catalog = context.catalog;
  if (!catalog.find_database(utility.name)) {
    if (!utility.missing_ok) static_cast<void>(require_database(catalog, utility.name));
    send_notice(context, "database " + in_quotes(utility.name) + " does not exist, skipping");
    return "DROP DATABASE";
  }
  const DatabaseRow row = require_database(catalog, utility.name);
  if (!catalog.has_privileges_of(catalog.eval().user, row.datdba)) {
    throw SqlError{sqlstate::kInsufficientPrivilege, "must be owner of database " + row.datname};
  }
  if (row.datistemplate) {
    throw SqlError{sqlstate::kWrongObjectType, "cannot drop a template database"};
  }
  if (row.oid == catalog.eval().database) {
    throw SqlError{sqlstate::kObjectInUse, "cannot drop the currently open database"};
  }
  lock_database(catalog, row.oid, txn::LockMode::kAccessExclusive);
  const int others = sessions_in_database(context, row.oid);
  if (others > 0) {
    throw SqlError{sqlstate::kObjectInUse,
                   "database " + in_quotes(row.datname) + " is being accessed by other users"}
        .detail(others == 1 ? std::string{"There is 1 other session using the database."}
                            : "There are " + std::to_string(others) + " other sessions using the database.");
  }
  delete_rows<DatabaseRow>(catalog, {{1, row.oid}});
  delete_rows<DbRoleSettingRow>(catalog, {{1, row.oid}});
  delete_rows<ShDescriptionRow>(catalog, {{1, row.oid}, {2, kDatabaseTable}});
  catalog.invalidate_shared();
  drop_database_at_commit(context, row.oid);
  return "DROP DATABASE";
}

}  // namespace pinwheel::sql
