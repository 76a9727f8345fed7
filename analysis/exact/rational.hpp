// Exact rational arithmetic: Boost.Multiprecision's cpp_rational, compiled once in rational.cpp instead of
// into every rule.
#pragma once

#include <compare>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace speclab {

class Rational {
 public:
  Rational() : Rational(std::int64_t{0}) {}
  // NOLINTNEXTLINE(google-explicit-constructor): integers are rationals
  Rational(std::signed_integral auto value) : Rational(static_cast<std::int64_t>(value)) {}
  // NOLINTNEXTLINE(google-explicit-constructor)
  Rational(std::unsigned_integral auto value) : Rational(static_cast<std::uint64_t>(value)) {}
  Rational(std::int64_t value);   // NOLINT(google-explicit-constructor)
  Rational(std::uint64_t value);  // NOLINT(google-explicit-constructor)
  /// Throws std::overflow_error for a denominator of 0.
  Rational(std::int64_t numerator, std::int64_t denominator) : Rational(numerator) { *this /= denominator; }
  explicit Rational(double value);  ///< exact; `value` is finite
  /// Reads "3/10" or "-7". Throws std::runtime_error for anything else.
  explicit Rational(const std::string& fraction);
  Rational(const Rational& other);
  Rational(Rational&& other) noexcept;
  Rational& operator=(const Rational& other);
  Rational& operator=(Rational&& other) noexcept;
  ~Rational();

  Rational& operator+=(const Rational& other);
  Rational& operator-=(const Rational& other);
  Rational& operator*=(const Rational& other);
  /// Throws std::overflow_error for a division by 0.
  Rational& operator/=(const Rational& other);

  friend Rational operator+(Rational a, const Rational& b) { return a += b; }
  friend Rational operator-(Rational a, const Rational& b) { return a -= b; }
  friend Rational operator*(Rational a, const Rational& b) { return a *= b; }
  friend Rational operator/(Rational a, const Rational& b) { return a /= b; }
  friend Rational operator-(const Rational& a) { return Rational() - a; }
  friend bool operator==(const Rational& a, const Rational& b) { return a.compare(b) == 0; }
  friend std::strong_ordering operator<=>(const Rational& a, const Rational& b) { return a.compare(b) <=> 0; }

  explicit operator double() const;
  explicit operator std::int64_t() const;  ///< rounds towards 0
  std::string str() const;

 private:
  struct Value;
  Value& value();
  const Value& value() const;
  int compare(const Rational& other) const;

  // Holds a cpp_rational; no other allocation than its own.
  alignas(std::max_align_t) std::byte storage_[64];
};

/// Exact probability rows: one row (context-free), or vocab^n rows for the contexts of n tokens.
using ExactRows = std::vector<std::vector<Rational>>;

/// Divides each row by its sum, which must be positive.
inline void normalise_exactly(ExactRows& rows) {
  for (std::vector<Rational>& row : rows) {
    Rational total(0);
    for (const Rational& weight : row) total += weight;
    for (Rational& weight : row) weight /= total;
  }
}

}  // namespace speclab
