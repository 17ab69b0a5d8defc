#include "sql/session/expression_runner.h"

#include "base/error.h"
#include "base/sqlstate.h"
#include "sql/analyze/expression_source.h"
#include "sql/session/session_state.h"
#include "sql/types/type_info.h"

namespace pinwheel::sql {
namespace {

/// Keeps the one value of a one-row, one-column result.
class OneValue final : public RowReceiver {
 public:
  OneValue(Arena& arena, Oid type) : arena_{arena}, type_{type} {}
  void row(const Slot& slot) override {
    is_null = slot.nulls[0];
    if (is_null) return;
    const TypeInfo* type = find_type(type_);
    value = copy_datum(slot.values[0], type != nullptr ? type->length : std::int16_t{-1},
                       type != nullptr && type->by_value, arena_);
  }
  Datum value{};
  bool is_null = true;

 private:
  Arena& arena_;
  Oid type_;
};

}  // namespace

void evaluate_parameter(SessionState& session, const SourceExpr& source, Oid type, int number, Datum& value,
                        bool& is_null) {
  Arena& arena = session.statement_arena;
  const AnalyzeContext context = session.analyze_context(arena);
  Expr* written = analyze_expression(context, source.text, nullptr, SourceUse::kExecuteParameter);
  ExprType target;
  target.type = type;
  Expr* coerced = coerce_for_assignment(context, written, target);
  if (coerced == nullptr) {
    throw SqlError{sqlstate::kDatatypeMismatch, "parameter $" + std::to_string(number) + " of type " +
                                                    session.catalog.format_type(written->type.type) +
                                                    " cannot be coerced to the expected type " +
                                                    session.catalog.format_type(type)}
        .hint("You will need to rewrite or cast the expression.");
  }
  Query* query = arena.make<Query>();
  Target* target_column = arena.make_array<Target>(1);
  target_column->expr = coerced;
  query->targets = {target_column, 1};
  OneValue receiver{arena, type};
  session.run_query(*query, receiver);
  value = receiver.value;
  is_null = receiver.is_null;
}

}  // namespace pinwheel::sql
