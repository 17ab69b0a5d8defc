#include "sql/session/role_hooks.h"

#include "base/settings.h"
#include "base/sqlstate.h"
#include "sql/session/session_state.h"

namespace pinwheel::sql {
namespace {

constexpr std::string_view kNoRole = "none";

/// Looks a role up and remembers it, since what takes effect may be undone when no catalog can be read.
const KnownRole& find_role(SessionState& session, const std::string& name) {
  const auto role = session.catalog.find_role(name);
  if (!role) throw SqlError{sqlstate::kInvalidParameterValue, "role \"" + name + "\" does not exist"};
  return session.known_roles.insert_or_assign(name, KnownRole{role->oid, role->superuser}).first->second;
}

void check_role(void* owner, ProposedValue& proposed, SettingSource) {
  if (owner == nullptr || *proposed.text == kNoRole) return;
  SessionState& session = *static_cast<SessionState*>(owner);
  const KnownRole role = find_role(session, *proposed.text);
  const auto user = session.known_roles.find(session.settings.get_string(param::kSessionAuthorization));
  const bool may = user == session.known_roles.end() || user->second.superuser ||
                   session.catalog.has_privileges_of(user->second.oid, role.oid);
  if (!may) {
    throw SqlError{sqlstate::kInsufficientPrivilege,
                   "permission denied to set role \"" + *proposed.text + "\""};
  }
}

void check_session_authorization(void* owner, ProposedValue& proposed, SettingSource) {
  if (owner == nullptr) return;
  SessionState& session = *static_cast<SessionState*>(owner);
  find_role(session, *proposed.text);
  const auto login = session.known_roles.find(session.identity.user);
  if (*proposed.text != session.identity.user && login != session.known_roles.end() &&
      !login->second.superuser) {
    throw SqlError{sqlstate::kInsufficientPrivilege,
                   "permission denied to set session authorization \"" + *proposed.text + "\""};
  }
}

/// Takes over whose privileges are in force.
void assign_user(void* owner, param::Id) noexcept {
  if (owner == nullptr) return;
  SessionState& session = *static_cast<SessionState*>(owner);
  const std::string& authorization = session.settings.get_string(param::kSessionAuthorization);
  const std::string& role = session.settings.get_string(param::kRole);
  const std::string& name = role == kNoRole ? authorization : role;
  const auto known = session.known_roles.find(name);
  if (known == session.known_roles.end()) return;  // the session is still being made
  session.eval.session_user_name = authorization;
  session.eval.user = known->second.oid;
  session.eval.user_name = name;
  session.superuser = known->second.superuser;
  session.take_search_path();  // it may name "$user"
}

std::string show_is_superuser(const void* owner) {
  return owner != nullptr && static_cast<const SessionState*>(owner)->superuser ? "on" : "off";
}

}  // namespace

void install_role_hooks() {
  set_parameter_hooks(param::kRole, {check_role, assign_user, nullptr});
  set_parameter_hooks(param::kSessionAuthorization, {check_session_authorization, assign_user, nullptr});
  set_parameter_hooks(param::kIsSuperuser, {nullptr, nullptr, show_is_superuser});
}

}  // namespace pinwheel::sql
