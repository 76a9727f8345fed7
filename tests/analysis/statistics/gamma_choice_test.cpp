#include "analysis/statistics/gamma_choice.hpp"

#include <doctest/doctest.h>

#include <set>

#include "analysis/theory/optimal_gamma.hpp"
#include "analysis/theory/theorems.hpp"

using namespace speclab;

TEST_CASE("the gammas optimal within a box are those of a fine grid over it") {
  struct Box {
    double alpha, c;
  };
  for (const Box box : {Box{0.75, 0.02}, Box{0.62, 0.02}, Box{0.82, 0.11}, Box{0.53, 0.04}}) {
    std::set<int> seen;
    constexpr int steps = 300;
    for (int i = 0; i <= steps; ++i) {
      for (int j = 0; j <= steps; ++j) {
        const double alpha = box.alpha + 0.005 * (2.0 * i / steps - 1);
        const double c = box.c + 0.005 * (2.0 * j / steps - 1);
        seen.insert(optimal_gamma(alpha, c).gamma.value());
      }
    }
    const GammaRange range =
        optimal_gamma_range(box.alpha - 0.005, box.alpha + 0.005, box.c - 0.005, box.c + 0.005);
    CHECK(range.low == *seen.begin());
    CHECK(range.high.value() == *seen.rbegin());
    CHECK(seen.size() == static_cast<std::size_t>(range.high.value() - range.low + 1));
    CHECK_FALSE(range.holds(range.low - 1));
    CHECK_FALSE(range.holds(*range.high + 1));
  }
}

TEST_CASE("a box that reaches c = 0 or alpha = 1 has no largest gamma") {
  CHECK_FALSE(optimal_gamma_range(0.5, 0.6, -0.005, 0.005).high.has_value());
  CHECK_FALSE(optimal_gamma_range(0.99, 1.01, 0.01, 0.02).high.has_value());
  CHECK(optimal_gamma_range(0.5, 0.6, 0, 0.005).holds(1'000'000));
  CHECK(optimal_gamma_range(0, 0.1, 0.2, 0.3).high == 0);
}

TEST_CASE("speeds near the best") {
  const double speeds[] = {1, 1.8, 1.97, 2, 1.99, 1.5, 1.995};
  CHECK(near_best(speeds, 0.02).low == 2);
  CHECK(near_best(speeds, 0.02).high == 4);
  CHECK(near_best(speeds, 0).low == 3);
  CHECK(near_best(speeds, 0).high == 3);
  CHECK(near_best(speeds, 0.6).low == 0);
}

TEST_CASE("a chosen gamma is judged by the best, and by what its rounded inputs allow") {
  // Table 2 of Leviathan et al. 2023 has EnDe with T5-small at T = 0 and T = 1, both with gamma 7.
  const JudgedGamma faster = judge_gamma(7, 0.75, 0.02, 0.005, 0.005);
  CHECK(faster.verdict == ChoiceVerdict::ours_is_faster);
  CHECK(faster.best_gamma == 9);
  CHECK(faster.loss == doctest::Approx(1 - speedup(0.75, 7, 0.02) / speedup(0.75, 9, 0.02)));
  const JudgedGamma within = judge_gamma(7, 0.62, 0.02, 0.005, 0.005);
  CHECK(within.verdict == ChoiceVerdict::optimal_within_rounding);
  CHECK(within.optimal->holds(7));
  CHECK(judge_gamma(7, 0.62, 0.02, 0, 0).verdict == ChoiceVerdict::ours_is_faster);
  CHECK_FALSE(judge_gamma(7, 0.62, 0.02, 0, 0).optimal);
  CHECK(judge_gamma(9, 0.75, 0.02, 0, 0).verdict == ChoiceVerdict::same);
  CHECK(judge_gamma(9, 0.75, 0.02, 0, 0).loss == doctest::Approx(0));
  const JudgedGamma endless = judge_gamma(5, 0.8, 0, 0, 0);
  CHECK(endless.verdict == ChoiceVerdict::more_is_always_better);
  CHECK(endless.loss == doctest::Approx(1 - speedup(0.8, 5, 0) / 5));
  CHECK(judge_gamma(5, 1, 0, 0, 0).loss == 1);
}
