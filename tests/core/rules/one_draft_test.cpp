// Tests rules for one drafted sequence by known values, inequalities between rules, and independent
// implementations.
#include <doctest/doctest.h>

#include <boost/random/exponential_distribution.hpp>
#include <cmath>
#include <vector>

#include "tests/bounds.hpp"
#include "tests/core/rules/all_rules.hpp"
#include "tests/core/rules/golden_pair.hpp"

using namespace speclab;

namespace {

DenseRows<double> both(Row target, Row draft) { return {target, draft}; }

}  // namespace

TEST_CASE("golden acceptance rates") {
  const Row p = row(golden_target);
  const Row q = row(golden_draft);
  CHECK(TokenRule{}.acceptance_rate(p, q) == doctest::Approx(0.6));
  CHECK(MatchRule{}.acceptance_rate(p, q) == doctest::Approx(0.26));
  CHECK(GumbelRule{}.acceptance_rate(p, q) == doctest::Approx(18.0 / 35));
  CHECK(RejectionRule{}.acceptance_rate(p, q) == doctest::Approx(0.2));
  CHECK(GreedyRule{}.acceptance_rate(p, q) == doctest::Approx(0.1));
  CHECK(LenienceRule{0.5}.acceptance_rate(p, q) == doctest::Approx(0.8));
}

TEST_CASE("every acceptance rule's rate is the mean of its acceptance over the draft") {
  const Row p = row(golden_target);
  const Row q = row(golden_draft);
  const auto check = [&](const auto& rule) {
    double mean = 0;
    for (Token id = 0; id < 3; ++id) mean += q[id] * rule.acceptance(id, p, q);
    CHECK(rule.acceptance_rate(p, q) == doctest::Approx(mean).epsilon(1e-14));
  };
  check(RejectionRule{});
  check(GreedyRule{});
  check(TypicalRule{0.25, 10});
  check(CascadeRule{0.5});
  check(SigmoidRule{});
  check(SigmoidRule{-1, 1});
  check(SharedNoiseFault{});
  check(ClosedComparisonFault{7});
  check(EnsembleRule{0.7});
  check(TolerantRule{0.1, 0.2});
  for (const auto divergence : {Nearness::js, Nearness::kl, Nearness::tv}) {
    check(FuzzyRule{divergence, 0.1});
    check(FuzzyRule{divergence, 0.9});
  }
  for (const auto deferral : {Deferral::chow, Deferral::difference, Deferral::optimal}) {
    check(DeferralRule{deferral, 0.2});
    check(DeferralRule{deferral, 0.5});
  }
  for (const double constant : {1.0, 20.0}) check(MarsRule{0.9, constant});
  check(BildRule{});
  check(BildRule{0.7, 1});
  check(BildRule{0.35, 1});
}

