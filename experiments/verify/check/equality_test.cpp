#include "experiments/verify/check/equality_test.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "analysis/exact/enumeration_program.hpp"
#include "analysis/statistics/multiple_tests.hpp"
#include "analysis/statistics/sequence_tests.hpp"
#include "experiments/base/format/config_error.hpp"
#include "sim/sequences.hpp"

namespace speclab {

namespace {

constexpr double max_exact_sequences = 1e5;
constexpr double small_distance = 0.01;

bool has_exact_distribution(const Setup& setup, int tokens) {
  return setup.simulation.prompts.size() == 1 &&
         std::pow(setup.target.vocab(), tokens) <= max_exact_sequences;
}

/// Returns the smallest number with two significant digits for which `enough` is true; empty if none up to
/// 10^10. `enough` must be monotone.
std::optional<std::uint64_t> min_round_number(const std::function<bool(std::uint64_t)>& enough) {
  constexpr std::uint64_t per_decade = 90;
  constexpr std::uint64_t last = 9 * per_decade;
  const auto number = [](std::uint64_t at) {
    std::uint64_t value = 10 + at % per_decade;
    for (std::uint64_t decade = 0; decade < at / per_decade; ++decade) value *= 10;
    return value;
  };
  if (enough(number(0))) return number(0);
  if (!enough(number(last))) return std::nullopt;
  std::uint64_t few = 0;
  std::uint64_t many = last;
  while (many - few > 1) {
    const std::uint64_t middle = (few + many) / 2;
    (enough(number(middle)) ? many : few) = middle;
  }
  return number(many);
}

/// Returns the fewest sequences with which `find` finds a total variation of 0.01.
template <class Find>
std::optional<std::uint64_t> samples_for_small(const Find& find) {
  return min_round_number([&](std::uint64_t many) { return find(many) <= small_distance; });
}

EqualityResult result_of(const SequenceTests& tests, EqualityReference reference,
                         const CheckSection& settings, std::uint64_t samples) {
  EqualityResult result;
  static_cast<FitTest&>(result) = tests.joint;
  result.reference = reference;
  result.tokens = settings.tokens;
  result.samples_each = samples;
  result.level = settings.level;
  result.power = settings.power;
  const std::vector<double> adjusted = holm_adjusted(tests.p_values());
  result.adjusted_p = tests.adjusted_p();
  result.different = result.adjusted_p <= result.level;
  result.cells_adjusted_p = adjusted[0];
  if (tests.joint.tails > 0) result.tail_adjusted_p = adjusted[1];
  for (std::size_t i = 0; i < tests.positions.size(); ++i) {
    const PositionTest& test = tests.positions[i];
    result.positions.push_back({test.sum, static_cast<std::int32_t>(i) + 1, test.prefixes, test.covered,
                                adjusted[tests.joint_tests() + i]});
  }
  return result;
}

/// Returns the total variation that the test finds between two samples if one consists of a single sequence.
/// The others, all of the other sample, fill one or more cells with at least `cell` each, and their number is
/// the test's noncentrality.
double detectable_beside_one_sequence(std::uint64_t samples, double level, double power) {
  constexpr double cell = 2 * minimum_expectation_for_power;  // half of them are expected in each sample
  for (int degrees = 1;; ++degrees) {
    const double effect = detectable_effect(degrees, 1, level, power);
    const double others = std::max(effect * effect, cell);
    if (others < cell * (degrees + 1)) return std::min(1.0, others / static_cast<double>(samples));
  }
}

/// Computes the power of the joint test of two samples at the level that Holm's method leaves if only this
/// test rejects. At most `sequences` different sequences can occur.
void state_two_sample_power(EqualityResult& result, const SequenceTests& tests, double sequences) {
  const double level = result.level / static_cast<double>(tests.p_values().size());
  const FitTest& joint = tests.joint;
  // Two samples of n have the power of one sample of n/2, because their variances add.
  const auto between = [&](int degrees, std::uint64_t samples) {
    return std::min(1.0, detectable_total_variation(degrees, samples / 2, level, result.power));
  };
  if (joint.degrees > 0) {
    result.detectable_effect = detectable_effect(joint.degrees, result.samples_each / 2, level, result.power);
    result.detectable_between_classes = between(joint.degrees, result.samples_each);
    // More samples fill more cells: the degrees of freedom grow with `many`.
    result.samples_for_one_percent = samples_for_small([&](std::uint64_t many) {
      return between(static_cast<int>(std::min(max_joint_degrees(tests, many, sequences), 1e9)), many);
    });
  } else if (sequences > 1) {
    result.detectable_between_classes =
        tests.own_cells == 1 ? detectable_beside_one_sequence(result.samples_each, level, result.power) : 1;
  }
  const double rare = static_cast<double>(joint.rare_samples) / static_cast<double>(joint.samples);
  const double shared = joint.rare_classes > 1 ? rare : 0;
  result.detectable_total_variation = std::min(1.0, result.detectable_between_classes + shared);
}

}  // namespace

void require_power(const CheckSection& settings) {
  if (settings.power > settings.level) return;
  throw ConfigError("/check/power", "{} is not above the level {}", settings.power, settings.level);
}

std::optional<SequenceDistribution<double>> exact_plain_distribution(const Setup& setup, int tokens) {
  if (!has_exact_distribution(setup, tokens)) return std::nullopt;
  return plain_distribution<double>(setup.target, setup.simulation.prompt(0),
                                    static_cast<std::size_t>(tokens), setup.rule.enumerated);
}

std::uint64_t equality_workload(const Setup& setup, const CheckSection& settings) {
  return std::uint64_t{settings.samples} * (has_exact_distribution(setup, settings.tokens) ? 1 : 2);
}

EqualityResult test_against(const SequenceDistribution<double>& exact, std::int32_t vocab,
                            const CheckSection& settings, std::span<const Token> samples) {
  require_power(settings);
  const auto length = static_cast<std::size_t>(settings.tokens);
  const std::uint64_t count = samples.size() / length;
  EqualityResult result = result_of(ExactSequenceTests(exact, vocab, length).test(samples),
                                    EqualityReference::exact_distribution, settings, count);
  const auto detectable = [&](std::uint64_t many) {
    return detectable_jointly(exact, vocab, length, many, settings.level, settings.power);
  };
  const DetectableDifference found = detectable(count);
  result.detectable_effect = found.effect;
  result.detectable_between_classes = found.between_cells;
  result.detectable_total_variation = found.total_variation;
  result.samples_for_one_percent =
      samples_for_small([&](std::uint64_t many) { return detectable(many).total_variation; });
  return result;
}

std::optional<EqualityResult> test_samples(const Setup& setup, const CheckSection& settings,
                                           std::span<const Token> samples, const Control& control) {
  require_power(settings);
  const auto length = static_cast<std::size_t>(settings.tokens);
  SimulationSize simulation = setup.simulation;
  simulation.trials = static_cast<std::uint32_t>(samples.size() / length);
  const std::int32_t vocab = setup.target.vocab();
  if (const auto exact = exact_plain_distribution(setup, settings.tokens))
    return test_against(*exact, vocab, settings, samples);
  const std::vector<Token> plain =
      plain_sequences(setup.target, setup.rule.sampled, simulation, length, control);
  if (plain.empty()) return std::nullopt;
  const SequenceTests tests = two_sample_sequence_tests(samples, plain, length);
  EqualityResult result = result_of(tests, EqualityReference::second_sample, settings, simulation.trials);
  state_two_sample_power(result, tests, std::pow(vocab, settings.tokens));
  return result;
}

std::optional<EqualityResult> test_equality(const Setup& setup, int gamma, const CheckSection& settings,
                                            const Control& control) {
  require_power(settings);
  // Memory holds each decoder's samples and the order in which they are counted.
  const double of_one = static_cast<double>(settings.samples) *
                        (settings.tokens * static_cast<double>(sizeof(Token)) + sizeof(std::size_t));
  require_memory(of_one * (has_exact_distribution(setup, settings.tokens) ? 1 : 2), "/check/samples",
                 fmt::format("{} samples of {} tokens", settings.samples, settings.tokens));
  SimulationSize simulation = setup.simulation;
  simulation.trials = settings.samples;
  const std::vector<Token> samples =
      speculative_sequences(setup.target, setup.draft, setup.rule.sampled, gamma, simulation,
                            static_cast<std::size_t>(settings.tokens), control);
  if (samples.empty()) return std::nullopt;
  return test_samples(setup, settings, samples, control);
}

}  // namespace speclab
