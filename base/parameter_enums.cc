#include "base/parameter_enums.h"

#include "base/parameter_options.h"

namespace pinwheel::parameter_options {

// Words that stand for another one (true for on) are accepted but not listed.

constexpr EnumOption kHugePagesSettingWords[] = {
    {"off", static_cast<int>(HugePagesSetting::kOff), false},
    {"on", static_cast<int>(HugePagesSetting::kOn), false},
    {"try", static_cast<int>(HugePagesSetting::kTry), false},
    {"true", static_cast<int>(HugePagesSetting::kOn), true},
    {"false", static_cast<int>(HugePagesSetting::kOff), true},
    {"yes", static_cast<int>(HugePagesSetting::kOn), true},
    {"no", static_cast<int>(HugePagesSetting::kOff), true},
    {"1", static_cast<int>(HugePagesSetting::kOn), true},
    {"0", static_cast<int>(HugePagesSetting::kOff), true},
};
const std::span<const EnumOption> kHugePagesSetting{kHugePagesSettingWords};

constexpr EnumOption kSynchronousCommitWords[] = {
    {"off", static_cast<int>(SynchronousCommit::kOff), false},
    {"local", static_cast<int>(SynchronousCommit::kLocal), false},
    {"remote_write", static_cast<int>(SynchronousCommit::kRemoteWrite), false},
    {"on", static_cast<int>(SynchronousCommit::kOn), false},
    {"remote_apply", static_cast<int>(SynchronousCommit::kRemoteApply), false},
    {"true", static_cast<int>(SynchronousCommit::kOn), true},
    {"false", static_cast<int>(SynchronousCommit::kOff), true},
    {"yes", static_cast<int>(SynchronousCommit::kOn), true},
    {"no", static_cast<int>(SynchronousCommit::kOff), true},
    {"1", static_cast<int>(SynchronousCommit::kOn), true},
    {"0", static_cast<int>(SynchronousCommit::kOff), true},
};
const std::span<const EnumOption> kSynchronousCommit{kSynchronousCommitWords};

constexpr EnumOption kWalSyncMethodWords[] = {
    {"fsync", static_cast<int>(WalSyncMethod::kFsync), false},
    {"fdatasync", static_cast<int>(WalSyncMethod::kFdatasync), false},
    {"open_sync", static_cast<int>(WalSyncMethod::kOpenSync), false},
    {"open_datasync", static_cast<int>(WalSyncMethod::kOpenDatasync), false},
};
const std::span<const EnumOption> kWalSyncMethod{kWalSyncMethodWords};

constexpr EnumOption kWalCompressionWords[] = {
    {"off", static_cast<int>(WalCompression::kOff), false},
    {"lz4", static_cast<int>(WalCompression::kLz4), false},
    {"zstd", static_cast<int>(WalCompression::kZstd), false},
    {"on", static_cast<int>(WalCompression::kLz4), true},
    {"true", static_cast<int>(WalCompression::kLz4), true},
    {"yes", static_cast<int>(WalCompression::kLz4), true},
    {"1", static_cast<int>(WalCompression::kLz4), true},
    {"false", static_cast<int>(WalCompression::kOff), true},
    {"no", static_cast<int>(WalCompression::kOff), true},
    {"0", static_cast<int>(WalCompression::kOff), true},
};
const std::span<const EnumOption> kWalCompression{kWalCompressionWords};

constexpr EnumOption kWalLevelWords[] = {
    {"minimal", static_cast<int>(WalLevel::kMinimal), false},
    {"replica", static_cast<int>(WalLevel::kReplica), false},
    {"logical", static_cast<int>(WalLevel::kLogical), false},
    {"archive", static_cast<int>(WalLevel::kReplica), true},
    {"hot_standby", static_cast<int>(WalLevel::kReplica), true},
};
const std::span<const EnumOption> kWalLevel{kWalLevelWords};

constexpr EnumOption kSharedMemoryTypeWords[] = {
    {"mmap", static_cast<int>(SharedMemoryType::kMmap), false},
    {"sysv", static_cast<int>(SharedMemoryType::kSysv), false},
    {"posix", static_cast<int>(SharedMemoryType::kPosix), false},
};
const std::span<const EnumOption> kSharedMemoryType{kSharedMemoryTypeWords};

constexpr EnumOption kDynamicSharedMemoryTypeWords[] = {
    {"posix", static_cast<int>(DynamicSharedMemoryType::kPosix), false},
    {"sysv", static_cast<int>(DynamicSharedMemoryType::kSysv), false},
    {"mmap", static_cast<int>(DynamicSharedMemoryType::kMmap), false},
};
const std::span<const EnumOption> kDynamicSharedMemoryType{kDynamicSharedMemoryTypeWords};

constexpr EnumOption kPasswordEncryptionWords[] = {
    {"md5", static_cast<int>(PasswordEncryption::kMd5), false},
    {"scram-sha-256", static_cast<int>(PasswordEncryption::kScramSha256), false},
};
const std::span<const EnumOption> kPasswordEncryption{kPasswordEncryptionWords};

constexpr EnumOption kConstraintExclusionWords[] = {
    {"off", static_cast<int>(ConstraintExclusion::kOff), false},
    {"on", static_cast<int>(ConstraintExclusion::kOn), false},
    {"partition", static_cast<int>(ConstraintExclusion::kPartition), false},
    {"true", static_cast<int>(ConstraintExclusion::kOn), true},
    {"false", static_cast<int>(ConstraintExclusion::kOff), true},
    {"yes", static_cast<int>(ConstraintExclusion::kOn), true},
    {"no", static_cast<int>(ConstraintExclusion::kOff), true},
    {"1", static_cast<int>(ConstraintExclusion::kOn), true},
    {"0", static_cast<int>(ConstraintExclusion::kOff), true},
};
const std::span<const EnumOption> kConstraintExclusion{kConstraintExclusionWords};

constexpr EnumOption kPlanCacheModeWords[] = {
    {"auto", static_cast<int>(PlanCacheMode::kAuto), false},
    {"force_generic_plan", static_cast<int>(PlanCacheMode::kForceGenericPlan), false},
    {"force_custom_plan", static_cast<int>(PlanCacheMode::kForceCustomPlan), false},
};
const std::span<const EnumOption> kPlanCacheMode{kPlanCacheModeWords};

constexpr EnumOption kForceParallelModeWords[] = {
    {"off", static_cast<int>(ForceParallelMode::kOff), false},
    {"on", static_cast<int>(ForceParallelMode::kOn), false},
    {"regress", static_cast<int>(ForceParallelMode::kRegress), false},
    {"true", static_cast<int>(ForceParallelMode::kOn), true},
    {"false", static_cast<int>(ForceParallelMode::kOff), true},
    {"yes", static_cast<int>(ForceParallelMode::kOn), true},
    {"no", static_cast<int>(ForceParallelMode::kOff), true},
    {"1", static_cast<int>(ForceParallelMode::kOn), true},
    {"0", static_cast<int>(ForceParallelMode::kOff), true},
};
const std::span<const EnumOption> kForceParallelMode{kForceParallelModeWords};

constexpr EnumOption kServerMessageLevelWords[] = {
    {"debug5", static_cast<int>(ServerMessageLevel::kDebug5), false},
    {"debug4", static_cast<int>(ServerMessageLevel::kDebug4), false},
    {"debug3", static_cast<int>(ServerMessageLevel::kDebug3), false},
    {"debug2", static_cast<int>(ServerMessageLevel::kDebug2), false},
    {"debug1", static_cast<int>(ServerMessageLevel::kDebug1), false},
    {"info", static_cast<int>(ServerMessageLevel::kInfo), false},
    {"notice", static_cast<int>(ServerMessageLevel::kNotice), false},
    {"warning", static_cast<int>(ServerMessageLevel::kWarning), false},
    {"error", static_cast<int>(ServerMessageLevel::kError), false},
    {"log", static_cast<int>(ServerMessageLevel::kLog), false},
    {"fatal", static_cast<int>(ServerMessageLevel::kFatal), false},
    {"panic", static_cast<int>(ServerMessageLevel::kPanic), false},
    {"debug", static_cast<int>(ServerMessageLevel::kDebug2), true},
};
const std::span<const EnumOption> kServerMessageLevel{kServerMessageLevelWords};

constexpr EnumOption kClientMessageLevelWords[] = {
    {"debug5", static_cast<int>(ClientMessageLevel::kDebug5), false},
    {"debug4", static_cast<int>(ClientMessageLevel::kDebug4), false},
    {"debug3", static_cast<int>(ClientMessageLevel::kDebug3), false},
    {"debug2", static_cast<int>(ClientMessageLevel::kDebug2), false},
    {"debug1", static_cast<int>(ClientMessageLevel::kDebug1), false},
    {"log", static_cast<int>(ClientMessageLevel::kLog), false},
    {"notice", static_cast<int>(ClientMessageLevel::kNotice), false},
    {"warning", static_cast<int>(ClientMessageLevel::kWarning), false},
    {"error", static_cast<int>(ClientMessageLevel::kError), false},
    {"debug", static_cast<int>(ClientMessageLevel::kDebug2), true},
    {"info", static_cast<int>(ClientMessageLevel::kNotice), true},
};
const std::span<const EnumOption> kClientMessageLevel{kClientMessageLevelWords};

constexpr EnumOption kLogErrorVerbosityWords[] = {
    {"terse", static_cast<int>(LogErrorVerbosity::kTerse), false},
    {"default", static_cast<int>(LogErrorVerbosity::kDefault), false},
    {"verbose", static_cast<int>(LogErrorVerbosity::kVerbose), false},
};
const std::span<const EnumOption> kLogErrorVerbosity{kLogErrorVerbosityWords};

constexpr EnumOption kLogStatementWords[] = {
    {"none", static_cast<int>(LogStatement::kNone), false},
    {"ddl", static_cast<int>(LogStatement::kDdl), false},
    {"mod", static_cast<int>(LogStatement::kMod), false},
    {"all", static_cast<int>(LogStatement::kAll), false},
};
const std::span<const EnumOption> kLogStatement{kLogStatementWords};

constexpr EnumOption kTrackFunctionsWords[] = {
    {"none", static_cast<int>(TrackFunctions::kNone), false},
    {"pl", static_cast<int>(TrackFunctions::kPl), false},
    {"all", static_cast<int>(TrackFunctions::kAll), false},
};
const std::span<const EnumOption> kTrackFunctions{kTrackFunctionsWords};

constexpr EnumOption kStatsFetchConsistencyWords[] = {
    {"none", static_cast<int>(StatsFetchConsistency::kNone), false},
    {"cache", static_cast<int>(StatsFetchConsistency::kCache), false},
    {"snapshot", static_cast<int>(StatsFetchConsistency::kSnapshot), false},
};
const std::span<const EnumOption> kStatsFetchConsistency{kStatsFetchConsistencyWords};

constexpr EnumOption kComputeQueryIdWords[] = {
    {"off", static_cast<int>(ComputeQueryId::kOff), false},
    {"on", static_cast<int>(ComputeQueryId::kOn), false},
    {"auto", static_cast<int>(ComputeQueryId::kAuto), false},
    {"regress", static_cast<int>(ComputeQueryId::kRegress), false},
    {"true", static_cast<int>(ComputeQueryId::kOn), true},
    {"false", static_cast<int>(ComputeQueryId::kOff), true},
    {"yes", static_cast<int>(ComputeQueryId::kOn), true},
    {"no", static_cast<int>(ComputeQueryId::kOff), true},
    {"1", static_cast<int>(ComputeQueryId::kOn), true},
    {"0", static_cast<int>(ComputeQueryId::kOff), true},
};
const std::span<const EnumOption> kComputeQueryId{kComputeQueryIdWords};

constexpr EnumOption kToastCompressionWords[] = {
    {"lz4", static_cast<int>(ToastCompression::kLz4), false},
};
const std::span<const EnumOption> kToastCompression{kToastCompressionWords};

constexpr EnumOption kIsolationSettingWords[] = {
    {"read uncommitted", static_cast<int>(IsolationSetting::kReadUncommitted), false},
    {"read committed", static_cast<int>(IsolationSetting::kReadCommitted), false},
    {"repeatable read", static_cast<int>(IsolationSetting::kRepeatableRead), false},
    {"serializable", static_cast<int>(IsolationSetting::kSerializable), false},
};
const std::span<const EnumOption> kIsolationSetting{kIsolationSettingWords};

constexpr EnumOption kSessionReplicationRoleWords[] = {
    {"origin", static_cast<int>(SessionReplicationRole::kOrigin), false},
    {"replica", static_cast<int>(SessionReplicationRole::kReplica), false},
    {"local", static_cast<int>(SessionReplicationRole::kLocal), false},
};
const std::span<const EnumOption> kSessionReplicationRole{kSessionReplicationRoleWords};

constexpr EnumOption kByteaOutputWords[] = {
    {"escape", static_cast<int>(ByteaOutput::kEscape), false},
    {"hex", static_cast<int>(ByteaOutput::kHex), false},
};
const std::span<const EnumOption> kByteaOutput{kByteaOutputWords};

constexpr EnumOption kXmlBinaryWords[] = {
    {"base64", static_cast<int>(XmlBinary::kBase64), false},
    {"hex", static_cast<int>(XmlBinary::kHex), false},
};
const std::span<const EnumOption> kXmlBinary{kXmlBinaryWords};

constexpr EnumOption kXmlOptionWords[] = {
    {"content", static_cast<int>(XmlOption::kContent), false},
    {"document", static_cast<int>(XmlOption::kDocument), false},
};
const std::span<const EnumOption> kXmlOption{kXmlOptionWords};

constexpr EnumOption kIntervalStyleWords[] = {
    {"postgres", static_cast<int>(IntervalStyle::kPostgres), false},
    {"postgres_verbose", static_cast<int>(IntervalStyle::kPostgresVerbose), false},
    {"sql_standard", static_cast<int>(IntervalStyle::kSqlStandard), false},
    {"iso_8601", static_cast<int>(IntervalStyle::kIso8601), false},
};
const std::span<const EnumOption> kIntervalStyle{kIntervalStyleWords};

constexpr EnumOption kBackslashQuoteWords[] = {
    {"off", static_cast<int>(BackslashQuote::kOff), false},
    {"on", static_cast<int>(BackslashQuote::kOn), false},
    {"safe_encoding", static_cast<int>(BackslashQuote::kSafeEncoding), false},
    {"true", static_cast<int>(BackslashQuote::kOn), true},
    {"false", static_cast<int>(BackslashQuote::kOff), true},
    {"yes", static_cast<int>(BackslashQuote::kOn), true},
    {"no", static_cast<int>(BackslashQuote::kOff), true},
    {"1", static_cast<int>(BackslashQuote::kOn), true},
    {"0", static_cast<int>(BackslashQuote::kOff), true},
};
const std::span<const EnumOption> kBackslashQuote{kBackslashQuoteWords};

constexpr EnumOption kBgwriterModeWords[] = {
    {"timer", static_cast<int>(BgwriterMode::kTimer), false},
    {"demand", static_cast<int>(BgwriterMode::kDemand), false},
};
const std::span<const EnumOption> kBgwriterMode{kBgwriterModeWords};

constexpr EnumOption kBufferReplacementWords[] = {
    {"locked_clock", static_cast<int>(BufferReplacement::kLockedClock), false},
    {"atomic_clock", static_cast<int>(BufferReplacement::kAtomicClock), false},
    {"batched_clock", static_cast<int>(BufferReplacement::kBatchedClock), false},
    {"s3fifo", static_cast<int>(BufferReplacement::kS3Fifo), false},
};
const std::span<const EnumOption> kBufferReplacement{kBufferReplacementWords};

constexpr EnumOption kBufferFreelistWords[] = {
    {"off", static_cast<int>(BufferFreelist::kOff), false},
    {"refill", static_cast<int>(BufferFreelist::kRefill), false},
    {"true", static_cast<int>(BufferFreelist::kRefill), true},
    {"false", static_cast<int>(BufferFreelist::kOff), true},
    {"yes", static_cast<int>(BufferFreelist::kRefill), true},
    {"no", static_cast<int>(BufferFreelist::kOff), true},
    {"1", static_cast<int>(BufferFreelist::kRefill), true},
    {"0", static_cast<int>(BufferFreelist::kOff), true},
};
const std::span<const EnumOption> kBufferFreelist{kBufferFreelistWords};

constexpr EnumOption kTornPageProtectionWords[] = {
    {"full_page_writes", static_cast<int>(TornPageProtection::kFullPageWrites), false},
    {"double_write", static_cast<int>(TornPageProtection::kDoubleWrite), false},
    {"off", static_cast<int>(TornPageProtection::kOff), false},
};
const std::span<const EnumOption> kTornPageProtection{kTornPageProtectionWords};

constexpr EnumOption kWalInsertMethodWords[] = {
    {"single_lock", static_cast<int>(WalInsertMethod::kSingleLock), false},
    {"slots", static_cast<int>(WalInsertMethod::kSlots), false},
    {"reserve", static_cast<int>(WalInsertMethod::kReserve), false},
};
const std::span<const EnumOption> kWalInsertMethod{kWalInsertMethodWords};

constexpr EnumOption kStatementsTrackWords[] = {
    {"none", static_cast<int>(StatementsTrack::kNone), false},
    {"top", static_cast<int>(StatementsTrack::kTop), false},
};
const std::span<const EnumOption> kStatementsTrack{kStatementsTrackWords};

constexpr EnumOption kClogUpdateWords[] = {
    {"locked", static_cast<int>(ClogUpdate::kLocked), false},
    {"group", static_cast<int>(ClogUpdate::kGroup), false},
    {"atomic", static_cast<int>(ClogUpdate::kAtomic), false},
};
const std::span<const EnumOption> kClogUpdate{kClogUpdateWords};

constexpr EnumOption kSnapshotMethodWords[] = {
    {"scan", static_cast<int>(SnapshotMethod::kScan), false},
    {"cached", static_cast<int>(SnapshotMethod::kCached), false},
    {"csn", static_cast<int>(SnapshotMethod::kCsn), false},
};
const std::span<const EnumOption> kSnapshotMethod{kSnapshotMethodWords};

}  // namespace pinwheel::parameter_options
