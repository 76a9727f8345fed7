#include "sim/rule_quality.hpp"

#include <doctest/doctest.h>
#include <tbb/global_control.h>

#include <cmath>
#include <string>
#include <vector>

#include "core/random/enumerated_random_source.hpp"
#include "core/distribution/ratio_order.hpp"
#include "sim/models/model.hpp"
#include "sim/models/synthetic.hpp"

using namespace speclab;

namespace {

const std::vector<double> golden_target{0.5, 0.3, 0.2};
const std::vector<double> golden_draft{0.1, 0.3, 0.6};

Row row_of(const std::vector<double>& masses) {
  return {masses.data(), static_cast<std::int32_t>(masses.size())};
}

Plan plan_of(std::uint32_t trials, std::uint32_t length) {
  Plan plan;
  plan.seed = 20240;
  plan.trials = trials;
  plan.length = length;
  plan.batches = 16;
  return plan;
}

/// The law of the first token of a round with one draft, by following every branch of the program.
template <class Rule>
std::vector<double> first_token_law(const Rule& rule, const std::vector<double>& target,
                                    const std::vector<double>& draft) {
  const auto vocab = static_cast<std::int32_t>(target.size());
  const TableModel p(vocab, 0, target);
  const TableModel q(vocab, 0, draft);
  std::vector<double> law(target.size());
  RoundScratch<double> scratch;
  enumerate<double>(
      [&](EnumeratedChance<double>& chance) {
        std::vector<Token> context;
        speculative_round(p, q, rule, 1, context, chance, scratch, NoWatch{});
        return context.front();
      },
      [&](Token token, double probability) { law[static_cast<std::size_t>(token)] += probability; });
  return law;
}

template <class Rule>
void check_law(const Rule& rule) {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    const std::vector<double> target = dirichlet_rows(6, 1, 0.5, 2 * seed);
    std::vector<double> draft = dirichlet_rows(6, 1, 0.5, 2 * seed + 1);
    if (seed % 3 == 0) draft = target;
    if (seed % 5 == 0) draft = {0.5, 0, 0, 0.5, 0, 0};
    JudgeScratch scratch;
    const Row law = emitted_law(rule, row_of(target), row_of(draft), scratch);
    const std::vector<double> followed = first_token_law(rule, target, draft);
    for (Token id = 0; id < 6; ++id) {
      CAPTURE(seed);
      CHECK(std::abs(law[id] - followed[static_cast<std::size_t>(id)]) < 1e-12);
      const auto coin = coins_of(rule, row_of(target), row_of(draft));
      CHECK(coin(id) == rule.acceptance(id, row_of(target), row_of(draft)));
    }
  }
}

Model chain(std::uint64_t seed) { return Model(TableModel(6, 1, dirichlet_rows(6, 6, 0.4, seed))); }