TEST_CASE("lossy acceptance of one context, by hand") {
  const Row p = row(golden_target);  // .5 .3 .2
  const Row q = row(golden_draft);   // .1 .3 .6
  // w p + (1 - w) q = .22 .3 .48 at w = .3.
  CHECK(EnsembleRule{0.3}.acceptance(2, p, q) == doctest::Approx(0.8));
  // 1/3 + .1 + .2 * .5.
  CHECK(TolerantRule{0.1, 0.2}.acceptance(2, p, q) == doctest::Approx(1.0 / 3 + 0.2));
  // TV = .4; KL = .5 ln 5 + .2 ln(1/3) = .585; JS = .125.
  CHECK(kullback_leibler(both(p, q)) == doctest::Approx(0.5 * std::log(5.0) - 0.2 * std::log(3.0)));
  CHECK(jensen_shannon(both(p, q)) == doctest::Approx(0.12513).epsilon(1e-4));
  CHECK(FuzzyRule{Nearness::tv, 0.41}.acceptance(2, p, q) == 1);
  CHECK(FuzzyRule{Nearness::tv, 0.39}.acceptance(2, p, q) == 0);
  CHECK(FuzzyRule{Nearness::kl, 0.59}.acceptance(2, p, q) == 1);
  CHECK(FuzzyRule{Nearness::kl, 0.58}.acceptance(2, p, q) == 0);
  CHECK(std::isinf(kullback_leibler(both(row({0.5, 0.5}), row({1, 0})))));
  // max q = .6, max p = .5.
  CHECK(DeferralRule{Deferral::chow, 0.3}.numbers(both(p, q)).number == 1);
  CHECK(DeferralRule{Deferral::chow, 0.5}.numbers(both(p, q)).number == 0);
  CHECK(DeferralRule{Deferral::difference, 0}.numbers(both(p, q)).number == 0);
  CHECK(DeferralRule{Deferral::difference, 0.05}.numbers(both(row({0.9, 0.1}), row({0.8, 0.2}))).number == 1);
  CHECK(DeferralRule{Deferral::difference, 0.2}.numbers(both(row({0.9, 0.1}), row({0.8, 0.2}))).number == 0);
  CHECK(DeferralRule{Deferral::optimal, 0.2}.numbers(both(row({0.9, 0.1}), row({0.8, 0.2}))).number == 1);
  // Logits log p + 20: log(.3) + 20 = 18.80 is .974 of 19.31; with + 1 the second is below 0.
  CHECK(MarsRule{0.97, 20}.acceptance(1, p, q) == 1);
  CHECK(MarsRule{0.98, 20}.acceptance(1, p, q) == 0);
  CHECK(MarsRule{0.9, 1}.acceptance(1, p, q) == 0);
  CHECK(MarsRule{0, 20}.acceptance(2, p, q) == 0);
  // -log(.2) = 1.61; max q = .6.
  CHECK(BildRule{0.35, 1.7}.acceptance(2, p, q) == 1);
  CHECK(BildRule{0.35, 1.5}.acceptance(2, p, q) == 0);
  CHECK(BildRule{0.65, 8}.acceptance(0, p, q) == 0);
}

TEST_CASE("FLy: a mismatch passes where the target is unsure and agrees with the next tokens") {
  const std::vector<double> decided{0.98, 0.01, 0.01};
  const Row unsure = row(golden_target);  // entropy .937 of log 3
  const Row sure = row(decided);
  const auto accepted = [](const FlyRule& rule, const std::vector<Row>& targets, std::vector<Token> drafted) {
    const auto uniforms = [](Draw) { return 0.5; };
    UniformRandomSource<decltype(uniforms)> random(uniforms);
    const auto target = [&](std::int32_t i) { return targets[static_cast<std::size_t>(i)]; };
    const auto gamma = static_cast<std::int32_t>(drafted.size());
    return verify(rule, target, target, drafted.data(), gamma, random).accepted;
  };
  const FlyRule rule{0.3, 2};
  CHECK(accepted(rule, {unsure, unsure, unsure, unsure, unsure}, {1, 0, 0, 0}) == 4);
  CHECK(accepted(rule, {sure, unsure, unsure, unsure, unsure}, {1, 0, 0, 0}) == 0);
  CHECK(accepted(rule, {unsure, unsure, unsure, unsure, unsure}, {1, 0, 1, 0}) == 0);
  CHECK(accepted(rule, {unsure, unsure, unsure, unsure, unsure}, {0, 0, 1, 0}) == 4);
  CHECK(accepted(rule, {unsure, unsure, unsure, unsure, unsure}, {0, 0, 0, 1}) == 3);
}

TEST_CASE("every coupling rule's rate is the probability that both agree, and its mean row is the target") {
  const Row p = row(golden_target);
  const Row q = row(golden_draft);
  const auto check = [&](const auto& rule) {
    double agree = 0;
    std::vector<double> emitted(3);
    for (Token id = 0; id < 3; ++id) {
      const auto weights = rule.coupled(id, p, q);
      CHECK(total_probability(weights) == doctest::Approx(1));
      agree += q[id] * weights[id];
      for (Token y = 0; y < 3; ++y) emitted[static_cast<std::size_t>(y)] += q[id] * weights[y];
    }
    CHECK(rule.acceptance_rate(p, q) == doctest::Approx(agree));
    for (Token y = 0; y < 3; ++y) CHECK(emitted[static_cast<std::size_t>(y)] == doctest::Approx(p[y]));
  };
  check(MatchRule{});
  check(GumbelRule{});
}

