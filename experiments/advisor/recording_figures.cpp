#include "experiments/advisor/recording_figures.hpp"

#include <fmt/format.h>

#include <utility>

#include "experiments/page/cells.hpp"

namespace speclab {

std::string recording_headline(const RecordingPlan& plan) {
  if (plan.fits_reason) return "It does not fit: " + *plan.fits_reason;
  const Interval alpha{plan.alpha, plan.alpha_low.value_or(plan.alpha), plan.alpha_high.value_or(plan.alpha)};
  std::string text = fmt::format("α = {} over {} tokens", interval_text(alpha), grouped(plan.tokens));
  if (!plan.optimal_gamma) return text + "; rounds of this rule do not follow from a recording.";
  if (*plan.optimal_gamma == 0)
    return text + fmt::format(": do not speculate at c = {}.", number_text(plan.c));
  return text + fmt::format("; the best γ at c = {} is {}, with speedup {}.", number_text(plan.c),
                            *plan.optimal_gamma,
                            plan.best_speedup ? interval_text(*plan.best_speedup) : "unknown");
}

std::vector<Figure> recording_figures(const RecordingPlan& plan) {
  std::vector<Figure> figures;
  if (plan.fits_reason) return figures;
  if (!plan.speedup.empty()) {
    Figure figure;
    figure.title = "Expected speedup by γ, of this text";
    figure.x_label = "γ";
    figure.y_label = "speedup over plain decoding";
    Series line{.name = "expected"};
    for (std::size_t i = 0; i < plan.speedup.size(); ++i)
      line.add(static_cast<double>(i + 1), plan.speedup[i]);
    Series points{.name = "with intervals", .style = SeriesStyle::points, .colour_of = 0};
    for (const RecordedGamma& row : plan.gammas) {
      if (row.gamma > 0) points.add(row.gamma, row.speedup);
    }
    figure.series.push_back(std::move(line));
    figure.add(std::move(points));
    figure.caption =
        "Every γ follows exactly from the recorded acceptance of each token; intervals are over sequences.";
    figures.push_back(std::move(figure));
  }
  if (!plan.positions.empty()) {
    Figure figure;
    figure.title = fmt::format("Acceptance by position at γ = {}", plan.optimal_gamma.value_or(0));
    figure.x_label = "position in the drafted tokens";
    figure.y_label = "P[accepted]";
    figure.y_range = AxisRange{0, 1.03};
    Series all{.name = "P[accepted]", .style = SeriesStyle::points};
    Series after{.name = "if those before were accepted", .style = SeriesStyle::points};
    for (const RecordedPosition& position : plan.positions) {
      all.add(position.position, position.unconditional);
      after.add(position.position, position.conditional);
    }
    figure.series = {std::move(all), std::move(after)};
    figures.push_back(std::move(figure));
  }
  return figures;
}

}  // namespace speclab
