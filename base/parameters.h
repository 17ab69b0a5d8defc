#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/parameter_enums.h"

namespace pinwheel {

/// Ids of the server parameters: index of a setting's value, name of its row (base/parameters_*.inc).
namespace param {
enum Id : std::uint16_t {
#define PINWHEEL_BOOL(id, ...) id,
#define PINWHEEL_INT(id, ...) id,
#define PINWHEEL_REAL(id, ...) id,
#define PINWHEEL_STRING(id, ...) id,
#define PINWHEEL_ENUM(id, ...) id,
#include "base/parameters_all.inc"
  kCount
};
}  // namespace param

enum class ParameterKind : std::uint8_t { kBool, kInt, kReal, kString, kEnum };

/// Who may change a parameter, and when; names as in pg_settings.context.
enum class ParameterContext : std::uint8_t {
  kInternal,          // nobody
  kPostmaster,        // before start
  kSighup,            // configuration files, then reload
  kSuperuserBackend,  // at the start of a session, by a superuser
  kBackend,           // at the start of a session
  kSuperuser,         // a superuser, at any time
  kUser,              // anyone, at any time
};

/// What a bare number of the parameter counts.
enum class ParameterUnit : std::uint8_t {
  kNone,
  kBytes,
  kKilobytes,
  kMegabytes,
  kPages,
  kMilliseconds,
  kSeconds,
  kMinutes,
};

/// Chapters of the list, as in pg_settings.category.
enum class ParameterGroup : std::uint8_t {
  kConnectionsAndAuthenticationConnectionSettings,
  kConnectionsAndAuthenticationAuthentication,
  kConnectionsAndAuthenticationSSL,
  kFileLocations,
  kResourceUsageMemory,
  kResourceUsageDisk,
  kResourceUsageKernelResources,
  kResourceUsageCostBasedVacuumDelay,
  kResourceUsageBackgroundWriter,
  kResourceUsageAsynchronousBehavior,
  kResourceUsageBufferPool,
  kWriteAheadLogSettings,
  kWriteAheadLogCheckpoints,
  kWriteAheadLogRecovery,
  kReplicationSendingServers,
  kReplicationStandbyServers,
  kWriteAheadLogTransactionStatus,
  kQueryTuningPlannerMethodConfiguration,
  kQueryTuningPlannerCostConstants,
  kQueryTuningOtherPlannerOptions,
  kQueryTuningGeneticQueryOptimizer,
  kDeveloperOptions,
  kReportingAndLoggingWhereToLog,
  kReportingAndLoggingWhenToLog,
  kReportingAndLoggingWhatToLog,
  kStatisticsMonitoring,
  kReportingAndLoggingProcessTitle,
  kStatisticsCumulativeQueryAndIndexStatistics,
  kAutovacuum,
  kLockManagement,
  kErrorHandling,
  kClientConnectionDefaultsStatementBehavior,
  kClientConnectionDefaultsOtherDefaults,
  kClientConnectionDefaultsLocaleAndFormatting,
  kVersionAndPlatformCompatibilityPreviousPostgreSQLVersions,
  kVersionAndPlatformCompatibilityOtherPlatformsAndClients,
  kPresetOptions,
};

/// Bits of Parameter::flags.
namespace parameter_flag {
inline constexpr std::uint32_t kNoFlags = 0;
inline constexpr std::uint32_t kReport = 1u << 0;         // clients are told of changes (ParameterStatus)
inline constexpr std::uint32_t kList = 1u << 1;           // a list separated by commas
inline constexpr std::uint32_t kListQuoted = 1u << 2;     // ... of names that may need double quotes
inline constexpr std::uint32_t kOctal = 1u << 3;          // shown as an octal number
inline constexpr std::uint32_t kSuperuserOnly = 1u << 4;  // shown to superusers and pg_read_all_settings only
inline constexpr std::uint32_t kNoResetAll = 1u << 6;     // RESET ALL leaves it
inline constexpr std::uint32_t kNoShowAll = 1u << 7;      // SHOW ALL leaves it out
inline constexpr std::uint32_t kNotInFile = 1u << 8;      // not allowed in configuration files
inline constexpr std::uint32_t kNotInSample = 1u << 9;    // not in postgresql.conf as init writes it
inline constexpr std::uint32_t kExplain = 1u << 10;       // shown by EXPLAIN (SETTINGS)
inline constexpr std::uint32_t kRuntimeComputed = 1u << 11;  // known only while the server runs
}  // namespace parameter_flag

/// An accepted word of an enum parameter; hidden ones are synonyms that are not listed.
struct EnumOption {
  std::string_view word;
  int value;
  bool hidden;
};

/// One row of the table: all that is known of a parameter but its value. Which of the default and range
/// fields count depends on `kind`.
struct Parameter {
  param::Id id;
  std::string_view name;
  ParameterKind kind;
  ParameterContext context;
  ParameterGroup group;
  std::uint32_t flags;
  ParameterUnit unit = ParameterUnit::kNone;
  std::int64_t default_int = 0;  // bool, int, enum
  std::int64_t min_int = 0;
  std::int64_t max_int = 0;
  double default_real = 0;
  double min_real = 0;
  double max_real = 0;
  std::string_view default_text = {};
  /// Points to the list of words; null unless kind is kEnum.
  const std::span<const EnumOption>* options = nullptr;
  std::string_view summary;

  bool has(std::uint32_t flag) const noexcept { return (flags & flag) != 0; }
};

/// All rows, in the order of their ids.
std::span<const Parameter> all_parameters() noexcept;
const Parameter& parameter(param::Id id) noexcept;
/// Case-insensitive; nothing when no parameter bears the name.
std::optional<param::Id> find_parameter(std::string_view name) noexcept;
/// All ids in the order of their names, which is that of SHOW ALL.
std::span<const param::Id> parameters_by_name() noexcept;

/// "user", "postmaster"...
std::string_view parameter_context_name(ParameterContext context) noexcept;
std::string_view parameter_group_name(ParameterGroup group) noexcept;
/// "kB", "8kB", "ms"...; empty for kNone.
std::string_view parameter_unit_name(ParameterUnit unit) noexcept;
/// "bool", "integer", "real", "string", "enum".
std::string_view parameter_kind_name(ParameterKind kind) noexcept;

/// The boolean that `text` means (any unique prefix of true, false, yes, no; on, off, 1, 0).
std::optional<bool> parse_bool_word(std::string_view text) noexcept;
/// A number with an optional unit, converted to `unit`; nothing when it is none, and then `hint` may say why.
std::optional<double> parse_number_with_unit(std::string_view text, ParameterUnit unit, std::string& hint);

}  // namespace pinwheel
