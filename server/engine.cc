#include "server/engine.h"

#include "base/file.h"
#include "base/log.h"
#include "base/parameters.h"
#include "storage/redo.h"

namespace pinwheel::server {

/// What commits and aborts drop, dropped by storage.
class Engine::Dropper final : public txn::FileDropper {
 public:
  explicit Dropper(storage::Storage& storage) : storage_{storage} {}
  void drop_files(std::span<const FileId> files) noexcept override {
    for (const FileId file : files) {
      try {
        storage::drop_relation_now(storage_, file);
      } catch (const std::exception& error) {
        log_text(LogLevel::kWarning, error.what());  // garbage on disk, no damage
      }
    }
  }

 private:
  storage::Storage& storage_;
};

Engine::Engine(const SharedState& shared, const ServerSettings& settings)
    : log{shared.segment(), shared.options().log, &shared.processes(), &shared.sessions()},
      clog{shared.segment(), shared.options().clog, log},
      storage{shared.segment(), shared.options().storage, log},
      transactions{shared.segment(), shared.options().transactions, log, clog, shared.processes(),
                   shared.sessions()},
      locks{shared.segment(), shared.processes(), shared.sessions(), transactions.running()},
      invalidations{shared.segment()},
      table_statistics{shared.segment()},
      database_statistics{shared.segment()},
      statement_statistics{shared.segment()},
      counters{shared.segment(), shared.processes()},
      activity{sql::ActivityTargets{table_statistics, &database_statistics, &statement_statistics,
                                    &storage.pool.relation_io()}},
      catalog_services{storage, clog.xids, transactions, locks, relations, invalidations, &activity},
      dropper_{std::make_unique<Dropper>(storage)},
      processes_{shared.processes()} {
  transactions.set_file_dropper(dropper_.get());
  log.set_sibling_counter(
      [](void* transactions) {
        // Without the one that commits.
        return static_cast<txn::TransactionManager*>(transactions)->running().count_active() - 1;
      },
      &transactions);
  apply_settings(settings);
}

Engine::~Engine() = default;

void Engine::apply_settings(const ServerSettings& settings) {
  log.settings() = make_log_settings(settings);
  log.files().set_zero_fill(settings.get_bool(param::kWalInitZero));
  storage.pool.options().bgwriter_max_pages = static_cast<int>(settings.get_int(param::kBgwriterLruMaxpages));
  storage.pool.options().bgwriter_multiplier = settings.get_real(param::kBgwriterLruMultiplier);
  if (demand_wakes_bgwriter(settings)) {
    storage.pool.set_refill_waker(
        [](void* processes) {
          static_cast<shm::ProcessTable*>(processes)->request(shm::ProcessKind::kBgwriter, shm::kRequestWork);
        },
        &processes_);
  } else {
    storage.pool.set_refill_waker(nullptr, nullptr);
  }
  set_sync_enabled(settings.get_bool(param::kFsync));
  storage.pool.set_timed(settings.get_bool(param::kTrackIoTiming));
}

}  // namespace pinwheel::server
