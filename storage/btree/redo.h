#pragma once

#include <string>

#include "storage/storage.h"

namespace pinwheel::wal {
class RecordView;
struct ResourceManager;
}  // namespace pinwheel::wal

namespace pinwheel::storage {

/// What server/recovery registers for RmgrId::kBtree (owner: the Storage; null where records are only
/// described).
wal::ResourceManager btree_resource_manager(Storage* storage);

/// One line about a B-tree record: "SPLIT level: 0, first right: 183, new slot: 201". For waldump, which has
/// no engine: a wal::DescribeFunction.
std::string btree_describe(const wal::RecordView& record);

}  // namespace pinwheel::storage
