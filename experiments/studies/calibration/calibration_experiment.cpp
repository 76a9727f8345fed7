#include <fmt/format.h>

#include "core/stop.hpp"
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
    auto found = calibrate(calibration, context.confidence, context.control);
    if (!found) throw Stopped{};
    result.own = *std::move(found);
  };
  return {.finish = finish, .own_steps = steps};
}

int calibration_intervals(const Config& cell) {
  const auto& settings = cell.section<CalibrationSection>();
  const std::size_t null = calibration_levels().size() * (static_cast<std::size_t>(settings.tokens) + 2);
  return static_cast<int>(null + 2 * settings.faults.size() * settings.power_samples.size());
}

std::vector<Table> tables_of_cells(const Result& result, const Timings&, const std::string& id) {
  std::vector<Table> tables;
  for (std::size_t i = 0; i < result.cells.size(); ++i) {
    const CellResult& cell = result.cells[i];
    if (!cell.own) continue;
    for (Table& table :
         calibration_tables(own<CalibrationResult>(cell), cell.label, fmt::format("{}-cell-{}", id, i + 1),
                            result.interval_confidence)) {
      tables.push_back(std::move(table));
    }
  }
  return tables;
}

std::string calibration_headline(const Result& result, const Timings&) {
  std::size_t held = 0;
  std::size_t all = 0;
  for (const CellResult& cell : result.cells) {
    if (!cell.own) continue;
    const auto [some, of] = levels_held(own<CalibrationResult>(cell));
    held += some;
    all += of;
  }
  return fmt::format(
      "The test of equality rejects a lossless rule as often as it says: {} of {} rates of false alarms "
      "agree with their level.",
      held, all);
}

std::vector<Figure> figures_of_cells(const Result& result, const Timings&) {
  std::vector<Figure> figures;
  for (const CellResult& cell : result.cells) {
    if (!cell.own) continue;
    for (Figure& figure : calibration_figures(own<CalibrationResult>(cell), cell.label)) {
      figures.push_back(std::move(figure));
    }
  }
  return figures;
}

}  // namespace

SectionKind calibration_section() {
  using C = CalibrationSection;
  const auto reference =
      choice<EqualityReference>({{"exact_distribution", EqualityReference::exact_distribution},
                                 {"second_sample", EqualityReference::second_sample}},
                                {{"exact_law", "exact_distribution"}});
  return {
      "calibration",
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
      .presentation = presented(
          {.tables = tables_of_cells, .figures = figures_of_cells, .headline = calibration_headline})};
  return experiment;
}

}  // namespace speclab