/// The same sums from rounds played one after the other, by the definitions.
template <class Rule>
Tally by_definition(const Rule& rule, std::int32_t gamma, const Judging& how, const Plan& plan) {
  const Model target = chain(3);
  const Model draft = chain(4);
  Tally tally;
  for (std::uint32_t trial = 0; trial < plan.trials; ++trial) {
    std::vector<Token> context;
    RoundScratch<double> scratch;
    for (std::uint32_t number = 0; number < plan.length; ++number) {
      const std::size_t start = context.size();
      SampledChance chance = sampled_chance(plan.seed, trial, number);
      std::vector<Token> emitted = context;
      const Round round = speculative_round(target, draft, rule, gamma, emitted, chance, scratch, NoWatch{});
      tally.add_round(round);
      for (std::int32_t i = 0; i < round.examined; ++i) {
        context.assign(emitted.begin(), emitted.begin() + static_cast<std::ptrdiff_t>(start) + i);
        std::vector<double> room_p;
        std::vector<double> room_q;
        const Row p = target.next(context, room_p);
        const Row q = draft.next(context, room_q);
        if (i == 0) {
          tally.judgement.optimum.add(optimal_transport_acceptance(p, q, first_drafts(rule, gamma)));
        }
        if (how.lossless) {
          tally.judgement.divergence.add(1 - overlap(p, q));
        } else if constexpr (CoinRule<Rule>) {
          const std::vector<double> law =
              first_token_law(rule, {p.mass, p.mass + p.size}, {q.mass, q.mass + q.size});
          tally.judgement.distance.add(total_variation(row_of(law), p));
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
  const Plan plan = plan_of(6, 40);
  const Judging how{.lossless = lossless};
  const Tally found = judge_rule(chain(3), chain(4), rule, gamma, how, plan).total();
  const Tally wanted = by_definition(rule, gamma, how, plan);
  CHECK(found.examined == wanted.examined);
  CHECK(found.accepted_lengths == wanted.accepted_lengths);
  CHECK(agree(found.judgement.optimum, wanted.judgement.optimum));
  CHECK(agree(found.judgement.divergence, wanted.judgement.divergence));
  CHECK(agree(found.judgement.distance, wanted.judgement.distance));
  CHECK(found.judgement.optimum.contexts == 240);
  CHECK(found.judgement.divergence.contexts == (lossless ? found.examined : 0));
}

}  // namespace

TEST_CASE("the emitted law is that of the program, for every rule of coins") {
  check_law(TokenRule{});
  check_law(RejectionRule{});
  check_law(GreedyRule{});
  check_law(LenienceRule(0.5, Residual::target_minus_draft));
  check_law(LenienceRule(0.5, Residual::literal));
  check_law(LenienceRule(0.5, Residual::target));
  check_law(GreedyLenienceRule{0.5});
  check_law(TypicalRule{});
  check_law(CascadeRule(0.3));
  check_law(SigmoidRule(-10, 10));
  check_law(AcceptAllFault{});
  check_law(ResampleTargetFault{});
  check_law(SwappedResidualFault{});
  check_law(SharedNoiseFault{});
  check_law(ClosedCoinFault(4));
}

TEST_CASE("rules whose positions do not stand alone have no emitted law") {
  CHECK_FALSE(CoinRule<BlockRule>);
  CHECK_FALSE(CoinRule<MatchRule>);
  CHECK_FALSE(CoinRule<RecursiveRule>);
  CHECK_FALSE(CoinRule<TreeRule>);
  CHECK_FALSE(CoinRule<LateContextFault>);
  CHECK_FALSE(CoinRule<DraftBonusFault>);
}

TEST_CASE("the golden vector: distances of lenience are .20, .25 and .30") {
  JudgeScratch scratch;
  const auto distance = [&](Residual residual) {
    const Row law =
        emitted_law(LenienceRule(0.5, residual), row_of(golden_target), row_of(golden_draft), scratch);
    return total_variation(law, row_of(golden_target));
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
  // Kept by their likelihood alone, so that nodes which were expanded can be left without children.
  check_sums("grown", GrownTreeRule(3, 5), 3, true);
  check_sums("lenient", LenienceRule(0.4), 3, false);
  check_sums("typical", TypicalRule{}, 3, false);
  check_sums("greedy", GreedyRule{}, 2, false);
  check_sums("cascade", CascadeRule(0.5), 2, false);
  check_sums("fault without an emitted law", LateContextFault{}, 3, false);
}

TEST_CASE("drafts at the first position") {
  CHECK(first_drafts(TokenRule{}, 4) == 1);
  CHECK(first_drafts(RecursiveRule(3), 4) == 3);
  CHECK(first_drafts(TreeRule(branching_tree({5, 2})), 2) == 5);
  CHECK(first_drafts(TraversalRule(branching_tree({2})), 1) == 2);
  CHECK(first_drafts(GrownTreeRule(4, 16), 3) == 4);
  CHECK(first_drafts(GrownTreeRule(4, 2), 3) == 2);
  CHECK(first_drafts(RecursiveRule(3), 0) == 0);
}

TEST_CASE("judging plays the rounds that decoding plays") {
  const Plan plan = plan_of(8, 100);
  Tally judged = judge_rule(chain(3), chain(4), TokenRule{}, 3, {.lossless = true}, plan).total();
  Tally decoded = decode_speculatively(chain(3), chain(4), TokenRule{}, 3, plan).total();
  CHECK(decoded.judgement == Judgement{});
  CHECK(judged.overlap_contexts == 0);
  judged.judgement = {};
  decoded.overlap_quanta = decoded.overlap_contexts = 0;
  CHECK(judged == decoded);
}

TEST_CASE("a judgement is the same at one thread and at two") {
  const auto run = [](std::size_t threads) {
    const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, threads);
    return judge_rule(chain(3), chain(4), LenienceRule(0.5), 3, {}, plan_of(16, 300)).batches;
  };
  CHECK(run(1) == run(2));
}

TEST_CASE("a target that means its argmax is judged as the argmax") {
  // At l = 1 and without ties greedy lenience emits the argmax.
  const GreedyLenienceRule rule{1};
  const Plan plan = plan_of(4, 50);
  const Tally argmax_target = judge_rule(chain(3), chain(4), rule, 2, {.argmax_target = true}, plan).total();
  CHECK(argmax_target.judgement.distance.contexts > 0);
  CHECK(argmax_target.judgement.distance.quanta == 0);
  const Tally sampled_target = judge_rule(chain(3), chain(4), rule, 2, {}, plan).total();
  CHECK(sampled_target.judgement.distance.sum() >
        0.1 * static_cast<double>(sampled_target.judgement.distance.contexts));
}

TEST_CASE("without drafts there is nothing to judge") {
  const Tally tally =
      judge_rule(chain(3), chain(4), TokenRule{}, 0, {.lossless = true}, plan_of(2, 10)).total();
  CHECK(tally.rounds == 20);
  CHECK(tally.judgement == Judgement{});
}

TEST_CASE("judgements merge in any order, to half a quantum a value") {
  ContextSum a;
  for (const double value : {0.0, 1.0, 0.1, 1.0 / 3}) a.add(value);
  CHECK(a.contexts == 4);
  CHECK(std::abs(a.sum() - (1.1 + 1.0 / 3)) <= 2 * ContextSum::quantum);
  Tally one;
  one.judgement.optimum.add(0.25);
  one.judgement.distance.add(0.5);
  Tally two;
  two.judgement.divergence.add(0.75);
  Tally forwards = one;
  Tally backwards = two;
  forwards += two;
  backwards += one;
  CHECK(forwards == backwards);
  CHECK(forwards.judgement.optimum.sum() == 0.25);
  CHECK(forwards.judgement.divergence.sum() == 0.75);
  CHECK(forwards.judgement.distance.sum() == 0.5);
}
