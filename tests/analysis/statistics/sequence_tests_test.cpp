#include "analysis/statistics/sequence_tests.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "sim/compiled_rule.hpp"
#include "sim/models/table_model.hpp"
#include "sim/sequences.hpp"
#include "tests/bounds.hpp"
#include "tests/core/rules/all_rules.hpp"
#include "tests/kolmogorov_smirnov.hpp"
#include "tests/planned_power.hpp"

using namespace speclab;

namespace {

constexpr std::int32_t vocab = 3;
constexpr std::size_t length = 3;
constexpr std::uint32_t samples = 20000;

/// Columns sum to 1, so that the stationary distribution is uniform.
const TableModel target(vocab, 1, {0.5, 0.3, 0.2, 0.2, 0.5, 0.3, 0.3, 0.2, 0.5});

/// The chain started from its stationary distribution, which is uniform: so is every later marginal.
struct Stationary {
  std::int32_t vocab() const { return target.vocab(); }
  Row next(std::span<const Token> context, std::vector<double>& scratch) const {
    static constexpr double even[] = {1, 1, 1};
    return context.size() <= 1 ? Row{even, 3} : target.next(context, scratch);
  }
};

/// The planted fault: rows are looked up one token too early.
struct OffByOneContext {
  std::int32_t vocab() const { return target.vocab(); }
  Row next(std::span<const Token> context, std::vector<double>& scratch) const {
    return Stationary{}.next(context.first(context.size() - 1), scratch);
  }
};

const Stationary right;
const OffByOneContext off_by_one;

template <class M>
std::vector<Token> sequences(const M& model, std::uint64_t seed, std::uint32_t trials = samples) {
  SimulationSize plan;
  plan.seed = test_seed(seed);
  plan.trials = trials;
  plan.prompts = {{0}};
  return plain_sequences(model, TokenRule{}, plan, length);
}

SequenceDistribution<double> distribution_of_right() {
  return plain_distribution<double>(right, std::vector<Token>{0}, length);
}

/// Tests the tokens of one position alone.
FitTest marginal(const std::vector<Token>& sample, std::size_t position) {
  std::vector<std::uint64_t> counts(vocab);
  for (std::size_t i = position; i < sample.size(); i += length)
    ++counts[static_cast<std::size_t>(sample[i])];
  return fit_test(counts, std::vector<double>(vocab, 1.0));
}

}  // namespace

TEST_CASE("a decoder whose marginals are right and whose conditionals are wrong") {
  // Null: 20,000 sequences of the target's distribution. Joint (Pearson, G) and three positions, one- and
  // two-sample, each at 1e-11. Power: the fault changes a conditional by .1 to .3 (w > .1 in the joint test),
  // n w^2 > 200.
  const std::vector<Token> good = sequences(right, 1);
  const std::vector<Token> bad = sequences(off_by_one, 2);
  const ExactSequenceTests exact(distribution_of_right(), vocab, length);
  for (std::size_t position = 0; position < length; ++position) {
    CHECK(marginal(good, position).pearson_p > p_value_bound);
    CHECK(marginal(bad, position).pearson_p > p_value_bound);  // it does not detect the fault
  }
  for (const double p : exact.test(good).p_values()) CHECK(p > p_value_bound);
  for (const double p : two_sample_sequence_tests(good, sequences(right, 3), length).p_values()) {
    CHECK(p > p_value_bound);
  }
  for (const SequenceTests& tests :
       {exact.test(bad), two_sample_sequence_tests(bad, sequences(right, 3), length)}) {
    CHECK(tests.joint.pearson_p < p_value_bound);
    CHECK(tests.joint.g_p < p_value_bound);
    CHECK(tests.positions[0].sum.pearson_p > p_value_bound);  // the first token is right
    CHECK(tests.positions[1].sum.pearson_p < p_value_bound);
    CHECK(tests.positions[2].sum.pearson_p < p_value_bound);
    CHECK(tests.adjusted_p() < p_value_bound);
  }
}

TEST_CASE(
    "a joint test's share of the level is that of one more than all p-values, also where sequences are rare") {
  const auto check = [](const SequenceTests& tests, bool rare) {
    CHECK((tests.joint.tails > 0) == rare);
    CHECK(joint_level(0.05, length, rare) ==
          doctest::Approx(0.05 / static_cast<double>(1 + tests.p_values().size())));
  };
  const ExactSequenceTests exact(distribution_of_right(), vocab, length);
  const std::vector<Token> many = sequences(right, 5);
  check(exact.test(many), false);
  check(exact.test(std::span(many).first(40 * length)), true);
}

TEST_CASE("a position's test adds the tests of its prefixes") {
  const ExactSequenceTests exact(distribution_of_right(), vocab, length);
  const SequenceTests tests = exact.test(sequences(right, 4));
  REQUIRE(tests.positions.size() == length);
  const int prefixes[] = {1, 3, 9};
  for (std::size_t i = 0; i < length; ++i) {
    CHECK(tests.positions[i].prefixes == prefixes[i]);
    CHECK(tests.positions[i].sum.degrees == 2 * prefixes[i]);
    CHECK(tests.positions[i].covered == 1);
    CHECK(tests.positions[i].sum.samples == samples);
  }
  CHECK(tests.joint.degrees == 26);
  CHECK(tests.p_values().size() == 1 + length);
  CHECK(tests.positions[0].sum.pearson == doctest::Approx(marginal(sequences(right, 4), 0).pearson));
  // Log-likelihood ratios factor over prefixes if no cell is pooled.
  double sum = 0;
  for (const PositionTest& position : tests.positions) sum += position.sum.g;
  CHECK(sum == doctest::Approx(tests.joint.g));
}

