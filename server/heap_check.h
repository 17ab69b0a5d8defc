#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "base/ids.h"
#include "server/check_report.h"
#include "sql/catalog/relation.h"
#include "storage/heap/tuple.h"
#include "storage/page/page.h"

namespace pinwheel::server {

class Engine;

/// What transactions may be named in tuples.
struct XidRange {
  Xid next;    // not given out yet
  Xid oldest;  // CLOG before it may be gone
};

/// Checks the tuples of one table in a cluster that does not run, and remembers where rows are, for its
/// indexes.
class HeapCheck {
 public:
  HeapCheck(Engine& engine, const sql::Relation& relation, const XidRange& xids, CheckReport& report)
      : engine_{engine}, relation_{relation}, xids_{xids}, report_{report} {}

  /// Line pointers, tuple headers, hint bits against CLOG, HOT chains, the bytes of values, visibility bits.
  void run();

  /// An index may point there: a row's first version, a redirect, or a line that vacuum has not freed yet.
  bool may_be_indexed(TupleId id) const noexcept { return test(roots_, id); }
  /// A row that is visible now begins there.
  bool is_live(TupleId id) const noexcept { return test(live_, id); }
  /// Line pointers that begin a visible row.
  std::vector<TupleId> live_rows() const;
  std::uint64_t live_count() const noexcept { return live_count_; }

 private:
  /// A bit for each line pointer of a page.
  using SlotSet = std::array<std::uint64_t, (storage::kMaxHeapSlots + 64) / 64>;
  static bool test(const std::vector<SlotSet>& sets, TupleId id) noexcept {
    return id.page.value < sets.size() && id.slot != 0 && id.slot <= storage::kMaxHeapSlots &&
           (sets[id.page.value][id.slot / 64] >> (id.slot % 64) & 1) != 0;
  }
  static void set(std::vector<SlotSet>& sets, TupleId id) noexcept {
    sets[id.page.value][id.slot / 64] |= std::uint64_t{1} << (id.slot % 64);
  }

  enum class Fate : std::uint8_t { kCommitted, kAborted, kUnknown };

  void check_page(storage::ConstPage page, PageNumber number);
  bool check_tuple(const storage::HeapTupleView& tuple, bool page_all_visible);
  bool check_values(const storage::HeapTupleView& tuple);
  bool check_chain(storage::ConstPage page, TupleId root, std::uint16_t first);
  void check_xid(const storage::HeapTupleView& tuple, Xid xid, const char* name, std::uint16_t committed,
                 std::uint16_t aborted);
  Fate fate(Xid xid);
  /// Inserted by a committed transaction and deleted by none.
  bool is_visible(const storage::HeapTupleView& tuple);
  void finding(TupleId id, const std::string& what);

  Engine& engine_;
  const sql::Relation& relation_;
  XidRange xids_;
  CheckReport& report_;
  std::vector<SlotSet> roots_, live_;
  std::uint64_t live_count_ = 0;
};

}  // namespace pinwheel::server
