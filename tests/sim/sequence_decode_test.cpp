// Tests decoding of given sequences: its counts are those of the rounds one by one, the same for any number
// of threads, and for independent acceptances those of the closed forms.
#include "sim/sequence_decode.hpp"

#include <doctest/doctest.h>
#include <tbb/global_control.h>

#include <cmath>
#include <vector>

#include "core/rules/greedy.hpp"
#include "sim/compiled_rule.hpp"
#include "sim/drafters/aligned_copy.hpp"
#include "sim/drafters/heads.hpp"
#include "sim/drafters/hierarchical.hpp"
#include "sim/drafters/lookahead.hpp"
#include "sim/drafters/lookup.hpp"
#include "sim/drafters/model_drafter.hpp"
#include "sim/drafters/suffix_drafter.hpp"
#include "sim/models/synthetic.hpp"
#include "sim/policies/adaedl.hpp"
#include "sim/policies/bandit.hpp"
#include "sim/policies/fixed.hpp"
#include "sim/policies/goodput.hpp"
#include "sim/policies/heuristic.hpp"
#include "sim/policies/specdec_pp.hpp"
#include "sim/text/text_target.hpp"
#include "tests/bounds.hpp"
#include "tests/sim/random_tokens.hpp"

using namespace speclab;

namespace {

using Hierarchy = HierarchicalDrafter<Model, AnyDrafter>;

Model markov(std::int32_t vocab, std::uint64_t seed) {
  return Model(TableModel(vocab, 1, dirichlet_rows(vocab, static_cast<std::uint32_t>(vocab), 0.4, seed)));
}

SequenceSet sequences_of(std::size_t sequences, std::uint32_t tokens, std::uint64_t seed) {
  SequenceSet simulation;
  simulation.seed = seed;
  simulation.batches = 8;
  for (std::size_t i = 0; i < sequences; ++i)
    simulation.sequences.push_back({{static_cast<Token>(i % 3)}, tokens});
  return simulation;
}

/// A pair whose overlap is alpha in every context.
struct IidPair {
  Model target = Model(TableModel(4, 0, {0.4, 0.3, 0.2, 0.1}));
  Model draft;
  explicit IidPair(double alpha)
      : draft(mixed_to_alpha(*target.table(), TableModel(4, 0, {0, 0, 0, 1}), alpha)) {}
};

Outcome decode(const SequenceSet& simulation, const Model& target, const AnyDrafter& drafter,
               const AnyPolicy& policy) {
  return decode_sequences(
      simulation, [&](std::size_t) { return target; }, drafter, policy, TokenRule{});
}

/// Does the same with core's rounds, one after another, for types known to the compiler.
template <RowDrafter Drafter, GammaPolicy Policy>
Tally round_by_round(const SequenceSet& simulation, const Model& target, const Drafter& drafter,
                     const Policy& policy) {
  Tally tally;
  for (std::size_t i = 0; i < simulation.sequences.size(); ++i) {
    const Sequence& sequence = simulation.sequences[i];
    std::vector<Token> context = sequence.prompt;
    RoundScratch<double> scratch;
    typename Drafter::Memory memory;
    typename Policy::Memory learned;
    const AdaptiveDrafting<Drafter, Policy> drafting{drafter, memory, policy, learned};
    while (context.size() < sequence.prompt.size() + sequence.tokens) {
      SampledRandomSource random =
          sampled_random_source(simulation.seed, static_cast<std::uint32_t>(i),
                                static_cast<std::uint32_t>(context.size() - sequence.prompt.size()));
      const Round round = drafted_round(target, drafting, TokenRule{}, context, random, scratch, NoWatch{});
      tally.add_round(round);
      policy.learn(learned, round);
    }
  }
  return tally;
}

}  // namespace

TEST_CASE("a fixed policy and a model: the rounds of core, addressed by where they start") {
  const Model target = markov(6, 1);
  const Model draft = markov(6, 2);
  const SequenceSet simulation = sequences_of(5, 40, 9);
  const Outcome found = decode(simulation, target, ModelDrafter(draft), FixedPolicy(3));
  Tally wanted;
  for (std::size_t i = 0; i < simulation.sequences.size(); ++i) {
    std::vector<Token> context = simulation.sequences[i].prompt;
    RoundScratch<double> scratch;
    while (context.size() < simulation.sequences[i].prompt.size() + 40) {
      SampledRandomSource random = sampled_random_source(9, static_cast<std::uint32_t>(i),
                                                         static_cast<std::uint32_t>(context.size() - 1));
      wanted.add_round(speculative_round(target, draft, TokenRule{}, 3, context, random, scratch, NoWatch{}));
    }
  }
  CHECK(found.total() == wanted);
  CHECK(found.batches.size() == 5);
}

