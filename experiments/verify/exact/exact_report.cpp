// Writes the text, tables and figures of `speclab exact` from its result alone.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <utility>

#include "experiments/base/page/cells.hpp"
#include "experiments/config/config.hpp"
#include "experiments/results/metric_tables.hpp"
#include "experiments/verify/exact/exact_result.hpp"

namespace speclab {

namespace {

/// Prints six digits, because exact values and formulas may differ in the fourth. Prints a rounding error of
/// zero as 0.
Cell exact_cell(const std::optional<double>& value) {
  if (!value || !std::isfinite(*value)) return {};
  return {std::abs(*value) < 1e-12 ? "0" : fmt::format("{:.6g}", *value), value, ""};
}

Cell error_cell(const std::optional<double>& percent) {
  if (!percent || !std::isfinite(*percent)) return {};
  const bool none = std::abs(*percent) < 5e-4;
  return {none ? "0" : fmt::format("{:+.3f}", *percent), percent, ""};
}

std::optional<double> as_number(const std::optional<std::int32_t>& count) {
  return count ? std::optional<double>(*count) : std::nullopt;
}

void leave_out_column(Table& table, std::ptrdiff_t column) {
  table.columns.erase(table.columns.begin() + column);
  for (auto& row : table.rows) row.erase(row.begin() + column);
}

Table class_table(const ClassResult& one, const std::string& caption) {
  Table table;
  table.id = "exact";
  table.caption = caption;
  table.columns = {"quantity", "i.i.d. formula", "exact", "simulated ± interval", "i.i.d. error, %"};
  constexpr std::ptrdiff_t simulated_column = 3;
  const RoundNumbers iid = one.iid.value_or(RoundNumbers{});
  const RoundNumbers errors = one.iid_error_percent.value_or(RoundNumbers{});
  const RoundIntervals simulated = one.simulated.value_or(RoundIntervals{});
  const auto add = [&](std::string label, const std::optional<double>& formula,
                       const std::optional<double>& exact, const std::optional<Interval>& interval,
                       const std::optional<double>& error) {
    if (!exact) return;
    table.rows.push_back({text_cell(std::move(label)), exact_cell(formula), exact_cell(exact),
                          interval_cell(interval), error_cell(error)});
  };
  const auto row = [&](const char* label, std::optional<double> RoundNumbers::*number,
                       std::optional<Interval> RoundIntervals::*interval) {
    add(label, iid.*number, one.exact.*number, simulated.*interval, errors.*number);
  };
  using N = RoundNumbers;
  using I = RoundIntervals;
  row("α, target's distribution", &N::alpha, &I::alpha);
  row("α, visited contexts", &N::alpha_overlap, &I::alpha_overlap);
  row("α, accepted / examined", &N::alpha_examined, &I::alpha_examined);
  row("tokens per target step", &N::tokens_per_target_step, &I::tokens_per_target_step);
  // One simulation estimates both the chain's mean and its mean over the simulated rounds.
  if (one.simulated) {
    row("the same over the simulated rounds", &N::tokens_per_target_step_of_simulation,
        &I::tokens_per_target_step);
  }
  row("variance of tokens per target step", &N::tokens_variance, &I::tokens_variance);
  row("speedup", &N::speedup, &I::speedup);
  row("arithmetic vs plain decoding", &N::operations, &I::operations);
  add("optimal γ", as_number(iid.optimal_gamma), as_number(one.exact.optimal_gamma), {}, {});
  row("speedup at optimal γ", &N::best_speedup, &I::best_speedup);
  row("speedup at the i.i.d. optimal γ", &N::speedup_at_iid_optimum, &I::speedup_at_iid_optimum);
  row("P(first accepted)", &N::first_accepted, &I::first_accepted);
  row("P(second | first accepted)", &N::second_accepted, &I::second_accepted);
  row("relative gain of the 2nd acceptance after the 1st", &N::relative_gain, &I::relative_gain);
  row("rejected / examined", &N::rejections, &I::rejections);
  row("least of a lossless rule, token by token", &N::rejection_bound, &I::rejection_bound);
  row("regret (above the least)", &N::regret, &I::regret);
  const auto at = [](const auto& values, std::size_t n) {
    return n < values.size() ? std::optional(values[n]) : std::nullopt;
  };
  for (std::size_t n = 0; n < one.exact.distribution.size(); ++n) {
    const double exact = one.exact.distribution[n];
    const std::optional<double> formula = at(iid.distribution, n);
    add(fmt::format("P(N = {})", n + 1), formula, exact, at(simulated.distribution, n),
        formula && exact > 0 ? std::optional(100 * (*formula / exact - 1)) : std::nullopt);
  }
  if (!one.simulated) leave_out_column(table, simulated_column);
  return table;
}

std::string iterations_text(const SolutionResult& solution) {
  if (solution.direct) return fmt::format("solved directly, residual {:.1e}", solution.residual);
  return fmt::format("{} iterations{}, residual {:.1e}", solution.iterations,
                     solution.damped ? " (damped)" : "", solution.residual);
}

Listing class_text(const ExactResult& result, std::size_t index) {
  const ClassResult& one = result.classes[index];
  std::string caption = fmt::format("{}, γ = {}", result.title, result.config->gamma);
  if (result.chain.closed_classes > 1) {
    caption += fmt::format(", closed class {} of {}, {} contexts, starting from [{}]", index + 1,
                           result.chain.closed_classes, one.contexts, fmt::join(one.start, ","));
  }
  Listing out;
  out += class_table(one, caption);
  for (const std::string& remark : one.remarks) out += remark + "\n";
  if (one.plain_solution) out += fmt::format("plain decoding: {}\n", iterations_text(*one.plain_solution));
  out += fmt::format("rounds: {}; {} further iterations in the search for γ\n\n",
                     iterations_text(one.round_solution), one.search_iterations);
  return out;
}

/// Draws the chain's speedup at each gamma, and the formula's and the simulation's at the config's gamma.
Figure speedup_figure(const ClassResult& one, int gamma, const std::string& where) {
  Figure figure{.title = titled("Speedup by γ", where), .x_label = "γ", .y_label = "speedup"};
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
  Figure figure{.title = titled("Tokens per target step", where), .y_label = "probability"};
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

Listing exact_text(const ExactResult& result) {
  const ChainResult& chain = result.chain;
  Listing out;
  for (std::size_t i = 0; i < result.classes.size(); ++i) out += class_text(result, i);
  out += fmt::format("{} contexts of up to {} tokens, {} of them transient; {} transitions, stored {}\n",
                     chain.contexts, chain.memory, chain.transient_contexts, chain.transitions,
                     chain.dense ? "densely" : "sparsely");
  if (chain.closed_classes > 1) {
    const std::size_t shown = result.classes.size();
    out += fmt::format(
        "Decoding never leaves any of {} closed classes of contexts; each is analysed by itself{}. The class that a text ends in depends on its start and on random draws.\n",
        chain.closed_classes, chain.closed_classes > shown ? fmt::format(" (the first {})", shown) : "");
  }
  out +=
      "Relative gain: (P(second | first accepted) - P(first accepted)) / (1 - P(first accepted)); 0 when the two acceptances are independent.\n";
  if (const auto& simulated = result.classes.front().simulated) {
    const bool unknown = simulated->alpha_examined && !simulated->alpha_examined->bounded();
    out += fmt::format(
        "The simulation starts from the prompts without burn-in: {} trials of {} rounds. \"The same over the "
        "simulated rounds\" is the exact mean for just these; intervals hold with confidence {}.{}\n",
        result.config->simulation.trials, result.config->simulation.length,
        confidence_text(result.interval_confidence), unknown ? " " + unknown_error_note() : "");
  }
  return out;
}

std::string exact_headline(const ExactResult& result) {
  const ClassResult& one = result.classes.front();
  if (!one.exact.tokens_per_target_step) return "No stationary distribution was found.";
  std::string text = fmt::format("{:.6g} tokens per target step, exactly", *one.exact.tokens_per_target_step);
  if (one.iid && one.iid->tokens_per_target_step) {
    const double error = 100 * (*one.iid->tokens_per_target_step / *one.exact.tokens_per_target_step - 1);
    text += fmt::format("; the formula of independent acceptances has {:.6g} ({}%)",
                        *one.iid->tokens_per_target_step, error_cell(error).text);
  }
  text += ".";
  if (one.exact.best_speedup && one.exact.optimal_gamma)
    text += fmt::format(" Of γ up to {}, {} is the fastest, with speedup {:.4g}.",
                        one.speedup_by_gamma.size() - 1, *one.exact.optimal_gamma, *one.exact.best_speedup);
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
