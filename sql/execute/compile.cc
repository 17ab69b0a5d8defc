#include <algorithm>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/sqlstate.h"
#include "sql/execute/program.h"
#include "sql/execute/program_data.h"
#include "sql/execute/run_state.h"
#include "sql/plan/expression_tools.h"
#include "sql/types/type_info.h"

namespace pinwheel::sql {
namespace {

struct FastOperator {
  std::uint32_t procedure;
  Op op;
};

/// Functions that are one instruction. By-value datums are sign-extended, so that one 64-bit comparison
/// serves all widths and their mixtures, and times and dates.
constexpr FastOperator kFastOperators[] = {
    {60, Op::kIntEqual},         {63, Op::kIntEqual},         {64, Op::kIntLess},
    {65, Op::kIntEqual},         {66, Op::kIntLess},          {84, Op::kIntNotEqual},
    {141, Op::kInt4Multiply},    {144, Op::kIntNotEqual},     {145, Op::kIntNotEqual},
    {146, Op::kIntGreater},      {147, Op::kIntGreater},      {148, Op::kIntLessEqual},
    {149, Op::kIntLessEqual},    {150, Op::kIntGreaterEqual}, {151, Op::kIntGreaterEqual},
    {158, Op::kIntEqual},        {159, Op::kIntEqual},        {160, Op::kIntLess},
    {161, Op::kIntLess},         {162, Op::kIntGreater},      {163, Op::kIntGreater},
    {164, Op::kIntNotEqual},     {165, Op::kIntNotEqual},     {166, Op::kIntLessEqual},
    {167, Op::kIntLessEqual},    {168, Op::kIntGreaterEqual}, {169, Op::kIntGreaterEqual},
    {177, Op::kInt4Add},         {181, Op::kInt4Subtract},    {184, Op::kIntEqual},
    {185, Op::kIntNotEqual},     {463, Op::kInt8Add},         {464, Op::kInt8Subtract},
    {465, Op::kInt8Multiply},    {467, Op::kIntEqual},        {468, Op::kIntNotEqual},
    {469, Op::kIntLess},         {470, Op::kIntGreater},      {471, Op::kIntLessEqual},
    {472, Op::kIntGreaterEqual}, {474, Op::kIntEqual},        {475, Op::kIntNotEqual},
    {476, Op::kIntLess},         {477, Op::kIntGreater},      {478, Op::kIntLessEqual},
    {479, Op::kIntGreaterEqual}, {852, Op::kIntEqual},        {853, Op::kIntNotEqual},
    {854, Op::kIntLess},         {855, Op::kIntGreater},      {856, Op::kIntLessEqual},
    {857, Op::kIntGreaterEqual}, {1086, Op::kIntEqual},       {1087, Op::kIntLess},
    {1088, Op::kIntLessEqual},   {1089, Op::kIntGreater},     {1090, Op::kIntGreaterEqual},
    {1091, Op::kIntNotEqual},    {1152, Op::kIntEqual},       {1153, Op::kIntNotEqual},
    {1154, Op::kIntLess},        {1155, Op::kIntLessEqual},   {1156, Op::kIntGreaterEqual},
    {1157, Op::kIntGreater},     {1274, Op::kInt8Add},        {1275, Op::kInt8Subtract},
    {1276, Op::kInt8Multiply},   {1278, Op::kInt8Add},        {1279, Op::kInt8Subtract},
    {1280, Op::kInt8Multiply},   {2052, Op::kIntEqual},       {2053, Op::kIntNotEqual},
    {2054, Op::kIntLess},        {2055, Op::kIntLessEqual},   {2056, Op::kIntGreaterEqual},
    {2057, Op::kIntGreater},
};

Op fast_operator(Oid procedure) {
  const auto* at =
      std::lower_bound(std::begin(kFastOperators), std::end(kFastOperators), procedure.value,
                       [](const FastOperator& a, std::uint32_t value) { return a.procedure < value; });
  return at != std::end(kFastOperators) && at->procedure == procedure.value ? at->op : Op::kDone;
}

}  // namespace

/// One compilation: appends steps for a tree of expressions.
class ExpressionCompiler {
 public:
  ExpressionCompiler(Arena& arena, RunState* run) : arena_{arena}, run_{run} {}

