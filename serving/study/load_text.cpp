// Texts, tables and figures of `speclab plan load`.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "experiments/base/format/named_entry.hpp"
#include "experiments/base/page/cells.hpp"
#include "experiments/base/page/figure.hpp"
#include "serving/advisor/memory_fit.hpp"
#include "serving/advisor/plan_text.hpp"
#include "serving/advisor/plan_words.hpp"
#include "serving/study/load_plan.hpp"

namespace speclab {

namespace {

bool has_targets(const LoadPlan& plan) { return plan.ttft_ms || plan.tpot_ms; }

/// Adds cells with these numbers of a point, or with its state. Times and shares have their interval.
void add_numbers(std::vector<Cell>& cells, const LoadPoint& point, const std::vector<std::string>& names) {
  static const std::set<std::string> means{"running", "drafted", "accepted"};
  for (const std::string& name : names) {
    const Interval* found = simulated(point, name);
    cells.push_back(found == nullptr ? text_cell(name == names.front() ? point.state.value_or("–") : "–")
                    : means.contains(name) ? short_cell(found->estimate)
                                           : interval_cell(*found));
  }
}

/// Begins a table whose last columns are these numbers, after the share that keeps the targets, if there are
/// any.
Table number_table(const LoadPlan& plan, std::string id, std::string caption,
                   std::vector<std::string> columns, std::vector<std::string>& names) {
  if (has_targets(plan)) names.insert(names.begin(), "targets kept");
  columns.insert(columns.end(), names.begin(), names.end());
  return {std::move(id), std::move(caption), std::move(columns)};
}

std::string head(const LoadPlan& plan) {
  std::string out;
  out += plan_line("arrivals", plan.arrivals);
  out += plan_line("tokens", plan.lengths);
  out += plan_line("α", plan.acceptance);
  out += plan_line("costs", plan.costs);
  if (plan.draft_device) out += plan_line("draft device", *plan.draft_device);
  if (plan.draft_budget)
    out += plan_line("a draft run reads", "{} tokens of a cache at most", *plan.draft_budget);
  const char* beside = plan.draft_device ? "on each of both devices" : "beside both models";
  out += plan_line("cache of a replica", plan.cache_tokens
                                             ? fmt::format("{} tokens {}", *plan.cache_tokens, beside)
                                             : "no limit: serving.engine.cache_tokens sets one");
  if (plan.ttft_ms) out += plan_line("target of TTFT", "{:.4g} ms", *plan.ttft_ms);
  if (plan.tpot_ms) out += plan_line("target of TPOT", "{:.4g} ms a token", *plan.tpot_ms);
  out += plan_line("simulated", "{} runs of {} requests or more, {} intervals", plan.runs, plan.requests,
                   confidence_percent(plan.confidence));
  return out;
}

std::string findings(const LoadPlan& plan) {
  std::string out;
  if (plan.best.size() == 1) {
    const LoadChoice& choice = plan.best.front();
    if (choice.policy.empty())
      return fmt::format("At {:.4g} requests per second every policy is {}.\n", choice.rate,
                         *plan.policies.front().points.front().state);
    out = fmt::format("At {:.4g} requests per second: {}.", choice.rate, choice.policy);
    if (!choice.not_told_apart.empty())
      out += fmt::format(" These runs cannot tell it from: {}.", fmt::join(choice.not_told_apart, ", "));
    return out + "\n";
  }
  if (plan.off_from) {
    out +=
        plan.on_until
            ? fmt::format(
                  "Switch speculation off between {:.4g} and {:.4g} requests per second: from there on its mean latency is higher than without it.\n",
                  *plan.on_until, *plan.off_from)
            : fmt::format(
                  "Do not speculate: from {:.4g} requests per second on, mean latency is lower without it.\n",
                  *plan.off_from);
  } else {
    out += "At every rate here some fixed γ has a lower mean latency than no speculation.\n";
  }
  if (has_targets(plan)) {
    const LoadPolicy* best = nullptr;
    for (const LoadPolicy& policy : plan.policies) {
      if (policy.highest && (best == nullptr || policy.highest->estimate > best->highest->estimate))
        best = &policy;
    }
    out += best != nullptr
               ? fmt::format("{:.4g}% of requests meet the targets up to {} requests per second, with {}.\n",
                             plan.percentile, interval_text(*best->highest), best->name)
               : fmt::format("At no rate do {:.4g}% of requests meet the targets.\n", plan.percentile);
  }
  return out;
}

Table rate_table(const LoadPlan& plan) {
  const std::string p = fmt::format("p{:g}", plan.percentile);
  std::vector<std::string> names{"latency mean", "TTFT " + p, "TPOT " + p, "running"};
  Table table = number_table(plan, "rates",
                             has_targets(plan) ? "The policy with the most requests that meet the targets"
                                               : "The policy with the smallest mean latency",
                             {"requests per second", "policy"}, names);
  table.columns.emplace_back("plain latency");
  bool close = false;
  for (std::size_t r = 0; r < plan.best.size(); ++r) {
    const LoadChoice& choice = plan.best[r];
    const LoadPolicy* policy = find_named(plan.policies, choice.policy);
    const LoadPoint& plain = plan.policies.front().points[r];
    close = close || !choice.not_told_apart.empty();
    std::vector<Cell>& cells = table.rows.emplace_back(1, short_cell(choice.rate));
    cells.push_back(
        text_cell(policy == nullptr ? "none" : choice.policy + (choice.not_told_apart.empty() ? "" : " *")));
    add_numbers(cells, policy == nullptr ? plain : policy->points[r], names);
    add_numbers(cells, plain, {"latency mean"});
  }
  table.note =
      "Latency: milliseconds from arrival to the last token. TTFT: time to the first token. TPOT: a request's mean time per token after the first.";
  if (close) table.note += " *: these runs cannot tell it from others; --json names them.";
  return table;
}

Table highest_table(const LoadPlan& plan) {
  Table table{"highest",
              fmt::format("The highest rate at which {:.4g}% of requests meet the targets", plan.percentile),
              {"policy", "requests per second", "capacity"},
              {},
              "Capacity: requests per second of a full server."};
  for (const LoadPolicy& policy : plan.policies) {
    table.rows.push_back({text_cell(policy.name),
                          policy.highest ? interval_cell(*policy.highest) : text_cell("none"),
                          short_cell(policy.capacity)});
  }
  return table;
}

Table policy_table(const LoadPlan& plan) {
  const std::string p = fmt::format("p{:g}", plan.percentile);
  std::vector<std::string> names{"latency mean", "latency " + p, "TTFT " + p,
                                 "TPOT " + p,    "drafted",      "accepted"};
  Table table =
      number_table(plan, "policies", fmt::format("At {:.4g} requests per second", plan.best.front().rate),
                   {"policy", "capacity"}, names);
  const int paired = has_targets(plan) ? 4 : 3;  // the column after the mean latency
  table.columns.insert(table.columns.begin() + paired, "less plain");
  table.note =
      "Capacity: requests per second of a full server. Latency: milliseconds from arrival to the last token.";
  for (const LoadPolicy& policy : plan.policies) {
    const LoadPoint& point = policy.points.front();
    std::vector<Cell>& cells = table.rows.emplace_back();
    cells = {text_cell((policy.name == plan.best.front().policy ? "→ " : "") + policy.name),
             short_cell(policy.capacity)};
    add_numbers(cells, point, names);
    const bool other = policy.name != "plain" && point.over_plain;
    cells.insert(cells.begin() + paired, other ? interval_cell(*point.over_plain) : text_cell("–"));
  }
  return table;
}

/// Shows gamma by batch, and by the mean context where there are several tables.
Table gamma_table(std::string id, std::string caption, const std::vector<ContextTable>& tables) {
  Table table{std::move(id), std::move(caption), {"batch", "to", "γ"}};
  const bool several = tables.size() > 1;
  if (several) table.columns.insert(table.columns.begin(), "context");
  for (const ContextTable& one : tables) {
    for (const BatchRange& range : one.rows) {
      std::vector<Cell>& cells = table.rows.emplace_back();
      if (several)
        cells.push_back(
            text_cell(one.context > 0 ? fmt::format("to {:.0f}", std::floor(one.context)) : "longer"));
      for (const int number : {range.first, range.last, range.gamma}) cells.push_back(plain_count(number));
    }
  }
  return table;
}

/// Draws one curve for each policy; all fixed gammas share one curve, the best of them at each rate.
Figure over_rates(const LoadPlan& plan, std::string title, std::string y_label, const std::string& number,
                  bool largest) {
  Figure figure{"", std::move(title), "requests per second", std::move(y_label)};
  Series fixed{.name = "best fixed γ"};
  for (std::size_t r = 0; r < plan.best.size(); ++r) {
    const Interval* best = nullptr;
    for (const LoadPolicy& policy : plan.policies) {
      const Interval* found = simulated(policy.points[r], number);
      if (found == nullptr || policy.name.rfind("γ", 0) != 0) continue;
      if (best == nullptr || (largest ? found->estimate > best->estimate : found->estimate < best->estimate))
        best = found;
    }
    if (best != nullptr) fixed.add(plan.best[r].rate, *best);
  }
  for (const LoadPolicy& policy : plan.policies) {
    if (policy.name.rfind("γ", 0) == 0) continue;
    Series line{.name = policy.name};
    for (const LoadPoint& point : policy.points) {
      if (const Interval* found = simulated(point, number)) line.add(point.rate, *found);
    }
    figure.add(std::move(line));
    if (policy.name == "plain") figure.add(std::move(fixed));
  }
  figure.caption =
      fmt::format("Bands: {} intervals over {} runs. A line ends where its policy is overloaded.",
                  confidence_percent(plan.confidence), plan.runs);
  return figure;
}

}  // namespace

Listing load_text(const LoadPlan& plan) {
  Listing out;
  if (plan.fits_reason) {
    out += "DOES NOT FIT: " + *plan.fits_reason + "\nNothing was simulated.\n";
    return out;
  }
  for (const std::string& warning : plan.warnings) out += "WARNING: " + warning + "\n";
  out += head(plan);
  out += findings(plan);
  if (plan.best.size() > 1) out += rate_table(plan);
  if (plan.best.size() == 1) out += policy_table(plan);
  if (plan.best.size() > 1 && has_targets(plan)) out += highest_table(plan);
  if (!plan.table.empty())
    out += gamma_table("batches", "The table by batch: best γ for the mean context", {{0, plan.table}});
  if (!plan.context_tables.empty())
    out += gamma_table("contexts", "The table by batch and mean context", plan.context_tables);
  out += settings_text(plan.settings);
  return out;
}

std::string load_headline(const LoadPlan& plan) {
  if (plan.fits_reason) return "It does not fit: " + *plan.fits_reason;
  return findings(plan);
}

std::vector<Figure> load_figures(const LoadPlan& plan) {
  if (plan.fits_reason || plan.best.size() < 2) return {};
  std::vector<Figure> figures;
  figures.push_back(
      over_rates(plan, "Mean latency by rate", "ms, arrival to last token", "latency mean", false));
  figures.back().log_y = true;
  const std::string p = fmt::format("p{:g}", plan.percentile);
  figures.push_back(over_rates(plan, "Time to the first token, " + p, "ms", "TTFT " + p, false));
  figures.back().log_y = true;
  figures.push_back(over_rates(plan, "Time per output token, " + p, "ms", "TPOT " + p, false));
  if (has_targets(plan))
    figures.push_back(over_rates(plan, "Requests that meet the targets", "share", "targets kept", true));
  return figures;
}

}  // namespace speclab
