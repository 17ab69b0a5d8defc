#pragma once

#include <cstdint>

namespace pinwheel {

// Values of the parameters that choose among words, in the order of the words' rows in
// base/parameter_enums.cc. Read them with Settings::get_enum<E>(id).

enum class HugePagesSetting : std::uint8_t { kOff, kOn, kTry };
enum class SynchronousCommit : std::uint8_t { kOff, kLocal, kRemoteWrite, kOn, kRemoteApply };
enum class WalSyncMethod : std::uint8_t { kFsync, kFdatasync, kOpenSync, kOpenDatasync };
enum class WalCompression : std::uint8_t { kOff, kLz4, kZstd };
enum class WalLevel : std::uint8_t { kMinimal, kReplica, kLogical };
enum class SharedMemoryType : std::uint8_t { kMmap, kSysv, kPosix };
enum class DynamicSharedMemoryType : std::uint8_t { kPosix, kSysv, kMmap };
enum class PasswordEncryption : std::uint8_t { kMd5, kScramSha256 };
enum class ConstraintExclusion : std::uint8_t { kOff, kOn, kPartition };
enum class PlanCacheMode : std::uint8_t { kAuto, kForceGenericPlan, kForceCustomPlan };
enum class ForceParallelMode : std::uint8_t { kOff, kOn, kRegress };
enum class ServerMessageLevel : std::uint8_t {
  kDebug5,
  kDebug4,
  kDebug3,
  kDebug2,
  kDebug1,
  kInfo,
  kNotice,
  kWarning,
  kError,
  kLog,
  kFatal,
  kPanic
};
enum class ClientMessageLevel : std::uint8_t {
  kDebug5,
  kDebug4,
  kDebug3,
  kDebug2,
  kDebug1,
  kLog,
  kNotice,
  kWarning,
  kError
};
enum class LogErrorVerbosity : std::uint8_t { kTerse, kDefault, kVerbose };
enum class LogStatement : std::uint8_t { kNone, kDdl, kMod, kAll };
enum class TrackFunctions : std::uint8_t { kNone, kPl, kAll };
enum class StatsFetchConsistency : std::uint8_t { kNone, kCache, kSnapshot };
enum class ComputeQueryId : std::uint8_t { kOff, kOn, kAuto, kRegress };
enum class ToastCompression : std::uint8_t { kLz4 };
enum class IsolationSetting : std::uint8_t {
  kReadUncommitted,
  kReadCommitted,
  kRepeatableRead,
  kSerializable
};
enum class SessionReplicationRole : std::uint8_t { kOrigin, kReplica, kLocal };
enum class ByteaOutput : std::uint8_t { kEscape, kHex };
enum class XmlBinary : std::uint8_t { kBase64, kHex };
enum class XmlOption : std::uint8_t { kContent, kDocument };
enum class IntervalStyle : std::uint8_t { kPostgres, kPostgresVerbose, kSqlStandard, kIso8601 };
enum class BackslashQuote : std::uint8_t { kOff, kOn, kSafeEncoding };
enum class BgwriterMode : std::uint8_t { kTimer, kDemand };
enum class BufferReplacement : std::uint8_t { kLockedClock, kAtomicClock, kBatchedClock, kS3Fifo };
enum class BufferFreelist : std::uint8_t { kOff, kRefill };
enum class TornPageProtection : std::uint8_t { kFullPageWrites, kDoubleWrite, kOff };
enum class WalInsertMethod : std::uint8_t { kSingleLock, kSlots, kReserve };
enum class StatementsTrack : std::uint8_t { kNone, kTop };
enum class ClogUpdate : std::uint8_t { kLocked, kGroup, kAtomic };
enum class SnapshotMethod : std::uint8_t { kScan, kCached, kCsn };

}  // namespace pinwheel
