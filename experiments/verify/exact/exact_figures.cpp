#include "experiments/verify/exact/exact_figures.hpp"

#include <fmt/format.h>

#include <utility>

#include "experiments/base/page/cells.hpp"
#include "experiments/config/config.hpp"

namespace speclab {

namespace {

/// Draws the chain's speedup at each gamma, and the formula's and the simulation's at the config's gamma.
Figure speedup_figure(const ClassResult& one, int gamma, const std::string& where) {
  Figure figure;
  figure.title = titled("Speedup by γ", where);
  figure.x_label = "γ";
  figure.y_label = "speedup";
  Series exact{.name = "exact"};
  for (std::size_t at = 1; at < one.speedup_by_gamma.size(); ++at)
    exact.add(static_cast<double>(at), one.speedup_by_gamma[at]);
  figure.series.push_back(std::move(exact));
  if (one.simulated && one.simulated->speedup) {
    figure.series.push_back({.name = "simulated", .style = SeriesStyle::points});
    figure.series.back().add(gamma, *one.simulated->speedup);
  }
  Series formula{.name = "formula", .style = SeriesStyle::points};
  if (one.iid && one.iid->speedup) formula.add(gamma, *one.iid->speedup);
  if (one.iid && one.iid->best_speedup && one.iid->optimal_gamma && *one.iid->optimal_gamma != gamma)
    formula.add(*one.iid->optimal_gamma, *one.iid->best_speedup);
  figure.add(std::move(formula));
  figure.caption =
      "Line: the chain over contexts. Formula: independent acceptances at the exact α, at the config's γ and at the γ that is best by it.";
  return figure;
}

Figure tokens_figure(const ClassResult& one, const std::string& where) {
  Figure figure;
  figure.title = titled("Tokens per target step", where);
  figure.y_label = "probability";
  Series exact{.name = "exact", .style = SeriesStyle::points};
  Series formula{.name = "formula", .style = SeriesStyle::points};
  Series simulated{.name = "simulated", .style = SeriesStyle::points};
  for (std::size_t n = 0; n < one.exact.distribution.size(); ++n) {
    const double row = figure.add_category(fmt::format("{} {}", n + 1, n == 0 ? "token" : "tokens"));
    exact.add(row, one.exact.distribution[n]);
    if (one.iid && n < one.iid->distribution.size()) formula.add(row, one.iid->distribution[n]);
    if (one.simulated && n < one.simulated->distribution.size())
      simulated.add(row, one.simulated->distribution[n]);
  }
  for (Series* series : {&exact, &formula, &simulated}) figure.add(std::move(*series));
  figure.caption = "Formula: independent acceptances at the exact α.";
  return figure;
}

}  // namespace

std::string exact_headline(const ExactResult& result) {
  const ClassResult& one = result.classes.front();
  if (!one.exact.tokens_per_target_step) return "No stationary distribution was found.";
  std::string text = fmt::format("{:.6g} tokens per target step, exactly", *one.exact.tokens_per_target_step);
  if (one.iid && one.iid->tokens_per_target_step) {
    const double error = 100 * (*one.iid->tokens_per_target_step / *one.exact.tokens_per_target_step - 1);
    text += fmt::format("; the formula of independent acceptances has {:.6g} ({:+.2g}%)",
                        *one.iid->tokens_per_target_step, error);
  }
  text += ".";
  if (one.exact.best_speedup && one.exact.optimal_gamma)
    text += fmt::format(" The best γ is {}, with speedup {:.4g}.", *one.exact.optimal_gamma,
                        *one.exact.best_speedup);
  if (result.chain.closed_classes > 1)
    text += fmt::format(" This is the first of {} closed classes.", result.chain.closed_classes);
  return text;
}

std::vector<Figure> exact_figures(const ExactResult& result) {
  std::vector<Figure> figures;
  for (std::size_t i = 0; i < result.classes.size(); ++i) {
    const ClassResult& one = result.classes[i];
    const std::string where = result.classes.size() > 1 ? fmt::format("class {}", i + 1) : "";
    if (one.speedup_by_gamma.size() > 1) figures.push_back(speedup_figure(one, result.config->gamma, where));
    if (!one.exact.distribution.empty()) figures.push_back(tokens_figure(one, where));
  }
  return figures;
}

}  // namespace speclab
