// Tests that p-values of `speclab check` are uniform under the null, and that it finds faults as often as
// planned: repeats its tests on small samples, with a lossless rule and with planted faults.
#include <doctest/doctest.h>

#include <cmath>
#include <memory>
#include <set>
#include <span>
#include <vector>

#include "analysis/exact/enumeration_program.hpp"
#include "analysis/statistics/sequence_tests.hpp"
#include "experiments/run/setup.hpp"
#include "experiments/verify/check/equality_test.hpp"
#include "sim/parallel.hpp"
#include "sim/sequences.hpp"
#include "tests/bounds.hpp"
#include "tests/experiments/run_of.hpp"
#include "tests/kolmogorov_smirnov.hpp"
#include "tests/planned_power.hpp"

using namespace speclab;

namespace {

constexpr int gamma_of_all = 2;
constexpr std::size_t first_tokens = 2;

/// A pair on a chain of four tokens, the rule, and sampling options of the target and of the draft.
Setup calibrated_setup(const std::string& rule, const std::string& target = "{}",
                       const std::string& draft = "{}") {
  ModelFactory factory;
  return build_setup(read_config(parse_json(R"({"title": "test", "seed": 1, "gamma": 2,
    "models": {"target": {"kind": "markov", "vocab": 4, "concentration": 2, "seed": 4, "sampling": )" +
                                            target + R"(},
               "draft": {"kind": "mixture", "epsilon": 0.5, "other": {"kind": "uniform"}, "sampling": )" +
                                            draft + R"(}},
    "rule": )" + rule + "}")),
                     factory);
}

SequenceDistribution<double> plain_tokens(const Setup& setup) {
  return plain_distribution<double>(setup.target, setup.simulation.prompt(0), first_tokens,
                                    setup.rule.enumerated);
}

/// The check's tests of `repeats` independent samples of `samples` sequences each, against plain decoding
/// through the rows of `right` (default: of the setup). Studies of different numbers share no random numbers.
std::vector<SequenceTests> repeated_tests(const Setup& setup, EqualityReference reference,
                                          std::uint32_t samples, std::uint32_t repeats, std::uint64_t study,
                                          const Setup* right = nullptr) {
  if (right == nullptr) right = &setup;
  const bool exact = reference == EqualityReference::exact_distribution;
  const AnyRule& rule = setup.rule.sampled;
  const ExactSequenceTests exact_tests(plain_tokens(*right), setup.target.vocab(), first_tokens);
  std::vector<SequenceTests> tests(repeats);
  for_each_index(repeats, [&](std::size_t repeat) {
    SimulationSize simulation = setup.simulation;
    simulation.seed = test_seed(1900) + (study << 32U) + repeat;
    RoundScratch<double> scratch;
    std::vector<Token> speculative(samples * first_tokens);
    std::vector<Token> plain(exact ? 0 : speculative.size());
    for (std::uint32_t trial = 0; trial < samples; ++trial) {
      const auto of_trial = [&](std::vector<Token>& tokens) {
        return std::span<Token>(tokens).subspan(trial * first_tokens, first_tokens);
      };
      speculative_sequence(setup.target, setup.draft, rule, gamma_of_all, simulation, trial, scratch,
                           of_trial(speculative));
      if (!exact) plain_sequence(right->target, rule, simulation, trial, scratch, of_trial(plain));
    }
    tests[repeat] =
        exact ? exact_tests.test(speculative) : two_sample_sequence_tests(speculative, plain, first_tokens);
  });
  return tests;
}

template <class PValue>
double uniformity(const std::vector<SequenceTests>& tests, const PValue& p_value) {
  std::vector<double> values;
  for (const SequenceTests& test : tests) values.push_back(p_value(test));
  return kolmogorov_smirnov(values).p;
}

/// The p-value of a statistic that counts one degree too many.
double with_wrong_degrees(FitTest test) {
  FitTest one;
  one.degrees = 1;
  return sum_of_tests(std::vector<FitTest>{test, one}).pearson_p;
}

}  // namespace

TEST_CASE("p-values under the null are uniform; those of a wrong statistic are not") {
  // Null: 2,000 checks of token verification, 1,000 sequences of two tokens each. Eight KS tests at 1e-11,
  // and rejections at .05 at seven sigma. Power: one degree of freedom too many (4, not 3, for the first
  // token) moves the distribution by .15, where .08 is found.
  const Setup setup = calibrated_setup(R"({"kind": "token"})");
  for (const EqualityReference reference :
       {EqualityReference::exact_distribution, EqualityReference::second_sample}) {
    const std::vector<SequenceTests> tests = repeated_tests(setup, reference, 1000, 2000, 0);
    CHECK(uniformity(tests, [](const SequenceTests& t) { return t.joint.pearson_p; }) > p_value_bound);
    CHECK(uniformity(tests, [](const SequenceTests& t) { return t.joint.g_p; }) > p_value_bound);
    for (const std::size_t i : {0U, 1U}) {
      CHECK(uniformity(tests, [i](const SequenceTests& t) { return t.positions[i].sum.pearson_p; }) >
            p_value_bound);
    }
    CHECK(uniformity(tests, [](const SequenceTests& t) { return with_wrong_degrees(t.positions[0].sum); }) <
          p_value_bound);
    int verdicts = 0;
    int pearson = 0;
    std::set<double> statistics;
    for (const SequenceTests& test : tests) {
      verdicts += test.adjusted_p() <= 0.05 ? 1 : 0;
      pearson += test.joint.pearson_p <= 0.05 ? 1 : 0;
      statistics.insert(test.joint.g);
    }
    CHECK(count_agrees(pearson, 2000, 0.05));
    CHECK(verdicts <= 2000 * (0.05 + bound_in_sigmas * std::sqrt(0.05 * 0.95 / 2000)));
    CHECK(verdicts > 0);
    CHECK(statistics.size() > 1900);  // every repeat has samples of its own
  }
}

TEST_CASE("long: with penalties p-values under the null are uniform; those without them are not") {
  // Null: 1,000 checks of a request with penalties and a minimal length, 1,000 sequences of two tokens each.
  // Eight KS tests at 1e-11. Fault: the draft's rows alone are filtered ("plain-target" of prove).
  const std::string request =
      R"({"frequency_penalty": 0.7, "presence_penalty": 0.3, "repetition_penalty": 1.2,
    "logit_offset": 2, "min_tokens": 1, "end_tokens": [3]})";
  std::uint64_t study = 100;
  for (const char* rule : {R"({"kind": "token"})", R"({"kind": "block"})"}) {
    CAPTURE(rule);
    const Setup setup = calibrated_setup(rule, request, request);
    const Setup faulty = calibrated_setup(rule, "{}", request);
    CHECK(distribution_distance(plain_tokens(setup), plain_tokens(faulty)) > 0.05);
    for (const EqualityReference reference :
         {EqualityReference::exact_distribution, EqualityReference::second_sample}) {
      const auto of = [&](const Setup& sampled) {
        return repeated_tests(sampled, reference, 1000, 1000, study++, &setup);
      };
      const auto pearson = [](const SequenceTests& t) { return t.joint.pearson_p; };
      const auto right = of(setup);
      CHECK(uniformity(right, pearson) > p_value_bound);
      CHECK(uniformity(right, [](const SequenceTests& t) { return t.joint.g_p; }) > p_value_bound);
      CHECK(uniformity(of(faulty), pearson) < p_value_bound);
    }
  }
}

