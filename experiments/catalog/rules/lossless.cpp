// Rules that verify one draft and are lossless, greedy at temperature 0 only.
#include "core/rules/block.hpp"
#include "core/rules/greedy.hpp"
#include "core/rules/gumbel.hpp"
#include "core/rules/match.hpp"
#include "core/rules/rejection.hpp"
#include "core/rules/scheduled.hpp"
#include "core/rules/token.hpp"
#include "experiments/catalog/rules/rule_entry.hpp"

namespace speclab {

RuleKind token_rule() {
  return rule_kind<TokenRule>("token",
                              "Algorithm 1: accept with min(1, p/q), else sample norm((p-q)+). Lossless.",
                              ExpectedLossless::always);
}

RuleKind match_rule() {
  return rule_kind<MatchRule>(
      "match",
      "Draw the target's token independently of the draft; accept drafted tokens that agree. Lossless unless a threshold is below 1.",
      [](const MatchRule& rule) { return rule.threshold_single == 1 && rule.threshold_acc == 1; },
      {field("threshold_single", &MatchRule::threshold_single, number(0, 1),
             "Accepts if p(x) is at least this (SGLang: speculative_accept_threshold_single)."),
       field("threshold_acc", &MatchRule::threshold_acc, number_above(0, 1),
             "Else accepts with min(1, p(x) / this) (SGLang: speculative_accept_threshold_acc).")});
}

RuleKind gumbel_rule() {
  return rule_kind<GumbelRule>("gumbel",
                               "Target and draft share Gumbel noise; accept where they agree. Lossless.",
                               ExpectedLossless::always);
}

RuleKind rejection_rule() {
  return rule_kind<RejectionRule>("rejection",
                                  "A.2: accept with p/(M q), M = max p/q, else sample p afresh. Lossless.",
                                  ExpectedLossless::always);
}

RuleKind greedy_rule() {
  return rule_kind<GreedyRule>("greedy",
                               "Accept iff the token is the target's argmax. Lossless at temperature 0.",
                               ExpectedLossless::at_temperature_zero);
}

RuleKind block_rule() {
  return rule_kind<BlockRule>(
      "block", "Block verification: the drafted tokens are verified together. Lossless, never below token.",
      ExpectedLossless::always);
}

RuleKind scheduled_rule() {
  RuleKind kind = rule_kind<ScheduledRule>(
      "scheduled",
      "Verifies drafted tokens while their survival, known before each token is drawn, is high enough. Lossless.",
      ExpectedLossless::always,
      {field("survival", &ScheduledRule::survival, number(0, 1),
             "Smallest product of the draft's largest probabilities up to a verified token."),
       field("verification", &ScheduledRule::as_block, choice<bool>({{"token", false}, {"block", true}}),
             "The rule for that prefix.")});
  const ScheduledRule token;
  kind.surveyed = {surveyed_rule("scheduled token", token),
                   surveyed_rule("scheduled block", ScheduledRule(token.survival, true))};
  return kind;
}

}  // namespace speclab
