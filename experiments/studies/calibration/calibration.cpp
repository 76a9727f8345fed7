#include "experiments/studies/calibration/calibration.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <span>

#include "analysis/exact/enumeration_program.hpp"
#include "analysis/statistics/multiple_tests.hpp"
#include "core/random/philox.hpp"
#include "core/stop.hpp"
#include "experiments/base/format/config_error.hpp"
#include "experiments/config/cell_spec.hpp"
#include "experiments/config/experiment.hpp"
#include "experiments/results/presentation.hpp"
#include "experiments/run/jobs.hpp"
#include "experiments/run/result.hpp"
#include "sim/parallel.hpp"
#include "sim/sequences.hpp"

namespace speclab {

namespace {

/// The section "calibration" of a config.
struct CalibrationSection {
  std::int32_t tokens = 2;  ///< first tokens, whose distribution is tested
  EqualityReference reference = EqualityReference::exact_distribution;
  std::uint32_t repeats = 10000;  ///< tests under the null
  std::uint32_t samples = 1000;   ///< sequences in each of them
  std::vector<RuleConfig> faults;
  std::uint32_t power_repeats = 400;  ///< tests at each point of a power curve
  std::vector<std::uint32_t> power_samples{25, 50, 100, 200, 400, 800, 1600, 3200};
  double level = 0.05;  ///< of the power curves
};

/// Levels at which rejections under the null are counted.
constexpr std::array calibration_levels{0.1, 0.05, 0.01, 0.001};
constexpr int ecdf_steps = 200;
constexpr double max_branches = 1e7;
constexpr double equal_distribution = 1e-12;
constexpr int line_points = 61;

/// Draws with Use::world and this slot name the seeds of repeats; other slots are those of set-ups.
constexpr Draw repeat_seed{Use::world, 2};

std::uint64_t seed_of(const Setup& setup, std::uint32_t repeat, std::uint32_t study) {
  return Philox(setup.simulation.seed, Site{repeat, study, repeat_seed})();
}

/// The distribution of the first tokens under this set-up's rule, by enumeration.
SequenceDistribution<double> enumerated_distribution(const Setup& setup, int gamma, std::size_t tokens) {
  return sequence_distribution<double>(setup.target, setup.draft, setup.rule.enumerated, gamma,
                                       setup.simulation.prompt(0), tokens);
}

/// The same for plain decoding.
SequenceDistribution<double> plain_distribution_of(const Setup& setup, std::size_t tokens) {
  return plain_distribution<double>(setup.target, setup.simulation.prompt(0), tokens, setup.rule.enumerated);
}

std::uint64_t count_below(const std::vector<double>& values, double level) {
  return static_cast<std::uint64_t>(
      std::count_if(values.begin(), values.end(), [&](double p) { return p <= level; }));
}

NullDistribution describe_null(const std::string& name, bool uniform, const std::vector<double>& values,
                               double confidence) {
  NullDistribution out;
  out.name = name;
  out.uniform = uniform;
  if (uniform) {
    const UniformityTest test = kolmogorov_smirnov(values);
    out.ks_distance = test.distance;
    out.ks_p = test.p;
  }
  for (const double level : calibration_levels) {
    out.rejections.push_back(
        {level, *binomial_interval(count_below(values, level), values.size(), confidence)});
  }
  for (int step = 0; step <= ecdf_steps; ++step) {
    out.ecdf.push_back(count_below(values, static_cast<double>(step) / ecdf_steps));
  }
  return out;
}

std::vector<NullDistribution> describe_nulls(const std::vector<SequenceTests>& tests, double confidence) {
  std::vector<NullDistribution> all;
  const auto add = [&](const std::string& name, bool uniform, const auto& p_value) {
    std::vector<double> values;
    values.reserve(tests.size());
    for (const SequenceTests& test : tests) values.push_back(p_value(test));
    all.push_back(describe_null(name, uniform, values, confidence));
  };
  add("Pearson", true, [](const SequenceTests& test) { return test.joint.pearson_p; });
  add("G", true, [](const SequenceTests& test) { return test.joint.g_p; });
  for (std::size_t i = 1; i < tests.front().positions.size(); ++i) {
    add(fmt::format("token {} given those before", i + 1), true,
        [i](const SequenceTests& test) { return test.positions[i].sum.p(); });
  }
  add("verdict", false, [](const SequenceTests& test) { return test.adjusted_p(); });
  return all;
}

/// The prediction as a line over the range of samples, logarithmically even.
template <class Planned>
PowerLine predicted_line(const std::vector<std::uint32_t>& sizes, double level, const Planned& planned) {
  const auto [least, most] = std::minmax_element(sizes.begin(), sizes.end());
  const double ratio = static_cast<double>(*most) / *least;
  PowerLine line;
  std::uint64_t before = 0;
  for (int i = 0; i < line_points; ++i) {
    const double exact_size = *least * std::pow(ratio, static_cast<double>(i) / (line_points - 1));
    const auto samples = static_cast<std::uint64_t>(std::lround(exact_size));
    if (samples == before) continue;
    before = samples;
    line.samples.push_back(samples);
    line.power.push_back(planned_power(planned(samples), level));
  }
  return line;
}

PowerPoint power_point(const std::vector<SequenceTests>& tests, std::uint32_t samples,
                       const PlannedTest& planned, double level, double confidence) {
  const auto rejected = [&](double FitTest::*p_value) {
    const auto count = std::count_if(tests.begin(), tests.end(), [&](const SequenceTests& test) {
      return test.joint.*p_value <= level || test.joint.tail_p <= level;
    });
    return *binomial_interval(static_cast<std::uint64_t>(count), tests.size(), confidence);
  };
  return {.samples = samples,
          .effect = planned.effect,
          .degrees = planned.degrees,
          .predicted = planned_power(planned, level),
          .pearson = rejected(&FitTest::pearson_p),
          .g = rejected(&FitTest::g_p)};
}

/// What one cell repeats.
struct Calibration {
  std::shared_ptr<const Setup> setup;                ///< lossless: the null
  std::vector<std::shared_ptr<const Setup>> faults;  ///< the same models under each planted fault
  int gamma;
  const CalibrationSection& settings;
};

/// Token sequences to sample in all.
std::uint64_t sequences_of(const CalibrationSection& settings) {
  std::uint64_t per_repeat = 0;
  for (const std::uint32_t samples : settings.power_samples) per_repeat += samples;
  const std::uint64_t each = std::uint64_t{settings.repeats} * settings.samples +
                             settings.faults.size() * std::uint64_t{settings.power_repeats} * per_repeat;
  return settings.reference == EqualityReference::exact_distribution ? each : 2 * each;
}

/// Throws ConfigError for distributions too large to be enumerated.
void require_few_branches(std::int32_t vocab, int tokens, int gamma, bool one_prompt) {
  if (one_prompt && std::pow(vocab, tokens + gamma) <= max_branches) return;
  throw ConfigError("/calibration/tokens",
                    "{} tokens at gamma {} over a vocabulary of {}: every distribution is enumerated, which "
                    "needs one prompt and vocabulary^(tokens + gamma) <= {:g}",
                    tokens, gamma, vocab, max_branches);
}

void check_calibration_config(const Config& cell) {
  check_setup(cell);
  const auto& settings = cell.section<CalibrationSection>();
  for (const RuleConfig& fault : settings.faults) {
    Config faulty = cell;
    faulty.rule = fault;
    check_setup(faulty);
  }
  if (const auto vocab = facts_of_model(cell, false).vocab)
    require_few_branches(*vocab, settings.tokens, cell.gamma, cell.simulation.prompt_tokens == 0);
}

/// Throws ConfigError for what cannot be calibrated: a distribution too large to be enumerated, a rule that
/// is not lossless.
void check_calibration(const Calibration& calibration) {
  const Setup& setup = *calibration.setup;
  const int tokens = calibration.settings.tokens;
  const std::optional<SequenceDistribution<double>> plain = exact_plain_distribution(setup, tokens);
  require_few_branches(setup.target.vocab(), tokens, calibration.gamma, plain.has_value());
  const double distance = distribution_distance(
      *plain, enumerated_distribution(setup, calibration.gamma, static_cast<std::size_t>(tokens)));
  if (distance > equal_distribution) {
    throw ConfigError(setup.rule_config.path.empty() ? "/rule" : setup.rule_config.path,
                      "is not lossless here (total variation {:.3g}), and the null needs one "
                      "that is; faults belong into /calibration/faults",
                      distance);
  }
}

/// p-values under the null, and the power for each fault over the number of samples beside the noncentral
/// chi-squared distribution at the effect found by enumeration. Throws Stopped.
CalibrationResult calibrate(const Calibration& calibration, double confidence, const Control& control) {
  const CalibrationSection& settings = calibration.settings;
  const int gamma = calibration.gamma;
  const auto tokens = static_cast<std::size_t>(settings.tokens);
  // Each study has a number of its own, by which its seeds are addressed.
  std::uint32_t study = 0;
  const auto study_of = [&](const Setup& setup, std::uint32_t samples, std::uint32_t repeats) {
    return repeat_tests(setup, gamma, tokens, settings.reference, samples, repeats, study++, control);
  };
  const auto nulls = study_of(*calibration.setup, settings.samples, settings.repeats);
  CalibrationResult result{.reference = settings.reference,
                           .samples = settings.samples,
                           .repeats = settings.repeats,
                           .null = describe_nulls(nulls, confidence),
                           .level = settings.level,
                           .power_repeats = settings.power_repeats,
                           .power = {}};
  const SequenceDistribution<double> plain = plain_distribution_of(*calibration.setup, tokens);
  for (std::size_t fault = 0; fault < calibration.faults.size(); ++fault) {
    const Setup& faulty = *calibration.faults[fault];
    const SequenceDistribution<double> distribution = enumerated_distribution(faulty, gamma, tokens);
    const auto planned = [&](std::uint64_t samples) {
      return settings.reference == EqualityReference::exact_distribution
                 ? ExactSequenceTests(plain, faulty.target.vocab(), tokens).plan(distribution, samples)
                 : plan_two_sample(distribution, plain, samples);
    };
    FaultPower& power = result.power.emplace_back();
    power.rule = settings.faults[fault];
    power.total_variation = distribution_distance(plain, distribution);
    for (const std::uint32_t samples : settings.power_samples) {
      power.points.push_back(power_point(study_of(faulty, samples, settings.power_repeats), samples,
                                         planned(samples), settings.level, confidence));
    }
    power.line = predicted_line(settings.power_samples, settings.level, planned);
  }
  return result;
}

Work prepare_calibration(const CellSpec& cell, JobList& jobs) {
  Calibration calibration{.setup = jobs.setup(cell.config),
                          .faults = {},
                          .gamma = cell.config.gamma,
                          .settings = cell.config.section<CalibrationSection>()};
  for (const RuleConfig& fault : calibration.settings.faults) {
    Config faulty = cell.config;
    faulty.rule = fault;
    calibration.faults.push_back(jobs.setup(faulty));
  }
  check_calibration(calibration);
  const auto finish = [calibration](CellResult& result, const RunContext& context) {
    result.own = calibrate(calibration, context.confidence, context.control);
  };
  return {.finish = finish, .own_steps = sequences_of(cell.config.section<CalibrationSection>())};
}

int calibration_intervals(const Config& cell) {
  const auto& settings = cell.section<CalibrationSection>();
  const std::size_t null = calibration_levels.size() * (static_cast<std::size_t>(settings.tokens) + 2);
  return static_cast<int>(null + 2 * settings.faults.size() * settings.power_samples.size());
}

}  // namespace

std::vector<SequenceTests> repeat_tests(const Setup& setup, int gamma, std::size_t tokens,
                                        EqualityReference reference, std::uint32_t samples,
                                        std::uint32_t repeats, std::uint32_t study, const Control& control) {
  const bool exact = reference == EqualityReference::exact_distribution;
  const AnyRule& rule = setup.rule.sampled;
  const ExactSequenceTests exact_tests(plain_distribution_of(setup, tokens), setup.target.vocab(), tokens);
  std::vector<SequenceTests> tests(repeats);
  for_each_index(repeats, [&](std::size_t repeat) {
    if (control.stop()) throw Stopped{};
    SimulationSize simulation = setup.simulation;
    simulation.seed = seed_of(setup, static_cast<std::uint32_t>(repeat), study);
    RoundScratch<double> scratch;
    std::vector<Token> speculative(samples * tokens);
    std::vector<Token> plain(exact ? 0 : speculative.size());
    for (std::uint32_t trial = 0; trial < samples; ++trial) {
      end_if_stopped();
      const std::size_t start = trial * tokens;
      speculative_sequence(setup.target, setup.draft, rule, gamma, simulation, trial, scratch,
                           std::span<Token>(speculative).subspan(start, tokens));
      if (exact) continue;
      plain_sequence(setup.target, rule, simulation, trial, scratch,
                     std::span<Token>(plain).subspan(start, tokens));
    }
    tests[repeat] =
        exact ? exact_tests.test(speculative) : two_sample_sequence_tests(speculative, plain, tokens);
    control.progress(exact ? samples : 2ULL * samples);
  });
  return tests;
}

SectionKind calibration_section() {
  using C = CalibrationSection;
  const auto reference =
      choice<EqualityReference>({{"exact_distribution", EqualityReference::exact_distribution},
                                 {"second_sample", EqualityReference::second_sample}});
  return {"calibration",
          object<C>("calibration",
                    "The experiment calibration: the tests of `speclab check`, repeated on small samples.",
                    {integer_field("tokens", &C::tokens, 1, 16, "Tokens whose distribution is tested."),
                     field("against", &C::reference, reference, "What stands for the target's distribution."),
                     integer_field("repeats", &C::repeats, 20, 1e6, "Tests under the null."),
                     integer_field("samples", &C::samples, 10, 1e6, "Sequences in each of them."),
                     field("faults", &C::faults, list(kind_of(rule_family()), 0, 16),
                           "Rules that are not lossless, to be detected; a power curve each."),
                     integer_field("power_repeats", &C::power_repeats, 20, 1e6,
                                   "Tests at each point of a power curve."),
                     field("power_samples", &C::power_samples, list(integer<std::uint32_t>(10, 1e6), 1, 64),
                           "Sequences in each of these tests: the points of the curves."),
                     field("level", &C::level, number_above(0, 0.5), "Level of the power curves.")})
              .type};
}

const Experiment& calibration_experiment() {
  static const Experiment experiment{
      .name = "calibration",
      .sentence = "Repeats the tests of `speclab check`: p-values under the null, power curves.",
      .sections = {"calibration"},
      .check = check_calibration_config,
      .prepare = prepare_calibration,
      .intervals = calibration_intervals,
      .own_key = "calibration",
      .own_result = described<CalibrationResult>().type,
      .presentation = presented(calibration_presentation())};
  return experiment;
}

}  // namespace speclab