TEST_CASE("rare prefixes are left out and counted") {
  const SequenceTests tests =
      two_sample_sequence_tests(sequences(right, 5, 100), sequences(right, 6, 100), length);
  CHECK(tests.positions[0].covered == 1);
  // There are nine prefixes of about 22 sequences each; hardly any has two cells of ten in either sample.
  CHECK(tests.positions[2].covered < 0.9);
  const SequenceTests few =
      two_sample_sequence_tests(sequences(right, 5, 10), sequences(right, 6, 10), length);
  CHECK(few.positions[2].prefixes == 0);
  CHECK(few.positions[2].sum.pearson_p == 1);
}

TEST_CASE("rare sequences form groups, and still count") {
  // There are 6^4 = 1296 sequences and 4,000 samples: hardly any sequence has its own cell. Null: the even
  // distribution, at 1e-11. Power: the first and the last token alone have w^2 = .28, which gives n w^2 =
  // 1,100, and half of that for two samples; about 150 are found.
  const TableModel even(6, 0, std::vector<double>(6, 1.0));
  const TableModel tilted(6, 0, {1.6, 1.2, 1, 1, 0.8, 0.4});
  SimulationSize plan;
  plan.seed = test_seed(7);
  plan.trials = 4000;
  const std::vector<Token> sample = plain_sequences(tilted, TokenRule{}, plan, 4);
  const ExactSequenceTests exact(plain_distribution<double>(even, {}, 4), 6, 4);
  const SequenceTests tests = exact.test(sample);
  CHECK(tests.joint.cells <= max_rare_groups);
  CHECK(tests.joint.pearson_p < p_value_bound);
  plan.seed = test_seed(8);
  const std::vector<Token> fair = plain_sequences(even, TokenRule{}, plan, 4);
  CHECK(exact.test(fair).joint.pearson_p > p_value_bound);
  const SequenceTests two = two_sample_sequence_tests(sample, fair, 4);
  CHECK(two.joint.cells < 2 * max_rare_groups);
  CHECK(two.joint.pearson_p < p_value_bound);
}

TEST_CASE("a sequence that the distribution excludes settles the matter") {
  SequenceDistribution<double> distribution = distribution_of_right();
  distribution.erase({0, 0, 0});
  const ExactSequenceTests exact(distribution, vocab, length);
  const SequenceTests tests = exact.test(std::vector<Token>{0, 0, 0, 1, 1, 1});
  CHECK(tests.joint.impossible == 1);
  CHECK(tests.adjusted_p() == 0);
  CHECK(tests.positions[2].sum.impossible == 1);
  CHECK(planned_sequence_test(distribution, distribution_of_right(), 2).impossible ==
        doctest::Approx(distribution_of_right().at({0, 0, 0})));
}

TEST_CASE("a distribution may have texts that end early") {
  // A planted fault can reach a row that a request's options empty. Its texts end there.
  const SequenceDistribution<double> law{{{0, 0}, 0.5}, {{1}, 0.5}};
  const ExactSequenceTests tests(law, 2, 2);
  const std::vector<Token> possible(200, 0);
  CHECK(tests.test(possible).adjusted_p() < 1e-12);  // half of the texts should end early
  const std::vector<Token> impossible{1, 1};
  CHECK(tests.test(impossible).adjusted_p() == 0);
}

TEST_CASE("p-values of a position are uniform: 2,000 tests of 300 sequences") {
  // Null: as above. KS at 1e-11 for the third position, one- and two-sample; chi-squared's own error is far
  // below .08, the smallest difference found. Power: one degree too many for the first token (3, not 2) is
  // .19 away.
  const ExactSequenceTests exact(distribution_of_right(), vocab, length);
  std::vector<double> one;
  std::vector<double> two;
  std::vector<double> wrong;
  for (std::uint64_t i = 0; i < 2000; ++i) {
    const std::vector<Token> first = sequences(right, 1000 + 2 * i, 300);
    const SequenceTests tests = exact.test(first);
    one.push_back(tests.positions[2].sum.pearson_p);
    two.push_back(two_sample_sequence_tests(first, sequences(right, 1001 + 2 * i, 300), length)
                      .positions[1]
                      .sum.pearson_p);
    std::vector<FitTest> with_one_more(2);
    with_one_more[0] = tests.positions[0].sum;
    with_one_more[1].degrees = 1;
    wrong.push_back(sum_of_tests(with_one_more).pearson_p);
  }
  CHECK(kolmogorov_smirnov(one).p > p_value_bound);
  CHECK(kolmogorov_smirnov(two).p > p_value_bound);
  CHECK(kolmogorov_smirnov(wrong).p < p_value_bound);
}

TEST_CASE("what a test faces under another distribution") {
  CHECK(planned_sequence_test(distribution_of_right(), distribution_of_right(), samples).effect < 1e-12);
  const SequenceDistribution<double> fault =
      plain_distribution<double>(off_by_one, std::vector<Token>{0}, length);
  double square = 0;
  const SequenceDistribution<double> distribution = distribution_of_right();
  for (const auto& [sequence, probability] : distribution) {
    square += (fault.at(sequence) - probability) * (fault.at(sequence) - probability) / probability;
  }
  CHECK(planned_sequence_test(distribution, fault, samples).effect == doctest::Approx(std::sqrt(square)));
  CHECK(planned_sequence_test(distribution, fault, samples).degrees == 26);
  const PlannedTest two = planned_sequence_test(fault, distribution, samples, true);
  CHECK(two.degrees == 26);
  CHECK(two.effect < std::sqrt(square));
  CHECK(two.effect > std::sqrt(square) / 2);
}
