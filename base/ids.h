#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace pinwheel {

/// An integer that mixes with no other kind of integer. Trivially copyable, same size and layout as `Rep`, so
/// it may stand in shared memory and in on-disk structs.
template <class Tag, class Rep>
struct StrongId {
  Rep value{};

  constexpr StrongId() = default;
  constexpr explicit StrongId(Rep v) : value{v} {}
  constexpr auto operator<=>(const StrongId&) const = default;
};

/// Byte position in the write-ahead log; 0 = none.
using Lsn = StrongId<struct LsnTag, std::uint64_t>;
/// 64-bit transaction id: never wraps, on disk too. 0 = invalid, 1 = bootstrap (always committed), 2 =
/// frozen (always committed), first normal 3.
using Xid = StrongId<struct XidTag, std::uint64_t>;
/// Number of a command within its transaction.
using CommandId = StrongId<struct CommandIdTag, std::uint32_t>;
/// Catalog object id, PostgreSQL's numbers for built-in objects; 0 = none.
using Oid = StrongId<struct OidTag, std::uint32_t>;
/// Block number within one relation fork (PostgreSQL: BlockNumber).
using PageNumber = StrongId<struct PageNumberTag, std::uint32_t>;
/// Index of a frame in the buffer pool.
using BufferId = StrongId<struct BufferIdTag, std::uint32_t>;

inline constexpr Lsn kInvalidLsn{0};
inline constexpr Xid kInvalidXid{0};
inline constexpr Xid kBootstrapXid{1};
inline constexpr Xid kFrozenXid{2};
inline constexpr Xid kFirstNormalXid{3};
inline constexpr Xid kMaxXid{~std::uint64_t{0}};
inline constexpr Oid kInvalidOid{0};
/// First OID given to objects made by users, as in PostgreSQL.
inline constexpr Oid kFirstNormalOid{16384};
inline constexpr PageNumber kInvalidPage{0xFFFFFFFFu};
inline constexpr BufferId kInvalidBuffer{0xFFFFFFFFu};

constexpr bool is_valid(Xid xid) { return xid.value != 0; }
constexpr bool is_valid(Oid oid) { return oid.value != 0; }
constexpr bool is_valid(Lsn lsn) { return lsn.value != 0; }
constexpr bool is_valid(PageNumber page) { return page != kInvalidPage; }
/// True for ids that have a CLOG entry.
constexpr bool is_normal(Xid xid) { return xid.value >= kFirstNormalXid.value; }
constexpr PageNumber next(PageNumber page) { return PageNumber{page.value + 1}; }
constexpr Lsn operator+(Lsn lsn, std::uint64_t bytes) { return Lsn{lsn.value + bytes}; }
constexpr std::uint64_t operator-(Lsn a, Lsn b) { return a.value - b.value; }

/// Bytes in a page, on disk and in a frame.
inline constexpr std::size_t kPageSize = 8192;

/// Size of a cache line: hot shared words of different writers sit on different ones.
inline constexpr std::size_t kCacheLine = 64;

/// The files of a relation. On disk and in WAL block references: never renumber.
enum class Fork : std::uint8_t { kMain = 0, kFreeSpace = 1, kVisibility = 2, kInit = 3 };

/// Names the files of one relation: base/<database>/<relation>, or global/<relation> when database is 0.
struct FileId {
  Oid database;
  /// File number: PostgreSQL's relfilenode.
  Oid relation;
  constexpr auto operator<=>(const FileId&) const = default;
};

/// Names one page anywhere in the cluster.
struct PageTag {
  FileId file;
  PageNumber page;
  Fork fork;
  std::uint8_t unused[3]{};

  constexpr PageTag() = default;
  constexpr PageTag(FileId f, Fork k, PageNumber p) : file{f}, page{p}, fork{k} {}
  constexpr auto operator<=>(const PageTag&) const = default;
};

/// Address of a tuple version: page and 1-based line pointer (PostgreSQL: ctid). slot 0 = invalid.
struct TupleId {
  PageNumber page = kInvalidPage;
  std::uint16_t slot = 0;
  constexpr auto operator<=>(const TupleId&) const = default;
  constexpr bool valid() const { return slot != 0; }
};

}  // namespace pinwheel

template <class Tag, class Rep>
struct std::hash<pinwheel::StrongId<Tag, Rep>> {
  std::size_t operator()(pinwheel::StrongId<Tag, Rep> id) const noexcept {
    return std::hash<Rep>{}(id.value);
  }
};
