#include "core/rules/match.hpp"
#include "experiments/catalog/rules/rule_entry.hpp"

namespace speclab {

RuleKind match_rule() {
  RuleKind kind = rule_kind<MatchRule>(
      "match",
      "Draw the target's token independently of the draft; accept drafted tokens that agree. Lossless unless a threshold is below 1.",
      ExpectedLossless::always,
      {field("threshold_single", &MatchRule::threshold_single, number(0, 1),
             "Accepts if p(x) is at least this (SGLang: speculative_accept_threshold_single)."),
       field("threshold_acc", &MatchRule::threshold_acc, number_above(0, 1),
             "Else accepts with min(1, p(x) / this) (SGLang: speculative_accept_threshold_acc).")});
  kind.lossless_by_parameters = [](const SelectedKind& selected) {
    const auto& rule = selected.as<MatchRule>();
    return rule.threshold_single == 1 && rule.threshold_acc == 1;
  };
  return kind;
}

}  // namespace speclab
