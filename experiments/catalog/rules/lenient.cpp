#include "core/rules/lenience.hpp"
#include "experiments/catalog/rules/rule_entry.hpp"

namespace speclab {

RuleKind lenient_rule() {
  const std::initializer_list<std::pair<std::string_view, Residual>> residuals = {
      {"target_minus_draft", Residual::target_minus_draft},
      {"literal", Residual::literal},
      {"target", Residual::target}};
  RuleKind kind = rule_kind<LenienceRule>(
      "lenient", "A.5 at temperature > 0: accept with min(1, p/(l q)). Lossy for l < 1.",
      ExpectedLossless::never,
      {field("lenience", &LenienceRule::lenience, number_above(0, 1), "l in (0, 1]."),
       field("residual", &LenienceRule::residual, choice<Residual>(residuals),
             "Which reading of the paper's residual.")});
  // At l = 1 two of the residuals make the rule equal to token verification.
  kind.lossless_by_parameters = [](const SelectedKind& selected) {
    const auto& rule = selected.as<LenienceRule>();
    return rule.lenience == 1 && rule.residual != Residual::target;
  };
  kind.surveyed.clear();
  for (const auto& [name, residual] : residuals) {
    constexpr double half = 0.5;
    SurveyedRule& one = kind.surveyed.emplace_back(
        surveyed_rule("lenient l=0.5 " + std::string(name), LenienceRule(half, residual)));
    one.lenience = half;
  }
  return kind;
}

}  // namespace speclab
