#include "sql/types/decimal.h"

#include <cmath>
#include <vector>

#include "sql/types/io_errors.h"
#include "sql/types/numeric.h"
#include "sql/types/varlena.h"

namespace pinwheel::sql {

namespace {

constexpr std::uint16_t kScaleMask = 0x3FFF;
constexpr std::uint16_t kNegativeBit = 0x4000;
constexpr std::uint16_t kSpecialBit = 0x8000;

}  // namespace

void throw_numeric_overflow() {
  throw SqlError{sqlstate::kNumericValueOutOfRange, "value overflows numeric format"};
}

Decimal unpack_decimal(Datum v) {
  const std::string_view payload = var_view(v);
  const auto head = load<std::uint16_t>(payload.data());
  Decimal d;
  if (head & kSpecialBit) {
    d.kind = static_cast<Decimal::Kind>(1 + (head & kScaleMask));
    return d;
  }
  d.scale = head & kScaleMask;
  if (payload.size() > 2) {
    mpz_import(d.value.get_mpz_t(), payload.size() - 2, -1, 1, 0, 0, payload.data() + 2);
    if (head & kNegativeBit) mpz_neg(d.value.get_mpz_t(), d.value.get_mpz_t());
  }
  return d;
}

Datum pack_decimal(Arena& arena, const Decimal& d) {
  char* to;
  if (!d.finite()) {
    Datum v = new_var(arena, 2, &to);
    store<std::uint16_t>(to, static_cast<std::uint16_t>(kSpecialBit | (static_cast<int>(d.kind) - 1)));
    return v;
  }
  const std::size_t bytes = sgn(d.value) == 0 ? 0 : (mpz_sizeinbase(d.value.get_mpz_t(), 2) + 7) / 8;
  if (bytes > 54000 && decimal_digits(d.value) - d.scale > kNumericIntegerDigits) throw_numeric_overflow();
  Datum v = new_var(arena, 2 + bytes, &to);
  std::uint16_t head = static_cast<std::uint16_t>(d.scale);
  if (sgn(d.value) < 0) head |= kNegativeBit;
  store<std::uint16_t>(to, head);
  if (bytes > 0) mpz_export(to + 2, nullptr, -1, 1, 0, 0, d.value.get_mpz_t());
  return v;
}

const mpz_class& power_of_ten(int n) {
  // Grows on demand; values only, so every session of the process may share it.
  static std::vector<mpz_class> powers{mpz_class{1}};
  static mpz_class large;
  if (n >= 1024) {
    mpz_ui_pow_ui(large.get_mpz_t(), 10, static_cast<unsigned long>(n));
    return large;
  }
  while (powers.size() <= static_cast<std::size_t>(n)) {
    if (powers.capacity() < 1024) powers.reserve(1024);  // references stay valid
    powers.push_back(powers.back() * 10);
  }
  return powers[static_cast<std::size_t>(n)];
}

int decimal_digits(const mpz_class& v) {
  if (sgn(v) == 0) return 0;
  const int digits = static_cast<int>(mpz_sizeinbase(v.get_mpz_t(), 10));  // exact or one too many
  return mpz_cmpabs(v.get_mpz_t(), power_of_ten(digits - 1).get_mpz_t()) < 0 ? digits - 1 : digits;
}

void rescale(Decimal* d, int scale, bool truncate) {
  if (scale >= d->scale) {
    if (scale > d->scale) d->value *= power_of_ten(scale - d->scale);
    d->scale = scale;
    return;
  }
  const mpz_class divisor = power_of_ten(d->scale - scale);
  if (!truncate) {
    // Half away from zero: add half a unit before cutting.
    const mpz_class half = divisor / 2;
    if (sgn(d->value) < 0) {
      d->value -= half;
    } else {
      d->value += half;
    }
  }
  mpz_tdiv_q(d->value.get_mpz_t(), d->value.get_mpz_t(), divisor.get_mpz_t());
  d->scale = scale;
  if (scale < 0) {
    d->value *= power_of_ten(-scale);
    d->scale = 0;
  }
}

int decimal_exponent(const Decimal& d) { return decimal_digits(d.value) - 1 - d.scale; }

double decimal_to_double(const Decimal& d) {
  switch (d.kind) {
    case Decimal::Kind::kNaN:
      return std::numeric_limits<double>::quiet_NaN();
    case Decimal::Kind::kInfinity:
      return std::numeric_limits<double>::infinity();
    case Decimal::Kind::kMinusInfinity:
      return -std::numeric_limits<double>::infinity();
    default:
      break;
  }
  std::string text;
  append_decimal(text, d);
  return std::strtod(text.c_str(), nullptr);  // the one correctly rounded way
}

void append_decimal(std::string& out, const Decimal& d) {
  std::string digits = d.value.get_str();
  std::size_t start = 0;
  if (digits[0] == '-') {
    out += '-';
    start = 1;
  }
  const std::size_t scale = static_cast<std::size_t>(d.scale);
  const std::size_t count = digits.size() - start;
  if (scale == 0) {
    out.append(digits, start);
  } else if (count <= scale) {
    out.append("0.").append(scale - count, '0').append(digits, start);
  } else {
    out.append(digits, start, count - scale).append(".").append(digits, start + count - scale);
  }
}

int compare_decimal(const Decimal& a, const Decimal& b) {
  const auto rank = [](const Decimal& d) {
    switch (d.kind) {
      case Decimal::Kind::kMinusInfinity:
        return -1;
      case Decimal::Kind::kInfinity:
        return 1;
      case Decimal::Kind::kNaN:
        return 2;
      default:
        return 0;
    }
  };
  if (!a.finite() || !b.finite()) return rank(a) - rank(b);
  if (a.scale == b.scale) return cmp(a.value, b.value);
  if (sgn(a.value) != sgn(b.value)) return sgn(a.value) - sgn(b.value);
  if (a.scale < b.scale) return cmp(mpz_class{a.value * power_of_ten(b.scale - a.scale)}, b.value);
  return cmp(a.value, mpz_class{b.value * power_of_ten(a.scale - b.scale)});
}

Decimal divide_to_scale(const Decimal& a, const Decimal& b, int scale) {
  // a / b at `scale` = a.value * 10^(scale + b.scale - a.scale) / b.value
  Decimal result;
  result.scale = scale;
  const int shift = scale + b.scale - a.scale;
  mpz_class numerator = a.value;
  mpz_class denominator = b.value;
  if (shift >= 0) {
    numerator *= power_of_ten(shift);
  } else {
    denominator *= power_of_ten(-shift);
  }
  if (sgn(denominator) < 0) {
    numerator = -numerator;
    denominator = -denominator;
  }
  // Rounds half away from zero: (2n + d) / 2d, cut.
  mpz_class twice = numerator * 2;
  if (sgn(numerator) >= 0) {
    twice += denominator;
  } else {
    twice -= denominator;
  }
  mpz_class double_denominator = denominator * 2;
  mpz_tdiv_q(result.value.get_mpz_t(), twice.get_mpz_t(), double_denominator.get_mpz_t());
  return result;
}

}  // namespace pinwheel::sql
