#pragma once

#include <span>
#include <vector>

#include "storage/heap/transaction_oracle.h"
#include "txn/transaction.h"

namespace pinwheel::txn {

/// Answers what the heap asks about transactions, for one session or (without a transaction) for pruning and
/// vacuum. Cheap to make; its parts outlive it.
class HeapOracle final : public storage::TransactionOracle {
 public:
  HeapOracle(TransactionManager& manager, const Transaction* own) noexcept : manager_{manager}, own_{own} {}
  explicit HeapOracle(Transaction& own) noexcept : HeapOracle{own.manager(), &own} {}

  storage::XidState state(Xid xid) override;
  bool is_durable(Xid xid) override;
  void multixact_members(Xid multixact, std::vector<storage::MultixactMember>& members) override;
  Xid make_multixact(std::span<const storage::MultixactMember> members) override;
  Xid removal_horizon() override { return manager_.horizon(); }

 private:
  TransactionManager& manager_;
  const Transaction* own_;
};

}  // namespace pinwheel::txn
