#pragma once

#include <memory>
#include <string>

#include "base/settings.h"
#include "server/engine_options.h"
#include "shm/process.h"
#include "shm/segment.h"
#include "shm/session_slot.h"

namespace pinwheel::server {

/// What the server's own processes tell each other, beside requests and wake-ups.
struct ServerControl {
  /// Checkpoints begun and finished, counted: a requester waits until `done` passes what `started` said when
  /// it asked.
  std::atomic<std::uint64_t> checkpoints_started{0};
  std::atomic<std::uint64_t> checkpoints_done{0};
  /// Set by a requester, who does not want the checkpoint spread over time; taken by the checkpointer.
  std::atomic<std::uint32_t> checkpoint_immediate{0};
  std::atomic<std::int64_t> started_at_us{0};
  std::atomic<std::int64_t> reloaded_at_us{0};
};

/// The segment and the tables in it that every process needs: made by the launcher, inherited by its
/// children.
class SharedState {
 public:
  /// Reads the control file, lays out and maps the segment. `previous` lends its eventfds after a crash.
  /// Errors: those of Segment and of the control file.
  SharedState(const ServerSettings& settings, const std::string& data_directory, const SharedState* previous);
  /// For single-process work (init, recovery tools): room for one process and a few sessions.
  static std::unique_ptr<SharedState> standalone(const ServerSettings& settings,
                                                 const std::string& data_directory);
  ~SharedState();
  SharedState(const SharedState&) = delete;
  SharedState& operator=(const SharedState&) = delete;

  const std::string& data_directory() const { return options_.data_directory; }
  const EngineOptions& options() const { return options_; }
  const shm::Segment& segment() const { return *segment_; }
  shm::ProcessTable& processes() const { return *processes_; }
  shm::SessionTable& sessions() const { return *sessions_; }
  ServerControl& control() const { return *control_; }

 private:
  SharedState() = default;
  void build(const ServerSettings& settings);

  EngineOptions options_;
  std::unique_ptr<shm::Segment> segment_;
  std::unique_ptr<shm::ProcessTable> processes_;
  std::unique_ptr<shm::SessionTable> sessions_;
  ServerControl* control_ = nullptr;
};

}  // namespace pinwheel::server
