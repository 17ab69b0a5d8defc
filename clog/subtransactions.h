#pragma once

#include <cstdint>
#include <string>

#include "base/ids.h"
#include "clog/slru.h"

namespace pinwheel::clog {

/// Parents in one page of pg_subtrans: 8 bytes for each xid.
inline constexpr std::uint64_t kParentsPerPage = kPageSize / 8;

/// Which transaction a subtransaction belongs to. Needed only while the top transaction runs and snapshots
/// that saw it run live, so it is emptied at each start and never logged.
class Subtransactions {
 public:
  static SlruOptions options(const std::string& data_directory);
  static void declare(shm::RegionBuilder& builder, const std::string& data_directory);
  Subtransactions(const shm::Segment& segment, const std::string& data_directory);

  /// Before `xid` appears anywhere else. `parent` < `xid`.
  void set_parent(Xid xid, Xid parent);
  /// kInvalidXid when `xid` is no subtransaction.
  Xid parent(Xid xid);
  /// The outermost ancestor that is >= `stop_before`; xids below that are known to be over.
  Xid top(Xid xid, Xid stop_before = kFirstNormalXid);

  /// At start-up.
  void reset() { slru_.reset(); }
  void truncate(Xid oldest) { slru_.truncate(oldest.value / kParentsPerPage); }
  const Slru& slru() const noexcept { return slru_; }

 private:
  Slru slru_;
};

}  // namespace pinwheel::clog
