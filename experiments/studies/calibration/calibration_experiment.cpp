// The experiment "calibration" and its section of a config.
#include "experiments/results/presentation.hpp"
#include "experiments/run/cell_spec.hpp"
#include "experiments/run/experiment.hpp"
#include "experiments/run/jobs.hpp"
#include "experiments/studies/calibration/calibration.hpp"

namespace speclab {

namespace {

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
  const std::uint64_t steps = calibration.sequences();
  const auto finish = [calibration = std::move(calibration)](CellResult& result, const RunContext& context) {
    result.own = calibrate(calibration, context.confidence, context.control);
  };
  return {.finish = finish, .own_steps = steps};
}

int calibration_intervals(const Config& cell) {
  const auto& settings = cell.section<CalibrationSection>();
  const std::size_t null = calibration_levels.size() * (static_cast<std::size_t>(settings.tokens) + 2);
  return static_cast<int>(null + 2 * settings.faults.size() * settings.power_samples.size());
}

}  // namespace

SectionKind calibration_section() {
  using C = CalibrationSection;
  const auto reference =
      choice<EqualityReference>({{"exact_distribution", EqualityReference::exact_distribution},
                                 {"second_sample", EqualityReference::second_sample}},
                                {{"exact_law", "exact_distribution"}});
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
      .prepare = prepare_calibration,
      .intervals = calibration_intervals,
      .own_key = "calibration",
      .own_result = described<CalibrationResult>().type,
      .presentation = presented(calibration_presentation())};
  return experiment;
}

}  // namespace speclab