  /// Columns used by `expr`, so that each source is deformed once, before anything else.
  void prepare(const Expr* expr) {
    if (expr == nullptr) return;
    if (const auto* c = expr_if<SlotColumnExpr>(expr); c != nullptr && c->index >= 0) {
      int& deepest = deepest_[static_cast<int>(c->source)];
      deepest = std::max(deepest, c->index + 1);
      return;
    }
    visit_children(expr, [&](const Expr* child) { prepare(child); });
  }
  void emit_deforms() {
    for (int source = 0; source < 3; ++source) {
      if (deepest_[source] == 0) continue;
      Step step;
      step.op = Op::kDeform;
      step.source = static_cast<std::uint8_t>(source);
      step.index = deepest_[source];
      steps_.push_back(step);
    }
  }

  /// `fresh`: nothing else writes the registers, so that a constant can be put there now.
  void compile(const Expr* e, Datum* out, bool* null, bool fresh = false);

  void qual(const Expr* e, Datum* out, bool* null) {
    compile(e, out, null);
    add(Op::kQual, out, null);
    qual_jumps_.push_back(steps_.size() - 1);
  }
  void finish(Program& program) {
    for (const std::size_t at : qual_jumps_) steps_[at].index = static_cast<int>(steps_.size());
    add(Op::kDone, nullptr, nullptr);
    count = static_cast<int>(steps_.size());
    steps = arena_span(arena_, steps_).data();
    static_cast<void>(program);
  }
  const Step* steps = nullptr;
  int count = 0;

 private:
  Step& add(Op op, Datum* out, bool* null) {
    Step step;
    step.op = op;
    step.out = out;
    step.out_null = null;
    steps_.push_back(step);
    return steps_.back();
  }
  std::size_t here() const { return steps_.size(); }
  void land(std::size_t jump) { steps_[jump].index = static_cast<int>(steps_.size()); }
  std::size_t jump(Op op, Datum* out, bool* null) {
    add(op, out, null);
    return here() - 1;
  }
  Datum* registers(std::size_t n) { return arena_.make_array<Datum>(n + 1); }
  bool* flags(std::size_t n) { return arena_.make_array<bool>(n + 1); }

  void constant(Datum value, bool is_null, Datum* out, bool* null, bool fresh) {
    if (fresh) {
      *out = value;
      *null = is_null;
      return;
    }
    Step& step = add(Op::kConst, out, null);
    step.constant.value = value;
    step.constant.is_null = is_null;
  }
  FunctionCall* make_call(Oid function, Oid collation, std::span<const Expr* const> args, Oid result);
  void call(Oid function, Oid collation, ExprList args, Oid result, bool variadic, Datum* out, bool* null);
  void boolean(const BoolExpr* e, Datum* out, bool* null);
  void case_when(const CaseExpr* e, Datum* out, bool* null);
  void coalesce(const CoalesceExpr* e, Datum* out, bool* null);
  void min_max(const MinMaxExpr* e, Datum* out, bool* null);
  void scalar_array(const ScalarArrayExpr* e, Datum* out, bool* null);
  void distinct_or_null_if(const OperatorExpr* e, Op op, Datum* out, bool* null);
  void array(const ArrayExpr* e, Datum* out, bool* null);
  void subscript(const SubscriptExpr* e, Datum* out, bool* null);
  void row(const RowExpr* e, Datum* out, bool* null);
  void row_compare(const RowCompareExpr* e, Datum* out, bool* null);
  void io_coerce(const CoerceViaIoExpr* e, Datum* out, bool* null);
  void array_coerce(const ArrayCoerceExpr* e, Datum* out, bool* null);

