// Surveys as JSON and as text.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "experiments/config/result_fields.hpp"
#include "experiments/prove/survey.hpp"

namespace speclab {

template <>
const Typed<ExpectedLossless>& described() {
  static const auto type =
      choice<ExpectedLossless>({{"lossless", ExpectedLossless::always},
                                {"lossless at temperature 0", ExpectedLossless::at_temperature_zero},
                                {"lossy", ExpectedLossless::never}});
  return type;
}

SPECLAB_RESULT(SurveyCounterexample, "survey_counterexample", command, tokens, probability,
               target_probability);

template <>
const Typed<SurveyRow>& described() {
  using R = SurveyRow;
  static const auto type = result_object<R>(
      "survey_row",
      {{"rule", &R::rule},
       {"expected_lossless", &R::expected},
       SPECLAB_FIELDS(R, as_expected, instances, lossless, worst_tv, mean_acceptance,
                      mean_optimal_transport_bound, branches, within_p_over_l, counterexample)});
  return type;
}

SPECLAB_RESULT(Survey, "survey", instances, seed, arithmetic, partial, rules, as_expected);

namespace {

/// A fraction that fits a line, else its value.
std::string short_fraction(const ProofNumber& number) {
  constexpr std::size_t longest = 24;
  const auto* fraction = std::get_if<std::string>(&number);
  if (fraction != nullptr && fraction->size() <= longest) return *fraction;
  return fmt::format("{:.12g}", as_double(number));
}

/// What stands at the end of a row that a reader should look at twice.
const char* remark(const SurveyRow& row) {
  if (!row.as_expected) return "   NOT LOSSLESS";
  return row.expected == ExpectedLossless::never && !row.counterexample ? "   not refuted" : "";
}

}  // namespace

std::string survey_text(const Survey& survey) {
  std::string out = fmt::format("{:<34}{:>14}  {:<10}{:>12}{:>10}{:>12}\n", "rule", "lossless", "worst TV",
                                "acceptance", "bound", "branches");
  std::string bounds;
  std::string refuted;
  for (const SurveyRow& row : survey.rules) {
    out += fmt::format("{:<34}{:>6} of {:<5}  {:<10.4g}{:>12.4f}{:>10.4f}{:>12}{}\n", row.rule, row.lossless,
                       row.instances, as_double(row.worst_tv), row.mean_acceptance,
                       row.mean_optimal_transport_bound, row.branches, remark(row));
    if (row.within_p_over_l) {
      bounds += fmt::format("{:<34}{:>6} of {}\n", row.rule, *row.within_p_over_l, row.instances);
    }
    if (const auto& counter = row.counterexample) {
      refuted += fmt::format("{}:\n  {}\n  tokens [{}]: P = {} instead of {}\n", row.rule, counter->command,
                             fmt::join(counter->tokens, ","), short_fraction(counter->probability),
                             short_fraction(counter->target_probability));
    }
  }
  out += "\nFirst token's probability at most p/l:\n" + bounds;
  return out + "\nWhere each lossy rule is furthest from the target:\n" + refuted;
}

}  // namespace speclab
