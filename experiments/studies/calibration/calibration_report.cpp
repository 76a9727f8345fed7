// Calibrations as JSON, tables and figures.
#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "experiments/format/result_fields.hpp"
#include "experiments/page/cells.hpp"
#include "experiments/run/result.hpp"
#include "experiments/studies/calibration/calibration.hpp"

namespace speclab {

SPECLAB_RESULT(RejectionRate, "rejection_rate", level, rate);
SPECLAB_RESULT(NullDistribution, "null_distribution", name, uniform, ks_distance, ks_p, rejections, ecdf);
SPECLAB_RESULT(PowerPoint, "power_point", samples, effect, degrees, predicted, pearson, g);
SPECLAB_RESULT(PowerLine, "power_line", samples, power);

template <>
const Typed<FaultPower>& described() {
  using F = FaultPower;
  static const auto type = result_object<F>(
      "fault_power",
      {formerly(ResultField<F>("rule", &F::rule, kind_of(rule_family())).field(), {"verifier"}),
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
Cell rate_cell(const Interval& rate, bool good) {
  return {fmt::format("{:.4f} ({:.4f}–{:.4f})", rate.estimate, rate.low, rate.high), rate.estimate,
          good ? "" : "bad"};
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
  Table table;
  table.id = id + "-null";
  table.caption =
      titled(fmt::format("{} tests under the null, {}", calibration.repeats, setting(calibration)), label);
  table.columns = {"statistic", "KS distance", "KS p"};
  for (const RejectionRate& each : calibration.null.front().rejections) {
    table.columns.push_back(fmt::format("rejected at {}", number_text(each.level)));
  }
  for (const NullDistribution& each : calibration.null) {
    std::vector<Cell> row{text_cell(each.name), number_cell(each.ks_distance), number_cell(each.ks_p)};
    for (const RejectionRate& rejection : each.rejections)
      row.push_back(rate_cell(rejection.rate, holds(each, rejection)));
    table.rows.push_back(std::move(row));
  }
  table.note = fmt::format(
      "Rates with {} binomial intervals. The verdict adjusts for all tests together (Holm): its rate is at "
      "most the level.",
      confidence_percent(confidence));
  return table;
}

Table power_table(const CalibrationResult& calibration, const std::string& label, const std::string& id) {
  Table table;
  table.id = id + "-power";
  table.caption = titled(fmt::format("Power at level {}", number_text(calibration.level)), label);
  table.columns = {"fault",   "total variation", "sequences",         "effect w",
                   "degrees", "predicted",       "Pearson, rejected", "G, rejected"};
  for (const FaultPower& fault : calibration.power) {
    for (const PowerPoint& point : fault.points) {
      table.rows.push_back({text_cell(rule_name(fault.rule)), number_cell(fault.total_variation),
                            number_cell(point.samples), number_cell(point.effect), number_cell(point.degrees),
                            number_cell(point.predicted), rate_cell(point.pearson, true),
                            rate_cell(point.g, true)});
    }
  }
  table.folded = true;
  table.note = fmt::format(
      "Shares of {} tests. The prediction is asymptotic: it takes the statistic's spread for that of a small "
      "effect.",
      calibration.power_repeats);
  return table;
}

}  // namespace

std::pair<std::size_t, std::size_t> levels_held(const CalibrationResult& calibration) {
  std::size_t held = 0;
  std::size_t all = 0;
  for (const NullDistribution& each : calibration.null) {
    for (const RejectionRate& rejection : each.rejections) {
      ++all;
      held += holds(each, rejection) ? 1 : 0;
    }
  }
  return {held, all};
}

std::vector<Table> calibration_tables(const CalibrationResult& calibration, const std::string& label,
                                      const std::string& id, double confidence) {
  std::vector<Table> tables{null_table(calibration, label, id, confidence)};
  if (!calibration.power.empty()) tables.push_back(power_table(calibration, label, id));
  return tables;
}

std::vector<Figure> calibration_figures(const CalibrationResult& calibration, const std::string& label) {
  std::vector<Figure> figures{distribution(calibration, label), deviation(calibration, label)};
  if (!calibration.power.empty()) figures.push_back(power_curves(calibration, label));
  return figures;
}

}  // namespace speclab
