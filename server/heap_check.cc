#include "server/heap_check.h"

#include <fmt/format.h>

#include <cstring>

#include "base/error.h"
#include "server/engine.h"
#include "shm/interrupts.h"
#include "storage/heap/tuple_layout.h"
#include "txn/visibility.h"

namespace pinwheel::server {

using namespace storage;

void HeapCheck::finding(TupleId id, const std::string& what) {
  report_.finding(fmt::format("table \"{}.{}\", block {}, line {}: {}", relation_.schema_name, relation_.name,
                              id.page.value, id.slot, what));
}

std::vector<TupleId> HeapCheck::live_rows() const {
  std::vector<TupleId> rows;
  for (std::uint32_t page = 0; page < live_.size(); ++page) {
    for (std::uint16_t slot = 1; slot <= kMaxHeapSlots; ++slot) {
      if (test(live_, {PageNumber{page}, slot})) rows.push_back({PageNumber{page}, slot});
    }
  }
  return rows;
}

void HeapCheck::run() {
  Storage& storage = engine_.storage;
  const FileId file = relation_.heap.file;
  const std::uint32_t pages = storage.files.size(file, Fork::kMain).value;
  roots_.assign(pages, {});
  live_.assign(pages, {});
  Pin map_pin;
  alignas(8) std::byte bytes[kPageSize];
  for (std::uint32_t i = 0; i < pages; ++i) {
    const PageNumber number{i};
    shm::check_interrupts();
    // Damaged pages were reported by the look at checksums and bounds.
    if (!storage.files.read({file, Fork::kMain, number}, PageBytes{bytes, kPageSize})) continue;
    const ConstPage page{bytes};
    if (page.is_new() || check_header(page.bytes()) != PageError::kNone) continue;
    if (page.header().kind != static_cast<std::uint8_t>(PageKind::kHeap)) {
      finding({number, 0}, "is no heap page");
      continue;
    }
    if (!page.has_flag(kPageAllVisible) && storage.visibility.is_all_visible(file, number, map_pin)) {
      finding({number, 0}, "is all-visible in the visibility map but not on the page");
    }
    check_page(page, number);
  }
}

void HeapCheck::check_page(ConstPage page, PageNumber number) {
  const bool all_visible = page.has_flag(kPageAllVisible);
  const std::uint16_t slots = page.slot_count();
  if (slots > kMaxHeapSlots) {
    finding({number, 0}, fmt::format("has {} line pointers", slots));
    return;
  }
  bool sound = true;
  for (std::uint16_t slot = 1; slot <= slots; ++slot) {
    const LinePointer line = page.line(slot);
    if (!line.is_normal()) continue;
    ++report_.tuples;
    sound = check_tuple({page.item(line), line.length(), {number, slot}}, all_visible) && sound;
  }
  if (!sound) return;
  for (std::uint16_t slot = 1; slot <= slots; ++slot) {
    const TupleId id{number, slot};
    const LinePointer line = page.line(slot);
    if (line.is_unused()) continue;
    if (line.is_dead()) {
      set(roots_, id);
      continue;
    }
    std::uint16_t first = slot;
    if (line.is_redirect()) {
      first = line.redirect_to();
      const LinePointer target = page.line(first);
      if (!target.is_normal() ||
          !HeapTupleView{page.item(target), target.length(), {number, first}}.is_heap_only()) {
        finding(id, fmt::format("redirects to line {}, which is no heap-only tuple", first));
        continue;
      }
    } else if (HeapTupleView{page.item(line), line.length(), id}.is_heap_only()) {
      continue;
    }
    set(roots_, id);
    if (check_chain(page, id, first)) {
      set(live_, id);
      ++live_count_;
    }
  }
}

/// Follows a HOT chain; true when one of its versions is visible now.
bool HeapCheck::check_chain(ConstPage page, TupleId root, std::uint16_t first) {
  unsigned visible = 0;
  std::uint16_t slot = first;
  Xid previous_xmax{};
  for (unsigned steps = 0; slot != 0; ++steps) {
    if (steps > page.slot_count()) {
      finding(root, "its HOT chain runs in a circle");
      return false;
    }
    if (slot > page.slot_count() || !page.line(slot).is_normal()) break;  // an aborted version was pruned
    const HeapTupleView tuple{page.item(slot), page.line(slot).length(), {root.page, slot}};
    if (is_valid(previous_xmax) && tuple.xmin() != previous_xmax) break;
    if (is_visible(tuple)) ++visible;
    if (!tuple.is_hot_updated()) break;
    if (tuple.next().page != root.page) {
      finding(tuple.id(), "is HOT-updated to another page");
      return false;
    }
    previous_xmax = (tuple.infomask() & kTupleXmaxIsMulti) != 0
                        ? txn::updater_of_multixact(engine_.transactions, tuple.xmax())
                        : tuple.xmax();
    slot = tuple.next().slot;
  }
  if (visible > 1) finding(root, "several versions of the row are visible");
  return visible != 0;
}

bool HeapCheck::check_tuple(const HeapTupleView& tuple, bool page_all_visible) {
  const TupleId id = tuple.id();
  const TupleHeader& header = tuple.header();
  if (tuple.length() < kTupleHeaderBytes || header.data_offset > tuple.length() ||
      header.data_offset < tuple_data_offset(tuple.attribute_count(), tuple.has_nulls()) ||
      header.data_offset % 8 != 0) {
    finding(id, fmt::format("tuple header is damaged: length {}, data offset {}", tuple.length(),
                            header.data_offset));
    return false;
  }
  if (tuple.attribute_count() > relation_.layout.attribute_count()) {
    finding(id, fmt::format("tuple has {} attributes, the table {}", tuple.attribute_count(),
                            relation_.layout.attribute_count()));
    return false;
  }
  if (!is_valid(tuple.xmin())) {
    finding(id, "xmin is invalid");
    return false;
  }
  check_xid(tuple, tuple.xmin(), "xmin", kTupleXminCommitted, kTupleXminAborted);
  if (is_valid(tuple.xmax()) && (tuple.infomask() & kTupleXmaxIsMulti) == 0) {
    check_xid(tuple, tuple.xmax(), "xmax", kTupleXmaxCommitted, 0);
  }
  if (page_all_visible && !is_visible(tuple))
    finding(id, "is not visible on a page that is marked all-visible");
  return check_values(tuple);
}

void HeapCheck::check_xid(const HeapTupleView& tuple, Xid xid, const char* name, std::uint16_t committed,
                          std::uint16_t aborted) {
  if (xid >= xids_.next) {
    finding(tuple.id(), fmt::format("{} {} is not below the next xid {}", name, xid.value, xids_.next.value));
    return;
  }
  const Fate known = fate(xid);
  if ((tuple.infomask() & committed) != 0 && known == Fate::kAborted) {
    finding(tuple.id(), fmt::format("{} {} is marked committed but was not", name, xid.value));
  }
  if ((tuple.infomask() & aborted) != 0 && known == Fate::kCommitted) {
    finding(tuple.id(), fmt::format("{} {} is marked aborted but has committed", name, xid.value));
  }
}

HeapCheck::Fate HeapCheck::fate(Xid xid) {
  if (xid < kFirstNormalXid) return Fate::kCommitted;
  if (xid < xids_.oldest) return Fate::kUnknown;
  try {
    return engine_.transactions.state(xid) == txn::TransactionManager::State::kCommitted ? Fate::kCommitted
                                                                                         : Fate::kAborted;
  } catch (const SqlError& error) {
    report_.finding(fmt::format("status of transaction {}: {}", xid.value, error.message()));
    return Fate::kUnknown;
  }
}

bool HeapCheck::is_visible(const HeapTupleView& tuple) {
  const std::uint16_t mask = tuple.infomask();
  const auto committed = [this](Xid xid, bool hint) {
    const Fate known = fate(xid);
    return known == Fate::kCommitted || (known == Fate::kUnknown && hint);
  };
  if ((mask & kTupleXminAborted) != 0 || !committed(tuple.xmin(), (mask & kTupleXminCommitted) != 0))
    return false;
  if (!is_valid(tuple.xmax()) || (mask & (kTupleXmaxInvalid | kTupleXmaxLockOnly)) != 0) return true;
  const Xid deleter = (mask & kTupleXmaxIsMulti) != 0
                          ? txn::updater_of_multixact(engine_.transactions, tuple.xmax())
                          : tuple.xmax();
  return !is_valid(deleter) || !committed(deleter, (mask & kTupleXmaxCommitted) != 0);
}

bool HeapCheck::check_values(const HeapTupleView& tuple) {
  const TupleLayout& layout = relation_.layout;
  const std::byte* data = tuple.data();
  const std::size_t end = tuple.length() - tuple.header().data_offset;
  std::size_t at = 0;
  const auto bad = [&](std::size_t i) {
    finding(tuple.id(), fmt::format("attribute {} reaches beyond the tuple", i + 1));
    return false;
  };
  for (std::size_t i = 0; i < tuple.attribute_count(); ++i) {
    if (tuple.is_null(static_cast<unsigned>(i))) continue;
    const AttributeLayout& attribute = layout.attribute(i);
    const std::size_t aligned = (at + attribute.align - 1) & ~std::size_t(attribute.align - 1);
    if (attribute.length > 0) {
      at = aligned + static_cast<std::size_t>(attribute.length);
    } else if (attribute.length == -1) {
      // A short header is odd and stands unaligned; padding before a long one is zero.
      if (at >= end) return bad(i);
      if ((static_cast<std::uint8_t>(data[at]) & 1) == 0) at = aligned;
      if (at >= end) return bad(i);
      const bool is_short = (static_cast<std::uint8_t>(data[at]) & 1) != 0;
      if (!is_short && at + 4 > end) return bad(i);
      const std::size_t size = varlena_size(data + at);
      if (size < (is_short ? 1u : 4u)) return bad(i);
      at += size;
    } else {
      if (aligned >= end) return bad(i);
      const void* zero = std::memchr(data + aligned, 0, end - aligned);
      if (zero == nullptr) return bad(i);
      at = static_cast<std::size_t>(static_cast<const std::byte*>(zero) - data) + 1;
    }
    if (at > end) return bad(i);
  }
  return true;
}

}  // namespace pinwheel::server