TEST_CASE("the same counts at one thread and at many, for every kind of drafter and policy") {
  const Model target = markov(8, 3);
  const Model draft = markov(8, 4);
  const SequenceSet simulation = sequences_of(20, 60, 2);
  const std::vector<AnyDrafter> drafters{ModelDrafter(draft),
                                         LookupDrafter(8),
                                         SuffixDrafter(8),
                                         LookaheadDrafter<Model>(target, {.window = 4, .ngram = 3}),
                                         HeadsDrafter({draft, target}),
                                         AlignedCopy(8),
                                         Hierarchy(draft, LookupDrafter(8), 2)};
  const RoundTimes times{{1, 1.1, 1.2, 1.3, 1.4}};
  const std::vector<AnyPolicy> policies{
      FixedPolicy(3),          HeuristicPolicy(2, 4),   AdaEdlPolicy(0.3, 0.3, 4),
      SpecDecPpPolicy(0.4, 4), GoodputPolicy(times, 4), BanditPolicy(times, 4, 0.5)};
  for (const AnyDrafter& drafter : drafters) {
    for (const AnyPolicy& policy : policies) {
      const Outcome found = decode(simulation, target, drafter, policy);
      CHECK(found.total().emitted >= 20 * 60);
      const tbb::global_control one(tbb::global_control::max_allowed_parallelism, 1);
      CHECK(decode(simulation, target, drafter, policy).batches == found.batches);
    }
  }
}

TEST_CASE("any drafter drafts as the drafter it holds, hierarchies included") {
  const Model target = markov(8, 3);
  const Model middle = markov(8, 4);
  const Model small = markov(8, 5);
  const SequenceSet simulation = sequences_of(6, 50, 8);
  const FixedPolicy policy(4);
  CHECK(decode(simulation, target, LookupDrafter(8), policy).total() ==
        round_by_round(simulation, target, LookupDrafter(8), policy));
  CHECK(decode(simulation, target, SuffixDrafter(8), policy).total() ==
        round_by_round(simulation, target, SuffixDrafter(8), policy));
  const HierarchicalDrafter<Model, ModelDrafter> two(middle, ModelDrafter(small), 2);
  const AnyDrafter inner = ModelDrafter(small);
  const Outcome found = decode(simulation, target, Hierarchy(middle, inner, 2), policy);
  CHECK(found.total() == round_by_round(simulation, target, two, policy));
  CHECK(!AnyDrafter(two).foretells_runs());
  CHECK(inner.foretells_runs());
  // Every round of the middle model has two draft runs for it, and emits at least one token.
  const Tally total = found.total();
  CHECK(total.inner_runs[0] == 2 * total.draft_runs);
  CHECK(total.drafted >= total.draft_runs);
  CHECK(total.inner_runs[1] == 0);
  const AnyDrafter three = Hierarchy(middle, Hierarchy(middle, inner, 1), 2);
  CHECK(decode(simulation, target, three, policy).total().inner_runs[1] > 0);
}

TEST_CASE(
    "runs are counted as drafters count them: lookahead's step in every round, a look-up where it found") {
  const Model target = markov(8, 3);
  const SequenceSet simulation = sequences_of(6, 50, 8);
  const Tally ahead =
      decode(simulation, target, LookaheadDrafter<Model>(target, {.window = 2, .ngram = 3}), FixedPolicy(4))
          .total();
  CHECK(ahead.draft_runs == ahead.rounds);
  CHECK(ahead.drafted < 4 * ahead.rounds);
  const Tally looked = decode(simulation, target, LookupDrafter(8), FixedPolicy(4)).total();
  CHECK(looked.draft_runs < looked.rounds);
  CHECK(looked.draft_runs > 0);
}

