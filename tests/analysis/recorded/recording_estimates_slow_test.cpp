// Tests coverage of the intervals of alpha over recordings of one pair.
#include <doctest/doctest.h>

#include <numeric>

#include "analysis/recorded/recording_estimates.hpp"
#include "tests/analysis/recorded/recorded_chain.hpp"

using namespace speclab;

namespace {

const ChainRows target = random_chain(6, 1.2, 3);
const ChainRows draft = noisy(target, 1, 4);

/// Returns alpha over the contexts that the target generates.
double true_alpha() {
  std::vector<double> share(target.size(), 1.0 / static_cast<double>(target.size()));
  for (int step = 0; step < 2000; ++step) {
    std::vector<double> next(target.size());
    for (std::size_t i = 0; i < share.size(); ++i) {
      for (std::size_t j = 0; j < share.size(); ++j) next[j] += share[i] * target[i][j];
    }
    share = next;
  }
  double alpha = 0;
  for (std::size_t i = 0; i < share.size(); ++i) {
    for (std::size_t j = 0; j < share.size(); ++j) alpha += share[i] * std::min(target[i][j], draft[i][j]);
  }
  return alpha;
}

int covered(std::size_t sequences, std::size_t length, bool rows) {
  const double alpha = true_alpha();
  int holds = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const Recording recording = recorded_chain(target, target, draft, sequences, length, 77 + seed, rows);
    const Interval interval = recorded_alpha(recording, recording.sequences, 0.95);
    holds += interval.holds(alpha) ? 1 : 0;
  }
  return holds;
}

}  // namespace

TEST_CASE("intervals of alpha hold it in about 95% of 200 recordings") {
  // With 95% each, 177 to 198 of 200 intervals contain alpha, except with probability 1e-3 (binomial, both
  // tails). Unbounded intervals contain it; stretches of one sequence are unbounded in 5% of the cases.
  for (const bool rows : {false, true}) {
    const int few = covered(8, 400, rows);
    const int many = covered(50, 200, rows);
    const int one = covered(1, 10000, rows);
    MESSAGE(few, " ", many, " ", one, " of 200");
    CHECK(few >= 177);
    CHECK(few <= 198);
    CHECK(many >= 177);
    CHECK(many <= 198);
    CHECK(one >= 177);
  }
}
