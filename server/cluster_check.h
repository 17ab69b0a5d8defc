#pragma once

#include "server/check_report.h"
#include "server/heap_check.h"
#include "sql/types/eval_context.h"
#include "txn/transaction.h"

namespace pinwheel::sql {
class Catalog;
}

namespace pinwheel::server {

/// Checks every relation of every database that the catalogs name, in a cluster that does not run.
class ClusterCheck {
 public:
  ClusterCheck(Engine& engine, shm::SessionIndex session, shm::Parker& parker, const XidRange& xids,
               bool checksums, CheckReport& report)
      : engine_{engine},
        session_{session},
        parker_{parker},
        xids_{xids},
        checksums_{checksums},
        report_{report} {}

  void run();

 private:
  void check_database(Oid database, const std::string& name, bool with_shared);
  void check_relation(const sql::Relation& relation);
  void check_pages(const std::string& name, FileId file);
  void check_index(const sql::Relation& table, const sql::IndexInfo& index, const HeapCheck& heap);

  Engine& engine_;
  shm::SessionIndex session_;
  shm::Parker& parker_;
  XidRange xids_;
  bool checksums_;
  CheckReport& report_;
};

}  // namespace pinwheel::server