TEST_CASE("Gumbel: the closed form is the distribution of two argmins over shared exponentials") {
  // Null: counts of (draft, target) pairs are multinomial with q_x * coupled(x)[y]; seven sigmas per cell.
  // The planted alternative, independent noise for both, is off by far more.
  const std::vector<double> target{0.5, 0.3, 0.2, 0};
  const std::vector<double> draft{0.1, 0.3, 0.5, 0.1};
  constexpr std::uint32_t samples = 200000;
  std::vector<double> shared(16);
  std::vector<double> apart(16);
  const auto argmin = [](const std::vector<double>& probabilities, const std::vector<double>& noise) {
    std::size_t best = 4;
    for (std::size_t id = 0; id < 4; ++id) {
      if (probabilities[id] > 0 &&
          (best == 4 || noise[id] / probabilities[id] < noise[best] / probabilities[best]))
        best = id;
    }
    return best;
  };
  for (std::uint32_t trial = 0; trial < samples; ++trial) {
    Philox stream(test_seed(21), Site{trial, 0, Draw{Use::world, 0}});
    boost::random::exponential_distribution<double> exponential;
    std::vector<double> noise(4);
    std::vector<double> other(4);
    for (double& value : noise) value = exponential(stream);
    for (double& value : other) value = exponential(stream);
    shared[argmin(draft, noise) * 4 + argmin(target, noise)] += 1;
    apart[argmin(draft, noise) * 4 + argmin(target, other)] += 1;
  }
  bool independent_noise_found = false;
  for (Token x = 0; x < 4; ++x) {
    const auto weights = GumbelRule{}.coupled(x, row(target), row(draft));
    for (Token y = 0; y < 4; ++y) {
      const double expected = draft[static_cast<std::size_t>(x)] * weights[y];
      const auto cell = static_cast<std::size_t>(x * 4 + y);
      CAPTURE(x);
      CAPTURE(y);
      CHECK(count_agrees(shared[cell], samples, expected));
      if (!count_agrees(apart[cell], samples, expected)) independent_noise_found = true;
    }
  }
  CHECK(independent_noise_found);
}

TEST_CASE(
    "shared noise: the fault is the distribution of an acceptance draw that reuses the draft's uniform") {
  struct Reused {
    RoundUniforms uniforms;
    double operator()(Draw draw) const {
      if (draw.use == Use::accept) draw.use = Use::draft;
      return uniforms(draw);
    }
  };
  constexpr std::uint32_t samples = 200000;
  double kept = 0;
  for (std::uint32_t trial = 0; trial < samples; ++trial) {
    UniformRandomSource<Reused> random(Reused{RoundUniforms{test_seed(5), trial, 0}});
    const Token token = random.categorical(Draw{Use::draft, 0}, row(golden_draft));
    const Verdict verdict = verify(
        TokenRule{}, [&](std::int32_t) { return row(golden_target); },
        [&](std::int32_t) { return row(golden_draft); }, &token, 1, random);
    kept += verdict.accepted;
  }
  const double rate = SharedNoiseFault{}.acceptance_rate(row(golden_target), row(golden_draft));
  CHECK(count_agrees(kept, samples, rate));
  CHECK_FALSE(count_agrees(kept, samples, 0.6));
}

TEST_CASE("the closed comparison: u = 0 accepts a token that the target excludes") {
  const auto always_zero = [](Draw) { return 0.0; };
  UniformRandomSource<decltype(always_zero)> random(always_zero);
  CHECK_FALSE(random.bernoulli(Draw{Use::accept, 0}, TokenRule{}.acceptance(0, row({0, 1}), row({1, 0}))));
  CHECK(ClosedComparisonFault{1 << 24}.acceptance(0, row({0, 1}), row({1, 0})) == 0x1p-24);
  CHECK(ClosedComparisonFault{4}.acceptance(0, row({0.5, 0.5}), row({1, 0})) == 0.75);
}

