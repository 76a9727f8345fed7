#include "experiments/calibration.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <span>
#include <utility>
#include <variant>

#include "analysis/statistics/intervals.hpp"
#include "analysis/statistics/multiple_tests.hpp"
#include "experiments/equality_check.hpp"
#include "experiments/format/config_error.hpp"
#include "experiments/format/validate.hpp"
#include "experiments/interval_json.hpp"
#include "sim/sequences.hpp"

namespace speclab {

namespace {

constexpr double levels[] = {0.1, 0.05, 0.01, 0.001};
constexpr int ecdf_steps = 200;
constexpr double most_branches = 1e7;
constexpr double same_distribution = 1e-12;
constexpr int line_points = 61;

/// Draws with Use::world and this slot name the seeds of repeats; other slots are the registry's.
constexpr Draw repeat_seed{Use::world, 2};

std::uint64_t seed_of(const Setup& setup, std::uint32_t repeat, std::uint32_t study) {
  return Philox(setup.plan.seed, Site{repeat, study, repeat_seed})();
}

/// The distribution of the first tokens under this set-up's verifier, by enumeration.
SequenceDistribution<double> enumerated_distribution(const Setup& setup, int gamma, std::size_t tokens) {
  return std::visit(
      [&](const auto& rule) {
        return sequence_distribution<double>(setup.target, setup.draft, rule, gamma, setup.plan.prompt(0),
                                             tokens);
      },
      setup.rule);
}

std::vector<std::uint32_t> power_samples(const Json& settings) {
  return settings.at("power_samples").get<std::vector<std::uint32_t>>();
}

bool is_exact(const Json& settings) { return settings.at("against") == "exact_law"; }

Json rate_of(std::uint64_t count, std::size_t repeats, double confidence) {
  return interval_json(*binomial_interval(count, repeats, confidence));
}

std::uint64_t count_below(const std::vector<double>& values, double level) {
  return static_cast<std::uint64_t>(
      std::count_if(values.begin(), values.end(), [&](double p) { return p <= level; }));
}

/// One kind of p-value under the null. The verdict's is adjusted, and so at most as often small as it says;
/// the others are uniform.
Json describe_null(const std::string& name, bool uniform, const std::vector<double>& values,
                   double confidence) {
  Json out{{"name", name}, {"uniform", uniform}};
  if (uniform) {
    const UniformityTest test = kolmogorov_smirnov(values);
    out["ks_distance"] = test.distance;
    out["ks_p"] = test.p;
  }
  Json& rejections = out["rejections"] = Json::array();
  for (const double level : levels) {
    rejections.push_back(
        {{"level", level}, {"rate", rate_of(count_below(values, level), values.size(), confidence)}});
  }
  Json& ecdf = out["ecdf"] = Json::array();
  for (int step = 0; step <= ecdf_steps; ++step) {
    ecdf.push_back(count_below(values, static_cast<double>(step) / ecdf_steps));
  }
  return out;
}

Json describe_nulls(const std::vector<SequenceTests>& tests, double confidence) {
  Json all = Json::array();
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
        [i](const SequenceTests& test) { return test.positions[i].sum.pearson_p; });
  }
  add("verdict", false, [](const SequenceTests& test) { return test.adjusted_p(); });
  return all;
}

/// What the joint test of n sequences faces under a fault.
PlannedTest plan_of(const SequenceDistribution<double>& null, const SequenceDistribution<double>& fault,
                    std::int32_t vocab, std::size_t tokens, bool exact, std::uint64_t samples) {
  return exact ? ExactSequenceTests(null, vocab, tokens, samples).plan(fault)
               : plan_two_sample(fault, null, samples);
}

/// The prediction as a line over the range of samples, logarithmically even.
Json predicted_line(const std::vector<std::uint32_t>& sizes, double level, const auto& plan) {
  const auto [least, most] = std::minmax_element(sizes.begin(), sizes.end());
  const double ratio = static_cast<double>(*most) / *least;
  Json x = Json::array();
  Json y = Json::array();
  std::uint64_t before = 0;
  for (int i = 0; i < line_points; ++i) {
    const double exact_size = *least * std::pow(ratio, static_cast<double>(i) / (line_points - 1));
    const auto samples = static_cast<std::uint64_t>(std::lround(exact_size));
    if (samples == before) continue;
    before = samples;
    x.push_back(samples);
    y.push_back(planned_power(plan(samples), level));
  }
  return {{"samples", x}, {"power", y}};
}

}  // namespace

std::uint64_t Calibration::sequences() const {
  const auto number = [&](const char* key) { return settings.at(key).get<std::uint64_t>(); };
  std::uint64_t per_repeat = 0;
  for (const std::uint32_t samples : power_samples(settings)) per_repeat += samples;
  const std::uint64_t each =
      number("repeats") * number("samples") + faults.size() * number("power_repeats") * per_repeat;
  return is_exact(settings) ? each : 2 * each;
}

int calibration_intervals(const Json& config) {
  const Json settings = section(config, "calibration");
  const std::size_t null = std::size(levels) * (settings.at("tokens").get<std::size_t>() + 2);
  return static_cast<int>(null + 2 * settings.at("faults").size() * power_samples(settings).size());
}

