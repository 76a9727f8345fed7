#include "analysis/exact/transitions.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

using namespace speclab;

namespace {

using Rows = std::vector<std::vector<double>>;

std::vector<double> solved(const Rows& rows, std::vector<double> start) {
  Transitions transitions;
  transitions.contexts = static_cast<std::int32_t>(rows.size());
  transitions.dense = true;
  for (const auto& row : rows)
    transitions.probabilities.insert(transitions.probabilities.end(), row.begin(), row.end());
  return direct_stationary(std::move(transitions), std::move(start));
}

/// Returns the largest relative error.
double error(const std::vector<double>& found, const std::vector<double>& expected) {
  double worst = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const double size = expected[i] == 0 ? 1 : expected[i];
    worst = std::max(worst, std::abs(found[i] - expected[i]) / size);
  }
  return worst;
}

}  // namespace

TEST_CASE("two states that hardly ever meet: the balance of their two transitions, however small") {
  for (const double e : {0.1, 1e-5, 1e-13, 1e-40, 1e-200}) {
    const Rows rows{{1 - e, e}, {2 * e, 1 - 2 * e}};
    for (const auto& start : {std::vector<double>{1, 0}, {0, 1}, {0.5, 0.5}})
      CHECK(error(solved(rows, start), {2.0 / 3, 1.0 / 3}) < 1e-15);
  }
}

TEST_CASE("a birth and death chain: the product of its ratios, over 150 orders of magnitude") {
  constexpr std::size_t states = 60;
  Rows rows(states, std::vector<double>(states));
  std::vector<double> expected(states, 1);
  double total = 0;
  for (std::size_t i = 0; i < states; ++i) {
    if (i + 1 < states) rows[i][i + 1] = 0.001;
    if (i > 0) rows[i][i - 1] = 0.4;
    rows[i][i] = 1 - (i + 1 < states ? 0.001 : 0) - (i > 0 ? 0.4 : 0);
    if (i > 0) expected[i] = expected[i - 1] * 0.001 / 0.4;
    total += expected[i];
  }
  for (double& value : expected) value /= total;
  std::vector<double> start(states);
  start.back() = 1;
  CHECK(error(solved(rows, start), expected) < 1e-13);
}

TEST_CASE("random chains: what one step leaves as it is") {
  std::mt19937_64 engine(3);
  std::uniform_real_distribution<double> uniform(0, 1);
  for (const std::size_t states : {1, 2, 7, 40}) {
    Rows rows(states, std::vector<double>(states));
    for (auto& row : rows) {
      double total = 0;
      for (double& value : row) total += value = uniform(engine) < 0.7 ? uniform(engine) : 0.01;
      for (double& value : row) value /= total;
    }
    std::vector<double> start(states);
    start[0] = 1;
    const std::vector<double> found = solved(rows, start);
    std::vector<double> after(states);
    for (std::size_t i = 0; i < states; ++i)
      for (std::size_t j = 0; j < states; ++j) after[j] += found[i] * rows[i][j];
    CHECK(error(after, found) < 1e-13);
  }
}

TEST_CASE("a periodic chain: its average over time") {
  const std::vector<double> found = solved({{0, 0.5, 0.5}, {1, 0, 0}, {1, 0, 0}}, {0, 1, 0});
  CHECK(error(found, {0.5, 0.25, 0.25}) < 1e-15);
}

TEST_CASE("several closed classes: each by the probability of ending there") {
  // This is the gambler's ruin with 0 and 4 absorbing and p = 0.6: from 1 the top is reached with probability
  // (1 - r) / (1 - r^4), r = 2/3.
  const double p = 0.6;
  const Rows ruin{
      {1, 0, 0, 0, 0}, {1 - p, 0, p, 0, 0}, {0, 1 - p, 0, p, 0}, {0, 0, 1 - p, 0, p}, {0, 0, 0, 0, 1}};
  const double r = (1 - p) / p;
  const double top = (1 - r) / (1 - std::pow(r, 4));
  CHECK(error(solved(ruin, {0, 1, 0, 0, 0}), {1 - top, 0, 0, 0, top}) < 1e-14);
  // Mass that starts in a class stays there.
  const Rows apart{{0.5, 0.5, 0, 0}, {0.25, 0.75, 0, 0}, {0, 0, 0, 1}, {0, 0, 1, 0}};
  CHECK(error(solved(apart, {0.3, 0, 0.7, 0}), {0.1, 0.2, 0.35, 0.35}) < 1e-14);
}