TEST_CASE("power: the simulated rate is that of the noncentral law at the enumerated effect") {
  // Null: rejections are Binomial(400, predicted). Seven sigma (.17 at most), and .04 because the law is a
  // limit for small effects. Power: twice the samples would be predicted otherwise.
  constexpr double level = 0.05;
  constexpr std::uint32_t repeats = 400;
  std::uint64_t study = 1;
  for (const char* rule :
       {R"({"kind": "fault-resample-target"})", R"({"kind": "lenient", "lenience": 0.8})"}) {
    CAPTURE(rule);
    const Setup faulty = calibrated_setup(rule);
    const SequenceDistribution<double> plain = plain_tokens(faulty);
    const SequenceDistribution<double> fault =
        sequence_distribution<double>(faulty.target, faulty.draft, faulty.rule.enumerated, gamma_of_all,
                                      faulty.simulation.prompt(0), first_tokens);
    CHECK(distribution_distance(plain, fault) > 0.02);
    for (const EqualityReference reference :
         {EqualityReference::exact_distribution, EqualityReference::second_sample}) {
      const auto predicted = [&](std::uint64_t samples) {
        const bool two_samples = reference == EqualityReference::second_sample;
        return planned_power(planned_sequence_test(plain, fault, samples, two_samples), level);
      };
      const auto plausible = [&](double rate, std::uint64_t samples) {
        const double power = predicted(samples);
        return std::abs(rate - power) <= bound_in_sigmas * std::sqrt(power * (1 - power) / repeats) + 0.04;
      };
      for (const std::uint32_t samples : {400U, 1600U}) {
        const std::vector<SequenceTests> tests = repeated_tests(faulty, reference, samples, repeats, study++);
        const auto rate = [&](double FitTest::*p_value) {
          const auto rejected = std::count_if(tests.begin(), tests.end(), [&](const SequenceTests& test) {
            return test.joint.*p_value <= level || test.joint.tail_p <= level;
          });
          return static_cast<double>(rejected) / repeats;
        };
        CHECK(plausible(rate(&FitTest::pearson_p), samples));
        CHECK(plausible(rate(&FitTest::g_p), samples));
        if (samples == 400) CHECK_FALSE(plausible(rate(&FitTest::pearson_p), 1600));
      }
    }
  }
}