  Arena& arena_;
  RunState* run_;
  std::vector<Step> steps_;
  std::vector<std::size_t> qual_jumps_;
  int deepest_[3] = {0, 0, 0};
  const Datum* case_value_ = nullptr;
  const bool* case_null_ = nullptr;
};

FunctionCall* ExpressionCompiler::make_call(Oid function, Oid collation, std::span<const Expr* const> args,
                                            Oid result) {
  auto* call = arena_.make<FunctionCall>();
  call->nargs = static_cast<int>(args.size());
  call->args = registers(args.size());
  call->nulls = flags(args.size());
  call->collation = collation;
  call->procedure = function;
  call->result_type = result;
  Oid* types = arena_.make_array<Oid>(args.size() + 1);
  for (std::size_t i = 0; i < args.size(); ++i) types[i] = args[i]->type.type;
  call->arg_types = types;
  call->site_cache = arena_.make<void*>(nullptr);
  return call;
}

namespace {

FunctionPtr require_function(Oid function) {
  const FunctionPtr code = find_function(function);
  if (code != nullptr) return code;
  const ProcInfo* info = find_proc_info(function);
  if (info != nullptr && info->kind == 'a') {
    throw SqlError{sqlstate::kGroupingError, "aggregate function calls are not allowed here"};
  }
  throw SqlError{sqlstate::kFeatureNotSupported,
                 "function " + (info != nullptr ? std::string{info->name} : std::to_string(function.value)) +
                     " is not supported"};
}

bool is_strict(Oid function) {
  const ProcInfo* info = find_proc_info(function);
  return info != nullptr && info->strict;
}

}  // namespace

void ExpressionCompiler::call(Oid function, Oid collation, ExprList args, Oid result, bool variadic,
                              Datum* out, bool* null) {
  if (const Op fast = fast_operator(function); fast != Op::kDone && args.size() == 2) {
    Datum* in = registers(2);
    bool* in_null = flags(2);
    compile(args[0], in, in_null, true);
    compile(args[1], in + 1, in_null + 1, true);
    Step& step = add(fast, out, null);
    step.binary = {in, in + 1, in_null};
    return;
  }
  const FunctionPtr code = require_function(function);
  FunctionCall* call = make_call(function, collation, args, result);
  call->variadic_array = variadic;
  for (std::size_t i = 0; i < args.size(); ++i) compile(args[i], call->args + i, call->nulls + i, true);
  const bool strict = is_strict(function);
  const Op op = args.empty()       ? Op::kCall0
                : !strict          ? Op::kCallAny
                : args.size() == 1 ? Op::kCallStrict1
                : args.size() == 2 ? Op::kCallStrict2
                                   : Op::kCallStrict;
  Step& step = add(op, out, null);
  step.call = {code, call};
}

void ExpressionCompiler::boolean(const BoolExpr* e, Datum* out, bool* null) {
  if (e->op == BoolOp::kNot) {
    compile(e->args[0], out, null);
    add(Op::kNot, out, null);
    return;
  }
  bool* any_null = flags(1);
  const bool is_and = e->op == BoolOp::kAnd;
  std::vector<std::size_t> exits;
  for (std::size_t i = 0; i < e->args.size(); ++i) {
    compile(e->args[i], out, null);
    const bool first = i == 0;
    Step& step = add(is_and ? (first ? Op::kAndFirst : Op::kAndStep) : (first ? Op::kOrFirst : Op::kOrStep),
                     out, null);
    step.data = any_null;
    step.source = i + 1 == e->args.size();  // last: settle the null
    exits.push_back(here() - 1);
  }
  for (const std::size_t at : exits) land(at);
}

void ExpressionCompiler::case_when(const CaseExpr* e, Datum* out, bool* null) {
  const Datum* outer_value = case_value_;
  const bool* outer_null = case_null_;
  if (e->argument != nullptr) {
    Datum* value = registers(1);
    bool* value_null = flags(1);
    compile(e->argument, value, value_null, true);
    case_value_ = value;
    case_null_ = value_null;
  }
  std::vector<std::size_t> exits;
  for (const CaseWhen& when : e->whens) {
    Datum* test = registers(1);
    bool* test_null = flags(1);
    compile(when.condition, test, test_null);
    const std::size_t skip = jump(Op::kJumpIfNotTrue, test, test_null);
    compile(when.result, out, null);
    exits.push_back(jump(Op::kJump, nullptr, nullptr));
    land(skip);
  }
  if (e->otherwise != nullptr)
    compile(e->otherwise, out, null);
  else
    constant(Datum{}, true, out, null, false);
  for (const std::size_t at : exits) land(at);
  case_value_ = outer_value;
  case_null_ = outer_null;
}

void ExpressionCompiler::coalesce(const CoalesceExpr* e, Datum* out, bool* null) {
  std::vector<std::size_t> exits;
  for (const Expr* arg : e->args) {
    compile(arg, out, null);
    exits.push_back(jump(Op::kJumpIfNotNull, out, null));
  }
  for (const std::size_t at : exits) land(at);
}

void ExpressionCompiler::min_max(const MinMaxExpr* e, Datum* out, bool* null) {
  auto* data = arena_.make<MinMaxData>();
  data->count = static_cast<int>(e->args.size());
  data->values = registers(e->args.size());
  data->nulls = flags(e->args.size());
  data->greatest = e->greatest;
  data->collation = e->input_collation;
  data->compare = find_compare(e->type.type);
  if (data->compare == nullptr) {
    throw SqlError{sqlstate::kUndefinedFunction, "could not identify a comparison function for type " +
                                                     format_builtin_type(e->type.type, -1, false)};
  }
  for (std::size_t i = 0; i < e->args.size(); ++i) {
    compile(e->args[i], data->values + i, data->nulls + i, true);
  }
  add(Op::kMinMax, out, null).data = data;
}

void ExpressionCompiler::distinct_or_null_if(const OperatorExpr* e, Op op, Datum* out, bool* null) {
  const FunctionPtr code = require_function(e->function);
  FunctionCall* call = make_call(e->function, e->input_collation, e->args, kBoolType);
  for (int i = 0; i < 2; ++i)
    compile(e->args[static_cast<std::size_t>(i)], call->args + i, call->nulls + i, true);
  add(op, out, null).call = {code, call};
}

void ExpressionCompiler::scalar_array(const ScalarArrayExpr* e, Datum* out, bool* null) {
  auto* data = arena_.make<ScalarArrayData>();
  const Expr* both[2] = {e->left, e->array};
  data->call = make_call(e->function, e->input_collation, both, kBoolType);
  data->function = require_function(e->function);
  data->strict = is_strict(e->function);
  data->any = e->any;
  data->integer_equal = fast_operator(e->function) == Op::kIntEqual;
  data->array_is_constant = e->array->kind == ExprKind::kConst;
  const BuiltinArrayShape shape = element_shape(e->array->type.type);
  data->element_length = shape.length;
  data->by_value = shape.by_value;
  compile(e->left, &data->left, &data->left_null, true);
  compile(e->array, &data->array, &data->array_null, true);
  if (data->array_is_constant && !data->array_null) prepare_constant_array(*data, arena_);
  add(Op::kScalarArray, out, null).data = data;
}

void ExpressionCompiler::array(const ArrayExpr* e, Datum* out, bool* null) {
  auto* data = arena_.make<ArrayData>();
  data->count = static_cast<int>(e->elements.size());
  data->values = registers(e->elements.size());
  data->nulls = flags(e->elements.size());
  data->element = e->element_type;
  data->nested = e->nested;
  for (std::size_t i = 0; i < e->elements.size(); ++i) {
    compile(e->elements[i], data->values + i, data->nulls + i, true);
  }
  add(Op::kArray, out, null).data = data;
}

void ExpressionCompiler::subscript(const SubscriptExpr* e, Datum* out, bool* null) {
  if (e->upper.size() > static_cast<std::size_t>(kMaxDimensions)) {
    throw SqlError{sqlstate::kProgramLimitExceeded, "number of array dimensions (" +
                                                        std::to_string(e->upper.size()) +
                                                        ") exceeds the maximum allowed (6)"};
  }
  auto* data = arena_.make<SubscriptData>();
  data->count = static_cast<int>(e->upper.size());
  data->slice = !e->lower.empty();
  data->assigning = e->assign != nullptr;
  data->element = e->element_type;
  compile(e->container, &data->container, &data->container_null, true);
  for (std::size_t i = 0; i < e->upper.size(); ++i) {
    data->upper_given[i] = e->upper[i] != nullptr;
    if (e->upper[i] != nullptr) compile(e->upper[i], &data->upper[i], &data->upper_null[i], true);
    data->lower_given[i] = data->slice && i < e->lower.size() && e->lower[i] != nullptr;
    if (data->lower_given[i]) compile(e->lower[i], &data->lower[i], &data->lower_null[i], true);
  }
  if (e->assign != nullptr) compile(e->assign, &data->assigned, &data->assigned_null, true);
  add(Op::kSubscript, out, null).data = data;
}

void ExpressionCompiler::row(const RowExpr* e, Datum* out, bool* null) {
  auto* data = arena_.make<RowData>();
  data->type = e->type.type;
  data->count = static_cast<int>(e->args.size());
  data->values = registers(e->args.size());
  data->nulls = flags(e->args.size());
  data->types = arena_.make_array<Oid>(e->args.size() + 1);
  for (std::size_t i = 0; i < e->args.size(); ++i) {
    data->types[i] = e->args[i]->type.type;
    compile(e->args[i], data->values + i, data->nulls + i, true);
  }
  add(Op::kRow, out, null).data = data;
}

void ExpressionCompiler::row_compare(const RowCompareExpr* e, Datum* out, bool* null) {
  // one step per pair: equal goes on, unequal or null jumps to the verdict
  Datum* verdict = registers(1);
  bool* verdict_null = flags(1);
  std::vector<std::size_t> exits;
  for (std::size_t i = 0; i < e->left.size(); ++i) {
    auto* data = arena_.make<RowCompareData>();
    const Oid left = e->left[i]->type.type;
    const Oid right = e->right[i]->type.type;
    data->compare = left == right ? find_compare(left) : find_cross_compare(left, right);
    if (data->compare == nullptr) data->compare = find_compare(left);
    if (data->compare == nullptr) {
      throw SqlError{sqlstate::kFeatureNotSupported,
                     "could not determine interpretation of row comparison operator"};
    }
    data->collation = i < e->collations.size() ? e->collations[i] : Oid{};
    compile(e->left[i], data->values, data->nulls, true);
    compile(e->right[i], data->values + 1, data->nulls + 1, true);
    add(Op::kRowCompareStep, verdict, verdict_null).data = data;
    exits.push_back(here() - 1);
  }
  for (const std::size_t at : exits) land(at);
  Step& step = add(Op::kRowCompareFinal, out, null);
  step.source = static_cast<std::uint8_t>(e->op);
  step.copy = {verdict, verdict_null};
}

void ExpressionCompiler::io_coerce(const CoerceViaIoExpr* e, Datum* out, bool* null) {
  auto* data = arena_.make<IoCoerceData>();
  data->from = e->arg->type.type;
  data->to = e->type.type;
  data->typmod = e->type.type_modifier;
  data->from_info = find_type(data->from);
  data->to_info = find_type(data->to);
  compile(e->arg, &data->value, &data->is_null, true);
  add(Op::kIoCoerce, out, null).data = data;
}

void ExpressionCompiler::array_coerce(const ArrayCoerceExpr* e, Datum* out, bool* null) {
  auto* data = arena_.make<ArrayCoerceData>();
  const Expr* body = strip_relabel(e->element);
  data->only_relabel = body->kind == ExprKind::kCaseValue;
  data->element = e->element->type.type;
  compile(e->arg, &data->array, &data->array_null, true);
  ExpressionCompiler inner{arena_, run_};
  inner.case_value_ = &data->value;
  inner.case_null_ = &data->value_null;
  inner.compile(e->element, &data->result, &data->result_null);
  auto* program = arena_.make<Program>();
  inner.finish(*program);
  data->steps = inner.steps;
  data->step_count = inner.count;
  add(Op::kArrayCoerce, out, null).data = data;
}

void ExpressionCompiler::compile(const Expr* e, Datum* out, bool* null, bool fresh) {
  switch (e->kind) {
    case ExprKind::kConst: {
      const auto* c = expr_cast<ConstExpr>(e);
      return constant(c->value, c->is_null, out, null, fresh);
    }
    case ExprKind::kParam: {
      Step& step = add(Op::kParam, out, null);
      step.index = expr_cast<ParamExpr>(e)->index;
      return;
    }
    case ExprKind::kExecParam: {
      Step& step = add(Op::kExecParam, out, null);
      step.index = expr_cast<ExecParamExpr>(e)->slot;
      return;
    }
    case ExprKind::kSlotColumn: {
      const auto* c = expr_cast<SlotColumnExpr>(e);
      Step& step = add(c->index >= 0 ? Op::kColumn : Op::kSystemColumn, out, null);
      step.source = static_cast<std::uint8_t>(c->source);
      step.index = c->index;
      return;
    }
    case ExprKind::kFunction: {
      const auto* f = expr_cast<FunctionExpr>(e);
      return call(f->function, f->input_collation, f->args, f->type.type, f->variadic, out, null);
    }
    case ExprKind::kOperator: {
      const auto* o = expr_cast<OperatorExpr>(e);
      return call(o->function, o->input_collation, o->args, o->type.type, false, out, null);
    }
    case ExprKind::kDistinct:
      return distinct_or_null_if(expr_cast<OperatorExpr>(e), Op::kDistinct, out, null);
    case ExprKind::kNullIf:
      return distinct_or_null_if(expr_cast<OperatorExpr>(e), Op::kNullIf, out, null);
    case ExprKind::kScalarArray:
      return scalar_array(expr_cast<ScalarArrayExpr>(e), out, null);
    case ExprKind::kBool:
      return boolean(expr_cast<BoolExpr>(e), out, null);
    case ExprKind::kCase:
      return case_when(expr_cast<CaseExpr>(e), out, null);
    case ExprKind::kCaseValue: {
      if (case_value_ == nullptr) DB_PANIC("case value outside of CASE");
      add(Op::kCopy, out, null).copy = {case_value_, case_null_};
      return;
    }
    case ExprKind::kCoalesce:
      return coalesce(expr_cast<CoalesceExpr>(e), out, null);
    case ExprKind::kMinMax:
      return min_max(expr_cast<MinMaxExpr>(e), out, null);
    case ExprKind::kNullTest: {
      const auto* t = expr_cast<NullTestExpr>(e);
      compile(t->arg, out, null);
      add(t->arg_is_row ? (t->is_null ? Op::kRowIsNull : Op::kRowIsNotNull)
                        : (t->is_null ? Op::kIsNull : Op::kIsNotNull),
          out, null);
      return;
    }
    case ExprKind::kBooleanTest: {
      const auto* t = expr_cast<BooleanTestExpr>(e);
      compile(t->arg, out, null);
      add(Op::kBooleanTest, out, null).source = static_cast<std::uint8_t>(t->test);
      return;
    }
    case ExprKind::kRelabel:
      return compile(expr_cast<RelabelExpr>(e)->arg, out, null, fresh);
    case ExprKind::kCollate:
      return compile(expr_cast<CollateExpr>(e)->arg, out, null, fresh);
    case ExprKind::kCoerceViaIo:
      return io_coerce(expr_cast<CoerceViaIoExpr>(e), out, null);
    case ExprKind::kArrayCoerce:
      return array_coerce(expr_cast<ArrayCoerceExpr>(e), out, null);
    case ExprKind::kArray:
      return array(expr_cast<ArrayExpr>(e), out, null);
    case ExprKind::kSubscript:
      return subscript(expr_cast<SubscriptExpr>(e), out, null);
    case ExprKind::kRow:
      return row(expr_cast<RowExpr>(e), out, null);
    case ExprKind::kRowCompare:
      return row_compare(expr_cast<RowCompareExpr>(e), out, null);
    case ExprKind::kFieldSelect: {
      const auto* f = expr_cast<FieldSelectExpr>(e);
      compile(f->arg, out, null);
      add(Op::kFieldSelect, out, null).index = f->field;
      return;
    }
    case ExprKind::kSubPlan: {
      if (run_ == nullptr) break;
      add(Op::kSubPlan, out, null).data = make_subplan_state(*expr_cast<SubPlanExpr>(e), *run_, arena_);
      return;
    }
    case ExprKind::kSqlValue: {
      Step& step = add(Op::kSqlValue, out, null);
      step.source = static_cast<std::uint8_t>(expr_cast<SqlValueExpr>(e)->value);
      step.index = e->type.type_modifier;
      return;
    }
    default:
      break;
  }
  DB_PANIC("expression that planning should have replaced");
}

const Program* ProgramCompiler::scalar(const Expr* expr) {
  auto* program = arena_.make<Program>();
  ExpressionCompiler compiler{arena_, run_};
  compiler.prepare(expr);
  compiler.emit_deforms();
  compiler.compile(expr, &program->result_, &program->result_null_);
  compiler.finish(*program);
  program->steps_ = compiler.steps;
  program->count_ = compiler.count;
  return program;
}

const Program* ProgramCompiler::condition(ExprList quals) {
  auto* program = arena_.make<Program>();
  if (quals.empty()) return program;
  ExpressionCompiler compiler{arena_, run_};
  for (const Expr* e : quals) compiler.prepare(e);
  compiler.emit_deforms();
  for (const Expr* e : quals) compiler.qual(e, &program->result_, &program->result_null_);
  compiler.finish(*program);
  program->steps_ = compiler.steps;
  program->count_ = compiler.count;
  return program;
}

const Program* ProgramCompiler::into(std::span<const Expr* const> exprs, Datum* values, bool* nulls) {
  auto* program = arena_.make<Program>();
  ExpressionCompiler compiler{arena_, run_};
  for (const Expr* e : exprs) compiler.prepare(e);
  compiler.emit_deforms();
  for (std::size_t i = 0; i < exprs.size(); ++i) compiler.compile(exprs[i], values + i, nulls + i);
  compiler.finish(*program);
  program->steps_ = compiler.steps;
  program->count_ = compiler.count;
  return program;
}

const Program* ProgramCompiler::projection(ExprList exprs, Slot& out) {
  return into(std::span<const Expr* const>(exprs.data(), exprs.size()), out.values, out.nulls);
}

bool may_allocate(const Expr* expr) {
  return any_node(expr, [](const Expr* e) {
    const TypeInfo* type = find_type(e->type.type);
    return (type == nullptr || !type->by_value) && e->kind != ExprKind::kSlotColumn &&
           e->kind != ExprKind::kConst && e->kind != ExprKind::kParam;
  });
}

Datum evaluate_once(const Expr* expr, Arena& arena, EvalContext& eval, bool* is_null) {
  Arena scratch;
  ProgramCompiler compiler{scratch, nullptr};
  const Program* program = compiler.scalar(expr);
  EvalFrame frame;
  frame.arena = &arena;
  frame.eval = &eval;
  const Datum value = program->value(frame, is_null);
  return value;
}

}  // namespace pinwheel::sql
