#include "sim/rule_quality.hpp"

#include "core/rules/position_rules.hpp"
#include "sim/any_rule.hpp"
#include "sim/compiled_rule.hpp"
#include "sim/decode.hpp"

#include <doctest/doctest.h>
#include <tbb/global_control.h>

#include <cmath>
#include <string>
#include <vector>

#include "core/distribution/ratio_order.hpp"
#include "core/random/enumerated_random_source.hpp"
#include "sim/models/model.hpp"
#include "sim/models/synthetic.hpp"
#include "tests/core/rules/all_rules.hpp"

using namespace speclab;

namespace {

const std::vector<double> golden_target{0.5, 0.3, 0.2};
const std::vector<double> golden_draft{0.1, 0.3, 0.6};

Row row_of(const std::vector<double>& probabilities) {
  return {probabilities.data(), static_cast<std::int32_t>(probabilities.size())};
}

SimulationSize simulation_of(std::uint32_t trials, std::uint32_t length) {
  SimulationSize simulation;
  simulation.seed = 20240;
  simulation.trials = trials;
  simulation.length = length;
  simulation.batches = 16;
  return simulation;
}

/// Returns the distribution of the first token of a round with one draft, by following every branch of the
/// program.
template <class Rule>
std::vector<double> first_token_distribution(const Rule& rule, const std::vector<double>& target,
                                             const std::vector<double>& draft) {
  const auto vocab = static_cast<std::int32_t>(target.size());
  const TableModel p(vocab, 0, target);
  const TableModel q(vocab, 0, draft);
  std::vector<double> distribution(target.size());
  RoundScratch<double> scratch;
  enumerate<double>(
      [&](EnumeratedRandomSource<double>& random) {
        std::vector<Token> context;
        speculative_round(p, q, rule, 1, context, random, scratch, NoWatch{});
        return context.front();
      },
      [&](Token token, double probability) { distribution[static_cast<std::size_t>(token)] += probability; });
  return distribution;
}

template <class Rule>
void check_distribution(const Rule& rule) {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    const std::vector<double> target = dirichlet_rows(6, 1, 0.5, 2 * seed);
    std::vector<double> draft = dirichlet_rows(6, 1, 0.5, 2 * seed + 1);
    if (seed % 3 == 0) draft = target;
    if (seed % 5 == 0) draft = {0.5, 0, 0, 0.5, 0, 0};
    QualityScratch scratch;
    const Row distribution = AnyRule(rule)->emitted_distribution(row_of(target), row_of(draft), scratch);
    const std::vector<double> followed = first_token_distribution(rule, target, draft);
    for (Token id = 0; id < 6; ++id) {
      CAPTURE(seed);
      CHECK(std::abs(distribution[id] - followed[static_cast<std::size_t>(id)]) < 1e-12);
      if constexpr (AcceptanceRule<Rule>) {
        const auto acceptance = acceptances_of(rule, row_of(target), row_of(draft));
        CHECK(acceptance(id) == rule.acceptance(id, row_of(target), row_of(draft)));
      }
    }
  }
}

Model chain(std::uint64_t seed) { return Model(TableModel(6, 1, dirichlet_rows(6, 6, 0.4, seed))); }

/// Computes the same sums from rounds one after another, by the definitions.
template <class Rule>
Tally by_definition(const Rule& rule, std::int32_t gamma, const RuleQualityOptions& how,
                    const SimulationSize& simulation) {
  const Model target = chain(3);
  const Model draft = chain(4);
  Tally tally;
  for (std::uint32_t trial = 0; trial < simulation.trials; ++trial) {
    std::vector<Token> context;
    RoundScratch<double> scratch;
    for (std::uint32_t number = 0; number < simulation.length; ++number) {
      const std::size_t start = context.size();
      SampledRandomSource random = sampled_random_source(simulation.seed, trial, number);
      std::vector<Token> emitted = context;
      const Round round = speculative_round(target, draft, rule, gamma, emitted, random, scratch, NoWatch{});
      tally.add_round(round);
      for (std::int32_t i = 0; i < round.examined; ++i) {
        context.assign(emitted.begin(), emitted.begin() + static_cast<std::ptrdiff_t>(start) + i);
        std::vector<double> scratch_p;
        std::vector<double> scratch_q;
        const Row p = target.next(context, scratch_p);
        const Row q = draft.next(context, scratch_q);
        if (i == 0) {
          tally.quality.optimal_transport_bound.add(
              optimal_transport_acceptance(p, q, AnyRule(rule)->first_drafts(gamma)));
        }
        if (how.lossless) {
          tally.quality.divergence.add(1 - overlap(p, q));
        } else if constexpr (PositionRule<Rule>) {
          const std::vector<double> distribution = first_token_distribution(
              rule, {p.probabilities, p.probabilities + p.size}, {q.probabilities, q.probabilities + q.size});
          tally.quality.distance.add(total_variation(row_of(distribution), p));
        }
      }
      context = emitted;
    }
  }
  return tally;
}

