// Surveys as JSON and as text.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "experiments/config/result_fields.hpp"
#include "experiments/prove/proof_number.hpp"
#include "experiments/prove/survey.hpp"

namespace speclab {

namespace {

const Typed<SurveyCounterexample>& counterexample_type() {
  using C = SurveyCounterexample;
  static const auto type = result_object<C>(
      "survey_counterexample", {{"command", &C::command},
                                {"tokens", &C::tokens, integer<Token>(0, 1 << 30)},
                                {"probability", &C::probability, proof_number_type()},
                                {"target_probability", &C::target_probability, proof_number_type()}});
  return type;
}

const Typed<SurveyRow>& row_type() {
  using R = SurveyRow;
  const auto expected =
      choice<ExpectedLossless>({{"lossless", ExpectedLossless::always},
                                {"lossless at temperature 0", ExpectedLossless::at_temperature_zero},
                                {"lossy", ExpectedLossless::never}});
  static const auto type =
      result_object<R>("survey_row", {{"rule", &R::rule},
                                      {"expected_lossless", &R::expected, expected},
                                      {"as_expected", &R::as_expected},
                                      {"instances", &R::instances},
                                      {"lossless", &R::lossless},
                                      {"worst_tv", &R::worst_tv, proof_number_type()},
                                      {"mean_acceptance", &R::mean_acceptance},
                                      {"mean_optimal_transport_bound", &R::mean_optimal_transport_bound},
                                      {"branches", &R::branches},
                                      {"within_p_over_l", &R::within_p_over_l},
                                      {"counterexample", &R::counterexample, counterexample_type()}});
  return type;
}

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

const Typed<Survey>& survey_type() {
  using S = Survey;
  const auto arithmetic =
      choice<Arithmetic>({{"double", Arithmetic::floating_point}, {"rational", Arithmetic::rational}});
  static const auto type = result_object<S>("survey", {{"instances", &S::instances},
                                                       {"seed", &S::seed},
                                                       {"arithmetic", &S::arithmetic, arithmetic},
                                                       {"partial", &S::partial},
                                                       {"rules", &S::rules, row_type()},
                                                       {"as_expected", &S::as_expected}});
  return type;
}

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
