#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/error.h"
#include "base/sqlstate.h"
#include "storage/heap/heap_internal.h"
#include "storage/redo.h"
#include "wal/record.h"

namespace pinwheel::storage {

using namespace heap_detail;

namespace {

[[noreturn]] void throw_bad_record(const wal::RecordView& record, const char* what) {
  throw SqlError{sqlstate::kDataCorrupted,
                 fmt::format("heap WAL record at {:X}/{:X}: {}", record.start().value >> 32,
                             record.start().value & 0xFFFFFFFF, what)};
}

/// The header of an existing version.
TupleHeader& existing(const wal::RecordView& record, Page page, std::uint16_t slot) {
  if (slot == 0 || slot > page.slot_count() || !page.line(slot).is_normal()) {
    throw_bad_record(record, "names a line pointer that holds no tuple");
  }
  return *reinterpret_cast<TupleHeader*>(page.item(slot));
}

/// Places a version made of its header fields and its bytes from offset 36 on. Checks against the page, since
/// the log may be damaged in ways its checksum does not see.
void place(const wal::RecordView& record, Page page, TupleId id, const WalTuple& head,
           std::span<const std::byte> head_bytes, std::span<const std::byte> middle,
           std::span<const std::byte> tail, Xid xmin, Xid xmax) {
  const std::size_t size = kTupleHeaderBytes + head_bytes.size() + middle.size() + tail.size();
  const bool reuses = id.slot <= page.slot_count();
  if (size != head.length || id.slot == 0 || id.slot > page.slot_count() + 1 ||
      (reuses && !page.line(id.slot).is_unused()) || page.gap() < align_item(size) + (reuses ? 0 : 4)) {
    throw_bad_record(record, "tuple does not fit its page");
  }
  std::byte* to = page.place_item(id.slot, size);
  std::memset(to, 0, kTupleHeaderBytes);
  auto& header = *reinterpret_cast<TupleHeader*>(to);
  header.xmin = xmin.value;
  header.xmax = xmax.value;
  header.infomask = head.infomask;
  header.infomask2 = head.infomask2;
  header.data_offset = head.data_offset;
  set_next(header, id);
  std::byte* at = to + kTupleHeaderBytes;
  for (const std::span<const std::byte> part : {head_bytes, middle, tail}) {
    at = std::copy(part.begin(), part.end(), at);
  }
}

const wal::BlockView& block_of(const wal::RecordView& record, unsigned index) {
  const wal::BlockView* block = record.block(index);
  if (block == nullptr) throw_bad_record(record, "block is missing");
  return *block;
}

WalTuple take_head(const wal::RecordView& record, std::span<const std::byte>& data) {
  if (data.size() < sizeof(WalTuple)) throw_bad_record(record, "tuple is cut short");
  const auto head = load<WalTuple>(data.data());
  data = data.subspan(sizeof(WalTuple));
  return head;
}

void clear_visibility(Storage& storage, const wal::BlockView& block, std::uint8_t flags, std::uint8_t flag) {
  if ((flags & flag) != 0) storage.visibility.clear_in_redo(block.tag.file, block.tag.page);
}

void redo_insert(Storage& storage, const wal::RecordView& record) {
  const auto data = record.data_as<HeapInsertRecord>();
  const wal::BlockView& block = block_of(record, 0);
  clear_visibility(storage, block, data.flags, kHeapClearsVisible);
  RedoPage redo = redo_block(storage, record, 0);
  if (!redo.needs_redo) return;
  const Page page = redo.page();
  if ((data.flags & kHeapInitPage) != 0) page.init(PageKind::kHeap);
  page.clear_flag(kPageAllVisible);
  std::span<const std::byte> bytes = block.data;
  const WalTuple head = take_head(record, bytes);
  place(record, page, {block.tag.page, data.slot}, head, bytes, {}, {},
        (data.flags & kHeapFrozen) != 0 ? kFrozenXid : record.xid(), kInvalidXid);
  redo.finish(record.end());
}

void redo_multi_insert(Storage& storage, const wal::RecordView& record) {
  const auto data = record.data_as<HeapMultiInsertRecord>();
  const wal::BlockView& block = block_of(record, 0);
  clear_visibility(storage, block, data.flags, kHeapClearsVisible);
  RedoPage redo = redo_block(storage, record, 0);
  if (!redo.needs_redo) return;
  const Page page = redo.page();
  if ((data.flags & kHeapInitPage) != 0) page.init(PageKind::kHeap);
  page.clear_flag(kPageAllVisible);
  std::span<const std::byte> bytes = block.data;
  for (std::uint16_t i = 0; i < data.count; ++i) {
    if (bytes.size() < 2) throw_bad_record(record, "tuple is cut short");
    const auto slot = load<std::uint16_t>(bytes.data());
    bytes = bytes.subspan(2);
    const WalTuple head = take_head(record, bytes);
    if (head.length < kTupleHeaderBytes || bytes.size() < head.length - kTupleHeaderBytes) {
      throw_bad_record(record, "tuple is cut short");
    }
    place(record, page, {block.tag.page, slot}, head, bytes.first(head.length - kTupleHeaderBytes), {}, {},
          (data.flags & kHeapFrozen) != 0 ? kFrozenXid : record.xid(), kInvalidXid);
    bytes = bytes.subspan(head.length - kTupleHeaderBytes);
  }
  redo.finish(record.end());
}

void redo_delete(Storage& storage, const wal::RecordView& record) {
  const auto data = record.data_as<HeapDeleteRecord>();
  const wal::BlockView& block = block_of(record, 0);
  clear_visibility(storage, block, data.flags, kHeapClearsVisible);
  RedoPage redo = redo_block(storage, record, 0);
  if (!redo.needs_redo) return;
  TupleHeader& header = existing(record, redo.page(), data.slot);
  set_xmax(header, Xid{data.xmax}, data.infomask, data.infomask2);
  header.infomask2 &= static_cast<std::uint16_t>(~kTupleHotUpdated);
  header.cmax = 0;
  set_next(header, {block.tag.page, data.slot});
  redo.page().clear_flag(kPageAllVisible);
  note_prunable(redo.page(), record.xid());
  redo.finish(record.end());
}

/// The new version of an update whose pages are equal shares bytes with the old one.
void redo_new_version(const wal::RecordView& record, const HeapUpdateRecord& data,
                      const wal::BlockView& block, Page page) {
  std::span<const std::byte> middle = block.data;
  const WalTuple head = take_head(record, middle);
  std::array<std::byte, kPageSize> old_bytes;
  std::span<const std::byte> prefix;
  std::span<const std::byte> suffix;
  if (data.prefix + data.suffix != 0) {
    existing(record, page, data.old_slot);
    const LinePointer line = page.line(data.old_slot);
    if (line.length() < kTupleHeaderBytes + std::size_t{data.prefix} + data.suffix) {
      throw_bad_record(record, "old version is shorter than what the new one shares");
    }
    std::memcpy(old_bytes.data(), page.item(line), line.length());
    prefix = std::span{old_bytes}.subspan(kTupleHeaderBytes, data.prefix);
    suffix = std::span{old_bytes}.subspan(line.length() - data.suffix, data.suffix);
  }
  place(record, page, {block.tag.page, data.new_slot}, head, prefix, middle, suffix, record.xid(),
        Xid{data.new_xmax});
  page.clear_flag(kPageAllVisible);
}

void redo_old_version(const wal::RecordView& record, const HeapUpdateRecord& data, PageNumber new_page,
                      bool is_hot, Page page) {
  TupleHeader& header = existing(record, page, data.old_slot);
  set_xmax(header, Xid{data.old_xmax}, data.old_infomask, data.old_infomask2);
  header.infomask2 =
      static_cast<std::uint16_t>((header.infomask2 & ~kTupleHotUpdated) | (is_hot ? kTupleHotUpdated : 0));
  header.cmax = 0;
  set_next(header, {new_page, data.new_slot});
  page.clear_flag(kPageAllVisible);
  note_prunable(page, record.xid());
}

void redo_update(Storage& storage, const wal::RecordView& record) {
  const auto data = record.data_as<HeapUpdateRecord>();
  const bool is_hot = static_cast<HeapRecord>(record.kind()) == HeapRecord::kHotUpdate;
  const wal::BlockView& new_block = block_of(record, 0);
  const wal::BlockView* old_block = record.block(1);
  clear_visibility(storage, old_block != nullptr ? *old_block : new_block, data.flags, kHeapClearsVisible);
  clear_visibility(storage, new_block, data.flags, kHeapClearsVisibleNew);
  if (old_block != nullptr) {
    RedoPage old_redo = redo_block(storage, record, 1);
    if (old_redo.needs_redo) {
      redo_old_version(record, data, new_block.tag.page, is_hot, old_redo.page());
      old_redo.finish(record.end());
    }
  }
  RedoPage redo = redo_block(storage, record, 0);
  if (!redo.needs_redo) return;
  if ((data.flags & kHeapInitPage) != 0) redo.page().init(PageKind::kHeap);
  redo_new_version(record, data, new_block, redo.page());
  if (old_block == nullptr) redo_old_version(record, data, new_block.tag.page, is_hot, redo.page());
  redo.finish(record.end());
}

void redo_lock(Storage& storage, const wal::RecordView& record) {
  const auto data = record.data_as<HeapLockRecord>();
  RedoPage redo = redo_block(storage, record, 0);
  if (!redo.needs_redo) return;
  TupleHeader& header = existing(record, redo.page(), data.slot);
  set_xmax(header, Xid{data.xmax}, data.infomask, data.infomask2);
  if ((data.infomask & kTupleXmaxLockOnly) != 0) {
    header.infomask2 &= static_cast<std::uint16_t>(~kTupleHotUpdated);
    set_next(header, {block_of(record, 0).tag.page, data.slot});
  }
  redo.finish(record.end());
}

/// A list of slots in block data, copied because it may be unaligned.
std::vector<std::uint16_t> slots_of(const wal::RecordView& record, std::span<const std::byte> data,
                                    std::size_t first, std::size_t count) {
  if (data.size() < (first + count) * 2) throw_bad_record(record, "slot list is cut short");
  std::vector<std::uint16_t> slots(count);
  if (count != 0) std::memcpy(slots.data(), data.data() + first * 2, count * 2);
  return slots;
}

void redo_prune(Storage& storage, const wal::RecordView& record) {
  const auto data = record.data_as<HeapPruneRecord>();
  RedoPage redo = redo_block(storage, record, 0);
  if (!redo.needs_redo) return;
  const std::span<const std::byte> bytes = block_of(record, 0).data;
  const std::size_t pairs = std::size_t{data.redirected} * 2;
  apply_prune(redo.page(), slots_of(record, bytes, 0, pairs), slots_of(record, bytes, pairs, data.dead),
              slots_of(record, bytes, pairs + data.dead, data.unused), Xid{data.prune_xid});
  redo.finish(record.end());
}

void redo_vacuum(Storage& storage, const wal::RecordView& record) {
  const auto data = record.data_as<HeapVacuumRecord>();
  RedoPage redo = redo_block(storage, record, 0);
  if (!redo.needs_redo) return;
  apply_vacuum(redo.page(), slots_of(record, block_of(record, 0).data, 0, data.count));
  redo.finish(record.end());
}

void redo_visible(Storage& storage, const wal::RecordView& record) {
  const auto data = record.data_as<HeapVisibleRecord>();
  {
    RedoPage heap = redo_block(storage, record, 1);
    if (heap.needs_redo) {
      heap.page().set_flag(kPageAllVisible);
      heap.finish(record.end());
    }
  }
  RedoPage map = redo_block(storage, record, 0);
  if (!map.needs_redo) return;
  VisibilityMap::set(map.guard, PageNumber{data.heap_page});
  map.finish(record.end());
}

void redo_slot_change(Storage& storage, const wal::RecordView& record, HeapRecord kind) {
  const auto data = record.data_as<HeapSlotRecord>();
  RedoPage redo = redo_block(storage, record, 0);
  if (!redo.needs_redo) return;
  TupleHeader& header = existing(record, redo.page(), data.slot);
  if (kind == HeapRecord::kAbortSpeculative) {
    header.xmin = kInvalidXid.value;
    header.infomask |= kTupleXminAborted;
    note_prunable(redo.page(), record.xid());
  } else {
    const std::span<const std::byte> bytes = block_of(record, 0).data;
    if (redo.page().line(data.slot).length() != kTupleHeaderBytes + bytes.size()) {
      throw_bad_record(record, "wrong tuple length");
    }
    std::memcpy(redo.page().item(data.slot) + kTupleHeaderBytes, bytes.data(), bytes.size());
  }
  redo.finish(record.end());
}

void redo_heap(wal::RedoContext& context, const wal::RecordView& record) {
  auto& storage = context.owner_as<Storage>();
  const auto kind = static_cast<HeapRecord>(record.kind());
  switch (kind) {
    case HeapRecord::kInsert:
      return redo_insert(storage, record);
    case HeapRecord::kMultiInsert:
      return redo_multi_insert(storage, record);
    case HeapRecord::kDelete:
      return redo_delete(storage, record);
    case HeapRecord::kUpdate:
    case HeapRecord::kHotUpdate:
      return redo_update(storage, record);
    case HeapRecord::kLock:
      return redo_lock(storage, record);
    case HeapRecord::kPrune:
      return redo_prune(storage, record);
    case HeapRecord::kVacuum:
      return redo_vacuum(storage, record);
    case HeapRecord::kVisible:
      return redo_visible(storage, record);
    case HeapRecord::kAbortSpeculative:
    case HeapRecord::kOverwrite:
      return redo_slot_change(storage, record, kind);
  }
  throw_bad_record(record, "unknown kind");
}

std::string describe_heap(const wal::RecordView& record) {
  switch (static_cast<HeapRecord>(record.kind())) {
    case HeapRecord::kInsert: {
      const auto data = record.data_as<HeapInsertRecord>();
      return fmt::format("INSERT{} off {} flags 0x{:02X}", (data.flags & kHeapInitPage) != 0 ? "+INIT" : "",
                         data.slot, data.flags);
    }
    case HeapRecord::kMultiInsert: {
      const auto data = record.data_as<HeapMultiInsertRecord>();
      return fmt::format("MULTI_INSERT{} {} tuples flags 0x{:02X}",
                         (data.flags & kHeapInitPage) != 0 ? "+INIT" : "", data.count, data.flags);
    }
    case HeapRecord::kDelete: {
      const auto data = record.data_as<HeapDeleteRecord>();
      return fmt::format("DELETE off {} xmax {} flags 0x{:02X}", data.slot, data.xmax, data.flags);
    }
    case HeapRecord::kUpdate:
    case HeapRecord::kHotUpdate: {
      const auto data = record.data_as<HeapUpdateRecord>();
      const bool is_hot = static_cast<HeapRecord>(record.kind()) == HeapRecord::kHotUpdate;
      return fmt::format("{} off {} xmax {} flags 0x{:02X}; new off {} xmax {}",
                         is_hot ? "HOT_UPDATE" : "UPDATE", data.old_slot, data.old_xmax, data.flags,
                         data.new_slot, data.new_xmax);
    }
    case HeapRecord::kLock: {
      const auto data = record.data_as<HeapLockRecord>();
      return fmt::format("LOCK off {} xid {} infomask 0x{:04X}", data.slot, data.xmax, data.infomask);
    }
    case HeapRecord::kPrune: {
      const auto data = record.data_as<HeapPruneRecord>();
      return fmt::format("PRUNE nredirected {} ndead {} nunused {}", data.redirected, data.dead, data.unused);
    }
    case HeapRecord::kVacuum:
      return fmt::format("VACUUM nunused {}", record.data_as<HeapVacuumRecord>().count);
    case HeapRecord::kVisible:
      return fmt::format("VISIBLE blk {}", record.data_as<HeapVisibleRecord>().heap_page);
    case HeapRecord::kAbortSpeculative:
      return fmt::format("ABORT_SPECULATIVE off {}", record.data_as<HeapSlotRecord>().slot);
    case HeapRecord::kOverwrite:
      return fmt::format("INPLACE off {}", record.data_as<HeapSlotRecord>().slot);
  }
  return "UNKNOWN";
}

}  // namespace

wal::ResourceManager heap_resource_manager(Storage* storage) {
  return {wal::RmgrId::kHeap, "Heap", redo_heap, describe_heap, storage};
}

}  // namespace pinwheel::storage
