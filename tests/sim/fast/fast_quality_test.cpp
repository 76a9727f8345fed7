// Tests fast measurement of rules: contexts against dense rows, runs against measure_rule_quality.
#include "sim/fast/fast_quality.hpp"

#include <doctest/doctest.h>
#include <tbb/global_control.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "core/fast/fast_transport.hpp"
#include "core/rules/all_rules.hpp"
#include "sim/fast/context_facts.hpp"
#include "sim/fast/fast_pair.hpp"
#include "sim/fast/ngram_rows.hpp"
#include "sim/fast/quality_facts.hpp"
#include "sim/fast/shared_rows.hpp"
#include "sim/fast/table_rows.hpp"
#include "sim/models/synthetic.hpp"
#include "tests/sim/fast/ngram_models.hpp"

using namespace speclab;

namespace {

constexpr RuleQualityOptions lossless{.lossless = true};

TableModel table_of(std::int32_t vocab, std::int32_t order, double concentration, std::uint64_t seed) {
  return {vocab, order,
          dirichlet_rows(vocab, order == 0 ? 1 : static_cast<std::uint32_t>(vocab), concentration, seed)};
}

template <class Rows>
void check_contexts(const Rows& rows) {
  std::vector<double> target_scratch;
  std::vector<double> draft_scratch;
  for (const std::int32_t drafts : {1, 2, 3, 8}) {
    const AnyRule rule(TokenRule{});
    const QualityFacts<Rows> facts(rows, rule, drafts, true);
    for (std::uint32_t context = 0; context < rows.contexts(); ++context) {
      const Row p = rows.row(context, target_side, target_scratch);
      const Row q = rows.row(context, draft_side, draft_scratch);
      const double bound = static_cast<double>(facts.bound(context)) * ContextSum::quantum;
      CHECK(std::abs(bound - fast_transport_acceptance(p, q, drafts)) < 1e-9);
      CHECK(facts.bound(context) == facts.bound(context));
      CHECK(std::abs(static_cast<double>(facts.divergence(context)) * ContextSum::quantum -
                     total_variation(p, q)) < 1e-9);
    }
  }
}

template <class Check>
void for_each_lossless_rule(const Check& check) {
  check(AnyRule(TokenRule{}), "token");
  check(AnyRule(BlockRule{}), "block");
  check(AnyRule(ScheduledRule(0.2, true)), "scheduled");
  check(AnyRule(GumbelRule{}), "gumbel");
  check(AnyRule(MatchRule{}), "match");
  check(AnyRule(RecursiveRule(3)), "recursive");
  check(AnyRule(KSeqRule(3)), "k-seq");
  check(AnyRule(TreeRule(branching_tree({3, 2, 1}))), "tree");
  check(AnyRule(TraversalRule(branching_tree({3, 2, 1}))), "traversal");
}

SimulationSize rounds_of(std::uint32_t trials, std::uint32_t length, std::uint64_t seed) {
  SimulationSize simulation;
  simulation.seed = seed;
  simulation.trials = trials;
  simulation.length = length;
  simulation.batches = std::min(trials, 40U);
  return simulation;
}

/// A mean over a context, and its standard error from batches.
struct Mean {
  double value;
  double error;
};
Mean mean_of(const std::vector<Tally>& batches, ContextSum RuleQuality::*sum) {
  ContextSum total;
  for (const Tally& batch : batches) total += batch.quality.*sum;
  const double value = total.sum() / static_cast<double>(total.contexts);
  double squares = 0;
  for (const Tally& batch : batches) {
    const ContextSum& one = batch.quality.*sum;
    squares += std::pow(one.sum() - value * static_cast<double>(one.contexts), 2);
  }
  const auto count = static_cast<double>(batches.size());
  return {value, std::sqrt(squares * count / (count - 1)) / static_cast<double>(total.contexts)};
}

}  // namespace

TEST_CASE("bounds and divergences of contexts are those of dense rows") {
  for (const double concentration : {0.1, 1.0}) {
    const TableModel target = table_of(17, 1, concentration, 1);
    const TableModel draft = table_of(17, 1, concentration, 2);
    check_contexts(TableRows(target, draft));
    check_contexts(TableRows(target, target));
  }
  const NgramModel target = trained(1, 40, 4, 3000);
  check_contexts(NgramRows(target, trained(2, 40, 2, 2000)));
  check_contexts(NgramRows(target, *target.adjusted({.temperature = 0.4})));
}

