// Surveys as JSON and as text.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "experiments/prove/proof_number.hpp"
#include "experiments/prove/survey.hpp"

namespace speclab {

namespace {

const Typed<SurveyCounterexample>& counterexample_type() {
  using C = SurveyCounterexample;
  static const auto type = object<C>(
      "survey_counterexample", "The instance where a rule is furthest from the target.",
      {field<&C::command>("command", text(), "What proves it again."),
       field<&C::tokens>("tokens", list(integer<Token>(0, 1 << 30)), "The sequence that is furthest."),
       field<&C::probability>("probability", proof_number_type(), "Under the rule."),
       field<&C::target_probability>("target_probability", proof_number_type(), "Under plain decoding.")});
  return type;
}

const Typed<SurveyRow>& row_type() {
  using R = SurveyRow;
  const auto expected =
      choice<ExpectedLossless>({{"lossless", ExpectedLossless::always},
                                {"lossless at temperature 0", ExpectedLossless::at_temperature_zero},
                                {"lossy", ExpectedLossless::never}});
  static const auto type =
      object<R>("survey_row", "One rule on all instances.",
                {field<&R::rule>("rule", text(), "Its label."),
                 field<&R::expected>("expected_lossless", expected, "What it is held to."),
                 field<&R::as_expected>("as_expected", boolean(), "Whether every instance agrees."),
                 field<&R::instances>("instances", count<std::uint64_t>(), "Instances examined."),
                 field<&R::lossless>("lossless", count<std::uint64_t>(), "Instances where it is lossless."),
                 field<&R::worst_tv>("worst_tv", proof_number_type(), "Largest total variation."),
                 field<&R::mean_acceptance>("mean_acceptance", any_number(), "At the first position."),
                 field<&R::mean_optimal_transport_bound>("mean_optimal_transport_bound", any_number(),
                                                         "Of any lossless rule there."),
                 field<&R::branches>("branches", count<std::uint64_t>(), "Branches followed."),
                 field<&R::within_p_over_l>("within_p_over_l", count<std::uint64_t>(),
                                            "Instances where the first token's probability is at most p/l."),
                 field<&R::counterexample>("counterexample", counterexample_type(),
                                           "Of rules that are not lossless.")});
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
  static const auto type =
      object<S>("survey", "Every rule on random instances.",
                {field<&S::instances>("instances", count<std::uint64_t>(), "Of each rule."),
                 field<&S::seed>("seed", count<std::uint64_t>(), "Of the instances."),
                 field<&S::arithmetic>("arithmetic", arithmetic, "Of the proofs."),
                 field<&S::partial>("partial", boolean(), "Interrupted."),
                 field<&S::rules>("rules", list(row_type()), "One entry a rule."),
                 field<&S::as_expected>("as_expected", boolean(), "Whether every rule is as expected.")});
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