bool agree(const ContextSum& a, const ContextSum& b) {
  return a.contexts == b.contexts &&
         std::abs(a.sum() - b.sum()) <= ContextSum::quantum * static_cast<double>(a.contexts);
}

template <class Rule>
void check_sums(const char* name, const Rule& rule, std::int32_t gamma, bool lossless) {
  CAPTURE(std::string(name));
  const SimulationSize simulation = simulation_of(6, 40);
  const RuleQualityOptions how{.lossless = lossless};
  const Tally found = measure_rule_quality(chain(3), chain(4), rule, gamma, how, simulation).total();
  const Tally wanted = by_definition(rule, gamma, how, simulation);
  CHECK(found.examined == wanted.examined);
  CHECK(found.accepted_lengths == wanted.accepted_lengths);
  CHECK(agree(found.quality.optimal_transport_bound, wanted.quality.optimal_transport_bound));
  CHECK(agree(found.quality.divergence, wanted.quality.divergence));
  CHECK(agree(found.quality.distance, wanted.quality.distance));
  CHECK(found.quality.optimal_transport_bound.contexts == 240);
  CHECK(found.quality.divergence.contexts == (lossless ? found.examined : 0));
}

}  // namespace

TEST_CASE("the emitted distribution is that of the program, for every rule of acceptance draws") {
  check_distribution(TokenRule{});
  check_distribution(RejectionRule{});
  check_distribution(GreedyRule{});
  check_distribution(LenienceRule(0.5, Residual::target_minus_draft));
  check_distribution(LenienceRule(0.5, Residual::literal));
  check_distribution(LenienceRule(0.5, Residual::target));
  check_distribution(GreedyLenienceRule{0.5});
  check_distribution(TypicalRule{});
  check_distribution(CascadeRule(0.3));
  check_distribution(SigmoidRule(-10, 10));
  check_distribution(AcceptAllFault{});
  check_distribution(ResampleTargetFault{});
  check_distribution(SwappedResidualFault{});
  check_distribution(SharedNoiseFault{});
  check_distribution(ClosedComparisonFault(4));
  check_distribution(MatchRule{});
  check_distribution(MatchRule(0.5, 0.4));
  check_distribution(GreedyLenienceRule(0, 0.2, 2));
}

TEST_CASE("rules whose positions do not stand alone have no emitted distribution") {
  CHECK_FALSE(AcceptanceRule<BlockRule>);
  CHECK_FALSE(AcceptanceRule<MatchRule>);
  CHECK_FALSE(AcceptanceRule<RecursiveRule>);
  CHECK_FALSE(AcceptanceRule<TreeRule>);
  CHECK_FALSE(AcceptanceRule<StepFault>);
}

TEST_CASE("no rule accepts more than the overlap and its total variation; four families accept as much") {
  // The accepted mass q a is at most q and at most the emitted distribution e, and min(e, q) sums to at most
  // the overlap of p and q, plus TV(e, p). Equal if no token with p >= q is rejected, no other one is
  // accepted with less than p/q, and a rejected one is replaced from the residual.
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const std::vector<double> p = dirichlet_rows(6, 1, seed % 2 == 0 ? 0.3 : 2, 2 * seed);
    const std::vector<double> q = dirichlet_rows(6, 1, 0.7, 2 * seed + 1);
    const double share = static_cast<double>(seed) / 201;
    QualityScratch scratch;
    const auto unpaid = [&](const auto& rule) {
      const Row emitted = AnyRule(rule)->emitted_distribution(row_of(p), row_of(q), scratch);
      return overlap(row_of(p), row_of(q)) + total_variation(emitted, row_of(p)) -
             rule.acceptance_rate(row_of(p), row_of(q));
    };
    CAPTURE(seed);
    for (const double least :
         {unpaid(LenienceRule(share)), unpaid(EnsembleRule(share)), unpaid(TolerantRule(share, share)),
          unpaid(DeferralRule{Deferral::optimal, share})}) {
      CHECK(std::abs(least) < 1e-12);
    }
    for (const double more :
         {unpaid(LenienceRule(share, Residual::literal)), unpaid(LenienceRule(share, Residual::target)),
          unpaid(TypicalRule(share, share)), unpaid(CascadeRule(share)),
          unpaid(FuzzyRule(Nearness::tv, share)), unpaid(MatchRule(share, share)),
          unpaid(SigmoidRule(-10, 10))}) {
      CHECK(more > -1e-12);
    }
  }
}

TEST_CASE("the golden vector: distances of lenience are .20, .25 and .30") {
  QualityScratch scratch;
  const auto distance = [&](Residual residual) {
    const Row distribution = AnyRule(LenienceRule(0.5, residual))
                                 ->emitted_distribution(row_of(golden_target), row_of(golden_draft), scratch);
    return total_variation(distribution, row_of(golden_target));
  };
  CHECK(distance(Residual::target_minus_draft) == doctest::Approx(0.20).epsilon(1e-14));
  CHECK(distance(Residual::literal) == doctest::Approx(0.25).epsilon(1e-14));
  CHECK(distance(Residual::target) == doctest::Approx(0.30).epsilon(1e-14));
}

