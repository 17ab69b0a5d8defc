#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "base/parameter_enums.h"
#include "shm/process.h"
#include "txn/snapshot.h"

namespace pinwheel::txn {

class RunningSet;
class SnapshotStore;

/// One use of a snapshot: while it lives, no version that the snapshot sees is removed. Move-only; must die
/// before its session's SnapshotStore.
class [[nodiscard]] SnapshotHandle {
 public:
  SnapshotHandle() noexcept = default;
  SnapshotHandle(SnapshotHandle&& other) noexcept
      : store_{std::exchange(other.store_, nullptr)}, entry_{other.entry_}, view_{other.view_} {}
  SnapshotHandle& operator=(SnapshotHandle&& other) noexcept {
    if (this != &other) {
      release();
      store_ = std::exchange(other.store_, nullptr);
      entry_ = other.entry_;
      view_ = other.view_;
    }
    return *this;
  }
  ~SnapshotHandle() { release(); }

  explicit operator bool() const noexcept { return store_ != nullptr; }
  /// Stable while this handle is neither moved nor released.
  const Snapshot& operator*() const noexcept { return view_; }
  const Snapshot* operator->() const noexcept { return &view_; }
  const Snapshot* get() const noexcept { return &view_; }
  /// Another use of the same snapshot, seeing own changes before `command`.
  SnapshotHandle share(CommandId command) const noexcept;
  /// Moves the point up to which own changes are seen (a cursor's caller, a later command).
  void set_command(CommandId command) noexcept { view_.command = command; }
  void release() noexcept;

 private:
  friend class SnapshotStore;
  SnapshotStore* store_ = nullptr;
  std::uint32_t entry_ = 0;
  Snapshot view_;
};

/// The snapshots of one session: hands them out, keeps the last for reuse, and publishes the oldest xmin in
/// use in the session's slot of the running set.
class SnapshotStore {
 public:
  SnapshotStore(RunningSet& running, shm::SessionIndex session, SnapshotMethod method) noexcept;
  ~SnapshotStore();
  SnapshotStore(const SnapshotStore&) = delete;
  SnapshotStore& operator=(const SnapshotStore&) = delete;

  /// What is complete now. No shared line is written but the session's own. When nothing has completed since
  /// the last one, the methods `cached` and `csn` hand it out again; `cached` else takes over the one that
  /// another session of the process has built since, and `csn` copies two words.
  SnapshotHandle take(CommandId command);

  /// Snapshots in use.
  std::uint32_t live_count() const noexcept { return live_count_; }

 private:
  friend class SnapshotHandle;
  struct Entry {
    std::vector<Xid> running;
    Snapshot snapshot;
    std::uint64_t stamp = ~std::uint64_t{0};  // RunningSet::Stamp
    std::uint32_t uses = 0;
  };
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  SnapshotHandle take_cut(CommandId command);
  std::uint32_t find_unused_entry();
  /// Hands out an entry just filled, which is the newest now.
  SnapshotHandle hand_out_newest(std::uint32_t entry, CommandId command) noexcept;
  SnapshotHandle hand_out(std::uint32_t entry, CommandId command) noexcept;
  void release(std::uint32_t entry) noexcept;
  void publish_oldest() noexcept;

  RunningSet& running_;
  shm::SessionIndex session_;
  SnapshotMethod method_;
  std::vector<std::unique_ptr<Entry>> entries_;
  std::uint32_t last_ = kNone;  // the newest built
  std::uint32_t live_count_ = 0;
};

inline void SnapshotHandle::release() noexcept {
  if (store_ != nullptr) std::exchange(store_, nullptr)->release(entry_);
}

}  // namespace pinwheel::txn
