// Texts, tables and the figure of `speclab plan sweep`.
#include <fmt/format.h>

#include <algorithm>

#include "serving/advisor/plan_words.hpp"
#include "serving/advisor/sweep_plan.hpp"

namespace speclab {

namespace {

std::string best_words(const Sweep& sweep) {
  const auto best = std::find_if(sweep.points.begin(), sweep.points.end(),
                                 [&](const SweepPoint& point) { return point.k == sweep.best_k; });
  std::string text = fmt::format("K = {}, {:.4g} tokens a second", sweep.best_k, best->tokens_per_second);
  const SweepPoint& first = sweep.points.front();
  if (first.k == 0 && sweep.best_k > 0)
    text +=
        fmt::format(", {:.4g} times those without drafts", best->tokens_per_second / first.tokens_per_second);
  if (sweep.low_k && *sweep.low_k < *sweep.high_k)
    text += fmt::format("; K = {} to {} are not told apart by this scatter", *sweep.low_k, *sweep.high_k);
  return text;
}

std::string fit_words(const SweepFit& fit) {
  if (!fit.base_ms.bounded())
    return fmt::format("{:.4g} ms + K × {:.4g} ms, through two values of K: its error is not known",
                       fit.base_ms.estimate, fit.per_token_ms.estimate);
  return fmt::format("{} ms + K × {} ms, scatter {:.2g}%", ranged(fit.base_ms, ""),
                     ranged(fit.per_token_ms, ""), fit.scatter_percent);
}

Table sweep_table(const Sweep& sweep, std::size_t number) {
  Table table{fmt::format("sweep-{}", number),
              sweep.name.empty() ? "Steps by K" : "Steps by K, " + sweep.name,
              {"K", "tokens a step", "ms a step", "by the line", "tokens a second"}};
  for (const SweepPoint& point : sweep.points) {
    table.rows.push_back({gamma_cell(point.k, sweep.best_k), short_cell(point.tokens_per_step),
                          short_cell(point.step_ms), short_cell(point.fitted_ms),
                          short_cell(point.tokens_per_second)});
  }
  return table;
}

}  // namespace

std::string sweep_headline(const SweepPlan& plan) {
  std::string text;
  for (const Sweep& sweep : plan.sweeps)
    text += fmt::format("{}{}. ", sweep.name.empty() ? "Best " : sweep.name + ": best ", best_words(sweep));
  text.pop_back();
  return text;
}

Listing sweep_text(const SweepPlan& plan) {
  Listing out;
  for (std::size_t i = 0; i < plan.sweeps.size(); ++i) {
    const Sweep& sweep = plan.sweeps[i];
    if (!sweep.name.empty()) out += plan_line("sweep", sweep.name);
    out += plan_line("best", best_words(sweep));
    if (sweep.fit) out += plan_line("a step that drafts K", fit_words(*sweep.fit));
    out += sweep_table(sweep, i + 1);
    out += "\n";
  }
  out += plan_line("tokens a step", plan.acceptance);
  if (plan.others.empty()) return out;
  Table table{"others",
              "With the step times of one and another acceptance",
              {"step times", "acceptance", "best K", "tokens a second"}};
  for (const SweepOther& other : plan.others) {
    table.rows.push_back({text_cell(other.costs), text_cell(other.acceptance), plain_count(other.best_k),
                          short_cell(other.tokens_per_second)});
  }
  out += std::move(table);
  return out;
}

std::vector<Figure> sweep_figures(const SweepPlan& plan) {
  Figure figure{"", "Time of a step by K", "K drafted tokens", "ms a step"};
  for (std::size_t i = 0; i < plan.sweeps.size(); ++i) {
    const Sweep& sweep = plan.sweeps[i];
    Series measured{.name = sweep.name.empty() ? "measured" : sweep.name, .style = SeriesStyle::points};
    Series line;
    for (const SweepPoint& point : sweep.points) {
      measured.add(point.k, point.step_ms);
      if (point.fitted_ms) line.add(point.k, *point.fitted_ms);
    }
    line.colour_of = figure.series.size();
    figure.series.push_back(std::move(measured));
    figure.add(std::move(line));
  }
  figure.caption = "Lines: least squares through the steps that draft.";
  return {figure};
}

}  // namespace speclab
