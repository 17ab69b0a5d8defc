#pragma once

#include <span>

#include "base/parameters.h"

namespace pinwheel::parameter_options {

// The accepted words of each enum in base/parameter_enums.h, for the parameter table.
extern const std::span<const EnumOption> kHugePagesSetting;
extern const std::span<const EnumOption> kSynchronousCommit;
extern const std::span<const EnumOption> kWalSyncMethod;
extern const std::span<const EnumOption> kWalCompression;
extern const std::span<const EnumOption> kWalLevel;
extern const std::span<const EnumOption> kSharedMemoryType;
extern const std::span<const EnumOption> kDynamicSharedMemoryType;
extern const std::span<const EnumOption> kPasswordEncryption;
extern const std::span<const EnumOption> kConstraintExclusion;
extern const std::span<const EnumOption> kPlanCacheMode;
extern const std::span<const EnumOption> kForceParallelMode;
extern const std::span<const EnumOption> kServerMessageLevel;
extern const std::span<const EnumOption> kClientMessageLevel;
extern const std::span<const EnumOption> kLogErrorVerbosity;
extern const std::span<const EnumOption> kLogStatement;
extern const std::span<const EnumOption> kTrackFunctions;
extern const std::span<const EnumOption> kStatsFetchConsistency;
extern const std::span<const EnumOption> kComputeQueryId;
extern const std::span<const EnumOption> kToastCompression;
extern const std::span<const EnumOption> kIsolationSetting;
extern const std::span<const EnumOption> kSessionReplicationRole;
extern const std::span<const EnumOption> kByteaOutput;
extern const std::span<const EnumOption> kXmlBinary;
extern const std::span<const EnumOption> kXmlOption;
extern const std::span<const EnumOption> kIntervalStyle;
extern const std::span<const EnumOption> kBackslashQuote;
extern const std::span<const EnumOption> kBgwriterMode;
extern const std::span<const EnumOption> kBufferReplacement;
extern const std::span<const EnumOption> kBufferFreelist;
extern const std::span<const EnumOption> kTornPageProtection;
extern const std::span<const EnumOption> kWalInsertMethod;
extern const std::span<const EnumOption> kStatementsTrack;
extern const std::span<const EnumOption> kClogUpdate;
extern const std::span<const EnumOption> kSnapshotMethod;

}  // namespace pinwheel::parameter_options
