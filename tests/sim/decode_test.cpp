#include "sim/decode.hpp"

#include "core/rules/faults.hpp"
#include "sim/compiled_rule.hpp"
#include "sim/error.hpp"

#include <doctest/doctest.h>
#include <tbb/global_control.h>

#include <atomic>
#include <cmath>
#include <limits>
#include <vector>

#include "sim/any_rule.hpp"
#include "sim/models/model.hpp"
#include "sim/models/synthetic.hpp"
#include "tests/bounds.hpp"

using namespace speclab;

namespace {

SimulationSize simulation_of(std::uint32_t trials, std::uint32_t length, std::uint64_t seed = 20230202) {
  SimulationSize simulation;
  simulation.seed = test_seed(seed);
  simulation.trials = trials;
  simulation.length = length;
  return simulation;
}

template <class Run>
auto with_threads(std::size_t threads, const Run& run) {
  const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, threads);
  return run();
}

/// Target and draft without memory, whose overlap is exactly alpha.
struct Pair {
  Model target;
  Model draft;
};

Pair iid_pair(double alpha) {
  const TableModel target(12, 0, zipf_row(12, 2, false));
  return {Model(target), Model(mixed_to_alpha(target, TableModel(12, 0, zipf_row(12, 2, true)), alpha))};
}

double eq1(double alpha, int gamma) { return (1 - std::pow(alpha, gamma + 1)) / (1 - alpha); }

/// Returns the variance of the tokens of a round, from their distribution: alpha^(n-1) (1 - alpha), and
/// alpha^gamma at gamma + 1.
double tokens_variance(double alpha, int gamma) {
  double square = std::pow(alpha, gamma) * (gamma + 1) * (gamma + 1);
  for (int n = 1; n <= gamma; ++n) square += std::pow(alpha, n - 1) * (1 - alpha) * n * n;
  return square - eq1(alpha, gamma) * eq1(alpha, gamma);
}

/// Null: rounds are i.i.d. with acceptance alpha. Compares the mean of the tokens, and the number of rounds
/// that accept at least k tokens for each k, at seven sigma: gamma + 1 comparisons.
bool follows_eq1(const Tally& tally, double alpha, int gamma) {
  const auto rounds = static_cast<double>(tally.rounds);
  bool agrees = mean_agrees(static_cast<double>(tally.emitted) / rounds, eq1(alpha, gamma),
                            std::sqrt(tokens_variance(alpha, gamma)), rounds);
  double reached = 0;
  for (auto k = static_cast<std::size_t>(gamma); k >= 1; --k) {
    if (k < tally.accepted_lengths.size()) reached += static_cast<double>(tally.accepted_lengths[k]);
    agrees = agrees && count_agrees(reached, rounds, std::pow(alpha, static_cast<double>(k)));
  }
  return agrees;
}

// A chain over four tokens whose overlap with its draft, .95 to .4, differs from token to token.
const std::vector<double> chain_rows{0.4, 0.2, 0.2, 0.2, 0.2, 0.4, 0.2, 0.2,
                                     0.1, 0.2, 0.3, 0.4, 0.1, 0.1, 0.2, 0.6};
const std::vector<double> chain_draft_rows{0.45, 0.15, 0.2, 0.2, 0.8, 0.1, 0.05, 0.05,
                                           0.6,  0.1,  0.2, 0.1, 0.5, 0.2, 0.2,  0.1};

/// Long-run values of the target chain, by power iteration: the stationary mean of the overlap, and the
/// deviation of one context's share in the mean, including correlations between contexts. The latter is the
/// asymptotic variance Var f + 2 sum_k Cov(f(X_0), f(X_k)); it also holds if a stopping time, such as the end
/// of a number of rounds, ends the run (Anscombe 1952).
struct Stationary {
  double mean = 0;
  double deviation = 0;
  double start = 0;  ///< sum over k of |E f(X_k) - mean| from the empty context: the start's effect on a sum
};

Stationary stationary(const TableModel& walk, const std::vector<double>& f) {
  const auto size = static_cast<std::size_t>(walk.vocab());
  const auto step = [&](const std::vector<double>& distribution) {
    std::vector<double> after(size, 0.0);
    for (std::size_t from = 0; from < size; ++from) {
      for (std::size_t to = 0; to < size; ++to)
        after[to] += distribution[from] * walk.row(from)[static_cast<Token>(to)];
    }
    return after;
  };
  const auto mean_of = [&](const std::vector<double>& distribution, const std::vector<double>& values) {
    double mean = 0;
    for (std::size_t i = 0; i < size; ++i) mean += distribution[i] * values[i];
    return mean;
  };
  constexpr int forever = 2000;
  std::vector<double> distribution(size, 1.0 / static_cast<double>(size));
  for (int k = 0; k < forever; ++k) distribution = step(distribution);

  Stationary result;
  result.mean = mean_of(distribution, f);
  // Covariances come from the signed measure distribution * (f - mean), which the chain propagates.
  std::vector<double> carried(size);
  for (std::size_t i = 0; i < size; ++i) carried[i] = distribution[i] * (f[i] - result.mean);
  double variance = mean_of(carried, f);
  std::vector<double> early(size, 0.0);
  early[0] = 1;  // an empty context counts as token 0
  for (int k = 0; k < forever; ++k) {
    carried = step(carried);
    variance += 2 * mean_of(carried, f);
    result.start += std::abs(mean_of(early, f) - result.mean);
    early = step(early);
  }
  result.deviation = std::sqrt(variance);
  return result;
}

