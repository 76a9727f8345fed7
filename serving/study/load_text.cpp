// Texts, tables and figures of `speclab plan load`.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <utility>

#include "experiments/base/format/named_entry.hpp"
#include "experiments/base/page/cells.hpp"
#include "experiments/base/page/figure.hpp"
#include "serving/advisor/plan_text.hpp"
#include "serving/advisor/plan_words.hpp"
#include "serving/study/load_choice.hpp"

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

/// Begins a table whose last columns are these numbers, after the share that meets the SLOs.
Table number_table(const LoadPlan& plan, std::string id, std::string caption,
                   std::vector<std::string> columns, std::vector<std::string>& names) {
  if (has_targets(plan)) names.insert(names.begin(), "targets kept");
  for (const std::string& name : names) columns.push_back(shown_name(name));
  return {std::move(id), std::move(caption), std::move(columns)};
}

/// Explains the numbers of tables, and the state that stands in place of missing numbers.
std::string number_note(const LoadPlan& plan) {
  const bool too_short = std::ranges::any_of(plan.policies, [](const LoadPolicy& policy) {
    return std::ranges::find(policy.points, too_short_state, &LoadPoint::state) != policy.points.end();
  });
  std::set<double> few;
  for (const LoadPolicy& policy : plan.policies) {
    for (const LoadPoint& point : policy.points) {
      if (!point.state && few_requests_at(point.rate / policy.capacity, plan.requests))
        few.insert(point.rate);
    }
  }
  return fmt::format(
      "Times in ms. Latency: from arrival to the last token. TTFT: time to the first token. TPOT: a request's mean time per token after the first.{}{}",
      too_short
          ? " Too short: the requests before the measured ones do not fill the server; increase serving.requests."
          : "",
      few.empty() ? ""
                  : fmt::format(" WARNING: rates from {:.4g} on: {}; increase serving.requests.",
                                *few.begin(), few_requests_words));
}

std::string layout_words(const LoadLayout& layout) {
  return fmt::format("{} × tensor parallel {}", layout.replicas, layout.devices);
}

std::string head(const LoadPlan& plan) {
  std::string out;
  out += plan_line("arrivals", plan.arrivals);
  out += plan_line("tokens", plan.lengths);
  out += plan_line("α", plan.acceptance);
  out += plan_line("costs", plan.costs);
  const auto layout = std::ranges::find(plan.layouts, true, &LoadLayout::chosen);
  if (layout != plan.layouts.end())
    out += plan_line("layout", "{}, the best of {}", layout_words(*layout), plan.layouts.size());
  if (plan.draft_budget)
    out += plan_line("a draft run reads", "{} tokens of a cache at most", *plan.draft_budget);
  out += plan_line("cache of a replica", plan.cache_tokens
                                             ? fmt::format("{} tokens beside both models", *plan.cache_tokens)
                                             : "no limit: serving.engine.cache_tokens sets one");
  if (plan.ttft_ms) out += plan_line("SLO of TTFT", "{:.4g} ms", *plan.ttft_ms);
  if (plan.tpot_ms) out += plan_line("SLO of TPOT", "{:.4g} ms a token", *plan.tpot_ms);
  out += plan_line("simulated", "{} runs of {} requests or more, {} intervals", plan.runs, plan.requests,
                   confidence_percent(plan.confidence));
  return out;
}

/// Compares the policy's mean latency with that of plain decoding, at rates at which both are known.
std::string gain_words(const LoadPlan& plan, const LoadAdvice& advice) {
  constexpr double percent = 100;
  std::vector<double> changes;
  const LoadPolicy& policy = *find_named(plan.policies, advice.policy);
  for (std::size_t r = 0; r < policy.points.size(); ++r) {
    const Interval* own = simulated(policy.points[r], "latency mean");
    const Interval* plain = simulated(plan.policies.front().points[r], "latency mean");
    const double rate = policy.points[r].rate;
    if (own == nullptr || plain == nullptr || rate < advice.from || rate > advice.to) continue;
    changes.push_back(percent * (own->estimate / plain->estimate - 1));
  }
  if (changes.empty()) return fmt::format(" Plain decoding is {} there.", overloaded_state);
  const auto [low, high] = std::ranges::minmax(changes);
  return fmt::format(" Mean latency compared with plain decoding: {}%.",
                     range_words(fmt::format("{:+.2g}", low), fmt::format("{:+.2g}", high)));
}

