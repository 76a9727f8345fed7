#include "experiments/verify/check/equality_test.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "analysis/exact/enumeration_program.hpp"
#include "analysis/statistics/multiple_tests.hpp"
#include "analysis/statistics/sequence_tests.hpp"
#include "experiments/format/config_error.hpp"
#include "sim/sequences.hpp"

namespace speclab {

namespace {

constexpr double max_exact_sequences = 1e5;
constexpr double small_distance = 0.01;

bool has_exact_distribution(const Setup& setup, int tokens) {
  return setup.simulation.prompts.size() == 1 &&
         std::pow(setup.target.vocab(), tokens) <= max_exact_sequences;
}

/// The least number of two significant digits of which, and not of the one before it, `enough` is true; none
/// up to 10^10.
std::optional<std::uint64_t> least_round_number(const std::function<bool(std::uint64_t)>& enough) {
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

/// What the joint test is held to: the level that Holm leaves it when it is the only one to reject.
double joint_level(const SequenceTests& tests, double level) {
  return level / static_cast<double>(tests.p_values().size());
}

/// Total variation that two samples show where either is one sequence alone: others of one sample fill cells
/// of `cell` or more, one or several, and their number is the noncentrality of the test.
double detectable_beside_one_sequence(std::uint64_t samples, double level, double power) {
  constexpr double cell = 2 * minimum_expectation_for_power;  // half of them are expected in either sample
  for (int degrees = 1;; ++degrees) {
    const double effect = detectable_effect(degrees, 1, level, power);
    const double others = std::max(effect * effect, cell);
    if (others < cell * (degrees + 1)) return std::min(1.0, others / static_cast<double>(samples));
  }
}

/// The joint test alone. `degrees` says how many degrees of freedom it would have, or would have at most,
/// with other numbers of samples; without any, `otherwise` is the detectable total variation.
void state_power(EqualityResult& result, const SequenceTests& tests, double otherwise,
                 const std::function<int(std::uint64_t)>& degrees) {
  const bool exact = result.reference == EqualityReference::exact_distribution;
  const FitTest& joint = tests.joint;
  const double level = joint_level(tests, result.level);
  // Two samples of n are worth one of n/2: the variances of both add.
  const std::uint64_t worth = exact ? 1 : 2;
  const auto detectable = [&](int degrees_of_test, std::uint64_t samples) {
    return std::min(1.0, detectable_total_variation(degrees_of_test, samples / worth, level, result.power));
  };
  result.detectable_total_variation = otherwise;
  if (joint.degrees > 0) {
    const std::uint64_t samples = result.samples_each / worth;
    result.detectable_effect = detectable_effect(joint.degrees, samples, level, result.power);
    result.detectable_total_variation = detectable(joint.degrees, result.samples_each);
  }
  if (joint.degrees == 0 && !exact) return;
  // With the cells that so many samples fill, of which a test of fewer has fewer.
  result.samples_for_one_percent = least_round_number([&](std::uint64_t many) {
    const int of_many = degrees(many);
    return of_many > 0 && detectable(of_many, many) <= small_distance;
  });
}

/// `otherwise`, `degrees`: as `state_power` takes them.
EqualityResult result_of(const SequenceTests& tests, EqualityReference reference, double otherwise,
                         const CheckSection& settings, std::uint64_t samples,
                         const std::function<int(std::uint64_t)>& degrees) {
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
  result.pearson_adjusted_p = adjusted[0];
  result.g_adjusted_p = adjusted[1];
  for (std::size_t i = 0; i < tests.positions.size(); ++i) {
    const PositionTest& test = tests.positions[i];
    result.positions.push_back({.position = static_cast<std::int32_t>(i) + 1,
                                .prefixes = test.prefixes,
                                .covered = test.covered,
                                .pearson = test.sum.pearson,
                                .degrees = test.sum.degrees,
                                .pearson_p = test.sum.pearson_p,
                                .adjusted_p = adjusted[i + 2]});
  }
  state_power(result, tests, otherwise, degrees);
  return result;
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

double detectable_without_degrees(const SequenceDistribution<double>& exact, double power,
                                  std::uint64_t samples) {
  const auto possible =
      std::count_if(exact.begin(), exact.end(), [](const auto& one) { return one.second > 0; });
  return possible > 1 ? 1 : -std::expm1(std::log1p(-power) / static_cast<double>(samples));
}

std::uint64_t equality_workload(const Setup& setup, const CheckSection& settings) {
  return std::uint64_t{settings.samples} * (has_exact_distribution(setup, settings.tokens) ? 1 : 2);
}

EqualityResult test_against(const SequenceDistribution<double>& exact, std::int32_t vocab,
                            const CheckSection& settings, std::span<const Token> samples) {
  require_power(settings);
  const auto length = static_cast<std::size_t>(settings.tokens);
  const std::uint64_t count = samples.size() / length;
  const double otherwise = vocab > 1 ? detectable_without_degrees(exact, settings.power, count) : 0;
  return result_of(ExactSequenceTests(exact, vocab, length, count).test(samples),
                   EqualityReference::exact_distribution, otherwise, settings, count,
                   [&](std::uint64_t many) { return joint_degrees(exact, many); });
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
  const double sequences = std::pow(vocab, settings.tokens);
  double otherwise = sequences > 1 ? 1 : 0;
  if (vocab > 1 && tests.own_cells == 1 && tests.rare == 0) {
    otherwise =
        detectable_beside_one_sequence(simulation.trials, joint_level(tests, settings.level), settings.power);
  }
  return result_of(tests, EqualityReference::second_sample, otherwise, settings, simulation.trials,
                   [&](std::uint64_t many) {
                     return static_cast<int>(std::min(max_joint_degrees(tests, many, sequences), 1e9));
                   });
}

std::optional<EqualityResult> test_equality(const Setup& setup, int gamma, const CheckSection& settings,
                                            const Control& control) {
  require_power(settings);
  // The samples of either decoder, and the order in which each is counted.
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