struct Chain {
  TableModel target{4, 1, chain_rows};
  TableModel draft{4, 1, chain_draft_rows};
  std::vector<double> overlaps() const {
    std::vector<double> f;
    for (std::size_t i = 0; i < 4; ++i) f.push_back(overlap(target.row(i), draft.row(i)));
    return f;
  }
};

/// Null: the contexts are those that the target generates (Cor. 3.6). The bound is seven sigma, plus the
/// start's effect.
bool has_alpha(const Tally& tally, std::uint32_t trials, const Stationary& exact) {
  const auto contexts = static_cast<double>(tally.overlap_contexts);
  const double bound =
      bound_in_sigmas * exact.deviation / std::sqrt(contexts) + trials * exact.start / contexts;
  return std::abs(tally.overlap_sum() / contexts - exact.mean) <= bound;
}

/// A context-free model of one given row, valid or not.
struct Raw {
  std::vector<double> row;
  bool context_free() const { return false; }
  std::int32_t vocab() const { return static_cast<std::int32_t>(row.size()); }
  Row next(std::span<const Token>, std::vector<double>&) const { return {row.data(), vocab()}; }
};

}  // namespace

TEST_CASE("the same result at one thread and at two, batch by batch") {
  const Chain chain;
  const Model target(chain.target);
  const Model draft(chain.draft);
  const SimulationSize simulation = simulation_of(37, 300);
  const auto decode = [&] { return decode_speculatively(target, draft, TokenRule{}, 4, simulation).batches; };
  const auto measure = [&] { return measure_acceptance(target, draft, TokenRule{}, simulation).batches; };
  CHECK(with_threads(1, decode) == with_threads(2, decode));
  CHECK(with_threads(1, measure) == with_threads(2, measure));
}

TEST_CASE(
    "batches are only bookkeeping: totals do not depend on them, and coarser ones are sums of finer ones") {
  const Chain chain;
  SimulationSize simulation = simulation_of(16, 400);
  const auto decode = [&](std::uint32_t batches) {
    simulation.batches = batches;
    return decode_speculatively(Model(chain.target), Model(chain.draft), TokenRule{}, 3, simulation);
  };
  const Outcome fine = decode(64);
  const Outcome coarse = decode(8);
  REQUIRE(fine.batches.size() == 16);  // one per trial: none is cut
  REQUIRE(coarse.batches.size() == 8);
  for (std::size_t i = 0; i < 8; ++i) {
    Tally both = fine.batches[2 * i];
    both += fine.batches[2 * i + 1];
    CHECK(both == coarse.batches[i]);
  }
  CHECK(decode(7).total() == fine.total());
  CHECK(decode(1).total() == fine.total());
}

TEST_CASE("a trial does not depend on how many trials there are") {
  const Pair pair = iid_pair(0.7);
  SimulationSize few = simulation_of(3, 200);
  SimulationSize many = simulation_of(9, 200);
  few.batches = 3;
  many.batches = 9;
  const Outcome first = decode_speculatively(pair.target, pair.draft, TokenRule{}, 3, few);
  const Outcome all = decode_speculatively(pair.target, pair.draft, TokenRule{}, 3, many);
  for (std::size_t i = 0; i < 3; ++i) CHECK(first.batches[i] == all.batches[i]);
  CHECK_FALSE(all.batches[0] == all.batches[1]);
  few.seed = 1;
  CHECK_FALSE(decode_speculatively(pair.target, pair.draft, TokenRule{}, 3, few).batches[0] ==
              all.batches[0]);
}

TEST_CASE("tokens per round and accepted lengths follow Eq. 1 at the exact alpha") {
  const SimulationSize simulation = simulation_of(64, 1500);
  for (const double alpha : {0.3, 0.6, 0.8, 0.95}) {
    for (const int gamma : {1, 3, 7}) {
      CAPTURE(alpha);
      CAPTURE(gamma);
      const Pair pair = iid_pair(alpha);
      const Tally tally =
          decode_speculatively(pair.target, pair.draft, TokenRule{}, gamma, simulation).total();
      CHECK(follows_eq1(tally, alpha, gamma));
      CHECK(tally.emitted == tally.accepted + tally.rounds);
      CHECK(tally.drafted == tally.rounds * static_cast<std::uint64_t>(gamma));
      CHECK(tally.overlap_contexts == tally.emitted);
      CHECK(tally.overlap_sum() / static_cast<double>(tally.overlap_contexts) ==
            doctest::Approx(alpha).epsilon(1e-9));
      // Power on the same budget: an alpha that is wrong by .02 and a rule that accepts everything are
      // rejected.
      CHECK_FALSE(follows_eq1(tally, alpha + 0.02, gamma));
      CHECK_FALSE(follows_eq1(
          decode_speculatively(pair.target, pair.draft, AcceptAllFault{}, gamma, simulation).total(), alpha,
          gamma));
    }
  }
}