std::string advice_sentence(const LoadPlan& plan, const LoadAdvice& advice) {
  std::string out = fmt::format("At {}: ", rate_words(advice.from, advice.to));
  out += advice.policy == "plain" ? "do not speculate (plain)." : advice.policy + ".";
  if (advice.policy != "plain") out += gain_words(plan, advice);
  double kept = 1;
  for (const LoadPoint& point : find_named(plan.policies, advice.policy)->points) {
    if (point.rate < advice.from || point.rate > advice.to || meets_targets(plan, point)) continue;
    kept = std::min(kept, kept_share(point));
  }
  constexpr double percent = 100;
  if (kept < 1) out += fmt::format(" Only {:.3g}% of requests meet the SLOs.", percent * kept);
  return out + "\n";
}

/// Says at which rates no policy has numbers; empty if there are none.
std::string state_sentence(const LoadPlan& plan) {
  std::vector<double> rates;
  std::string state;
  for (std::size_t r = 0; r < plan.best.size(); ++r) {
    if (!plan.best[r].policy.empty()) continue;
    rates.push_back(plan.best[r].rate);
    state = *plan.policies.front().points[r].state;
  }
  if (rates.empty()) return "";
  return fmt::format("At {:.4g} requests per second every policy is {}.\n", fmt::join(rates, ", "), state);
}

std::string limit_sentence(const LoadPlan& plan) {
  if (!plan.limit) return "";
  const LoadLimit& limit = *plan.limit;
  const std::string policy = limit.policy == "plain" ? "Plain decoding" : limit.policy;
  if (limit.binds == "targets")
    return fmt::format("{} serves up to {:.4g} requests per second, but misses the SLOs before that.\n",
                       policy, limit.capacity);
  constexpr double near = 0.9;
  const std::string why =
      limit.binds == "sequences" ? fmt::format("because {} sequences may run at a time", plan.max_sequences)
      : limit.binds == "cache"
          ? fmt::format("because the cache holds {:.0f} of {} sequences", limit.running, plan.max_sequences)
      : limit.binds == "step tokens" ? "because of the limit of tokens in a step"
                                     : "because of its speed";
  const std::string here =
      plan.best.back().rate < near * limit.capacity
          ? fmt::format("The server is not saturated at {:.4g} requests per second. ", plan.best.back().rate)
          : "";
  return fmt::format("{}{} serves at most {:.4g}{} per second, {}; with {} it would serve {:.4g}.\n", here,
                     policy, limit.capacity, here.empty() ? " requests" : "", why, limit.next,
                     limit.next_capacity);
}

/// Says up to which rates the SLOs are met: with the policy that is recommended at the highest rates, and
/// with the policy that meets them at the highest rate of all.
std::string highest_sentence(const LoadPlan& plan) {
  if (!has_targets(plan) || plan.best.size() < 2) return "";
  const LoadPolicy* best = nullptr;
  for (const LoadPolicy& policy : plan.policies) {
    if (policy.highest && (best == nullptr || policy.highest->estimate > best->highest->estimate))
      best = &policy;
  }
  if (best == nullptr)
    return fmt::format("At no rate do {:.4g}% of requests meet the SLOs.\n", plan.percentile);
  const auto up_to = [](const LoadPolicy& policy) {
    return fmt::format("up to {} requests per second with {}", interval_text(*policy.highest), policy.name);
  };
  const LoadPolicy* const own =
      plan.recommended.empty() ? nullptr : find_named(plan.policies, plan.recommended.back().policy);
  const bool other = own != nullptr && own != best && own->highest;
  return fmt::format("{:.4g}% of requests meet the SLOs {}{}.\n", plan.percentile,
                     other ? up_to(*own) + ", " : "", up_to(*best));
}

std::string findings(const LoadPlan& plan) {
  std::string out;
  for (const LoadAdvice& advice : plan.recommended) out += advice_sentence(plan, advice);
  return out + state_sentence(plan) + highest_sentence(plan) + limit_sentence(plan);
}

Table rate_table(const LoadPlan& plan) {
  const std::string p = fmt::format("p{:g}", plan.percentile);
  std::vector<std::string> names{"latency mean", "TTFT " + p, "TPOT " + p, "running"};
  Table table = number_table(
      plan, "rates", fmt::format("The recommended policy, within {:g}% of the fastest", 100 * kept_loss),
      {"requests per second", "policy"}, names);
  table.columns.emplace_back("plain latency");
  bool close = false;
  for (std::size_t r = 0; r < plan.best.size(); ++r) {
    const LoadChoice& choice = plan.best[r];
    const LoadPolicy* const policy = recommended_at(plan, choice.rate);
    const LoadPoint& plain = plan.policies.front().points[r];
    const auto& others = choice.not_told_apart;
    const bool like_others =
        policy != nullptr &&
        (policy->name == choice.policy ? !others.empty()
                                       : std::ranges::find(others, policy->name) != others.end());
    close = close || like_others;
    std::vector<Cell>& cells = table.rows.emplace_back(1, short_cell(choice.rate));
    cells.push_back(text_cell(policy == nullptr ? "none" : policy->name + (like_others ? " *" : "")));
    add_numbers(cells, policy == nullptr ? plain : policy->points[r], names);
    add_numbers(cells, plain, {"latency mean"});
  }
  table.note = number_note(plan) + " Running: requests in a step, on average.";
  if (close) table.note += " *: these runs cannot tell it from others; --json names them.";
  return table;
}

