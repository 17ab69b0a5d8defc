#include "sql/catalog/acl_text.h"

#include <array>

#include "base/error.h"
#include "base/sqlstate.h"

namespace pinwheel::sql {
namespace {
constexpr std::string_view kLetters = "arwdDxtXUCTcsA";
constexpr std::array<std::string_view, 14> kPrivilegeNames = {
    "INSERT",  "SELECT", "UPDATE", "DELETE",    "TRUNCATE", "REFERENCES", "TRIGGER",
    "EXECUTE", "USAGE",  "CREATE", "TEMPORARY", "CONNECT",  "SET",        "ALTER SYSTEM"};

std::string quote_role(const std::string& name) {
  for (const char c : name) {
    if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_') continue;
    std::string quoted = "\"";
    for (const char d : name) {
      if (d == '"') quoted += '"';
      quoted += d;
    }
    return quoted + '"';
  }
  return name;
}

/// Reads a possibly quoted role name from the front of `text`.
std::string take_role(std::string_view& text, std::string_view stop) {
  std::string name;
  bool quoted = false;
  std::size_t i = 0;
  for (; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"') {
      if (quoted && i + 1 < text.size() && text[i + 1] == '"') {
        name += '"';
        ++i;
      } else {
        quoted = !quoted;
      }
    } else if (!quoted && stop.find(c) != std::string_view::npos) {
      break;
    } else {
      name += c;
    }
  }
  text.remove_prefix(i);
  return name;
}

/// Reads letters with optional '*'; stops at '/'.
std::uint32_t take_letters(std::string_view& text) {
  std::uint32_t bits = 0;
  Privileges last = 0;
  while (!text.empty() && text.front() != '/') {
    const char c = text.front();
    text.remove_prefix(1);
    if (c == '*') {
      bits |= last << 16;
      continue;
    }
    const std::size_t place = kLetters.find(c);
    if (place == std::string_view::npos) {
      throw SqlError{sqlstate::kInvalidTextRepresentation,
                     "invalid mode character: must be one of \"" + std::string{kLetters} + "\""};
    }
    last = 1u << place;
    bits |= last;
  }
  return bits;
}
}  // namespace

std::string privilege_letters(Privileges privileges, Privileges grantable) {
  std::string text;
  for (std::size_t i = 0; i < kLetters.size(); ++i) {
    if ((privileges & (1u << i)) != 0) text += kLetters[i];
    if ((grantable & (1u << i)) != 0) text += '*';
  }
  return text;
}

Privileges privilege_by_name(std::string_view name) {
  std::string upper;
  for (const char c : name) upper += (c >= 'a' && c <= 'z') ? static_cast<char>(c - 32) : c;
  if (upper == "TEMP") upper = "TEMPORARY";
  for (std::size_t i = 0; i < kPrivilegeNames.size(); ++i) {
    if (kPrivilegeNames[i] == upper) return 1u << i;
  }
  return 0;
}

std::vector<AclItem> parse_bootstrap_acl(std::string_view text) {
  std::vector<AclItem> items;
  if (text.size() < 2) return items;
  text = text.substr(1, text.size() - 2);
  while (!text.empty()) {
    const std::string grantee = take_role(text, "=");
    text.remove_prefix(1);
    const std::uint32_t bits = take_letters(text);
    const std::size_t end = std::min(text.find(','), text.size());
    text.remove_prefix(std::min(end + 1, text.size()));
    if (grantee.empty()) items.push_back({kInvalidOid, Oid{10}, bits});
    if (grantee == "postgres") items.push_back({Oid{10}, Oid{10}, bits});
  }
  return items;
}

std::string format_acl_item(const AclItem& item, const std::function<std::string(Oid)>& role_name) {
  std::string text = is_valid(item.grantee) ? quote_role(role_name(item.grantee)) : "";
  text += '=';
  text += privilege_letters(item.privileges(), item.grant_options());
  text += '/';
  text += quote_role(role_name(item.grantor));
  return text;
}

AclItem parse_acl_item(std::string_view text, const std::function<Oid(std::string_view)>& find_role) {
  std::string grantee = take_role(text, "= ");
  if ((grantee == "group" || grantee == "user") && !text.empty() && text.front() == ' ') {
    text.remove_prefix(1);
    grantee = take_role(text, "=");
  }
  if (text.empty() || text.front() != '=') {
    throw SqlError{sqlstate::kInvalidTextRepresentation, "missing \"=\" sign"};
  }
  text.remove_prefix(1);
  AclItem item;
  item.grantee = grantee.empty() ? kInvalidOid : find_role(grantee);
  item.bits = take_letters(text);
  item.grantor = Oid{10};
  if (!text.empty()) {
    text.remove_prefix(1);
    const std::string grantor = take_role(text, "");
    if (grantor.empty())
      throw SqlError{sqlstate::kInvalidTextRepresentation, "a name must follow the \"/\" sign"};
    item.grantor = find_role(grantor);
  }
  return item;
}

Privileges all_privileges(char kind) {
  switch (kind) {
    case 'S':
      return kAllSequencePrivileges;
    case 'n':
      return kAllSchemaPrivileges;
    case 'd':
      return kAllDatabasePrivileges;
    case 'f':
      return kExecutePrivilege;
    case 'T':
    case 'l':
      return kUsagePrivilege;
    case 't':
      return kCreatePrivilege;
    default:
      return kAllTablePrivileges;
  }
}

std::vector<AclItem> default_acl(char kind, Oid owner) {
  std::vector<AclItem> acl;
  Privileges everyone = 0;
  if (kind == 'd') everyone = kTemporaryPrivilege | kConnectPrivilege;
  if (kind == 'f') everyone = kExecutePrivilege;
  if (kind == 'T' || kind == 'l') everyone = kUsagePrivilege;
  if (everyone != 0) acl.push_back({kInvalidOid, owner, everyone});
  acl.push_back({owner, owner, all_privileges(kind)});
  return acl;
}

void change_acl(std::vector<AclItem>& acl, bool grant, Oid grantee, Oid grantor, Privileges privileges,
                bool grant_option) {
  AclItem* item = nullptr;
  for (AclItem& candidate : acl) {
    if (candidate.grantee == grantee && candidate.grantor == grantor) item = &candidate;
  }
  if (item == nullptr) {
    if (!grant) return;
    item = &acl.emplace_back(AclItem{grantee, grantor, 0});
  }
  if (grant) {
    item->bits |= privileges | (grant_option ? privileges << 16 : 0);
  } else {
    item->bits &= ~(privileges << 16);
    if (!grant_option) item->bits &= ~privileges;
  }
  std::erase_if(acl, [](const AclItem& each) { return each.bits == 0; });
}

Privileges acl_privileges(std::span<const AclItem> acl, Oid grantee, bool options_only) {
  Privileges found = 0;
  for (const AclItem& item : acl) {
    if (item.grantee == grantee) found |= options_only ? item.grant_options() : item.privileges();
  }
  return found;
}

}  // namespace pinwheel::sql
