#pragma once

#include <initializer_list>
#include <string_view>
#include <vector>

#include "base/arena.h"
#include "sql/catalog/builtin.h"
#include "sql/plan/expression_tools.h"
#include "sql/types/type_info.h"

namespace pinwheel::sql::test {

/// Makes typed expressions as analysis would.
struct Builder {
  Arena arena;
  EvalContext eval;

  Expr* integer(int v) {
    auto* c = arena.make<ConstExpr>();
    c->type.type = kInt4Type;
    c->value = Datum::from_int32(v);
    return c;
  }
  Expr* boolean(bool v) { return make_bool(arena, v); }
  Expr* null_of(Oid type) { return make_null(arena, ExprType{type, -1, {}}); }
  Expr* text(std::string_view v) {
    auto* c = arena.make<ConstExpr>();
    c->type.type = kTextType;
    c->type.collation = kDefaultCollation;
    c->value = make_text(arena, v);
    return c;
  }
  ExprList list(std::initializer_list<Expr*> items) { return arena_span(arena, std::vector<Expr*>(items)); }
  template <class T = OperatorExpr>
  Expr* op(std::string_view name, Expr* a, Expr* b) {
    const BuiltinOperator* row = find_operator(name, a->type.type, b->type.type);
    auto* e = arena.make<T>();
    e->op = row->oid;
    e->function = row->procedure;
    e->type.type = row->result;
    e->input_collation = a->type.collation;
    e->args = list({a, b});
    return e;
  }
  Expr* logic(BoolOp which, std::initializer_list<Expr*> items) {
    auto* e = arena.make<BoolExpr>();
    e->type.type = kBoolType;
    e->op = which;
    e->args = list(items);
    return e;
  }
  Expr* slot(SlotSource source, int index, Oid type) {
    auto* e = arena.make<SlotColumnExpr>();
    e->source = source;
    e->index = index;
    e->type.type = type;
    return e;
  }
};

}  // namespace pinwheel::sql::test
