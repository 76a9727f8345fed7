#include "analysis/exact/rational.hpp"

#include <boost/multiprecision/cpp_int.hpp>
#include <new>
#include <utility>

namespace speclab {

struct Rational::Value {
  boost::multiprecision::cpp_rational number;
};

Rational::Value& Rational::value() { return *std::launder(reinterpret_cast<Value*>(storage_)); }
const Rational::Value& Rational::value() const {
  return *std::launder(reinterpret_cast<const Value*>(storage_));
}

Rational::Rational(std::int64_t value) {
  static_assert(sizeof(Value) <= sizeof(storage_) && alignof(Value) <= alignof(std::max_align_t));
  new (storage_) Value{value};
}
Rational::Rational(std::uint64_t value) { new (storage_) Value{value}; }
Rational::Rational(double value) { new (storage_) Value{boost::multiprecision::cpp_rational(value)}; }
Rational::Rational(const std::string& fraction) {
  new (storage_) Value{boost::multiprecision::cpp_rational(fraction)};
}
Rational::Rational(const Rational& other) { new (storage_) Value(other.value()); }
Rational::Rational(Rational&& other) noexcept { new (storage_) Value(std::move(other.value())); }
Rational& Rational::operator=(const Rational& other) {
  value() = other.value();
  return *this;
}
Rational& Rational::operator=(Rational&& other) noexcept {
  value() = std::move(other.value());
  return *this;
}
Rational::~Rational() { value().~Value(); }

Rational& Rational::operator+=(const Rational& other) {
  value().number += other.value().number;
  return *this;
}
Rational& Rational::operator-=(const Rational& other) {
  value().number -= other.value().number;
  return *this;
}
Rational& Rational::operator*=(const Rational& other) {
  value().number *= other.value().number;
  return *this;
}
Rational& Rational::operator/=(const Rational& other) {
  value().number /= other.value().number;
  return *this;
}

Rational::operator double() const { return static_cast<double>(value().number); }
Rational::operator std::int64_t() const { return static_cast<std::int64_t>(value().number); }
std::string Rational::str() const { return value().number.str(); }
int Rational::compare(const Rational& other) const { return value().number.compare(other.value().number); }

}  // namespace speclab
