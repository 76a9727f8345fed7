// Texts, tables and figures of `speclab plan recording`.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "experiments/base/page/cells.hpp"
#include "experiments/base/page/table.hpp"
#include "serving/advisor/memory_fit.hpp"
#include "serving/advisor/plan_text.hpp"
#include "serving/advisor/plan_words.hpp"
#include "serving/advisor/recording_plan.hpp"

namespace speclab {

namespace {

constexpr std::size_t max_tasks = 30;

/// Returns a note with the best gamma over rounds that no text end cuts short, if such ends cost much.
std::string end_effect(const RecordingPlan& plan) {
  constexpr double much = 0.02;
  const RecordedGamma* best = nullptr;
  double best_speedup = 1;
  for (const RecordedGamma& row : plan.gammas) {
    if (!row.tokens_per_whole_round) continue;
    const double speedup =
        row.speedup.estimate * *row.tokens_per_whole_round / row.tokens_per_target_step.estimate;
    if (speedup > best_speedup) {
      best = &row;
      best_speedup = speedup;
    }
  }
  if (best == nullptr || best_speedup < (1 + much) * plan.best_speedup->estimate) return "";
  return plan_line("in texts without an end",
                   "γ = {}, speedup {:.4g}: the last rounds of these short sequences emit little",
                   best->gamma, best_speedup);
}

std::string head(const RecordingPlan& plan) {
  std::string out = plan_line("recording", "{}: {} tokens, {} sequences ({})", plan.file, plan.tokens,
                              plan.sequences, plan.format);
  const std::string alpha =
      plan.alpha_low
          ? fmt::format("{:.4g} ({:.4g} to {:.4g}), {}, confidence {}", plan.alpha, *plan.alpha_low,
                        *plan.alpha_high, plan.alpha_from, confidence_text(plan.confidence))
          : fmt::format("{:.4g}, {}; its error is not known", plan.alpha, plan.alpha_from);
  out += plan_line("α", alpha);
  if (plan.interval_note) out += plan_line("intervals", *plan.interval_note);
  out += plan_line("c", cost_words(plan.c, plan.drafted_in_one_run, plan.cost_from));
  if (!plan.optimal_gamma) return out;
  out += plan_line(
      "best γ", "{}{}", *plan.optimal_gamma,
      plan.c == 0 && *plan.optimal_gamma > 1 ? ", the smallest within 1%, since drafting takes no time" : "");
  out += speedup_lines(*plan.best_speedup, plan.speedup_at_other_costs, "");
  if (*plan.optimal_gamma > 0) {
    const double tokens = plan.tokens_per_target_step[static_cast<std::size_t>(*plan.optimal_gamma) - 1];
    out += plan_line("tokens per target step", "{:.4g}", tokens);
  }
  out += plan_line("within 1% of the best", range_words(*plan.within_1_percent));
  const bool edge = static_cast<std::size_t>(*plan.formula_gamma) == plan.speedup.size();
  out += plan_line("by the i.i.d. formula", "γ = {}{}, speedup {:.4g}; on this text {:.4g}",
                   *plan.formula_gamma, edge ? ", the largest considered" : "", *plan.formula_speedup,
                   *plan.speedup_at_formula_gamma);
  out += end_effect(plan);
  if (*plan.optimal_gamma == 0) {
    out += "No γ is faster than decoding token by token here: do not speculate.";
    constexpr std::size_t shown = 4;
    const RecordedGamma& row = plan.gammas[std::min(shown, plan.gammas.size()) - 1];
    if (row.verify_cost > 1) {
      out += fmt::format(" Verification of {} tokens costs {:.1f} of 1.", row.gamma + 1, row.verify_cost);
    }
    out += "\n";
  }
  return out;
}

Table gamma_table(const RecordingPlan& plan) {
  Table table{"gammas",
              "Speedup by γ",
              {"γ", "tokens per target step", "of whole rounds", "verify cost", "speedup", "low", "high"}};
  const int best = plan.optimal_gamma.value_or(0);
  for (const RecordedGamma& row : plan.gammas) {
    const bool shown = row.gamma <= std::max(8, best + 1) || row.gamma == 2 * best;
    if (!shown) continue;
    table.rows.push_back({gamma_cell(row.gamma, best), short_cell(row.tokens_per_target_step.estimate),
                          short_cell(row.tokens_per_whole_round), short_cell(row.verify_cost),
                          short_cell(row.speedup.estimate), short_cell(row.speedup.low),
                          short_cell(row.speedup.high)});
  }
  table.note =
      "Values are exact for this text; low and high are for other texts like it. The last round of a sequence emits only the remaining tokens; whole rounds end before it.";
  return table;
}

Table position_table(const RecordingPlan& plan) {
  Table table{"positions",
              "Acceptance by position at the best γ",
              {"position", "a, given those before", "all up to here"}};
  for (const RecordedPosition& row : plan.positions) {
    table.rows.push_back(
        {plain_count(row.position), short_cell(row.conditional), short_cell(row.unconditional)});
  }
  return table;
}

Table task_table(const RecordingPlan& plan) {
  Table table{"tasks", "By task", {"task", "sequences", "tokens", "α", "tokens per target step"}};
  for (const RecordedTask& row : plan.tasks) {
    if (table.rows.size() == max_tasks) break;
    table.rows.push_back({text_cell(row.task), plain_count(row.sequences), plain_count(row.tokens),
                          Cell{ranged(row.alpha, ""), row.alpha.estimate},
                          short_cell(row.tokens_per_target_step)});
  }
  const std::size_t left = plan.tasks.size() - table.rows.size();
  if (left > 0) table.note = fmt::format("and {} more; --json has all.", left);
  return table;
}

std::string fit_text(const RecordingPlan& plan) {
  if (!plan.text_fit) return "";
  const TextFitFindings& fit = *plan.text_fit;
  std::string out = "\n";
  out += plan_line("mean of q/p", fmt::format("{:.4g}; is it 1? not above: {}, not below: {}", fit.ratio_mean,
                                              fit.not_above_one, fit.not_below_one));
  if (fit.surprise) {
    out += plan_line("-log p less entropy",
                     ranged(*fit.surprise, "") + fmt::format(" nats; is it 0? {}", fit.entropy));
  }
  return out + "A text drawn from the target's column passes each check with a probability of 0.9999.\n";
}

}  // namespace

Listing recording_plan_text(const RecordingPlan& plan) {
  Listing out;
  if (plan.fits_reason) out += hypothetical_text(*plan.fits_reason);
  out += head(plan);
  const auto add = [&](Table table) {
    if (!table.rows.empty()) out += std::move(table);
  };
  add(gamma_table(plan));
  add(position_table(plan));
  if (plan.metrics) add(metrics_table(*plan.metrics, "of these positions"));
  add(task_table(plan));
  out += fit_text(plan);
  out += settings_text(plan.settings);
  return out;
}

std::string recording_headline(const RecordingPlan& plan) {
  if (plan.fits_reason) return "It does not fit: " + *plan.fits_reason;
  const Interval alpha{plan.alpha, plan.alpha_low.value_or(plan.alpha), plan.alpha_high.value_or(plan.alpha)};
  std::string text = fmt::format("α = {} over {} tokens", interval_text(alpha), grouped(plan.tokens));
  if (!plan.optimal_gamma) return text + "; a recording does not determine rounds of this rule.";
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
    Figure figure{"", "Expected speedup by γ, of this text", "γ", "speedup over plain decoding"};
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
    Figure figure{"", fmt::format("Acceptance by position at γ = {}", plan.optimal_gamma.value_or(0)),
                  "position in the drafted tokens", "P[accepted]"};
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
