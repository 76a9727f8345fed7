// Texts, the table and the figure of `speclab plan sampling`.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "experiments/base/page/figure.hpp"
#include "serving/advisor/plan_words.hpp"
#include "serving/advisor/sampling_plan.hpp"

namespace speclab {

namespace {

bool same_setting(const SamplingRow& a, const SamplingRow& b) {
  return a.temperature == b.temperature && a.top_k == b.top_k && a.top_p == b.top_p;
}

std::string draft_words(const SamplingRow& row) {
  const std::string temperature =
      row.draft_temperature == 0 ? "argmax" : fmt::format("T' = {:.3g}", row.draft_temperature);
  return row.draft == DraftSampling::argmax        ? "argmax"
         : row.draft == DraftSampling::as_target   ? "as the target"
         : row.draft == DraftSampling::unfiltered  ? "at T, all tokens"
         : row.draft == DraftSampling::temperature ? temperature
                                                   : "best: " + temperature;
}

const char* rule_words(TextRule rule) {
  return rule == TextRule::match ? "match" : rule == TextRule::token ? "token" : "block";
}

Cell tokens_cell(const SamplingRow& row) {
  return row.tokens_per_target_step ? short_cell(row.tokens_per_target_step->estimate) : text_cell("–");
}

std::string error_note(const SamplingPlan& plan) {
  if (plan.exact) return "";
  double acceptance = 0;
  double tokens = 0;
  for (const SamplingRow& row : plan.rows) {
    acceptance = std::max(acceptance, row.acceptance.half_width());
    if (row.tokens_per_target_step) tokens = std::max(tokens, row.tokens_per_target_step->half_width());
  }
  if (!std::isfinite(acceptance)) return "Intervals need several sequences.";
  return fmt::format("Half the width of {} intervals is at most {:.2g} of α{}; --json has each.",
                     confidence_percent(plan.confidence), acceptance,
                     tokens > 0 && std::isfinite(tokens) ? fmt::format(" and {:.2g} of tokens", tokens) : "");
}

}  // namespace

/// Returns the best row under the first row's setting: by tokens or, if no text is known, by acceptance.
std::string sampling_headline(const SamplingPlan& plan) {
  const auto value = [](const SamplingRow& row) {
    return row.tokens_per_target_step ? row.tokens_per_target_step->estimate : row.acceptance.estimate;
  };
  const SamplingRow& first = plan.rows.front();
  const SamplingRow* best = &first;
  for (const SamplingRow& row : plan.rows) {
    if (same_setting(row, first) && value(row) > value(*best) * (1 + 1e-9)) best = &row;
  }
  return fmt::format(
      "At temperature {:g} {} with a draft of {} {} {}.", best->temperature, rule_words(best->rule),
      draft_words(*best),
      best->tokens_per_target_step ? "emits the most tokens per target step:" : "accepts the most:",
      short_number(value(*best)));
}

Listing sampling_text(const SamplingPlan& plan) {
  Listing out;
  out += plan_line("rows", plan.source) + plan_line("γ", std::to_string(plan.gamma));
  const auto several = [&](const auto& differs) {
    return std::any_of(plan.rows.begin(), plan.rows.end(), differs);
  };
  const bool k = several([](const SamplingRow& row) { return row.top_k != 0; });
  const bool p = several([](const SamplingRow& row) { return row.top_p != 1; });
  Table table{"sampling", "Acceptance and tokens per target step, by how the draft samples", {"T"}};
  if (k) table.columns.emplace_back("top-k");
  if (p) table.columns.emplace_back("top-p");
  for (const char* column : {"draft", "match α", "tokens", "token, block α", "token", "block"})
    table.columns.emplace_back(column);
  for (const SamplingRow& row : plan.rows) {
    // The rows of all rules for one draft follow one another, beginning with this rule.
    if (row.rule == TextRule::match) table.rows.emplace_back();
    std::vector<Cell>& cells = table.rows.back();
    if (row.rule == TextRule::match) {
      cells.push_back(short_cell(row.temperature));
      if (k) cells.push_back(row.top_k == 0 ? text_cell("all") : plain_count(row.top_k));
      if (p) cells.push_back(short_cell(row.top_p));
      cells.push_back(text_cell(draft_words(row)));
    }
    if (row.rule != TextRule::block) cells.push_back(short_cell(row.acceptance.estimate));
    cells.push_back(tokens_cell(row));
  }
  table.note = error_note(plan);
  out += std::move(table);
  if (several([](const SamplingRow& row) { return !row.tokens_per_target_step; })) {
    out +=
        "–: the recorded text was not drawn at this setting, or is shorter than a round; its contexts tell acceptance alone.\n";
  }
  for (const std::string& warning : plan.warnings) out += warning + "\n";
  return out;
}

std::vector<Figure> sampling_figures(const SamplingPlan& plan) {
  const bool tokens = std::all_of(plan.rows.begin(), plan.rows.end(), [](const SamplingRow& row) {
    return row.tokens_per_target_step.has_value();
  });
  Figure figure{
      "sampling",
      tokens ? "Tokens per target step by how the draft samples" : "Acceptance by how the draft samples",
      "how the draft samples", tokens ? "tokens per target step" : "acceptance"};
  figure.caption = fmt::format("The first setting of the table, γ = {}.", plan.gamma);
  std::map<TextRule, Series> series;
  std::map<std::string, double> places;
  for (const SamplingRow& row : plan.rows) {
    if (!same_setting(row, plan.rows.front())) continue;
    const std::string words = draft_words(row);
    if (!places.contains(words)) places[words] = figure.add_category(words);
    Series& one = series[row.rule];
    one.name = rule_words(row.rule);
    one.style = SeriesStyle::points;
    if (tokens) {
      one.add(places[words], *row.tokens_per_target_step);
    } else {
      one.add(places[words], row.acceptance);
    }
  }
  for (auto& [rule, one] : series) figure.add(std::move(one));
  return {figure};
}

}  // namespace speclab