TEST_CASE("gamma = 0 and alpha = 1 are exact") {
  const SimulationSize simulation = simulation_of(4, 100);
  const Pair pair = iid_pair(0.6);
  const Tally plain = decode_speculatively(pair.target, pair.draft, TokenRule{}, 0, simulation).total();
  CHECK(plain.emitted == plain.rounds);
  CHECK(plain.drafted == 0);
  const Tally same = decode_speculatively(pair.target, pair.target, TokenRule{}, 5, simulation).total();
  CHECK(same.accepted == same.drafted);
  CHECK(same.overlap_sum() == doctest::Approx(static_cast<double>(same.overlap_contexts)));
}

TEST_CASE("alpha of a Markov pair is the overlap's stationary mean, while decoding and by section 4.2") {
  const Chain chain;
  const Stationary exact = stationary(chain.target, chain.overlaps());
  const SimulationSize simulation = simulation_of(64, 3000);
  const Model target(chain.target);
  const Model draft(chain.draft);
  for (const std::int32_t gamma : {0, 1, 4}) {
    CAPTURE(gamma);
    CHECK(has_alpha(decode_speculatively(target, draft, TokenRule{}, gamma, simulation).total(),
                    simulation.trials, exact));
  }
  CHECK(has_alpha(measure_acceptance(target, draft, TokenRule{}, simulation).total(), simulation.trials,
                  exact));

  // Power on the same budget: the fault changes which contexts are visited, and so does measuring over
  // contexts that the draft generates.
  CHECK_FALSE(has_alpha(decode_speculatively(target, draft, ResampleTargetFault{}, 4, simulation).total(),
                        simulation.trials, exact));
  CHECK_FALSE(has_alpha(measure_acceptance(draft, target, TokenRule{}, simulation).total(), simulation.trials,
                        exact));
  // The comparison is not trivial: an unweighted mean over tokens is a different number.
  double flat = 0;
  for (const double f : chain.overlaps()) flat += f / 4;
  CHECK(std::abs(flat - exact.mean) > 0.02);
}

TEST_CASE("with two prompts, trials start in turn from each") {
  // The chain is absorbing: a trial stays where its prompt put it, and only token 1 is drafted well.
  const Model target(TableModel(2, 1, {1, 0, 0, 1}));
  const Model draft(TableModel(2, 0, {0, 1}));
  SimulationSize simulation = simulation_of(4, 50);
  simulation.batches = 4;
  simulation.prompts = {{0}, {0, 1}};
  const Outcome outcome = decode_speculatively(target, draft, TokenRule{}, 3, simulation);
  for (const std::size_t trial : {0, 2}) CHECK(outcome.batches[trial].accepted == 0);
  for (const std::size_t trial : {1, 3}) CHECK(outcome.batches[trial].accepted == 150);
}

TEST_CASE("stopping leaves a partial outcome, progress adds up to the plan") {
  const Pair pair = iid_pair(0.8);
  const SimulationSize simulation = simulation_of(8, 1000);
  std::atomic<std::uint64_t> done{0};
  Control control;
  control.progress = [&](std::uint64_t more) { done += more; };
  const Outcome whole = decode_speculatively(pair.target, pair.draft, TokenRule{}, 2, simulation, control);
  CHECK_FALSE(whole.partial);
  CHECK(done == simulation.total());

  control.stop = [] { return true; };
  const Outcome none = decode_speculatively(pair.target, pair.draft, TokenRule{}, 2, simulation, control);
  CHECK(none.partial);
  CHECK(none.total() == Tally{});

  std::atomic<int> looks{0};
  control.stop = [&] { return ++looks > 3; };
  const Outcome some = decode_speculatively(pair.target, pair.draft, TokenRule{}, 2, simulation, control);
  CHECK(some.partial);
  CHECK(some.total().rounds == 3);
}

TEST_CASE("an invalid row is an error, whoever made it") {
  const double nan = std::nan("");
  const double infinity = std::numeric_limits<double>::infinity();
  const Raw sound{{0.5, 0.5}};
  const SimulationSize simulation = simulation_of(4, 10);
  for (const std::vector<double>& row : {std::vector<double>{0.5, nan}, std::vector<double>{nan, nan},
                                         std::vector<double>{0.5, infinity}, std::vector<double>{0, 0}}) {
    const Raw invalid{row};
    CHECK_THROWS_AS(decode_speculatively(invalid, sound, TokenRule{}, 3, simulation), ModelError);
    CHECK_THROWS_AS(decode_speculatively(sound, invalid, TokenRule{}, 3, simulation), ModelError);
    CHECK_THROWS_AS(decode_speculatively(invalid, invalid, AcceptAllFault{}, 3, simulation), ModelError);
    CHECK_THROWS_AS(measure_acceptance(invalid, sound, TokenRule{}, simulation), ModelError);
  }
}
