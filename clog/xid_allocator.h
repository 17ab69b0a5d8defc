#pragma once

#include <atomic>
#include <cstdint>

#include "base/ids.h"
#include "shm/lwlock.h"
#include "shm/segment.h"
#include "shm/spin_lock.h"

namespace pinwheel::wal {
class Log;
}

namespace pinwheel::clog {

class TransactionStatus;

/// OIDs that one NEXT_OID record covers, as in PostgreSQL.
inline constexpr std::uint32_t kOidPrefetch = 8192;

/// Something else that must be ready for a range of xids before the first of them is given; txn's part. A
/// range ends where `kXidsPerPage` divides its end, or before.
class XidExtender {
 public:
  virtual ~XidExtender() = default;
  /// End of recovery, one process: `next` is the first xid that will be given. Returns the end of the range
  /// that is ready.
  virtual Xid start(Xid next) = 0;
  /// Makes a range ready that begins at `first`, where the last one ended, and returns its end. One process
  /// at a time. May throw: nothing is given then, and it is called again.
  virtual Xid extend(Xid first) = 0;
};

/// Gives out transaction ids and object ids.
class XidAllocator {
 public:
  static void declare(shm::RegionBuilder& builder);
  XidAllocator(const shm::Segment& segment, TransactionStatus& status, wal::Log& log);

  /// Before finish_recovery() and before any xid is given; the same kind in every process.
  void set_extender(XidExtender* extender) noexcept { extender_ = extender; }

  /// A new xid. `publish(xid)` runs under the allocator's spin lock, before any later xid can be given: what
  /// it stores is seen by whoever sees next_xid() past this xid. It must be a few stores. Errors: those of
  /// extending the commit log, before anything is given.
  template <class Publish>
  Xid allocate(Publish publish) {
    for (;;) {
      {
        shm::SpinGuard guard{shared_->lock};
        const Xid xid{shared_->next_xid.load(std::memory_order_relaxed)};
        if (xid.value < shared_->extended_until.load(std::memory_order_relaxed)) [[likely]] {
          publish(xid);
          shared_->next_xid.store(xid.value + 1, std::memory_order_release);
          return xid;
        }
      }
      extend();
    }
  }

  /// All xids from here on have not been given. Reads a word that every allocation writes.
  Xid next_xid() const noexcept { return Xid{shared_->next_xid.load(std::memory_order_acquire)}; }

  /// A new object id, never below kFirstNormalOid once the cluster is made; callers check that the catalog
  /// does not hold it already, since ids wrap after 2^32. Logs ahead in blocks.
  Oid allocate_oid();
  /// What a checkpoint must remember: with `exact` (at shutdown) the next id, else the end of the logged
  /// block.
  Oid next_oid(bool exact) const noexcept;
  /// For the bootstrap, before anything is allocated.
  void set_next_oid(Oid oid) noexcept;

  // Recovery, single process.
  /// Starts from a checkpoint's values; xids whose status page may be missing begin there.
  void start(Xid next_xid, Oid next_oid) noexcept;
  /// A record bears `xid`: never give it again.
  void observe(Xid xid) noexcept {
    if (xid.value >= shared_->next_xid.load(std::memory_order_relaxed)) {
      shared_->next_xid.store(xid.value + 1, std::memory_order_release);
    }
  }
  void redo_next_oid(Oid next) noexcept;
  /// End of recovery: erases what follows next_xid in the commit log and opens allocation.
  void finish_recovery();

 private:
  struct alignas(kCacheLine) Shared {
    // Line 1: the spin lock protects writes of next_xid; anybody reads it.
    shm::SpinLock lock;
    std::atomic<std::uint64_t> next_xid{kFirstNormalXid.value};
    /// The commit log has pages for all xids below, and the extender is ready for them. Written by who holds
    /// `extending`.
    std::atomic<std::uint64_t> extended_until{0};
    /// next_xid of the checkpoint that recovery began from. Start-up only.
    std::uint64_t checkpoint_xid = kFirstNormalXid.value;
    // Line 2: rare.
    /// 0, 1 while a process extends the commit log, 2 when others sleep on it; a futex.
    alignas(kCacheLine) std::atomic<std::uint32_t> extending{0};
    shm::LwLock oid_latch{shm::Tranche::kXidGen};  // protects the two words below
    std::uint32_t next_oid = kFirstNormalOid.value;
    /// OIDs below next_oid + this need no new record.
    std::uint32_t oids_logged = 0;
  };
  void extend();

  Shared* shared_;
  TransactionStatus& status_;
  wal::Log& log_;
  XidExtender* extender_ = nullptr;
};

}  // namespace pinwheel::clog