TEST_CASE("the sums of a run are those of the definitions") {
  check_sums("token", TokenRule{}, 3, true);
  check_sums("match", MatchRule{}, 3, true);
  check_sums("block", BlockRule{}, 3, true);
  check_sums("recursive", RecursiveRule(3), 3, true);
  check_sums("importance", ImportanceRule(2), 2, true);
  check_sums("without replacement", TreeRule(branching_tree({3, 1})), 2, true);
  check_sums("tree deeper than gamma", TreeRule(branching_tree({2, 2, 2})), 2, true);
  check_sums("traversal", TraversalRule(branching_tree({2, 2})), 2, true);
  // Nodes are kept by their likelihood alone, so that expanded nodes can be left without children.
  check_sums("grown", GrownTreeRule(3, 5), 3, true);
  check_sums("lenient", LenienceRule(0.4), 3, false);
  check_sums("typical", TypicalRule{}, 3, false);
  check_sums("greedy", GreedyRule{}, 2, false);
  check_sums("cascade", CascadeRule(0.5), 2, false);
  check_sums("match with thresholds", MatchRule(0.6, 0.5), 2, false);
  check_sums("fault without an emitted law", StepFault{WrongStep::late_context}, 3, false);
}

TEST_CASE("drafts at the first position") {
  CHECK(AnyRule(TokenRule{})->first_drafts(4) == 1);
  CHECK(AnyRule(RecursiveRule(3))->first_drafts(4) == 3);
  CHECK(AnyRule(TreeRule(branching_tree({5, 2})))->first_drafts(2) == 5);
  CHECK(AnyRule(TraversalRule(branching_tree({2})))->first_drafts(1) == 2);
  CHECK(AnyRule(GrownTreeRule(4, 16))->first_drafts(3) == 4);
  CHECK(AnyRule(GrownTreeRule(4, 2))->first_drafts(3) == 2);
  CHECK(AnyRule(RecursiveRule(3))->first_drafts(0) == 0);
}

TEST_CASE("judging plays the rounds that decoding plays") {
  const SimulationSize simulation = simulation_of(8, 100);
  Tally judged =
      measure_rule_quality(chain(3), chain(4), TokenRule{}, 3, {.lossless = true}, simulation).total();
  Tally decoded = decode_speculatively(chain(3), chain(4), TokenRule{}, 3, simulation).total();
  CHECK(decoded.quality == RuleQuality{});
  CHECK(judged.overlap_contexts == 0);
  judged.quality = {};
  decoded.overlap_quanta = decoded.overlap_contexts = 0;
  CHECK(judged == decoded);
}

TEST_CASE("the measured quality is the same at one thread and at two") {
  const auto run = [](std::size_t threads) {
    const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, threads);
    return measure_rule_quality(chain(3), chain(4), LenienceRule(0.5), 3, {}, simulation_of(16, 300)).batches;
  };
  CHECK(run(1) == run(2));
}

TEST_CASE("a target that means its argmax is judged as the argmax") {
  // At l = 1 and without ties greedy lenience emits the argmax.
  const GreedyLenienceRule rule{1};
  const SimulationSize simulation = simulation_of(4, 50);
  const Tally argmax_target =
      measure_rule_quality(chain(3), chain(4), rule, 2, {.argmax_target = true}, simulation).total();
  CHECK(argmax_target.quality.distance.contexts > 0);
  CHECK(argmax_target.quality.distance.quanta == 0);
  const Tally sampled_target = measure_rule_quality(chain(3), chain(4), rule, 2, {}, simulation).total();
  CHECK(sampled_target.quality.distance.sum() >
        0.1 * static_cast<double>(sampled_target.quality.distance.contexts));
}

TEST_CASE("without drafts there is nothing to judge") {
  const Tally tally =
      measure_rule_quality(chain(3), chain(4), TokenRule{}, 0, {.lossless = true}, simulation_of(2, 10))
          .total();
  CHECK(tally.rounds == 20);
  CHECK(tally.quality == RuleQuality{});
}

TEST_CASE("judgements merge in any order, to half a quantum a value") {
  ContextSum a;
  for (const double value : {0.0, 1.0, 0.1, 1.0 / 3}) a.add(value);
  CHECK(a.contexts == 4);
  CHECK(std::abs(a.sum() - (1.1 + 1.0 / 3)) <= 2 * ContextSum::quantum);
  Tally one;
  one.quality.optimal_transport_bound.add(0.25);
  one.quality.distance.add(0.5);
  Tally two;
  two.quality.divergence.add(0.75);
  Tally forwards = one;
  Tally backwards = two;
  forwards += two;
  backwards += one;
  CHECK(forwards == backwards);
  CHECK(forwards.quality.optimal_transport_bound.sum() == 0.25);
  CHECK(forwards.quality.divergence.sum() == 0.75);
  CHECK(forwards.quality.distance.sum() == 0.5);
}
