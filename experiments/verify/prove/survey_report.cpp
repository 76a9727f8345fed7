// Writes surveys as JSON and as text.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "experiments/base/format/result_fields.hpp"
#include "experiments/base/page/cells.hpp"
#include "experiments/verify/prove/survey.hpp"

namespace speclab {

SPECLAB_CHOICE(ExpectedLossless, {"lossless", ExpectedLossless::always},
               {"lossless at temperature 0", ExpectedLossless::at_temperature_zero},
               {"lossy", ExpectedLossless::never});

SPECLAB_RESULT(SurveyCounterexample, "survey_counterexample", command, tokens, probability,
               target_probability);

SPECLAB_RESULT(OptimumShare, "optimum_share", proved, attained, above, mean, least, most, command);

SPECLAB_OBJECT(SurveyRow, "survey_row", {"rule", &SurveyRow::rule},
               {"expected_lossless", &SurveyRow::expected},
               SPECLAB_FIELDS(SurveyRow, as_expected, instances, lossless, worst_tv, mean_tv, mean_acceptance,
                              mean_optimal_transport_bound, branches, optimum, counterexample));

SPECLAB_RESULT(Survey, "survey", instances, seed, arithmetic, partial, rules, as_expected);

namespace {

/// Returns a remark about a result that needs the reader's attention.
Cell remark(const SurveyRow& row) {
  if (!row.as_expected) return {"NOT LOSSLESS", {}, "bad"};
  return text_cell(row.expected == ExpectedLossless::never && !row.counterexample ? "not refuted" : "");
}

Cell share_cell(std::uint64_t count, std::uint64_t instances) {
  return {fmt::format("{} of {}", count, instances), static_cast<double>(count)};
}

Cell rounded_cell(double value) { return {fmt::format("{:.4f}", value), value}; }

/// Returns the mean total variation; "0", without digits, for a rule that is lossless on every instance,
/// since it is proved.
Cell tv_cell(const SurveyRow& row) {
  if (row.lossless == row.instances) return {"0", 0.0};
  return {fmt::format("{:.4f}", row.mean_tv), row.mean_tv};
}

}  // namespace

Listing survey_text(const Survey& survey) {
  Table rules{"rules",
              "Rules over random instances",
              {"rule", "lossless", "worst TV", "acceptance", "bound", "branches", "remark"}};
  Table optimum{
      "optimum",
      "Tokens of a round, compared with the most that any lossless scheme emits",
      {"rule", "mean TV", "mean share", "least share", "most share", "attained", "above", "proved"}};
  std::string farthest;
  std::string refuted;
  for (const SurveyRow& row : survey.rules) {
    const double worst = as_double(row.worst_tv);
    rules.rows.push_back({text_cell(row.rule),
                          share_cell(row.lossless, row.instances),
                          {fmt::format("{:.4g}", worst), worst},
                          rounded_cell(row.mean_acceptance),
                          rounded_cell(row.mean_optimal_transport_bound),
                          count_cell(row.branches),
                          remark(row)});
    if (const auto& share = row.optimum) {
      optimum.rows.push_back({text_cell(row.rule), tv_cell(row), rounded_cell(share->mean),
                              rounded_cell(share->least), rounded_cell(share->most),
                              count_cell(share->attained), count_cell(share->above),
                              share_cell(share->proved, row.instances)});
      if (!share->command.empty()) farthest += fmt::format("{}:\n  {}\n", row.rule, share->command);
    }
    if (const auto& counter = row.counterexample) {
      refuted += fmt::format("{}:\n  {}\n  tokens [{}]: P = {} instead of {}\n", row.rule, counter->command,
                             fmt::join(counter->tokens, ","), short_text(counter->probability, 12),
                             short_text(counter->target_probability, 12));
    }
  }
  Listing out;
  out += std::move(rules);
  if (!optimum.rows.empty()) out += std::move(optimum);
  if (!farthest.empty())
    out += "\nThe instance with the largest share of each rule (if above 1), or else with the smallest:\n" +
           farthest;
  out += "\nThe instance where each lossy rule is furthest from the target:\n" + refuted;
  return out;
}

}  // namespace speclab