TEST_CASE("without a context the sums are exact, and every round counts its first context") {
  const Model target(table_of(30, 0, 1, 3));
  const Model draft(table_of(30, 0, 1, 4));
  std::vector<double> scratch;
  std::vector<double> other;
  const Row p = target.next({}, scratch);
  const Row q = draft.next({}, other);
  for_each_lossless_rule([&](const AnyRule& rule, const std::string& name) {
    CAPTURE(name);
    SharedRows rows;
    const FastQuality pair(target, draft, rule, rows);
    const Tally tally = pair.measure(3, lossless, rounds_of(20, 50, 5)).total();
    const RuleQuality& quality = tally.quality;
    CHECK(tally.overlap_contexts == 0);
    CHECK(quality.distance == ContextSum{});
    CHECK(quality.optimal_transport_bound.contexts == tally.rounds);
    CHECK(quality.divergence.contexts >= tally.rounds);
    CHECK(quality.divergence.sum() / static_cast<double>(quality.divergence.contexts) ==
          doctest::Approx(total_variation(p, q)).epsilon(1e-8));
    CHECK(quality.optimal_transport_bound.sum() / static_cast<double>(tally.rounds) ==
          doctest::Approx(fast_transport_acceptance(p, q, rule->first_drafts(3))).epsilon(1e-8));
    CHECK(pair.measure(0, lossless, rounds_of(20, 50, 5)).total().quality == RuleQuality{});
  });
}

// Null: both measure the same means. There are 36 comparisons of 40 batches each; a right pair differs by 7
// standard errors in one of 35 million runs of this test (Student's t of 78 degrees); the planted fault, the
// bound for one draft fewer, differs by more than 10.
TEST_CASE("over contexts the means are those of the plain measurement") {
  const auto target = std::make_shared<const NgramModel>(trained(5, 40, 3, 3000));
  const auto draft = std::make_shared<const NgramModel>(trained(6, 40, 2, 2000));
  const TableModel target_table = table_of(12, 1, 0.5, 7);
  const TableModel draft_table = table_of(12, 1, 0.5, 8);
  const auto deviation = [](const Mean& one, const Mean& two) {
    return std::abs(one.value - two.value) / std::hypot(one.error, two.error);
  };
  for (const bool tables : {false, true}) {
    const Model p = tables ? Model(target_table) : Model(target);
    const Model q = tables ? Model(draft_table) : Model(draft);
    for_each_lossless_rule([&](const AnyRule& rule, const std::string& name) {
      CAPTURE(name);
      CAPTURE(tables);
      if (fast_quality_unsupported_reason(p, q, rule, lossless)) return;
      SharedRows rows;
      const FastQuality pair(p, q, rule, rows);
      const auto fast = pair.measure(3, lossless, rounds_of(400, 50, 9)).batches;
      const auto plain = measure_rule_quality(p, q, rule, 3, lossless, rounds_of(400, 50, 10)).batches;
      const auto examined = [](const std::vector<Tally>& batches) {
        Tally total;
        for (const Tally& batch : batches) total += batch;
        return static_cast<double>(total.quality.divergence.contexts) / static_cast<double>(total.rounds);
      };
      CHECK(examined(fast) == doctest::Approx(examined(plain)).epsilon(0.03));
      for (const auto sum : {&RuleQuality::optimal_transport_bound, &RuleQuality::divergence})
        CHECK(deviation(mean_of(fast, sum), mean_of(plain, sum)) < 7);
    });
  }
  SharedRows rows;
  const Model p(target_table);
  const Model q(draft_table);
  const auto fewer =
      FastQuality(p, q, RecursiveRule(2), rows).measure(3, lossless, rounds_of(400, 50, 9)).batches;
  const auto plain =
      measure_rule_quality(p, q, RecursiveRule(3), 3, lossless, rounds_of(400, 50, 10)).batches;
  CHECK(deviation(mean_of(fewer, &RuleQuality::optimal_transport_bound),
                  mean_of(plain, &RuleQuality::optimal_transport_bound)) > 10);
}

TEST_CASE("the measured quality is the same for any number of sequences in turn and of threads") {
  const auto target = std::make_shared<const NgramModel>(trained(5, 40, 3, 3000));
  const auto draft = std::make_shared<const NgramModel>(trained(6, 40, 2, 2000));
  const Model p(target);
  const Model q(draft);
  for_each_lossless_rule([&](const AnyRule& rule, const std::string& name) {
    CAPTURE(name);
    SharedRows rows;
    const FastQuality pair(p, q, rule, rows);
    const auto simulation = rounds_of(41, 20, 3);
    const auto expected = pair.measure(2, lossless, simulation).batches;
    CHECK(pair.measure(2, lossless, simulation, Control{}, 1).batches == expected);
    const tbb::global_control one(tbb::global_control::max_allowed_parallelism, 1);
    CHECK(pair.measure(2, lossless, simulation, Control{}, 33).batches == expected);
    // Rounds equal those of decoding, if decoding uses the same program.
    if (name == "token") return;
    const Tally decoded = FastPair(p, q, rule).decode(2, simulation).total();
    CHECK(decoded.accepted_lengths == pair.measure(2, lossless, simulation).total().accepted_lengths);
  });
}

namespace {

template <class Check>
void for_each_lossy_rule(const Check& check) {
  for (const Residual residual : {Residual::target_minus_draft, Residual::literal, Residual::target}) {
    check(LenienceRule(0.4, residual));
  }
  check(TypicalRule{});
  check(TypicalRule(0.05, 0.9));
  check(GreedyRule{});
  check(GreedyLenienceRule{0.3});
  check(FuzzyRule{});
  check(EnsembleRule(0.3));
  check(TolerantRule(0.1, 0.4));
  check(TolerantRule(0.9, 0.9));
  check(DeferralRule{});
  check(CascadeRule{});
  check(CascadeRule(0.8));
  check(MarsRule{});
  check(MarsRule(0.5, 20));
  check(BildRule(0.1, 3));
}

}  // namespace