void check_calibration(const Calibration& calibration) {
  const Setup& setup = *calibration.setup;
  const auto tokens = calibration.settings.at("tokens").get<int>();
  const std::optional<SequenceDistribution<double>> plain = exact_plain_distribution(setup, tokens);
  const double branches = std::pow(setup.target.vocab(), tokens + calibration.gamma);
  if (!plain || branches > most_branches) {
    throw ConfigError("/calibration/tokens",
                      fmt::format("{} tokens at gamma {} over a vocabulary of {}: every law is enumerated, "
                                  "which needs one prompt and vocabulary^(tokens + gamma) <= {:g}",
                                  tokens, calibration.gamma, setup.target.vocab(), most_branches));
  }
  const double distance = distribution_distance(
      *plain, enumerated_distribution(setup, calibration.gamma, static_cast<std::size_t>(tokens)));
  if (distance > same_distribution) {
    throw ConfigError(
        "/verifier", fmt::format("is not lossless here (total variation {:.3g}), and the null needs one that "
                                 "is; faults belong into /calibration/faults",
                                 distance));
  }
}

std::vector<SequenceTests> repeat_tests(const Setup& setup, int gamma, std::size_t tokens, bool exact,
                                        std::uint32_t samples, std::uint32_t repeats, std::uint32_t study,
                                        const Control& control) {
  const SequenceDistribution<double> distribution =
      plain_distribution<double>(setup.target, setup.plan.prompt(0), tokens);
  const ExactSequenceTests exact_tests(distribution, setup.target.vocab(), tokens, samples);
  std::vector<SequenceTests> tests(repeats);
  std::atomic<bool> stopped{false};
  for_each_index(repeats, [&](std::size_t repeat) {
    if (stopped || control.stop()) {
      stopped = true;
      return;
    }
    SimulationSize plan = setup.plan;
    plan.seed = seed_of(setup, static_cast<std::uint32_t>(repeat), study);
    RoundScratch<double> scratch;
    std::vector<Token> speculative(samples * tokens);
    std::vector<Token> plain(exact ? 0 : speculative.size());
    std::visit(
        [&](const auto& rule) {
          for (std::uint32_t trial = 0; trial < samples; ++trial) {
            const std::size_t start = trial * tokens;
            speculative_sequence(setup.target, setup.draft, rule, gamma, plan, trial, scratch,
                                 std::span<Token>(speculative).subspan(start, tokens));
            if (exact) continue;
            plain_sequence(setup.target, rule, plan, trial, scratch,
                           std::span<Token>(plain).subspan(start, tokens));
          }
        },
        setup.rule);
    tests[repeat] =
        exact ? exact_tests.test(speculative) : two_sample_sequence_tests(speculative, plain, tokens);
    control.progress(exact ? samples : 2ULL * samples);
  });
  if (stopped) tests.clear();
  return tests;
}

Json calibrate(const Calibration& calibration, double confidence, const Control& control) {
  const Setup& setup = *calibration.setup;
  const Json& settings = calibration.settings;
  const auto tokens = settings.at("tokens").get<std::size_t>();
  const auto samples = settings.at("samples").get<std::uint32_t>();
  const auto repeats = settings.at("repeats").get<std::uint32_t>();
  const auto power_repeats = settings.at("power_repeats").get<std::uint32_t>();
  const auto level = settings.at("level").get<double>();
  const bool exact = is_exact(settings);
  const std::vector<std::uint32_t> sizes = power_samples(settings);

  std::uint32_t study = 0;
  const auto nulls =
      repeat_tests(setup, calibration.gamma, tokens, exact, samples, repeats, study++, control);
  if (nulls.empty()) return {};
  Json out{{"against", exact ? "exact law" : "second sample"}, {"samples", samples}, {"repeats", repeats}};
  out["null"] = describe_nulls(nulls, confidence);
  out["level"] = level;
  out["power_repeats"] = power_repeats;

  const SequenceDistribution<double> distribution =
      plain_distribution<double>(setup.target, setup.plan.prompt(0), tokens);
  Json& power = out["power"] = Json::array();
  for (std::size_t fault = 0; fault < calibration.faults.size(); ++fault) {
    const Setup& faulty = *calibration.faults[fault];
    const SequenceDistribution<double> faulty_distribution =
        enumerated_distribution(faulty, calibration.gamma, tokens);
    const auto plan = [&](std::uint64_t size) {
      return plan_of(distribution, faulty_distribution, setup.target.vocab(), tokens, exact, size);
    };
    Json points = Json::array();
    for (const std::uint32_t size : sizes) {
      const auto tests =
          repeat_tests(faulty, calibration.gamma, tokens, exact, size, power_repeats, study++, control);
      if (tests.empty()) return {};
      std::uint64_t pearson = 0;
      std::uint64_t g = 0;
      for (const SequenceTests& test : tests) {
        pearson += test.joint.pearson_p <= level ? 1 : 0;
        g += test.joint.g_p <= level ? 1 : 0;
      }
      const PlannedTest planned = plan(size);
      points.push_back({{"samples", size},
                        {"effect", planned.effect},
                        {"degrees", planned.degrees},
                        {"predicted", planned_power(planned, level)},
                        {"pearson", rate_of(pearson, tests.size(), confidence)},
                        {"g", rate_of(g, tests.size(), confidence)}});
    }
    power.push_back({{"verifier", settings.at("faults")[fault]},
                     {"total_variation", distribution_distance(distribution, faulty_distribution)},
                     {"points", points},
                     {"line", predicted_line(sizes, level, plan)}});
  }
  return out;
}

}  // namespace speclab
