#include "storage/heap/check.h"

#include <fmt/format.h>

#include <vector>

#include "base/error.h"
#include "shm/interrupts.h"

namespace pinwheel::storage {

namespace {

class HeapChecker {
 public:
  HeapChecker(const Heap& heap, const TupleLayout* layout, Xid next_xid, HeapCheckVisitor& visitor)
      : heap_{heap},
        layout_{layout},
        next_xid_{next_xid},
        visitor_{visitor},
        pages_{heap.page_count().value} {}

  HeapCheckResult run() {
    for (std::uint32_t number = 0; number < pages_; ++number) {
      shm::check_interrupts();
      ++result_.pages;
      try {
        check_page(PageNumber{number});
      } catch (const SqlError& error) {
        // Reported below; a catch block must not run code that may park.
        unreadable_ = error.message();
      }
      if (!unreadable_.empty()) report(unreadable_);
      unreadable_.clear();
    }
    return result_;
  }

 private:
  void report(const std::string& text) {
    ++result_.problems;
    visitor_.damage(text);
  }
  void report(TupleId id, const std::string& what) {
    report(fmt::format("relation {}, block {}, offset {}: {}",
                       relation_name(heap_.relation().file, Fork::kMain), id.page.value, id.slot, what));
  }

  void check_page(PageNumber number) {
    const PageTag tag{heap_.relation().file, Fork::kMain, number};
    const Pin pin = heap_.storage().pool.pin(tag);
    const ConstPage page = pin.unlatched();
    if (page.is_new()) {
      ++result_.new_pages;
      return;
    }
    if (check_header(page.bytes()) != PageError::kNone ||
        page.header().kind != static_cast<std::uint8_t>(PageKind::kHeap)) {
      report({number, 0}, "page header or line pointers are damaged");
      return;
    }
    const bool all_visible =
        heap_.storage().visibility.is_all_visible(heap_.relation().file, number, map_pin_);
    if (all_visible && !page.has_flag(kPageAllVisible)) {
      report({number, 0}, "page is marked all-visible in the visibility map only");
    }
    for (std::uint16_t slot = 1; slot <= page.slot_count(); ++slot) {
      const LinePointer line = page.line(slot);
      if (line.is_redirect()) check_redirect(page, {number, slot});
      if (!line.is_normal()) continue;
      const HeapTupleView tuple{page.item(line), line.length(), {number, slot}};
      if (!check_tuple(page, tuple)) continue;
      ++result_.tuples;
      visitor_.tuple(tuple);
    }
  }

  void check_redirect(ConstPage page, TupleId id) {
    const std::uint16_t target = page.line(id.slot).redirect_to();
    if (!page.line(target).is_normal()) {
      report(id, fmt::format("line pointer redirects to offset {}, which holds no tuple", target));
    } else if (!HeapTupleView{page.item(target), page.line(target).length(), {}}.is_heap_only()) {
      report(id, fmt::format("line pointer redirects to offset {}, which is not heap-only", target));
    }
  }

  bool check_tuple(ConstPage page, const HeapTupleView& tuple) {
    const TupleHeader& header = tuple.header();
    if (tuple.length() < kTupleHeaderBytes || header.data_offset > tuple.length()) {
      report(tuple.id(), "tuple is shorter than its header");
      return false;
    }
    const unsigned attributes = tuple.attribute_count();
    if (header.data_offset != tuple_data_offset(attributes, tuple.has_nulls())) {
      report(tuple.id(), fmt::format("tuple data begins at byte {}, not {}", header.data_offset,
                                     tuple_data_offset(attributes, tuple.has_nulls())));
      return false;
    }
    check_xids(tuple);
    check_next(page, tuple);
    return layout_ == nullptr || check_values(tuple);
  }

  void check_xids(const HeapTupleView& tuple) {
    if (tuple.xmin() >= next_xid_)
      report(tuple.id(), fmt::format("xmin {} is in the future", tuple.xmin().value));
    if ((tuple.infomask() & kTupleXmaxIsMulti) == 0 && tuple.xmax() >= next_xid_) {
      report(tuple.id(), fmt::format("xmax {} is in the future", tuple.xmax().value));
    }
    constexpr std::uint16_t kBoth = kTupleXminCommitted | kTupleXminAborted;
    if ((tuple.infomask() & kBoth) == kBoth) report(tuple.id(), "xmin is marked committed and aborted");
  }

  void check_next(ConstPage page, const HeapTupleView& tuple) {
    const TupleId next = tuple.next();
    if (next == tuple.id()) return;
    if (next.page.value >= pages_ || next.slot == 0) {
      // What lay there may have been cut off by vacuum once this version was dead.
      if (tuple.is_hot_updated()) report(tuple.id(), "HOT chain leaves the relation");
      return;
    }
    if (tuple.is_hot_updated() && next.page != tuple.id().page)
      report(tuple.id(), "HOT chain leaves its page");
    if (!tuple.is_hot_updated() || next.page != tuple.id().page || next.slot > page.slot_count()) return;
    const LinePointer line = page.line(next.slot);
    if (!line.is_normal()) return;
    const HeapTupleView successor{page.item(line), line.length(), next};
    if (successor.xmin() == tuple.xmax() && !successor.is_heap_only()) {
      report(tuple.id(), fmt::format("next version at offset {} is not heap-only", next.slot));
    }
  }

  /// Walks the values by their lengths, so that none reaches beyond the tuple.
  bool check_values(const HeapTupleView& tuple) {
    if (tuple.attribute_count() > layout_->attribute_count()) {
      report(tuple.id(), fmt::format("number of attributes {} exceeds maximum {}", tuple.attribute_count(),
                                     layout_->attribute_count()));
      return false;
    }
    const std::size_t size = tuple.length() - tuple.header().data_offset;
    std::size_t offset = 0;
    for (unsigned i = 0; i < tuple.attribute_count(); ++i) {
      if (tuple.is_null(i)) continue;
      if (!next_value(tuple.data(), size, layout_->attribute(i), offset)) {
        report(tuple.id(), fmt::format("attribute {} reaches beyond the tuple", i));
        return false;
      }
    }
    return true;
  }

  static bool next_value(const std::byte* data, std::size_t size, const AttributeLayout& attribute,
                         std::size_t& offset) {
    const bool packed = attribute.length == -1 && offset < size && data[offset] != std::byte{0};
    if (!packed) offset = (offset + attribute.align - 1) & ~(std::size_t{attribute.align} - 1);
    if (attribute.length > 0) {
      offset += static_cast<std::size_t>(attribute.length);
    } else if (attribute.length == -1) {
      if (offset >= size) return false;
      const bool is_short = (static_cast<std::uint8_t>(data[offset]) & 1) != 0;
      if (!is_short && offset + 4 > size) return false;
      const std::size_t length = varlena_size(data + offset);
      if (length < (is_short ? 1u : 4u)) return false;
      offset += length;
    } else {
      while (offset < size && data[offset] != std::byte{0}) ++offset;
      ++offset;
    }
    return offset <= size;
  }

  const Heap& heap_;
  const TupleLayout* layout_;
  Xid next_xid_;
  HeapCheckVisitor& visitor_;
  std::uint32_t pages_;
  HeapCheckResult result_;
  std::string unreadable_;
  Pin map_pin_;
};

}  // namespace

HeapCheckResult verify_heap(const Heap& heap, const TupleLayout* layout, Xid next_xid,
                            HeapCheckVisitor& visitor) {
  return HeapChecker{heap, layout, next_xid, visitor}.run();
}

}  // namespace pinwheel::storage