TEST_CASE("independent coins: Eq. 1, the upper bound and alpha, 7 sigma; a wrong alpha shows") {
  const double alpha = 0.7;
  const double c = 0.1;
  const IidPair pair(alpha);
  const SequenceSet simulation = sequences_of(200, 500, test_seed(21));
  const Tally fixed = decode(simulation, pair.target, ModelDrafter(pair.draft), FixedPolicy(4)).total();
  const auto rounds = static_cast<double>(fixed.rounds);
  const auto tokens_agree = [&](double a) {
    const double mean = (1 - std::pow(a, 5)) / (1 - a);
    return mean_agrees(static_cast<double>(fixed.emitted) / rounds, mean, 1.7, rounds);
  };
  CHECK(tokens_agree(alpha));
  CHECK(!tokens_agree(alpha - 0.03));

  // The number is geometric: mean 1 / (1 - alpha), standard deviation sqrt(alpha) / (1 - alpha).
  const Tally oracle =
      decode(simulation, pair.target, ModelDrafter(pair.draft), UpperBoundPolicy(60)).total();
  const auto runs = static_cast<double>(oracle.rounds);
  CHECK(mean_agrees(static_cast<double>(oracle.emitted) / runs, 1 / (1 - alpha),
                    std::sqrt(alpha) / (1 - alpha), runs));
  CHECK(oracle.drafted == oracle.accepted);
  const double speed =
      static_cast<double>(oracle.emitted) / (runs + c * static_cast<double>(oracle.draft_runs));
  CHECK(speed == doctest::Approx(1 / (1 - alpha + c * alpha)).epsilon(0.02));

  const auto measured_with = [&](const AnyRule& rule) {
    return measure_first_acceptance(
               simulation, [&](std::size_t) { return pair.target; }, ModelDrafter(pair.draft), rule)
        .total();
  };
  const Tally measured = measured_with(TokenRule{});
  CHECK(measured.overlap_contexts == 200 * 500);
  CHECK(measured.drafted == 200 * 500);
  CHECK(measured.overlap_sum() / (200.0 * 500) == doctest::Approx(alpha).epsilon(1e-8));
  // Greedy verification accepts exactly the target's argmax, token 0, which the draft draws with q(0).
  std::vector<double> storage;
  const double argmax_drawn = pair.draft.next({}, storage)[0];
  CHECK(argmax_drawn < alpha - 0.1);
  CHECK(measured_with(GreedyRule{}).overlap_sum() / (200.0 * 500) ==
        doctest::Approx(argmax_drawn).epsilon(1e-8));
}

TEST_CASE("two policies share their numbers: equal policies, equal counts, and paired ones differ less") {
  const Model target = markov(10, 3);
  const Model draft = markov(10, 4);
  const SequenceSet simulation = sequences_of(16, 100, 4);
  const ModelDrafter drafter(draft);
  CHECK(decode(simulation, target, drafter, FixedPolicy(3)).batches ==
        decode(simulation, target, drafter, AnyPolicy(FixedPolicy(3))).batches);
  CHECK(decode(simulation, target, drafter, FixedPolicy(3)).batches !=
        decode(simulation, target, drafter, FixedPolicy(4)).batches);
}

TEST_CASE("a text as the target: lookup accepts what the text repeats, counted by hand") {
  const std::vector<Token> text{5, 1, 2, 3, 4, 1, 2, 3, 4, 1, 0, 0};
  const PointRows rows(6);
  SequenceSet simulation;
  simulation.batches = 1;
  simulation.sequences = {{{5, 1, 2, 3, 4, 1}, 6}};
  const auto target_of = [&](std::size_t) -> Model { return TextTarget{text, &rows}; };
  const Tally tally =
      decode_sequences(simulation, target_of, LookupDrafter(6, {.length = 3}), FixedPolicy(8), TokenRule{})
          .total();
  // "1" was last followed by 2 3 4: three are accepted, then 1. Then "2 3 4 1" is followed by 2, which is
  // rejected for 0. Then 0 was never followed by anything.
  CHECK(tally.rounds == 3);
  CHECK(tally.accepted == 3);
  CHECK(tally.examined == 4);
  CHECK(tally.emitted == 6);
  CHECK(tally.draft_runs == 2);

  // A text that ends within a round: two of the tokens 2 3 4 are its last ones, and nothing follows them.
  simulation.sequences = {{{5, 1, 2, 3, 4, 1}, 2, true}};
  const auto short_text = [&](std::size_t) -> Model { return TextTarget{std::span(text).first(8), &rows}; };
  const Tally last =
      decode_sequences(simulation, short_text, LookupDrafter(6, {.length = 3}), FixedPolicy(8), TokenRule{})
          .total();
  CHECK(last.rounds == 1);
  CHECK(last.accepted == 2);
  CHECK(last.examined == 2);
  CHECK(last.emitted == 2);
  CHECK(last.emitted_squared == 4);
}
