// Texts, tables and figures of `speclab plan load`.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

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

Cell ms_cell(const std::optional<Interval>& interval) {
  return interval ? interval_cell(*interval) : text_cell("–");
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
                                             : "no limit: --cache-tokens sets one");
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
      return fmt::format("At {:.4g} requests per second every policy is overloaded.\n", choice.rate);
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
  Table table{"rates",
              has_targets(plan) ? "The policy with the most requests that meet the targets"
                                : "The policy with the smallest mean latency",
              {"requests per second", "policy", "latency, ms", "TTFT, " + p, "TPOT, " + p, "plain latency",
               "running"}};
  if (has_targets(plan)) table.columns.insert(table.columns.begin() + 2, "meet the targets");
  bool close = false;
  for (std::size_t r = 0; r < plan.best.size(); ++r) {
    const LoadChoice& choice = plan.best[r];
    const LoadPolicy* policy = find_named(plan.policies, choice.policy);
    const LoadPoint& plain = plan.policies.front().points[r];
    std::vector<Cell> cells{short_cell(choice.rate)};
    if (policy == nullptr) {
      cells.push_back(text_cell("all overloaded"));
      while (cells.size() < table.columns.size()) cells.push_back(text_cell("–"));
    } else {
      const LoadPoint& point = policy->points[r];
      close = close || !choice.not_told_apart.empty();
      cells.push_back(text_cell(choice.policy + (choice.not_told_apart.empty() ? "" : " *")));
      if (has_targets(plan)) cells.push_back(ms_cell(point.kept));
      for (const auto& value : {point.latency_mean, point.ttft, point.tpot}) cells.push_back(ms_cell(value));
      cells.push_back(plain.overloaded ? text_cell("overloaded") : ms_cell(plain.latency_mean));
      cells.push_back(short_cell(point.batch));
    }
    table.rows.push_back(cells);
  }
  table.note =
      "Latency: mean time from arrival to the last token. TTFT: time to the first token. TPOT: a request's mean time per token after the first.";
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

Table policy_table(const LoadPlan& plan, std::size_t r) {
  const std::string p = fmt::format("p{:g}", plan.percentile);
  Table table{fmt::format("policies{}", r),
              fmt::format("At {:.4g} requests per second", plan.best[r].rate),
              {"policy", "capacity", "latency, ms", "less plain", "latency, " + p, "TTFT, " + p, "TPOT, " + p,
               "γ", "accepted"},
              {},
              "Capacity: requests per second of a full server."};
  if (has_targets(plan)) table.columns.insert(table.columns.begin() + 2, "meet the targets");
  for (const LoadPolicy& policy : plan.policies) {
    const LoadPoint& point = policy.points[r];
    std::vector<Cell> cells{text_cell(policy.name == plan.best[r].policy ? "→ " + policy.name : policy.name),
                            short_cell(policy.capacity)};
    if (point.overloaded) {
      cells.push_back(text_cell("overloaded"));
      while (cells.size() < table.columns.size()) cells.push_back(text_cell("–"));
    } else {
      if (has_targets(plan)) cells.push_back(ms_cell(point.kept));
      cells.push_back(ms_cell(point.latency_mean));
      cells.push_back(policy.name == "plain" ? text_cell("–") : ms_cell(point.over_plain));
      for (const auto& value : {point.latency, point.ttft, point.tpot}) cells.push_back(ms_cell(value));
      cells.push_back(short_cell(point.gamma));
      cells.push_back(short_cell(point.accepted));
    }
    table.rows.push_back(cells);
  }
  return table;
}

Table batch_table(const LoadPlan& plan) {
  Table table{"batches", "The table by batch: best γ for the mean context", {"batch", "to", "γ"}};
  for (const BatchRange& range : plan.table)
    table.rows.push_back({plain_count(range.first), plain_count(range.last), plain_count(range.gamma)});
  return table;
}

Table context_table(const LoadPlan& plan) {
  Table table{"contexts", "The table by batch and mean context", {"context", "batch", "to", "γ"}};
  for (const ContextTable& one : plan.context_tables) {
    const std::string contexts =
        one.context > 0 ? fmt::format("to {:.0f}", std::floor(one.context)) : "longer";
    for (const BatchRange& range : one.rows) {
      table.rows.push_back(
          {text_cell(contexts), plain_count(range.first), plain_count(range.last), plain_count(range.gamma)});
    }
  }
  return table;
}

/// Draws one curve for each policy; all fixed gammas share one curve, the best of them at each rate.
Figure over_rates(const LoadPlan& plan, std::string title, std::string y_label,
                  const std::optional<Interval> LoadPoint::*value, bool largest) {
  Figure figure{"", std::move(title), "requests per second", std::move(y_label)};
  Series fixed{.name = "best fixed γ"};
  for (std::size_t r = 0; r < plan.best.size(); ++r) {
    const Interval* best = nullptr;
    for (const LoadPolicy& policy : plan.policies) {
      const auto& found = policy.points[r].*value;
      if (!found || policy.name.rfind("γ", 0) != 0) continue;
      if (best == nullptr || (largest ? found->estimate > best->estimate : found->estimate < best->estimate))
        best = &*found;
    }
    if (best != nullptr) fixed.add(plan.best[r].rate, *best);
  }
  for (const LoadPolicy& policy : plan.policies) {
    if (policy.name.rfind("γ", 0) == 0) continue;
    Series line{.name = policy.name};
    for (const LoadPoint& point : policy.points) {
      if (point.*value) line.add(point.rate, *(point.*value));
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
  if (plan.best.size() == 1) out += policy_table(plan, 0);
  if (plan.best.size() > 1 && has_targets(plan)) out += highest_table(plan);
  if (!plan.table.empty()) out += batch_table(plan);
  if (!plan.context_tables.empty()) out += context_table(plan);
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
      over_rates(plan, "Mean latency by rate", "ms, arrival to last token", &LoadPoint::latency_mean, false));
  figures.back().log_y = true;
  figures.push_back(over_rates(plan, fmt::format("Time to the first token, p{:g}", plan.percentile), "ms",
                               &LoadPoint::ttft, false));
  figures.back().log_y = true;
  figures.push_back(over_rates(plan, fmt::format("Time per output token, p{:g}", plan.percentile), "ms",
                               &LoadPoint::tpot, false));
  if (has_targets(plan))
    figures.push_back(over_rates(plan, "Requests that meet the targets", "share", &LoadPoint::kept, true));
  return figures;
}

}  // namespace speclab
