#include "core/distribution/divergence.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "core/random/philox.hpp"
#include "tests/core/rules/all_rules.hpp"

using namespace speclab;

namespace {

/// Returns a random probability row with about a third of its probabilities zero.
std::vector<double> random_row(Philox& stream, std::size_t size) {
  std::vector<double> row(size);
  double total = 0;
  while (total == 0) {
    for (double& probability : row) {
      probability = std::max(0.0, open_unit(stream()) - 1.0 / 3);
      total += probability;
    }
  }
  for (double& probability : row) probability /= total;
  return row;
}

Row view(const std::vector<double>& row) { return {row.data(), static_cast<std::int32_t>(row.size())}; }

/// Returns D_LK as Definition 3.2 states it: the sum of |target - M|, where M is the mean of the two rows.
template <class Real>
Real d_lk(BasicRow<Real> target, BasicRow<Real> draft) {
  return sum_terms<Real>(0, target.size, [&](std::int32_t i) {
    const Real middle = (target[i] + draft[i]) / Real(2);
    const Real difference = target[i] - middle;
    return difference < Real(0) ? Real(-difference) : difference;
  });
}

constexpr double rounding = 1e-12;

}  // namespace

TEST_CASE("random rows: D_LK = total variation = 1 - overlap, symmetric, in [0, 1]") {
  Philox stream(32, Site{0, 0, Draw{Use::world, 0}});
  for (const std::size_t size : {1, 2, 5, 8, 9, 1000}) {
    for (int repeat = 0; repeat < 50; ++repeat) {
      const std::vector<double> a = random_row(stream, size);
      const std::vector<double> b = random_row(stream, size);
      const double distance = d_lk(view(a), view(b));
      CHECK(std::abs(distance - total_variation(view(a), view(b))) < rounding);
      CHECK(std::abs(distance - (1 - overlap(view(a), view(b)))) < rounding);
      CHECK(std::abs(distance - d_lk(view(b), view(a))) < rounding);
      CHECK(distance <= 1 + rounding);
    }
  }
}

TEST_CASE("Thm 3.5: overlap is the probability that a token drawn from the draft is accepted") {
  Philox stream(35, Site{0, 0, Draw{Use::world, 0}});
  for (int repeat = 0; repeat < 100; ++repeat) {
    const std::vector<double> target = random_row(stream, 17);
    const std::vector<double> draft = random_row(stream, 17);
    for (const double lenience : {1.0, 0.7, 0.1}) {
      double accepted = 0;
      for (Token id = 0; id < 17; ++id) {
        accepted += view(draft)[id] * LenienceRule{lenience}.acceptance(id, view(target), view(draft));
      }
      CHECK(std::abs(accepted - lenient_overlap(view(target), view(draft), lenience)) < rounding);
      if (lenience == 1) CHECK(std::abs(accepted - overlap(view(target), view(draft))) < rounding);
    }
  }
}

TEST_CASE("identical rows are at distance 0, disjoint supports at 1") {
  const std::vector<double> left{0.25, 0.75, 0, 0};
  const std::vector<double> right{0, 0, 0.5, 0.5};
  CHECK(d_lk(view(left), view(left)) == 0);
  CHECK(overlap(view(left), view(left)) == 1);
  CHECK(d_lk(view(left), view(right)) == 1);
  CHECK(overlap(view(left), view(right)) == 0);
}

TEST_CASE("the golden vector") {
  const std::vector<double> target{0.5, 0.3, 0.2};
  const std::vector<double> draft{0.1, 0.3, 0.6};
  CHECK(overlap(view(target), view(draft)) == doctest::Approx(0.6));
  CHECK(lenient_overlap(view(target), view(draft), 0.5) == doctest::Approx(0.8));
}