TEST_CASE("order of acceptance: rejection <= gumbel <= token, match <= token") {
  for (std::uint32_t trial = 0; trial < 300; ++trial) {
    Philox stream(9, Site{trial, 0, Draw{Use::world, 0}});
    std::vector<double> p(6);
    std::vector<double> q(6);
    for (double& probability : p) probability = std::pow(open_unit(stream()), 3);
    for (double& probability : q) probability = std::pow(open_unit(stream()), 3);
    normalise(p);
    normalise(q);
    const double token = TokenRule{}.acceptance_rate(row(p), row(q));
    const double gumbel = GumbelRule{}.acceptance_rate(row(p), row(q));
    CHECK(RejectionRule{}.acceptance_rate(row(p), row(q)) <= gumbel + 1e-12);
    CHECK(gumbel <= token + 1e-12);
    CHECK(MatchRule{}.acceptance_rate(row(p), row(q)) <= token + 1e-12);
    // Daliri et al. 2024: the rate is at least (1 - TV) / (1 + TV).
    CHECK(gumbel >= token / (2 - token) - 1e-12);
  }
}

TEST_CASE("typical: the threshold is min(epsilon, delta exp(-H))") {
  const std::vector<double> flat{0.25, 0.25, 0.25, 0.25};
  CHECK(TypicalRule{0.3, 0.5}.numbers(both(row(flat), row(flat))).number == doctest::Approx(0.125));
  CHECK(TypicalRule{0.1, 0.5}.numbers(both(row(flat), row(flat))).number == 0.1);
  CHECK(TypicalRule{0.3, 0.5}.numbers(both(row({0, 1}), row({0, 1}))).number == doctest::Approx(0.3));
}

TEST_CASE("cascade: slack 1 accepts everything, and admissible tokens are always accepted") {
  const Row p = row(golden_target);
  const Row q = row(golden_draft);
  CHECK(CascadeRule{1}.acceptance_rate(p, q) == doctest::Approx(1));
  CHECK(CascadeRule{0.1}.acceptance(0, p, q) == 1);
  // A = {0}: eta = .9, so token 2 is accepted with .9 * .2 / .6.
  CHECK(CascadeRule{0.1}.acceptance(2, p, q) == doctest::Approx(0.3));
}

TEST_CASE("sigmoid: gaps of 40 in the logits hardly show at the paper's scale") {
  // sigma((z + 1000) / 2000) for logits 0 and -40 differ by 0.8%.
  const double ratio = sigmoid_weight(std::exp(-40.0), -1000, 1000) / sigmoid_weight(1.0, -1000, 1000);
  CHECK(ratio > 0.992);
  CHECK(ratio < 1);
  CHECK(sigmoid_weight(0.0, -1000, 1000) == 0);
  CHECK(SigmoidRule{}.acceptance_rate(row({0.9, 0.1}), row({0.1, 0.9})) > 0.999);
}

TEST_CASE("point-mass drafts: accept with p(x), else the target without x") {
  const std::vector<double> point{0, 0, 1};
  CHECK(TokenRule{}.acceptance(2, row(golden_target), row(point)) == doctest::Approx(0.2));
  const auto left = TokenRule{}.replacement(row(golden_target), row(point));
  CHECK(left[0] == 0.5);
  CHECK(left[1] == 0.3);
  CHECK(left[2] == 0);
}

TEST_CASE("block: gamma = 1 is token verification, decision by decision") {
  for (std::uint32_t trial = 0; trial < 2000; ++trial) {
    const auto target = [&](std::int32_t) { return row(golden_target); };
    const auto draft = [&](std::int32_t) { return row(golden_draft); };
    auto one = sampled_random_source(4, trial, 0);
    const Token token = one.categorical(Draw{Use::draft, 0}, row(golden_draft));
    auto other = sampled_random_source(4, trial, 0);
    const Verdict by_token = verify(TokenRule{}, target, draft, &token, 1, one);
    const Verdict by_block = verify(BlockRule{}, target, draft, &token, 1, other);
    CHECK(by_token.accepted == by_block.accepted);
    CHECK(by_token.next == by_block.next);
  }
}
