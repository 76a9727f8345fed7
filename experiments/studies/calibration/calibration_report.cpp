// Calibrations as JSON, tables, figures and a headline.
#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "experiments/base/format/result_fields.hpp"
#include "experiments/base/page/cells.hpp"
#include "experiments/results/presentation.hpp"
#include "experiments/studies/calibration/calibration.hpp"
#include "experiments/studies/finished_cells.hpp"

namespace speclab {

SPECLAB_RESULT(RejectionRate, "rejection_rate", level, rate);
SPECLAB_RESULT(NullDistribution, "null_distribution", name, uniform, ks_distance, ks_p, rejections, ecdf);
SPECLAB_RESULT(PowerPoint, "power_point", samples, effect, degrees, predicted, pearson, g);
SPECLAB_RESULT(PowerLine, "power_line", samples, power);

template <>
const Typed<FaultPower>& described() {
  using F = FaultPower;
  static const auto type =
      result_object<F>("fault_power", {ResultField<F>("rule", &F::rule, kind_of(rule_family())).field(),
                                       SPECLAB_FIELDS(F, total_variation, points, line)});
  return type;
}

template <>
const Typed<CalibrationResult>& described() {
  using R = CalibrationResult;
  static const auto type = result_object<R>(
      "calibration_result",
      {{"against", &R::reference}, SPECLAB_FIELDS(R, samples, repeats, null, level, power_repeats, power)});
  return type;
}

namespace {

/// Kolmogorov's limit: sqrt(n) D exceeds this with probability 0.01.
constexpr double ks_one_percent = 1.6276;

/// Rates are near 0 or 1, where intervals are lopsided: both ends are shown.
Cell rate_cell(const Interval& rate) {
  return {fmt::format("{:.4f} ({:.4f}–{:.4f})", rate.estimate, rate.low, rate.high), rate.estimate};
}

/// "lenient 0.5": the rule's kind, and its numbers.
std::string rule_name(const RuleConfig& rule) {
  Json json;
  write(kind_of(rule_family()), rule, json);
  std::string name = rule.name();
  for (const auto& [key, value] : json.items()) {
    if (value.is_number()) name += fmt::format(" {}", number_text(value.get<double>()));
  }
  return name;
}

std::string setting(const CalibrationResult& calibration) {
  return fmt::format("{} sequences {}", calibration.samples,
                     calibration.reference == EqualityReference::exact_distribution
                         ? "against the exact distribution"
                         : "from each decoder");
}

/// The empirical distribution function of each uniform p-value; with `less_diagonal`, its distance from x.
void add_distributions(Figure& figure, const CalibrationResult& calibration, bool less_diagonal) {
  const double repeats = calibration.repeats;
  for (const NullDistribution& each : calibration.null) {
    if (!each.uniform) continue;
    const std::vector<std::uint64_t>& counts = each.ecdf;
    Series& series = figure.series.emplace_back();
    series.name = each.name;
    if (!less_diagonal) series.style = SeriesStyle::steps;
    for (std::size_t i = 0; i < counts.size(); ++i) {
      const double x = static_cast<double>(i) / static_cast<double>(counts.size() - 1);
      series.add(x, static_cast<double>(counts[i]) / repeats - (less_diagonal ? x : 0));
    }
  }
  figure.x_label = "p-value";
  figure.x_range = AxisRange{0, 1};
}

Figure distribution(const CalibrationResult& calibration, const std::string& label) {
  Figure figure;
  figure.title = titled("p-values under the null", label);
  figure.series.push_back({.name = "uniform", .x = {0, 1}, .y = {0, 1}});
  add_distributions(figure, calibration, false);
  figure.y_label = "share of p-values up to it";
  figure.y_range = AxisRange{0, 1};
  figure.caption = fmt::format("Distribution of {} p-values of a lossless rule, {}. Line: uniform.",
                               calibration.repeats, setting(calibration));
  return figure;
}

Figure deviation(const CalibrationResult& calibration, const std::string& label) {
  Figure figure;
  figure.title = titled("Distance of the p-values from uniform", label);
  const double band = ks_one_percent / std::sqrt(static_cast<double>(calibration.repeats));
  figure.series.push_back({.name = "99% band", .x = {0, 1}, .y = {band, band}});
  figure.series.push_back({.x = {0, 1}, .y = {-band, -band}, .colour_of = 0});
  add_distributions(figure, calibration, true);
  figure.y_label = "share of p-values up to it, less the p-value";
  figure.caption = fmt::format(
      "The same {} p-values, less the diagonal. The band is that of the Kolmogorov-Smirnov test at 1%.",
      calibration.repeats);
  return figure;
}

Figure power_curves(const CalibrationResult& calibration, const std::string& label) {
  Figure figure;
  figure.title = titled("Power over sample size", label);
  for (const FaultPower& fault : calibration.power) {
    Series& line = figure.series.emplace_back();
    line.name = rule_name(fault.rule);
    line.x.assign(fault.line.samples.begin(), fault.line.samples.end());
    line.y = fault.line.power;
    Series points{.style = SeriesStyle::points, .colour_of = figure.series.size() - 1};
    for (const PowerPoint& point : fault.points) points.add(point.samples, point.pearson);
    figure.series.push_back(std::move(points));
  }
  figure.log_x = true;
  figure.x_label = calibration.reference == EqualityReference::exact_distribution
                       ? "sequences"
                       : "sequences from each decoder";
  figure.y_label = fmt::format("rejected at level {}", number_text(calibration.level));
  figure.y_range = AxisRange{0, 1};
  figure.caption = fmt::format(
      "Points: share of {} tests (Pearson, whole sequences) that reject, with intervals. Lines: noncentral "
      "chi-squared at the effect found by enumeration.",
      calibration.power_repeats);
  return figure;
}

bool holds(const NullDistribution& distribution, const RejectionRate& rejection) {
  return distribution.uniform ? rejection.rate.holds(rejection.level) : rejection.rate.low <= rejection.level;
}

Table null_table(const CalibrationResult& calibration, const std::string& label, const std::string& id,
                 double confidence) {
  Table table{
      id + "-null",
      titled(fmt::format("{} tests under the null, {}", calibration.repeats, setting(calibration)), label),
      {"statistic", "KS distance", "KS p"}};
  for (const RejectionRate& each : calibration.null.front().rejections) {
    table.columns.push_back(fmt::format("rejected at {}", number_text(each.level)));
  }
  for (const NullDistribution& each : calibration.null) {
    std::vector<Cell>& row = table.rows.emplace_back();
    row = {text_cell(each.name), number_cell(each.ks_distance), number_cell(each.ks_p)};
    for (const RejectionRate& rejection : each.rejections) {
      row.push_back(rate_cell(rejection.rate));
      if (!holds(each, rejection)) row.back().css_class = "bad";
    }
  }
  table.note = fmt::format(
      "Rates with {} binomial intervals. The verdict adjusts for all tests together (Holm): its rate is at "
      "most the level.",
      confidence_percent(confidence));
  return table;
}

Table power_table(const CalibrationResult& calibration, const std::string& label, const std::string& id) {
  Table table{id + "-power",
              titled(fmt::format("Power at level {}", number_text(calibration.level)), label),
              {"fault", "total variation", "sequences", "effect w", "degrees", "predicted",
               "Pearson, rejected", "G, rejected"}};
  for (const FaultPower& fault : calibration.power) {
    for (const PowerPoint& point : fault.points) {
      table.rows.push_back({text_cell(rule_name(fault.rule)), number_cell(fault.total_variation),
                            number_cell(point.samples), number_cell(point.effect), number_cell(point.degrees),
                            number_cell(point.predicted), rate_cell(point.pearson), rate_cell(point.g)});
    }
  }
  table.folded = true;
  table.note = fmt::format(
      "Shares of {} tests. The prediction is asymptotic: it takes the statistic's spread for that of a small "
      "effect.",
      calibration.power_repeats);
  return table;
}

std::vector<Table> calibration_tables(const Result& result, const Timings&, const std::string& id) {
  std::vector<Table> tables;
  for (const auto& [index, cell, own] : finished_cells<CalibrationResult>(result)) {
    const std::string id_of_cell = fmt::format("{}-cell-{}", id, index + 1);
    tables.push_back(null_table(own, cell.label, id_of_cell, result.interval_confidence));
    if (!own.power.empty()) tables.push_back(power_table(own, cell.label, id_of_cell));
  }
  return tables;
}

std::vector<Figure> calibration_figures(const Result& result, const Timings&) {
  std::vector<Figure> figures;
  for (const auto& [index, cell, own] : finished_cells<CalibrationResult>(result)) {
    figures.push_back(distribution(own, cell.label));
    figures.push_back(deviation(own, cell.label));
    if (!own.power.empty()) figures.push_back(power_curves(own, cell.label));
  }
  return figures;
}

std::string calibration_headline(const Result& result, const Timings&) {
  std::size_t held = 0;
  std::size_t all = 0;
  for (const auto& [index, cell, own] : finished_cells<CalibrationResult>(result)) {
    for (const NullDistribution& each : own.null) {
      for (const RejectionRate& rejection : each.rejections) {
        ++all;
        held += holds(each, rejection) ? 1 : 0;
      }
    }
  }
  if (all == 0) return "Interrupted: partial.";
  const char* found = held == all ? "The test of equality rejects a lossless rule as often as it says: "
                                  : "Of how often the test of equality rejects a lossless rule: ";
  return fmt::format("{}{} of {} rates of false alarms agree with their level.", found, held, all);
}

}  // namespace

Presentation calibration_presentation() {
  return {.tables = calibration_tables, .figures = calibration_figures, .headline = calibration_headline};
}

}  // namespace speclab
