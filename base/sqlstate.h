#pragma once

#include <optional>
#include <string_view>

#include "base/error.h"

namespace pinwheel {

/// Every SQLSTATE of PostgreSQL 15 (its manual, appendix A), by the name of its condition.
namespace sqlstate {

// Class 00 - Successful Completion
inline constexpr SqlState kSuccessfulCompletion{"00000"};

// Class 01 - Warning
inline constexpr SqlState kWarning{"01000"};
inline constexpr SqlState kWarningDynamicResultSetsReturned{"0100C"};
inline constexpr SqlState kWarningImplicitZeroBitPadding{"01008"};
inline constexpr SqlState kWarningNullValueEliminatedInSetFunction{"01003"};
inline constexpr SqlState kWarningPrivilegeNotGranted{"01007"};
inline constexpr SqlState kWarningPrivilegeNotRevoked{"01006"};
inline constexpr SqlState kWarningStringDataRightTruncation{"01004"};
inline constexpr SqlState kWarningDeprecatedFeature{"01P01"};

// Class 02 - No Data (this is also a warning class per the SQL standard)
inline constexpr SqlState kNoData{"02000"};
inline constexpr SqlState kNoAdditionalDynamicResultSetsReturned{"02001"};

// Class 03 - SQL Statement Not Yet Complete
inline constexpr SqlState kSqlStatementNotYetComplete{"03000"};

// Class 08 - Connection Exception
inline constexpr SqlState kConnectionException{"08000"};
inline constexpr SqlState kConnectionDoesNotExist{"08003"};
inline constexpr SqlState kConnectionFailure{"08006"};
inline constexpr SqlState kSqlclientUnableToEstablishSqlconnection{"08001"};
inline constexpr SqlState kSqlserverRejectedEstablishmentOfSqlconnection{"08004"};
inline constexpr SqlState kTransactionResolutionUnknown{"08007"};
inline constexpr SqlState kProtocolViolation{"08P01"};

// Class 09 - Triggered Action Exception
inline constexpr SqlState kTriggeredActionException{"09000"};

// Class 0A - Feature Not Supported
inline constexpr SqlState kFeatureNotSupported{"0A000"};

// Class 0B - Invalid Transaction Initiation
inline constexpr SqlState kInvalidTransactionInitiation{"0B000"};

// Class 0F - Locator Exception
inline constexpr SqlState kLocatorException{"0F000"};
inline constexpr SqlState kLEInvalidSpecification{"0F001"};

// Class 0L - Invalid Grantor
inline constexpr SqlState kInvalidGrantor{"0L000"};
inline constexpr SqlState kInvalidGrantOperation{"0LP01"};

// Class 0P - Invalid Role Specification
inline constexpr SqlState kInvalidRoleSpecification{"0P000"};

// Class 0Z - Diagnostics Exception
inline constexpr SqlState kDiagnosticsException{"0Z000"};
inline constexpr SqlState kStackedDiagnosticsAccessedWithoutActiveHandler{"0Z002"};

// Class 20 - Case Not Found
inline constexpr SqlState kCaseNotFound{"20000"};

// Class 21 - Cardinality Violation
inline constexpr SqlState kCardinalityViolation{"21000"};

// Class 22 - Data Exception
inline constexpr SqlState kDataException{"22000"};
inline constexpr SqlState kArrayElementError{"2202E"};
inline constexpr SqlState kArraySubscriptError{"2202E"};
inline constexpr SqlState kCharacterNotInRepertoire{"22021"};
inline constexpr SqlState kDatetimeFieldOverflow{"22008"};
inline constexpr SqlState kDatetimeValueOutOfRange{"22008"};
inline constexpr SqlState kDivisionByZero{"22012"};
inline constexpr SqlState kErrorInAssignment{"22005"};
inline constexpr SqlState kEscapeCharacterConflict{"2200B"};
inline constexpr SqlState kIndicatorOverflow{"22022"};
inline constexpr SqlState kIntervalFieldOverflow{"22015"};
inline constexpr SqlState kInvalidArgumentForLog{"2201E"};
inline constexpr SqlState kInvalidArgumentForNtile{"22014"};
inline constexpr SqlState kInvalidArgumentForNthValue{"22016"};
inline constexpr SqlState kInvalidArgumentForPowerFunction{"2201F"};
inline constexpr SqlState kInvalidArgumentForWidthBucketFunction{"2201G"};
inline constexpr SqlState kInvalidCharacterValueForCast{"22018"};
inline constexpr SqlState kInvalidDatetimeFormat{"22007"};
inline constexpr SqlState kInvalidEscapeCharacter{"22019"};
inline constexpr SqlState kInvalidEscapeOctet{"2200D"};
inline constexpr SqlState kInvalidEscapeSequence{"22025"};
inline constexpr SqlState kNonstandardUseOfEscapeCharacter{"22P06"};
inline constexpr SqlState kInvalidIndicatorParameterValue{"22010"};
inline constexpr SqlState kInvalidParameterValue{"22023"};
inline constexpr SqlState kInvalidPrecedingOrFollowingSize{"22013"};
inline constexpr SqlState kInvalidRegularExpression{"2201B"};
inline constexpr SqlState kInvalidRowCountInLimitClause{"2201W"};
inline constexpr SqlState kInvalidRowCountInResultOffsetClause{"2201X"};
inline constexpr SqlState kInvalidTablesampleArgument{"2202H"};
inline constexpr SqlState kInvalidTablesampleRepeat{"2202G"};
inline constexpr SqlState kInvalidTimeZoneDisplacementValue{"22009"};
inline constexpr SqlState kInvalidUseOfEscapeCharacter{"2200C"};
inline constexpr SqlState kMostSpecificTypeMismatch{"2200G"};
inline constexpr SqlState kNullValueNotAllowed{"22004"};
inline constexpr SqlState kNullValueNoIndicatorParameter{"22002"};
inline constexpr SqlState kNumericValueOutOfRange{"22003"};
inline constexpr SqlState kSequenceGeneratorLimitExceeded{"2200H"};
inline constexpr SqlState kStringDataLengthMismatch{"22026"};
inline constexpr SqlState kStringDataRightTruncation{"22001"};
inline constexpr SqlState kSubstringError{"22011"};
inline constexpr SqlState kTrimError{"22027"};
inline constexpr SqlState kUnterminatedCString{"22024"};
inline constexpr SqlState kZeroLengthCharacterString{"2200F"};
inline constexpr SqlState kFloatingPointException{"22P01"};
inline constexpr SqlState kInvalidTextRepresentation{"22P02"};
inline constexpr SqlState kInvalidBinaryRepresentation{"22P03"};
inline constexpr SqlState kBadCopyFileFormat{"22P04"};
inline constexpr SqlState kUntranslatableCharacter{"22P05"};
inline constexpr SqlState kNotAnXmlDocument{"2200L"};
inline constexpr SqlState kInvalidXmlDocument{"2200M"};
inline constexpr SqlState kInvalidXmlContent{"2200N"};
inline constexpr SqlState kInvalidXmlComment{"2200S"};
inline constexpr SqlState kInvalidXmlProcessingInstruction{"2200T"};
inline constexpr SqlState kDuplicateJsonObjectKeyValue{"22030"};
inline constexpr SqlState kInvalidArgumentForSqlJsonDatetimeFunction{"22031"};
inline constexpr SqlState kInvalidJsonText{"22032"};
inline constexpr SqlState kInvalidSqlJsonSubscript{"22033"};
inline constexpr SqlState kMoreThanOneSqlJsonItem{"22034"};
inline constexpr SqlState kNoSqlJsonItem{"22035"};
inline constexpr SqlState kNonNumericSqlJsonItem{"22036"};
inline constexpr SqlState kNonUniqueKeysInAJsonObject{"22037"};
inline constexpr SqlState kSingletonSqlJsonItemRequired{"22038"};
inline constexpr SqlState kSqlJsonArrayNotFound{"22039"};
inline constexpr SqlState kSqlJsonMemberNotFound{"2203A"};
inline constexpr SqlState kSqlJsonNumberNotFound{"2203B"};
inline constexpr SqlState kSqlJsonObjectNotFound{"2203C"};
inline constexpr SqlState kTooManyJsonArrayElements{"2203D"};
inline constexpr SqlState kTooManyJsonObjectMembers{"2203E"};
inline constexpr SqlState kSqlJsonScalarRequired{"2203F"};
inline constexpr SqlState kSqlJsonItemCannotBeCastToTargetType{"2203G"};

// Class 23 - Integrity Constraint Violation
inline constexpr SqlState kIntegrityConstraintViolation{"23000"};
inline constexpr SqlState kRestrictViolation{"23001"};
inline constexpr SqlState kNotNullViolation{"23502"};
inline constexpr SqlState kForeignKeyViolation{"23503"};
inline constexpr SqlState kUniqueViolation{"23505"};
inline constexpr SqlState kCheckViolation{"23514"};
inline constexpr SqlState kExclusionViolation{"23P01"};

// Class 24 - Invalid Cursor State
inline constexpr SqlState kInvalidCursorState{"24000"};

// Class 25 - Invalid Transaction State
inline constexpr SqlState kInvalidTransactionState{"25000"};
inline constexpr SqlState kActiveSqlTransaction{"25001"};
inline constexpr SqlState kBranchTransactionAlreadyActive{"25002"};
inline constexpr SqlState kHeldCursorRequiresSameIsolationLevel{"25008"};
inline constexpr SqlState kInappropriateAccessModeForBranchTransaction{"25003"};
inline constexpr SqlState kInappropriateIsolationLevelForBranchTransaction{"25004"};
inline constexpr SqlState kNoActiveSqlTransactionForBranchTransaction{"25005"};
inline constexpr SqlState kReadOnlySqlTransaction{"25006"};
inline constexpr SqlState kSchemaAndDataStatementMixingNotSupported{"25007"};
inline constexpr SqlState kNoActiveSqlTransaction{"25P01"};
inline constexpr SqlState kInFailedSqlTransaction{"25P02"};
inline constexpr SqlState kIdleInTransactionSessionTimeout{"25P03"};

// Class 26 - Invalid SQL Statement Name
inline constexpr SqlState kInvalidSqlStatementName{"26000"};

// Class 27 - Triggered Data Change Violation
inline constexpr SqlState kTriggeredDataChangeViolation{"27000"};

// Class 28 - Invalid Authorization Specification
inline constexpr SqlState kInvalidAuthorizationSpecification{"28000"};
inline constexpr SqlState kInvalidPassword{"28P01"};

// Class 2B - Dependent Privilege Descriptors Still Exist
inline constexpr SqlState kDependentPrivilegeDescriptorsStillExist{"2B000"};
inline constexpr SqlState kDependentObjectsStillExist{"2BP01"};

// Class 2D - Invalid Transaction Termination
inline constexpr SqlState kInvalidTransactionTermination{"2D000"};

// Class 2F - SQL Routine Exception
inline constexpr SqlState kSqlRoutineException{"2F000"};
inline constexpr SqlState kSREFunctionExecutedNoReturnStatement{"2F005"};
inline constexpr SqlState kSREModifyingSqlDataNotPermitted{"2F002"};
inline constexpr SqlState kSREProhibitedSqlStatementAttempted{"2F003"};
inline constexpr SqlState kSREReadingSqlDataNotPermitted{"2F004"};

// Class 34 - Invalid Cursor Name
inline constexpr SqlState kInvalidCursorName{"34000"};

// Class 38 - External Routine Exception
inline constexpr SqlState kExternalRoutineException{"38000"};
inline constexpr SqlState kEREContainingSqlNotPermitted{"38001"};
inline constexpr SqlState kEREModifyingSqlDataNotPermitted{"38002"};
inline constexpr SqlState kEREProhibitedSqlStatementAttempted{"38003"};
inline constexpr SqlState kEREReadingSqlDataNotPermitted{"38004"};

// Class 39 - External Routine Invocation Exception
inline constexpr SqlState kExternalRoutineInvocationException{"39000"};
inline constexpr SqlState kERIEInvalidSqlstateReturned{"39001"};
inline constexpr SqlState kERIENullValueNotAllowed{"39004"};
inline constexpr SqlState kERIETriggerProtocolViolated{"39P01"};
inline constexpr SqlState kERIESrfProtocolViolated{"39P02"};
inline constexpr SqlState kERIEEventTriggerProtocolViolated{"39P03"};

// Class 3B - Savepoint Exception
inline constexpr SqlState kSavepointException{"3B000"};
inline constexpr SqlState kSEInvalidSpecification{"3B001"};

// Class 3D - Invalid Catalog Name
inline constexpr SqlState kInvalidCatalogName{"3D000"};

// Class 3F - Invalid Schema Name
inline constexpr SqlState kInvalidSchemaName{"3F000"};

// Class 40 - Transaction Rollback
inline constexpr SqlState kTransactionRollback{"40000"};
inline constexpr SqlState kTRIntegrityConstraintViolation{"40002"};
inline constexpr SqlState kTRSerializationFailure{"40001"};
inline constexpr SqlState kTRStatementCompletionUnknown{"40003"};
inline constexpr SqlState kTRDeadlockDetected{"40P01"};

// Class 42 - Syntax Error or Access Rule Violation
inline constexpr SqlState kSyntaxErrorOrAccessRuleViolation{"42000"};
inline constexpr SqlState kSyntaxError{"42601"};
inline constexpr SqlState kInsufficientPrivilege{"42501"};
inline constexpr SqlState kCannotCoerce{"42846"};
inline constexpr SqlState kGroupingError{"42803"};
inline constexpr SqlState kWindowingError{"42P20"};
inline constexpr SqlState kInvalidRecursion{"42P19"};
inline constexpr SqlState kInvalidForeignKey{"42830"};
inline constexpr SqlState kInvalidName{"42602"};
inline constexpr SqlState kNameTooLong{"42622"};
inline constexpr SqlState kReservedName{"42939"};
inline constexpr SqlState kDatatypeMismatch{"42804"};
inline constexpr SqlState kIndeterminateDatatype{"42P18"};
inline constexpr SqlState kCollationMismatch{"42P21"};
inline constexpr SqlState kIndeterminateCollation{"42P22"};
inline constexpr SqlState kWrongObjectType{"42809"};
inline constexpr SqlState kGeneratedAlways{"428C9"};
inline constexpr SqlState kUndefinedColumn{"42703"};
inline constexpr SqlState kUndefinedCursor{"34000"};
inline constexpr SqlState kUndefinedDatabase{"3D000"};
inline constexpr SqlState kUndefinedFunction{"42883"};
inline constexpr SqlState kUndefinedPstatement{"26000"};
inline constexpr SqlState kUndefinedSchema{"3F000"};
inline constexpr SqlState kUndefinedTable{"42P01"};
inline constexpr SqlState kUndefinedParameter{"42P02"};
inline constexpr SqlState kUndefinedObject{"42704"};
inline constexpr SqlState kDuplicateColumn{"42701"};
inline constexpr SqlState kDuplicateCursor{"42P03"};
inline constexpr SqlState kDuplicateDatabase{"42P04"};
inline constexpr SqlState kDuplicateFunction{"42723"};
inline constexpr SqlState kDuplicatePstatement{"42P05"};
inline constexpr SqlState kDuplicateSchema{"42P06"};
inline constexpr SqlState kDuplicateTable{"42P07"};
inline constexpr SqlState kDuplicateAlias{"42712"};
inline constexpr SqlState kDuplicateObject{"42710"};
inline constexpr SqlState kAmbiguousColumn{"42702"};
inline constexpr SqlState kAmbiguousFunction{"42725"};
inline constexpr SqlState kAmbiguousParameter{"42P08"};
inline constexpr SqlState kAmbiguousAlias{"42P09"};
inline constexpr SqlState kInvalidColumnReference{"42P10"};
inline constexpr SqlState kInvalidColumnDefinition{"42611"};
inline constexpr SqlState kInvalidCursorDefinition{"42P11"};
inline constexpr SqlState kInvalidDatabaseDefinition{"42P12"};
inline constexpr SqlState kInvalidFunctionDefinition{"42P13"};
inline constexpr SqlState kInvalidPstatementDefinition{"42P14"};
inline constexpr SqlState kInvalidSchemaDefinition{"42P15"};
inline constexpr SqlState kInvalidTableDefinition{"42P16"};
inline constexpr SqlState kInvalidObjectDefinition{"42P17"};

// Class 44 - WITH CHECK OPTION Violation
inline constexpr SqlState kWithCheckOptionViolation{"44000"};

// Class 53 - Insufficient Resources
inline constexpr SqlState kInsufficientResources{"53000"};
inline constexpr SqlState kDiskFull{"53100"};
inline constexpr SqlState kOutOfMemory{"53200"};
inline constexpr SqlState kTooManyConnections{"53300"};
inline constexpr SqlState kConfigurationLimitExceeded{"53400"};

// Class 54 - Program Limit Exceeded
inline constexpr SqlState kProgramLimitExceeded{"54000"};
inline constexpr SqlState kStatementTooComplex{"54001"};
inline constexpr SqlState kTooManyColumns{"54011"};
inline constexpr SqlState kTooManyArguments{"54023"};

// Class 55 - Object Not In Prerequisite State
inline constexpr SqlState kObjectNotInPrerequisiteState{"55000"};
inline constexpr SqlState kObjectInUse{"55006"};
inline constexpr SqlState kCantChangeRuntimeParam{"55P02"};
inline constexpr SqlState kLockNotAvailable{"55P03"};
inline constexpr SqlState kUnsafeNewEnumValueUsage{"55P04"};

// Class 57 - Operator Intervention
inline constexpr SqlState kOperatorIntervention{"57000"};
inline constexpr SqlState kQueryCanceled{"57014"};
inline constexpr SqlState kAdminShutdown{"57P01"};
inline constexpr SqlState kCrashShutdown{"57P02"};
inline constexpr SqlState kCannotConnectNow{"57P03"};
inline constexpr SqlState kDatabaseDropped{"57P04"};
inline constexpr SqlState kIdleSessionTimeout{"57P05"};

// Class 58 - System Error (errors external to PostgreSQL itself)
inline constexpr SqlState kSystemError{"58000"};
inline constexpr SqlState kIoError{"58030"};
inline constexpr SqlState kUndefinedFile{"58P01"};
inline constexpr SqlState kDuplicateFile{"58P02"};

// Class 72 - Snapshot Failure
inline constexpr SqlState kSnapshotTooOld{"72000"};

// Class F0 - Configuration File Error
inline constexpr SqlState kConfigFileError{"F0000"};
inline constexpr SqlState kLockFileExists{"F0001"};

// Class HV - Foreign Data Wrapper Error (SQL/MED)
inline constexpr SqlState kFdwError{"HV000"};
inline constexpr SqlState kFdwColumnNameNotFound{"HV005"};
inline constexpr SqlState kFdwDynamicParameterValueNeeded{"HV002"};
inline constexpr SqlState kFdwFunctionSequenceError{"HV010"};
inline constexpr SqlState kFdwInconsistentDescriptorInformation{"HV021"};
inline constexpr SqlState kFdwInvalidAttributeValue{"HV024"};
inline constexpr SqlState kFdwInvalidColumnName{"HV007"};
inline constexpr SqlState kFdwInvalidColumnNumber{"HV008"};
inline constexpr SqlState kFdwInvalidDataType{"HV004"};
inline constexpr SqlState kFdwInvalidDataTypeDescriptors{"HV006"};
inline constexpr SqlState kFdwInvalidDescriptorFieldIdentifier{"HV091"};
inline constexpr SqlState kFdwInvalidHandle{"HV00B"};
inline constexpr SqlState kFdwInvalidOptionIndex{"HV00C"};
inline constexpr SqlState kFdwInvalidOptionName{"HV00D"};
inline constexpr SqlState kFdwInvalidStringLengthOrBufferLength{"HV090"};
inline constexpr SqlState kFdwInvalidStringFormat{"HV00A"};
inline constexpr SqlState kFdwInvalidUseOfNullPointer{"HV009"};
inline constexpr SqlState kFdwTooManyHandles{"HV014"};
inline constexpr SqlState kFdwOutOfMemory{"HV001"};
inline constexpr SqlState kFdwNoSchemas{"HV00P"};
inline constexpr SqlState kFdwOptionNameNotFound{"HV00J"};
inline constexpr SqlState kFdwReplyHandle{"HV00K"};
inline constexpr SqlState kFdwSchemaNotFound{"HV00Q"};
inline constexpr SqlState kFdwTableNotFound{"HV00R"};
inline constexpr SqlState kFdwUnableToCreateExecution{"HV00L"};
inline constexpr SqlState kFdwUnableToCreateReply{"HV00M"};
inline constexpr SqlState kFdwUnableToEstablishConnection{"HV00N"};

// Class P0 - PL/pgSQL Error
inline constexpr SqlState kPlpgsqlError{"P0000"};
inline constexpr SqlState kRaiseException{"P0001"};
inline constexpr SqlState kNoDataFound{"P0002"};
inline constexpr SqlState kTooManyRows{"P0003"};
inline constexpr SqlState kAssertFailure{"P0004"};

// Class XX - Internal Error
inline constexpr SqlState kInternalError{"XX000"};
inline constexpr SqlState kDataCorrupted{"XX001"};
inline constexpr SqlState kIndexCorrupted{"XX002"};

}  // namespace sqlstate

/// The condition's name as EXCEPTION clauses write it ("unique_violation"); empty when `state` is unknown.
std::string_view find_condition_name(SqlState state);

/// The first code that bears `name`, which is in lower case; nothing when there is none.
std::optional<SqlState> find_sqlstate(std::string_view name);

}  // namespace pinwheel
