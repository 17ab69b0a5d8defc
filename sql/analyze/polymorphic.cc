#include "sql/analyze/coercion.h"
#include "sql/analyze/types.h"

/// Polymorphic signatures: anyelement and its kin must all stand for one type, anycompatible and its kin for
/// one common type that all can be cast to.
namespace pinwheel::sql {

namespace {

bool is_any_family(Oid type) {
  return type == kAnyElementType || type == kAnyArrayType || type == kAnyNonArrayType || type == kAnyEnumType;
}
bool is_compatible_family(Oid type) {
  return type == kAnyCompatibleType || type == kAnyCompatibleArrayType || type == kAnyCompatibleNonArrayType;
}

/// What the actual types say about a signature.
struct Deduction {
  Oid element, array;
  bool need_element = false, need_nonarray = false, need_enum = false;
  std::vector<Oid> compatible;  ///< element types that anycompatible must cover
  Oid common;
  bool need_common = false, common_nonarray = false;
  std::string problem;
};

/// The common type of plain type oids, as select_common_type does for expressions; 0 none.
Oid common_of(Analysis& an, std::span<const Oid> types) {
  if (types.empty()) return {};
  Oid type = base_type(an, types[0]);
  bool same = true;
  for (Oid t : types) same = same && t == types[0];
  if (same && types[0] != kUnknownType) return types[0];
  for (Oid t : types.subspan(1)) {
    const Oid next = base_type(an, t);
    if (next == kUnknownType || next == type) continue;
    if (type == kUnknownType) {
      type = next;
      continue;
    }
    if (type_category(an, next) != type_category(an, type)) return {};
    if (!type_of(an, type).preferred && can_coerce(an, type, next, CoercionContext::kImplicit) &&
        !can_coerce(an, next, type, CoercionContext::kImplicit)) {
      type = next;
    }
  }
  return type == kUnknownType ? kTextType : type;
}

/// Fills what can be told from actual arguments. False with `problem` when they contradict each other.
bool deduce(Analysis& an, std::span<const Oid> actual, std::span<const Oid> declared, Deduction& d) {
  for (std::size_t i = 0; i < actual.size(); ++i) {
    const Oid want = declared[i];
    Oid have = actual[i];
    if (is_any_family(want)) d.need_element = true;
    if (is_compatible_family(want)) d.need_common = true;
    if (want == kAnyNonArrayType) d.need_nonarray = true;
    if (want == kAnyEnumType) d.need_enum = true;
    if (want == kAnyCompatibleNonArrayType) d.common_nonarray = true;
    if (have == kUnknownType) continue;
    if (want == kAnyElementType || want == kAnyNonArrayType || want == kAnyEnumType) {
      if (d.element.value != 0 && d.element != have) {
        d.problem = "arguments declared \"anyelement\" are not all alike";
        return false;
      }
      d.element = have;
    } else if (want == kAnyArrayType) {
      have = base_type(an, have);
      if (d.array.value != 0 && d.array != have) {
        d.problem = "arguments declared \"anyarray\" are not all alike";
        return false;
      }
      d.array = have;
    } else if (want == kAnyCompatibleType || want == kAnyCompatibleNonArrayType) {
      d.compatible.push_back(have);
    } else if (want == kAnyCompatibleArrayType) {
      have = base_type(an, have);
      const Oid element = element_type(an, have);
      if (element.value == 0) {
        d.problem =
            cat("argument declared anycompatiblearray is not an array but type ", type_text(an, have));
        return false;
      }
      d.compatible.push_back(element);
    }
  }
  if (d.array.value != 0) {
    if (d.array == kAnyArrayType) {
      // Statistics columns have this type as their own; nothing can be said of the elements.
      if (d.element.value == 0 && !d.need_nonarray && !d.need_enum) d.element = kAnyElementType;
    } else {
      const Oid element = element_type(an, d.array);
      if (element.value == 0) {
        d.problem = cat("argument declared anyarray is not an array but type ", type_text(an, d.array));
        return false;
      }
      if (d.element.value == 0) {
        d.element = element;
      } else if (d.element != element) {
        d.problem = "argument declared anyarray is not consistent with argument declared anyelement";
        return false;
      }
    }
  }
  if (d.need_nonarray && d.element.value != 0 && element_type(an, d.element).value != 0) {
    d.problem = cat("type matched to anynonarray is an array type: ", type_text(an, d.element));
    return false;
  }
  if (d.need_enum && d.element.value != 0 && type_of(an, d.element).kind != 'e') {
    d.problem = cat("type matched to anyenum is not an enum type: ", type_text(an, d.element));
    return false;
  }
  if (!d.compatible.empty()) {
    d.common = common_of(an, d.compatible);
    if (d.common.value == 0) {
      d.problem = cat("arguments of anycompatible family cannot be cast to a common type");
      return false;
    }
    for (Oid type : d.compatible) {
      if (can_coerce(an, type, d.common, CoercionContext::kImplicit)) continue;
      d.problem = "arguments of anycompatible family cannot be cast to a common type";
      return false;
    }
    if (d.common_nonarray && element_type(an, d.common).value != 0) {
      d.problem = cat("type matched to anycompatiblenonarray is an array type: ", type_text(an, d.common));
      return false;
    }
  }
  return true;
}

}  // namespace

bool is_polymorphic(Oid type) { return is_any_family(type) || is_compatible_family(type); }

bool check_polymorphic(Analysis& an, std::span<const Oid> actual, std::span<const Oid> declared) {
  Deduction d;
  return deduce(an, actual, declared, d);
}

Oid resolve_polymorphic(Scope& scope, std::span<const Oid> actual, std::span<Oid> declared, Oid result,
                        bool allow_polymorphic) {
  Analysis& an = scope.an;
  bool any = is_polymorphic(result);
  for (Oid type : declared) any = any || is_polymorphic(type);
  if (!any) return result;

  Deduction d;
  if (!deduce(an, actual, declared, d)) throw SqlError{sqlstate::kDatatypeMismatch, d.problem};
  const bool result_any = is_any_family(result);
  if ((d.need_element || result_any) && d.element.value == 0) {
    if (allow_polymorphic) {
      d.element = kAnyElementType;
      d.array = kAnyArrayType;
    } else {
      throw SqlError{sqlstate::kDatatypeMismatch,
                     "could not determine polymorphic type because input has type unknown"};
    }
  }
  if ((d.need_common || is_compatible_family(result)) && d.common.value == 0) d.common = kTextType;
  const auto array_for = [&](Oid element) {
    const Oid array = array_type(an, element);
    if (array.value == 0) {
      throw SqlError{sqlstate::kUndefinedObject,
                     cat("could not find array type for data type ", type_text(an, element))};
    }
    return array;
  };
  const auto concrete = [&](Oid type) -> Oid {
    if (type == kAnyElementType || type == kAnyNonArrayType || type == kAnyEnumType) return d.element;
    if (type == kAnyArrayType) {
      if (d.array.value == 0) d.array = array_for(d.element);
      return d.array;
    }
    if (type == kAnyCompatibleType || type == kAnyCompatibleNonArrayType) return d.common;
    if (type == kAnyCompatibleArrayType) return array_for(d.common);
    return type;
  };
  for (std::size_t i = 0; i < declared.size(); ++i) {
    // A known actual type of the old family stays what it is; unknowns take the deduced one.
    declared[i] = concrete(declared[i]);
  }
  return concrete(result);
}

}  // namespace pinwheel::sql
