#include "sim/acceptance_stream.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <map>
#include <numeric>
#include <vector>

#include "core/rules/token.hpp"
#include "sim/any_rule.hpp"
#include "sim/compiled_rule.hpp"
#include "sim/models/model.hpp"
#include "sim/models/synthetic.hpp"
#include "tests/bounds.hpp"

using namespace speclab;

namespace {

double ones(const AcceptanceBits& bits) { return std::accumulate(bits.begin(), bits.end(), 0.0); }

/// A chain of order 1 over three tokens, and a different chain as draft.
TableModel chain() { return {3, 1, {0.7, 0.2, 0.1, 0.1, 0.8, 0.1, 0.25, 0.25, 0.5}}; }
TableModel other() { return {3, 1, {0.2, 0.4, 0.4, 0.3, 0.4, 0.3, 0.6, 0.2, 0.2}}; }

SimulationSize streamed_simulation(std::uint64_t seed) {
  SimulationSize simulation;
  simulation.seed = test_seed(seed);
  simulation.prompts = {{0}};
  return simulation;
}

/// A rule that accepts every draft: its text has the draft's distribution.
struct AcceptAll : TokenRule {
  template <class Real>
  Real acceptance(Token, BasicRow<Real>, BasicRow<Real>) const {
    return Real(1);
  }
};

/// Null: the text comes from the target chain, started at token 0. Each transition's count is binomial given
/// its origin.
bool has_distribution(const std::vector<Token>& text, const TableModel& target) {
  std::map<Token, double> from;
  std::map<std::pair<Token, Token>, double> steps;
  Token before = 0;
  for (const Token token : text) {
    from[before] += 1;
    steps[{before, token}] += 1;
    before = token;
  }
  std::vector<double> scratch;
  bool agrees = true;
  for (Token origin = 0; origin < 3; ++origin) {
    const Row row = target.next(std::vector<Token>{origin}, scratch);
    for (Token token = 0; token < 3; ++token) {
      agrees = agrees && count_agrees(steps[{origin, token}], from[origin], row[token]);
    }
  }
  return agrees;
}

}  // namespace

TEST_CASE("independent acceptances: frequency alpha, no correlation, one stream a trial") {
  constexpr std::size_t positions = 200'000;
  const std::uint64_t seed = test_seed(31);
  for (const double alpha : {0.05, 0.8}) {
    const AcceptanceBits bits = iid_acceptances(alpha, seed, 3, positions);
    CHECK(count_agrees(ones(bits), positions, alpha));
    CHECK_FALSE(count_agrees(ones(bits), positions, alpha + 0.01));
    double pairs = 0;
    for (std::size_t t = 0; t + 1 < positions; t += 2) pairs += bits[t] * bits[t + 1];
    CHECK(count_agrees(pairs, positions / 2.0, alpha * alpha));
    // Compares with another trial, and with another stream of acceptance draws in the same trial.
    const AcceptanceBits trial = iid_acceptances(alpha, seed, 4, positions);
    BernoulliStream coins(seed, 3, iid_stream_slot + 1, alpha);
    double with_trial = 0;
    double with_acceptances = 0;
    for (std::size_t t = 0; t < positions; ++t) {
      with_trial += bits[t] * trial[t];
      with_acceptances += bits[t] * (coins.bernoulli() ? 1 : 0);
    }
    CHECK(count_agrees(with_trial, positions, alpha * alpha));
    CHECK(count_agrees(with_acceptances, positions, alpha * alpha));
  }
  CHECK(ones(iid_acceptances(0, seed, 0, 100)) == 0);
  CHECK(ones(iid_acceptances(1, seed, 0, 100)) == 100);
  const AcceptanceBits shorter = iid_acceptances(0.5, seed, 0, 100);
  const AcceptanceBits longer = iid_acceptances(0.5, seed, 0, 200);
  CHECK(std::equal(shorter.begin(), shorter.end(), longer.begin()));
}

TEST_CASE("acceptances of a pair: frequency alpha, and the text has the target's distribution") {
  constexpr std::size_t positions = 200'000;
  SUBCASE("an overlap that is the same everywhere") {
    const TableModel target(12, 0, zipf_row(12, 2, false));
    const Model draft(mixed_to_alpha(target, TableModel(12, 0, zipf_row(12, 2, true)), 0.8));
    const AcceptanceBits bits =
        pair_acceptances(Model(target), draft, TokenRule{}, streamed_simulation(1), 0, positions);
    CHECK(count_agrees(ones(bits), positions, 0.8));
    CHECK_FALSE(count_agrees(ones(bits), positions, 0.81));
  }
  SUBCASE("chains") {
    std::vector<Token> text;
    pair_acceptances(chain(), other(), TokenRule{}, streamed_simulation(2), 1, positions, &text);
    CHECK(text.size() == positions);
    CHECK(has_distribution(text, chain()));
    pair_acceptances(chain(), other(), AcceptAll{}, streamed_simulation(2), 1, positions, &text);
    CHECK_FALSE(has_distribution(text, chain()));
    CHECK(has_distribution(text, other()));
  }
  SUBCASE("a bit and its token: accepted tokens are the draft's") {
    const TableModel target(2, 0, {1, 0});
    const TableModel draft(2, 0, {0.5, 0.5});
    std::vector<Token> text;
    const AcceptanceBits bits =
        pair_acceptances(target, draft, TokenRule{}, streamed_simulation(3), 0, 1000, &text);
    CHECK(count_agrees(ones(bits), 1000, 0.5));
    CHECK(text == std::vector<Token>(1000, 0));
  }
}

TEST_CASE("leading acceptances stop at a rejection, at the most wanted, and at the last bit") {
  const AcceptanceBits bits{1, 1, 0, 1, 1, 1};
  const Acceptances text{bits, bits.size()};
  CHECK(text.leading(0, 10) == 2);
  CHECK(text.leading(0, 1) == 1);
  CHECK(text.leading(0, 0) == 0);
  CHECK(text.leading(2, 10) == 0);
  CHECK(text.leading(3, 10) == 3);
  CHECK(text.leading(6, 10) == 0);
  CHECK(text.leading(60, 10) == 0);
}
