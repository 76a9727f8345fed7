#include "experiments/equality_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <variant>
#include <vector>

#include "analysis/statistics/multiple_tests.hpp"
#include "experiments/format/config_error.hpp"
#include "experiments/format/validate.hpp"
#include "sim/sequences.hpp"

namespace speclab {

namespace {

constexpr double most_exact_sequences = 1e5;
constexpr double small_distance = 0.01;

/// Below the smallest normal double the tail is not resolved.
std::string p_text(double p) { return p < 1e-300 ? "< 1e-300" : fmt::format("{:.3g}", p); }

std::string distance_text(double distance) {
  return distance < 0.001 ? fmt::format("{:.2g}", distance) : fmt::format("{:.4f}", distance);
}

SequenceTests run_tests(const Setup& setup, int gamma,
                        const std::optional<SequenceDistribution<double>>& distribution, std::size_t length,
                        const Control& control, bool& partial) {
  std::vector<Token> speculative;
  std::vector<Token> plain;
  std::visit(
      [&](const auto& rule) {
        speculative =
            speculative_sequences(setup.target, setup.draft, rule, gamma, setup.plan, length, control);
        if (!distribution) plain = plain_sequences(setup.target, rule, setup.plan, length, control);
      },
      setup.rule);
  partial = speculative.empty() || (!distribution && plain.empty());
  if (partial) return {};
  if (!distribution) return two_sample_sequence_tests(speculative, plain, length);
  return ExactSequenceTests(*distribution, setup.target.vocab(), length, setup.plan.trials).test(speculative);
}

/// The joint test alone, at the level that Holm leaves it when it is the only one to reject.
void state_power(EqualityReport& report, std::int32_t vocab) {
  const FitTest& joint = report.tests.joint;
  const double level = report.level / static_cast<double>(report.tests.p_values().size());
  // Two samples of n are worth one of n/2: the variances of both add.
  const std::uint64_t worth = report.exact ? 1 : 2;
  if (joint.degrees > 0) {
    const std::uint64_t samples = report.samples_each / worth;
    report.detectable_effect = detectable_effect(joint.degrees, samples, level, report.power);
    report.detectable_distance =
        std::min(1.0, detectable_total_variation(joint.degrees, samples, level, report.power));
    // By Cauchy-Schwarz the effect is at least twice the total variation.
    report.samples_for_one_percent =
        worth * planned_samples(2 * small_distance, joint.degrees, level, report.power);
  } else if (vocab > 1) {
    // A deterministic target (temperature 0) has one cell. Against the exact distribution any other sequence
    // settles the matter; a second sample must fill a second cell.
    report.detectable_distance =
        report.exact ? -std::expm1(std::log1p(-report.power) / static_cast<double>(report.samples_each))
                     : minimum_expectation_for_power / static_cast<double>(report.samples_each);
  }
}

}  // namespace

std::optional<SequenceDistribution<double>> exact_plain_distribution(const Setup& setup, int tokens) {
  const bool one_prompt = setup.plan.prompts.size() == 1;
  if (!one_prompt || std::pow(setup.target.vocab(), tokens) > most_exact_sequences) return std::nullopt;
  return std::visit(
      [&](const auto& rule) {
        return plain_distribution<double>(setup.target, setup.plan.prompt(0),
                                          static_cast<std::size_t>(tokens), rule);
      },
      setup.rule);
}

EqualityReport check_equality(const Json& input,
                              const std::function<Control(std::uint64_t total)>& control_for) {
  const Json config = resolve(input);
  refuse_many_cells(config, "check tests");
  const Json settings = section(config, "check");
  Registry registry;
  Setup setup = registry.build(config);

  EqualityReport report;
  report.level = settings.at("level").get<double>();
  report.power = settings.at("power").get<double>();
  report.tokens = settings.at("tokens").get<int>();
  report.samples_each = settings.at("samples").get<std::uint64_t>();
  if (report.power <= report.level) {
    throw ConfigError("/check/power",
                      fmt::format("{} is not above the level {}", report.power, report.level));
  }
  setup.plan.trials = static_cast<std::uint32_t>(report.samples_each);
  const std::optional<SequenceDistribution<double>> distribution =
      exact_plain_distribution(setup, report.tokens);
  report.exact = distribution.has_value();
  const Control control = control_for(report.samples_each * (report.exact ? 1 : 2));
  report.tests = run_tests(setup, config.at("gamma").get<int>(), distribution,
                           static_cast<std::size_t>(report.tokens), control, report.partial);
  if (!report.partial) state_power(report, setup.target.vocab());
  return report;
}

Json equality_json(const EqualityReport& report) {
  const FitTest& joint = report.tests.joint;
  const std::vector<double> adjusted = holm_adjusted(report.tests.p_values());
  Json positions = Json::array();
  for (std::size_t i = 0; i < report.tests.positions.size(); ++i) {
    const PositionTest& position = report.tests.positions[i];
    positions.push_back({{"position", i + 1},
                         {"prefixes", position.prefixes},
                         {"covered", position.covered},
                         {"pearson", position.sum.pearson},
                         {"degrees", position.sum.degrees},
                         {"pearson_p", position.sum.pearson_p},
                         {"adjusted_p", adjusted[i + 2]}});
  }
  return {{"verdict", report.different() ? "different" : "equal"},
          {"against", report.exact ? "exact law" : "second sample"},
          {"tokens", report.tokens},
          {"samples_each", report.samples_each},
          {"level", report.level},
          {"adjusted_p", report.tests.adjusted_p()},
          {"pearson", joint.pearson},
          {"pearson_p", joint.pearson_p},
          {"pearson_adjusted_p", adjusted[0]},
          {"g", joint.g},
          {"g_p", joint.g_p},
          {"g_adjusted_p", adjusted[1]},
          {"degrees", joint.degrees},
          {"cells", joint.cells},
          {"pooled_cells", joint.pooled_cells},
          {"impossible", joint.impossible},
          {"positions", positions},
          {"power", report.power},
          {"detectable_effect", report.detectable_effect},
          {"detectable_total_variation", report.detectable_distance},
          {"samples_for_total_variation_0.01",
           report.samples_for_one_percent > 0 ? Json(report.samples_for_one_percent) : Json()}};
}

std::string equality_text(const EqualityReport& report) {
  const FitTest& joint = report.tests.joint;
  const std::vector<double> adjusted = holm_adjusted(report.tests.p_values());
  const auto row = [](const std::string& name, double statistic, int degrees, double p, double adjusted_p) {
    return fmt::format("{:<28}{:>12.2f}  {:>7}  {:>8}  {:>8}\n", name, statistic, degrees, p_text(p),
                       p_text(adjusted_p));
  };
  std::string text =
      fmt::format("null      the first {} tokens of speculative decoding have {}\n", report.tokens,
                  report.exact ? "the target's law, known exactly from its rows"
                               : "the law of plain decoding, seen in a second sample");
  text += fmt::format("samples   {} sequences{}, {} cells ({} pooled){}\n", report.samples_each,
                      report.exact ? "" : " each", joint.cells, joint.pooled_cells,
                      joint.impossible > 0
                          ? fmt::format("; {} sequences that the target cannot produce", joint.impossible)
                          : "");
  text += fmt::format("{:<28}{:>12}  {:>7}  {:>8}  {:>8}\n", "test", "statistic", "degrees", "p", "adjusted");
  text += row("whole sequences, Pearson", joint.pearson, joint.degrees, joint.pearson_p, adjusted[0]);
  text += row("whole sequences, G", joint.g, joint.degrees, joint.g_p, adjusted[1]);
  int untested = 0;
  for (std::size_t i = 0; i < report.tests.positions.size(); ++i) {
    const PositionTest& position = report.tests.positions[i];
    if (position.prefixes == 0) {
      ++untested;
      continue;
    }
    const std::string name =
        i == 0 ? "token 1"
               : fmt::format("token {} given {}", i + 1, i == 1 ? "token 1" : fmt::format("tokens 1-{}", i));
    text += row(name, position.sum.pearson, position.sum.degrees, position.sum.pearson_p, adjusted[i + 2]);
  }
  if (untested > 0) {
    text += fmt::format("{} of the {} positions: one outcome, or prefixes too rare to test\n", untested,
                        report.tokens);
  }
  text += fmt::format("power     a total variation of {} or more", distance_text(report.detectable_distance));
  if (joint.degrees > 0) text += fmt::format(" (effect w = {:.4f})", report.detectable_effect);
  text += fmt::format(" is found with probability {}", report.power);
  if (report.samples_for_one_percent > 0) {
    // Two digits: the cells would be others with as many samples.
    const auto samples = static_cast<double>(report.samples_for_one_percent);
    const double unit = std::pow(10.0, std::max(0.0, std::floor(std::log10(samples)) - 1));
    text += fmt::format(";\n          {} takes about {:.0f} samples{}", small_distance,
                        std::ceil(samples / unit) * unit, report.exact ? "" : " each");
  }
  text += fmt::format("\nverdict   {} (level {:g})\n",
                      report.different() ? "DIFFERENT: speculative decoding does not have the target's law"
                                         : "equal: no difference found",
                      report.level);
  return text;
}

}  // namespace speclab
