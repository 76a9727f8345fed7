#include "experiments/verify/check/equality_figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace speclab {

std::string equality_headline(const EqualityResult& result) {
  std::string text = result.different ? "Different: the tokens do not have the target's distribution"
                                      : "Equal: no difference from the target's distribution was found";
  text += fmt::format(" (adjusted p = {:.2g}, level {:g}).", result.adjusted_p, result.level);
  text +=
      fmt::format(" {} sequences of {} tokens find a total variation of {:.2g} or more with probability {}.",
                  result.samples_each, result.tokens, result.detectable_total_variation, result.power);
  if (result.different && result.diagnosis && !result.diagnosis->empty())
    text += fmt::format(" They are most like {}.", result.diagnosis->front().name);
  return text;
}

std::vector<Figure> equality_figures(const EqualityResult& result) {
  // Smaller p-values are drawn at this bound.
  constexpr double least = 1e-20;
  Figure figure;
  figure.title = "Adjusted p-value of each test";
  figure.y_label = "p-value, adjusted for all tests together";
  figure.log_y = true;
  Series level{.name = fmt::format("level {:g}", result.level), .style = SeriesStyle::levels};
  Series p{.name = "p-value", .style = SeriesStyle::points};
  bool cut = false;
  double smallest = std::min(result.level, 1.0);
  const auto add = [&](std::string name, double value) {
    const double at = figure.add_category(std::move(name));
    cut = cut || value < least;
    p.add(at, std::max(value, least));
    level.add(at, result.level);
    smallest = std::min(smallest, std::max(value, least));
  };
  add("whole sequences, Pearson", result.pearson_adjusted_p);
  add("whole sequences, G", result.g_adjusted_p);
  if (result.tails > 0) add("rare sequences", result.tail_adjusted_p);
  for (const PositionEquality& test : result.positions) {
    if (test.prefixes > 0) add(fmt::format("token {}", test.position), test.adjusted_p);
  }
  figure.y_range = AxisRange{smallest / 3, 2};
  figure.series = {std::move(p), std::move(level)};
  figure.caption =
      "A point left of its line rejects equality; a lossless decoder puts one there with the level's probability.";
  if (cut) figure.caption += " Smaller p-values are drawn at 10⁻²⁰.";
  return {figure};
}

}  // namespace speclab