// Two independent computations: full rows as in sim/decode.hpp, and e = q a + (1 - sum q a) r in closed form,
// where it has one.
TEST_CASE("how far from the target a rule emits is, by context, what dense rows and closed forms say") {
  const NgramModel target = trained(1, 40, 4, 3000);
  const NgramModel draft = trained(2, 40, 2, 2000);
  const NgramRows rows(target, draft);
  const auto check = [&](const AnyRule& rule, const auto& expected) {
    const QualityFacts<NgramRows> facts(rows, rule, 1, false);
    std::vector<double> target_scratch;
    std::vector<double> draft_scratch;
    double largest = 0;
    for (std::uint32_t context = 0; context < rows.contexts(); ++context) {
      const Row p = rows.row(context, target_side, target_scratch);
      const Row q = rows.row(context, draft_side, draft_scratch);
      for (int again = 0; again < 2; ++again) {
        const double found = static_cast<double>(facts.distance(context)) * ContextSum::quantum;
        largest = std::max(largest, std::abs(found - expected(p, q)));
      }
    }
    CHECK(largest < 1e-9);
  };
  for_each_lossy_rule([&](const auto& rule) {
    const AnyRule any(rule);
    check(any, [&](Row p, Row q) {
      QualityScratch quality;
      return total_variation(any->emitted_distribution(p, q, quality), p);
    });
  });
  check(GreedyRule{}, [](Row p, Row) { return 1 - p[argmax(p)]; });
  check(EnsembleRule(0.3), [](Row p, Row q) { return 0.7 * total_variation(p, q); });
  // A = (1 - T(l)) / l, and (A - 1 + T(1))+ with T(G) = sum (p - G q)+.
  check(LenienceRule(0.4), [](Row p, Row q) {
    const auto total = [&](double scale) { return total_probability(ResidualRow<double>(p, q, scale)); };
    return std::max(0.0, (1 - total(0.4)) / 0.4 - 1 + total(1));
  });
}

// Null as above, for three lossy rules: 3 comparisons; the planted fault is another slack.
TEST_CASE("over contexts the distances of lossy rules are those of the plain measurement") {
  const Model p(std::make_shared<const NgramModel>(trained(5, 40, 3, 3000)));
  const Model q(std::make_shared<const NgramModel>(trained(6, 40, 2, 2000)));
  constexpr RuleQualityOptions lossy{};
  SharedRows rows;
  const auto fast = [&](const AnyRule& rule) {
    REQUIRE(!fast_quality_unsupported_reason(p, q, rule, lossy));
    return FastQuality(p, q, rule, rows).measure(3, lossy, rounds_of(400, 50, 9)).batches;
  };
  const auto deviation = [&](const std::vector<Tally>& of_fast, const AnyRule& rule) {
    const auto plain = measure_rule_quality(p, q, rule, 3, lossy, rounds_of(400, 50, 10)).batches;
    const Mean one = mean_of(of_fast, &RuleQuality::distance);
    const Mean two = mean_of(plain, &RuleQuality::distance);
    return std::abs(one.value - two.value) / std::hypot(one.error, two.error);
  };
  for (const AnyRule& rule : {AnyRule(CascadeRule(0.3)), AnyRule(LenienceRule(0.5)), AnyRule(TypicalRule{})})
    CHECK(deviation(fast(rule), rule) < 7);
  CHECK(deviation(fast(CascadeRule(0.3)), CascadeRule(0.8)) > 10);
}

TEST_CASE("what cannot be measured from totals is said") {
  const Model table(table_of(12, 1, 0.5, 7));
  const Model ngram(std::make_shared<const NgramModel>(trained(5, 12, 3, 3000)));
  const auto reason = [&](const Model& p, const Model& q, const AnyRule& rule,
                          const RuleQualityOptions& how) {
    return fast_quality_unsupported_reason(p, q, rule, how).value_or("");
  };
  CHECK(reason(table, table, TokenRule{}, lossless).empty());
  CHECK(reason(ngram, ngram, RejectionRule{}, lossless).empty());
  CHECK(reason(table, table, RejectionRule{}, lossless).find("totals") != std::string::npos);
  CHECK(reason(table, ngram, TokenRule{}, lossless).find("two") != std::string::npos);
  CHECK(reason(ngram, ngram, ImportanceRule(2), lossless).find("totals") != std::string::npos);
  CHECK(reason(ngram, ngram, LenienceRule{0.5}, {}).empty());
  CHECK(reason(ngram, ngram, SigmoidRule{}, {}).find("lossy") != std::string::npos);
  CHECK(reason(table, table, LenienceRule{0.5}, {}).find("lossy") != std::string::npos);
  CHECK(reason(ngram, ngram, TokenRule{}, {.lossless = true, .argmax_target = true}) != "");
}
