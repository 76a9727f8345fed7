#include "analysis/exact/rational.hpp"

#include <doctest/doctest.h>

#include <boost/multiprecision/cpp_int.hpp>
#include <cstdint>
#include <limits>
#include <random>
#include <stdexcept>
#include <utility>
#include <vector>

using namespace speclab;

namespace {

using Witness = boost::multiprecision::cpp_rational;

TEST_CASE("rationals: arithmetic and comparisons are Boost's") {
  std::mt19937_64 engine(7);
  std::uniform_int_distribution<std::int64_t> number(-1'000'000'000'000, 1'000'000'000'000);
  Rational ours(1);
  Witness theirs(1);
  for (int i = 0; i < 400; ++i) {
    const std::int64_t top = number(engine);
    const std::int64_t bottom = 1 + std::abs(number(engine));
    const Rational our_other(top, bottom);
    const Witness their_other = Witness(top) / bottom;  // GCC 12 warns about the constructor of two numbers
    CHECK((ours < our_other) == (theirs < their_other));
    CHECK((ours >= our_other) == (theirs >= their_other));
    CHECK(ours == ours);
    switch (i % 5) {
      case 0:
        ours += our_other;
        theirs += their_other;
        break;
      case 1:
        ours = ours - our_other;
        theirs -= their_other;
        break;
      case 2:
        ours = ours * our_other;
        theirs *= their_other;
        break;
      case 3:
        ours = -ours / our_other;
        theirs /= -their_other;
        break;
      default:
        ours = i;
        theirs = i;
    }
    REQUIRE(ours.str() == theirs.str());
    CHECK(static_cast<double>(ours) == static_cast<double>(theirs));
  }
}

TEST_CASE("rationals: conversions") {
  CHECK(Rational("3/10") == Rational(3, 10));
  CHECK(Rational(0.1) != Rational(1, 10));  // the double nearest to a tenth
  CHECK(Rational(0.375) == Rational(3, 8));
  CHECK(static_cast<std::int64_t>(Rational(7, 2)) == 3);
  CHECK(static_cast<std::int64_t>(Rational(-7, 2)) == -3);
  CHECK(Rational(std::numeric_limits<std::int64_t>::min()).str() == "-9223372036854775808");
  CHECK(Rational(std::numeric_limits<std::uint64_t>::max()).str() == "18446744073709551615");
}

TEST_CASE("rationals: what is no number is refused") {
  CHECK_THROWS_AS(Rational("0.3"), std::runtime_error);
  CHECK_THROWS_AS(Rational(1, 0), std::overflow_error);
  CHECK_THROWS_AS(Rational(1) / Rational(0), std::overflow_error);
}

TEST_CASE("rationals: values survive copies, moves and large numbers") {
  Rational large(1);
  for (int i = 0; i < 300; ++i) large *= Rational(7);
  const Rational copy = large;
  std::vector<Rational> moved;
  for (int i = 0; i < 20; ++i) moved.push_back(large);
  large = std::move(moved.back());
  CHECK(large == copy);
  for (int i = 0; i < 300; ++i) large /= Rational(7);
  CHECK(large == Rational(1));
}

}  // namespace
