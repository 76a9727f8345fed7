#include "analysis/theory/scaled_sigmoid.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "core/rules/sigmoid.hpp"

using namespace speclab;

namespace {

const std::vector<double> three_target{std::log(.5), std::log(.3), std::log(.2)};
const std::vector<double> three_draft{std::log(.1), std::log(.3), std::log(.6)};

}  // namespace

TEST_CASE("numbers round to the nearest one of a format") {
  using enum SigmoidFormat;
  CHECK(rounded_to(f16, 65504) == 65504);
  CHECK(rounded_to(f16, 65519) == 65504);
  CHECK(std::isinf(rounded_to(f16, 65520)));
  CHECK(rounded_to(f16, 1000.3) == 1000.5);
  CHECK(rounded_to(f16, 2049) == 2048);  // to even
  CHECK(rounded_to(f16, std::ldexp(3, -25)) == std::ldexp(1, -23));
  CHECK(rounded_to(bf16, 1000.3) == 1000);
  CHECK(rounded_to(bf16, 1e5) == 99840);
  CHECK(rounded_to(f32, .1) == static_cast<double>(.1F));
  CHECK(rounded_to(f64, .1) == .1);
}

TEST_CASE("in double it is the rule sigmoid, and softmax is Algorithm 1") {
  const std::vector<double> p{.5, .3, .2}, q{.1, .3, .6};
  for (const double scale : {1.0, 10.0, 1000.0}) {
    const SigmoidRule rule(-scale, scale);
    const ScaledSigmoid found = scaled_sigmoid(three_target, three_draft, scale, SigmoidFormat::f64);
    CHECK(found.valid);
    CHECK(found.acceptance ==
          doctest::Approx(rule.acceptance_rate(Row{p.data(), 3}, Row{q.data(), 3})).epsilon(1e-14));
  }
  const ScaledSigmoid exact = scaled_sigmoid(three_target, three_draft, 1, SigmoidFormat::softmax);
  CHECK(exact.acceptance == doctest::Approx(.6));
  CHECK(exact.tv_to_target < 1e-15);
  CHECK(exact.tv_to_draft == doctest::Approx(.4));
  CHECK(exact.cross_entropy == doctest::Approx(-.5 * std::log(.5) - .3 * std::log(.3) - .2 * std::log(.2)));
  CHECK(exact.greedy);
}

TEST_CASE("the larger the scale, the closer is what is emitted to the draft") {
  double distance = 1;
  for (const double scale : {1.0, 10.0, 1e3, 1e5}) {
    const ScaledSigmoid found = scaled_sigmoid(three_target, three_draft, scale, SigmoidFormat::f64);
    CHECK(found.tv_to_draft < distance);
    distance = found.tv_to_draft;
    // |sigma(x) - sigma(1/2)| <= max |z| / (8 scale), and every weight is above 1/3, so that a ratio is at
    // least 1 - 3 * 2 * max |z| / (8 scale).
    CHECK(1 - found.acceptance <= .75 * -std::log(.1) / scale);
  }
}

TEST_CASE("rows that half precision cannot compute are invalid") {
  CHECK(scaled_sigmoid(three_target, three_draft, 1e4, SigmoidFormat::f16).valid);
  CHECK_FALSE(scaled_sigmoid(three_target, three_draft, 1e5, SigmoidFormat::f16).valid);
  CHECK(scaled_sigmoid(three_target, three_draft, 1e5, SigmoidFormat::bf16).acceptance == doctest::Approx(1));
}

TEST_CASE("if all of many weights are equal, every token is accepted and the row is valid") {
  // The probabilities of 50,000 drafted tokens sum to 1 up to about 1e-12.
  std::vector<double> target, draft;
  for (int id = 1; id <= 50000; ++id) {
    target.push_back(-1.3 * std::log(id));
    draft.push_back(-.7 * std::log(id));
  }
  const ScaledSigmoid found = scaled_sigmoid(target, draft, 1e5, SigmoidFormat::bf16);
  CHECK(found.valid);
  CHECK(found.acceptance == 1);
  CHECK(found.tv_to_draft == 0);
}

TEST_CASE("a token of probability zero is neither drafted nor emitted") {
  const double none = -std::numeric_limits<double>::infinity();
  const std::vector<double> p{0, none, std::log(2)}, q{0, 0, none};
  const ScaledSigmoid found = scaled_sigmoid(p, q, 10, SigmoidFormat::f64);
  CHECK(found.valid);
  CHECK(found.acceptance == doctest::Approx(.5));
  CHECK(std::isfinite(found.cross_entropy));
}