Table highest_table(const LoadPlan& plan) {
  Table table{"highest",
              fmt::format("The highest rate at which {:.4g}% of requests meet the SLOs", plan.percentile),
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

Table layout_table(const LoadPlan& plan) {
  Table table{
      "layouts",
      "Layouts of the devices, each with its recommended policies",
      {"layout", "capacity", "rates served", fmt::format("latency at {:.4g}/s", plan.best.front().rate)}};
  const bool several = plan.best.size() > 1 && !plan.recommended.empty();
  if (several) table.columns.push_back(fmt::format("latency at {:.4g}/s", plan.recommended.back().to));
  for (const LoadLayout& one : plan.layouts) {
    std::vector<Cell>& cells = table.rows.emplace_back();
    cells = {text_cell((one.chosen ? "→ " : "") + layout_words(one))};
    if (one.fits_reason) {
      cells.push_back(text_cell("does not fit"));
      cells.resize(table.columns.size(), text_cell("–"));
      continue;
    }
    cells.insert(cells.end(), {short_cell(one.capacity), plain_count(one.served), short_cell(one.low_ms)});
    if (several) cells.push_back(short_cell(one.high_ms));
  }
  table.note = has_targets(plan) ? "Rates served: those at which the SLOs are met."
                                 : "Rates served: those at which the server keeps up.";
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
  table.columns.insert(table.columns.begin() + paired, "minus plain");
  table.note = "Capacity: requests per second of a full server. " + number_note(plan) +
               " Minus plain: the mean latency minus that of plain decoding, by the same requests.";
  for (const LoadPolicy& policy : plan.policies) {
    const LoadPoint& point = policy.points.front();
    std::vector<Cell>& cells = table.rows.emplace_back();
    cells = {text_cell((&policy == recommended_at(plan, point.rate) ? "→ " : "") + policy.name),
             short_cell(policy.capacity)};
    add_numbers(cells, point, names);
    const bool other = policy.name != "plain" && point.over_plain;
    cells.insert(cells.begin() + paired, other ? interval_cell(*point.over_plain) : text_cell("–"));
  }
  return table;
}

Table gamma_table(const LoadPlan& plan) {
  Table table{"batches", "The table by batch: best γ for the mean context", {"batch", "to", "γ"}};
  for (const BatchRange& range : plan.table)
    table.rows.push_back({plain_count(range.first), plain_count(range.last), plain_count(range.gamma)});
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
  out += head(plan);
  out += findings(plan);
  if (plan.best.size() > 1) out += rate_table(plan);
  if (plan.best.size() == 1) out += policy_table(plan);
  if (!plan.layouts.empty()) out += layout_table(plan);
  if (plan.best.size() > 1 && has_targets(plan)) out += highest_table(plan);
  if (std::ranges::find(plan.recommended, "table by batch", &LoadAdvice::policy) != plan.recommended.end())
    out += gamma_table(plan);
  out += settings_text(plan.settings);
  return out;
}

std::string load_headline(const LoadPlan& plan) {
  if (plan.fits_reason) return "It does not fit: " + *plan.fits_reason;
  return findings(plan);
}

std::vector<Figure> load_figures(const LoadPlan& plan) {
  if (plan.fits_reason) return {};
  std::vector<Figure> figures;
  if (plan.best.size() == 1) {
    Figure figure{.title = "Mean latency by policy", .y_label = "ms, arrival to last token"};
    Series points{.style = SeriesStyle::points};
    for (const LoadPolicy& policy : plan.policies) {
      if (const Interval* const found = simulated(policy.points.front(), "latency mean"))
        points.add(figure.add_category(policy.name), *found);
    }
    figure.add(std::move(points));
    return figure.series.empty() ? figures : std::vector{figure};
  }
  figures.push_back(
      over_rates(plan, "Mean latency by rate", "ms, arrival to last token", "latency mean", false));
  figures.back().log_y = true;
  const std::string p = fmt::format("p{:g}", plan.percentile);
  figures.push_back(over_rates(plan, "Time to the first token, " + p, "ms", "TTFT " + p, false));
  figures.back().log_y = true;
  figures.push_back(over_rates(plan, "Time per output token, " + p, "ms", "TPOT " + p, false));
  if (has_targets(plan))
    figures.push_back(over_rates(plan, "Requests that meet the SLOs", "share", "targets kept", true));
  return figures;
}

}  // namespace speclab
