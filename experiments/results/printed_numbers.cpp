#include "experiments/results/printed_numbers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "experiments/base/page/cells.hpp"
#include "experiments/config/metric.hpp"

namespace speclab {

void PrintedNumbers::add(const Result& result, const std::string& name) {
  for (const CellResult& cell : result.cells) {
    for (const auto& [metric, verdict] : cell.verdict) {
      const std::string* printed = printed_value(cell, metric);
      const Interval* simulated = find(cell.simulated, metric);
      const double* formula = find(cell.formula, metric);
      // The verdict is about the formula if there is one, because it has no noise.
      const double found = formula != nullptr     ? *formula
                           : simulated != nullptr ? simulated->estimate
                                                  : std::nan("");
      if (printed == nullptr) continue;
      judged_.push_back({fmt::format("{}{}{}, {}: printed {}, found {}", name, name.empty() ? "" : ": ",
                                     cell.label, metric_label(metric), *printed, number_text(found)),
                         cell.label.substr(0, cell.label.find(": ")), std::stod(*printed),
                         half_unit_of(*printed), found, verdict});
    }
  }
  const Agreement more = speclab::agreement(result);
  agreement_.held += more.held;
  agreement_.compared += more.compared;
}

std::string PrintedNumbers::sentence() const {
  std::string text;
  const auto count = [&](Reproduction verdict) {
    return std::ranges::count_if(judged_, [&](const Judged& one) { return one.verdict == verdict; });
  };
  if (!judged_.empty()) {
    const auto rounding = count(Reproduction::within_input_rounding);
    const auto not_found = count(Reproduction::does_not_reproduce);
    const auto cut = count(Reproduction::cut_off);
    text = fmt::format(
        "{} of {} printed {}{}{}", count(Reproduction::reproduces), judged_.size(),
        judged_.size() == 1 ? "number reproduces" : "numbers reproduce",
        cut > 0 ? fmt::format(", {} {} cut off instead of rounded", cut, cut == 1 ? "is" : "are") : "",
        rounding > 0 ? fmt::format(", {} within the rounding of {}", rounding,
                                   rounding == 1 ? "its inputs" : "their inputs")
                     : "");
    text += not_found == 0 ? "." : fmt::format("; {} {} not.", not_found, not_found == 1 ? "does" : "do");
  }
  if (agreement_.compared > 0) {
    text += fmt::format("{}The formula lies within {} of {} intervals.", text.empty() ? "" : " ",
                        agreement_.held, agreement_.compared);
  }
  return text;
}

std::vector<Figure> PrintedNumbers::figures() const {
  if (judged_.empty()) return {};
  Figure figure{.title = "Every printed number, and what was found",
                .x_label = "printed number",
                .y_label = "found minus printed, in half-units of the last printed digit",
                .log_x = true};
  figure.series.push_back({.name = "band: rounds to what is printed", .style = SeriesStyle::line});
  double least = INFINITY;
  double most = 0;
  for (const Reproduction verdict : {Reproduction::reproduces, Reproduction::within_input_rounding,
                                     Reproduction::does_not_reproduce, Reproduction::cut_off}) {
    Series series{.name = words(verdict), .style = SeriesStyle::points};
    for (const Judged& one : judged_) {
      if (one.verdict != verdict || !(one.printed > 0) || !std::isfinite(one.found)) continue;
      series.add(one.printed, (one.found - one.printed) / one.half_unit);
      series.names.push_back(one.name);
      series.labels.push_back(verdict == Reproduction::reproduces ? "" : one.label);
      least = std::min(least, one.printed);
      most = std::max(most, one.printed);
    }
    figure.add(std::move(series));
  }
  if (figure.series.size() == 1) return {};
  // The margin gives the band a width even around a single number.
  for (const double end : {least / 1.05, most * 1.05}) figure.series.front().add(end, Interval{0, -1, 1});
  figure.caption =
      "One point per printed number: the distance of the formula (without one, of the simulation). In the band, the found number rounds to the printed one; the fewer its digits, the further off it may be. Outside, some inputs that round to the printed α and c give a number in the band (within input rounding), or none do.";
  return {figure};
}

}  // namespace speclab
