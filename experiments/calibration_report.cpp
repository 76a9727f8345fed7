#include "experiments/calibration_report.hpp"

#include <fmt/format.h>

#include <cmath>
#include <string_view>

#include "experiments/presentation.hpp"

namespace speclab {

namespace {

/// Kolmogorov's limit: sqrt(n) D exceeds this with probability 0.01.
constexpr double ks_one_percent = 1.6276;

Cell text_cell(std::string text) { return {std::move(text), std::nullopt, ""}; }

bool holds(const Json& interval, double value) {
  return interval[1].get<double>() <= value && value <= interval[2].get<double>();
}

/// Rates are near 0 or 1, where intervals are lopsided: both ends are shown.
Cell rate_cell(const Json& rate, bool good) {
  return {fmt::format("{:.4f} ({:.4f}–{:.4f})", rate[0].get<double>(), rate[1].get<double>(),
                      rate[2].get<double>()),
          rate[0].get<double>(), good ? "" : "bad"};
}

/// "lenience 0.5": the rule's kind, and its numbers.
std::string verifier_name(const Json& verifier) {
  std::string name = verifier.at("kind").get<std::string>();
  for (const auto& [key, value] : verifier.items()) {
    if (value.is_number()) name += fmt::format(" {}", number_text(value.get<double>()));
  }
  return name;
}

std::string setting(const Json& calibration) {
  return fmt::format(
      "{} sequences {}", calibration.at("samples").get<int>(),
      calibration.at("against") == "exact law" ? "against the exact law" : "from each decoder");
}

Series line_of(std::string name, SeriesStyle style) {
  Series series;
  series.name = std::move(name);
  series.style = style;
  return series;
}

void add_point(Series& series, double x, double y) {
  series.x.push_back(x);
  series.y.push_back(y);
}

/// The empirical distribution function of each uniform p-value; with `less_diagonal`, its distance from x.
void add_distributions(Figure& figure, const Json& calibration, bool less_diagonal) {
  const auto repeats = calibration.at("repeats").get<double>();
  for (const Json& each : calibration.at("null")) {
    if (!each.at("uniform").get<bool>()) continue;
    const Json& counts = each.at("ecdf");
    Series series =
        line_of(each.at("name").get<std::string>(), less_diagonal ? SeriesStyle::line : SeriesStyle::steps);
    for (std::size_t i = 0; i < counts.size(); ++i) {
      const double x = static_cast<double>(i) / static_cast<double>(counts.size() - 1);
      add_point(series, x, counts[i].get<double>() / repeats - (less_diagonal ? x : 0));
    }
    figure.series.push_back(std::move(series));
  }
  figure.x_label = "p-value";
  figure.x_range = AxisRange{0, 1};
}

Figure distribution(const Json& calibration, const std::string& label) {
  Figure figure;
  figure.title = titled("p-values under the null", label);
  Series diagonal = line_of("uniform", SeriesStyle::line);
  add_point(diagonal, 0, 0);
  add_point(diagonal, 1, 1);
  figure.series.push_back(std::move(diagonal));
  add_distributions(figure, calibration, false);
  figure.y_label = "share of p-values up to it";
  figure.y_range = AxisRange{0, 1};
  figure.caption = fmt::format("Distribution of {} p-values of a lossless verifier, {}. Line: uniform.",
                               calibration.at("repeats").get<int>(), setting(calibration));
  return figure;
}

Figure deviation(const Json& calibration, const std::string& label) {
  Figure figure;
  figure.title = titled("distance of the p-values from uniform", label);
  const double band = ks_one_percent / std::sqrt(calibration.at("repeats").get<double>());
  for (const double side : {band, -band}) {
    Series edge = line_of(side > 0 ? "99% band" : "", SeriesStyle::line);
    add_point(edge, 0, side);
    add_point(edge, 1, side);
    if (side < 0) edge.colour_of = 0;
    figure.series.push_back(std::move(edge));
  }
  add_distributions(figure, calibration, true);
  figure.y_label = "share of p-values up to it, less the p-value";
  figure.caption = fmt::format(
      "The same {} p-values, less the diagonal. The band is that of the Kolmogorov-Smirnov test at 1%.",
      calibration.at("repeats").get<int>());
  return figure;
}

Figure power_curves(const Json& calibration, const std::string& label) {
  Figure figure;
  figure.title = titled("power over sample size", label);
  for (const Json& fault : calibration.at("power")) {
    Series line = line_of(verifier_name(fault.at("verifier")), SeriesStyle::line);
    line.x = fault.at("line").at("samples").get<std::vector<double>>();
    line.y = fault.at("line").at("power").get<std::vector<double>>();
    Series points = line_of("", SeriesStyle::points);
    for (const Json& point : fault.at("points")) {
      const Json& rate = point.at("pearson");
      add_point(points, point.at("samples").get<double>(), rate[0].get<double>());
      points.low.push_back(rate[1].get<double>());
      points.high.push_back(rate[2].get<double>());
    }
    points.colour_of = figure.series.size();
    figure.series.push_back(std::move(line));
    figure.series.push_back(std::move(points));
  }
  figure.log_x = true;
  figure.x_label = calibration.at("against") == "exact law" ? "sequences" : "sequences from each decoder";
  figure.y_label = fmt::format("rejected at level {}", number_text(calibration.at("level").get<double>()));
  figure.y_range = AxisRange{0, 1};
  figure.caption = fmt::format(
      "Points: share of {} tests (Pearson, whole sequences) that reject, with intervals. Lines: noncentral "
      "chi-squared at the effect found by enumeration.",
      calibration.at("power_repeats").get<int>());
  return figure;
}

Table null_table(const Json& calibration, const std::string& label, const std::string& id,
                 double confidence) {
  Table table;
  table.id = id + "-null";
  table.caption = titled(
      fmt::format("{} tests under the null, {}", calibration.at("repeats").get<int>(), setting(calibration)),
      label);
  table.columns = {"statistic", "KS distance", "KS p"};
  for (const Json& each : calibration.at("null")[0].at("rejections")) {
    table.columns.push_back(fmt::format("rejected at {}", number_text(each.at("level").get<double>())));
  }
  for (const Json& each : calibration.at("null")) {
    const bool uniform = each.at("uniform").get<bool>();
    std::vector<Cell> row{text_cell(each.at("name").get<std::string>()),
                          uniform ? number_cell(each.at("ks_distance")) : Cell{},
                          uniform ? number_cell(each.at("ks_p")) : Cell{}};
    for (const Json& at : each.at("rejections")) {
      const double nominal = at.at("level").get<double>();
      const Json& rate = at.at("rate");
      row.push_back(rate_cell(rate, uniform ? holds(rate, nominal) : rate[1].get<double>() <= nominal));
    }
    table.rows.push_back(std::move(row));
  }
  table.note = fmt::format(
      "Rates with {:.6g}% binomial intervals. The verdict adjusts for all tests together (Holm): its rate is "
      "at most the level.",
      100 * confidence);
  return table;
}

Table power_table(const Json& calibration, const std::string& label, const std::string& id) {
  Table table;
  table.id = id + "-power";
  table.caption =
      titled(fmt::format("Power at level {}", number_text(calibration.at("level").get<double>())), label);
  table.columns = {"fault",   "total variation", "sequences",         "effect w",
                   "degrees", "predicted",       "Pearson, rejected", "G, rejected"};
  for (const Json& fault : calibration.at("power")) {
    for (const Json& point : fault.at("points")) {
      table.rows.push_back({text_cell(verifier_name(fault.at("verifier"))),
                            number_cell(fault.at("total_variation")), number_cell(point.at("samples")),
                            number_cell(point.at("effect")), number_cell(point.at("degrees")),
                            number_cell(point.at("predicted")), rate_cell(point.at("pearson"), true),
                            rate_cell(point.at("g"), true)});
    }
  }
  table.folded = true;
  table.note = fmt::format(
      "Shares of {} tests. The prediction is asymptotic: it takes the statistic's spread for that of a small "
      "effect.",
      calibration.at("power_repeats").get<int>());
  return table;
}

}  // namespace

std::vector<Table> calibration_tables(const Json& calibration, const std::string& label,
                                      const std::string& id, double confidence) {
  std::vector<Table> tables{null_table(calibration, label, id, confidence)};
  if (!calibration.at("power").empty()) tables.push_back(power_table(calibration, label, id));
  return tables;
}

std::vector<Figure> calibration_figures(const Json& calibration, const std::string& label) {
  std::vector<Figure> figures{distribution(calibration, label), deviation(calibration, label)};
  if (!calibration.at("power").empty()) figures.push_back(power_curves(calibration, label));
  return figures;
}

}  // namespace speclab
