// Rules that verify one draft and change the distribution.
#include "core/rules/cascade.hpp"
#include "core/rules/deferral.hpp"
#include "core/rules/ensemble.hpp"
#include "core/rules/fly.hpp"
#include "core/rules/fuzzy.hpp"
#include "core/rules/hsd.hpp"
#include "core/rules/lenience.hpp"
#include "core/rules/margin.hpp"
#include "core/rules/sigmoid.hpp"
#include "core/rules/substitute.hpp"
#include "core/rules/tolerant.hpp"
#include "core/rules/typical.hpp"
#include "experiments/base/format/config_error.hpp"
#include "experiments/catalog/rules/rule_entry.hpp"

namespace speclab {

RuleKind hsd_rule() {
  RuleKind kind = rule_kind<HsdRule>(
      "hsd",
      "Hierarchical verification: block verification whose last token is accepted by the uncapped ratio. Lossy.",
      ExpectedLossless::never,
      {field("reading", &HsdRule::reading,
             choice<HsdReading>({{"program", HsdReading::program}, {"pseudocode", HsdReading::pseudocode}}),
             "The authors' program or their pseudocode.")});
  kind.surveyed.push_back(surveyed_rule("hsd pseudocode", HsdRule(HsdReading::pseudocode)));
  return kind;
}

RuleKind lenient_rule() {
  const std::initializer_list<std::pair<std::string_view, Residual>> residuals = {
      {"target_minus_draft", Residual::target_minus_draft},
      {"literal", Residual::literal},
      {"target", Residual::target}};
  RuleKind kind = rule_kind<LenienceRule>(
      "lenient",
      "A.5 at temperature > 0: accept with min(1, p/(l q)). Lossy for l < 1, and with the residual \"target\" for every l.",
      // At l = 1 two of the residuals make the rule equal to token verification.
      [](const LenienceRule& rule) { return rule.lenience == 1 && rule.residual != Residual::target; },
      {field("lenience", &LenienceRule::lenience, number_above(0, 1), "l in (0, 1]."),
       field("residual", &LenienceRule::residual, choice<Residual>(residuals),
             "Which reading of the paper's residual.")});
  kind.expected_lossless = ExpectedLossless::never;
  kind.surveyed.clear();
  for (const auto& [name, residual] : residuals)
    kind.surveyed.push_back(surveyed_rule("lenient l=0.5 " + std::string(name), LenienceRule(0.5, residual)));
  return kind;
}

RuleKind lenient_greedy_rule() {
  using Rule = GreedyLenienceRule;
  RuleKind kind = rule_kind<Rule>(
      "lenient-greedy",
      "A.5 at temperature 0, over the target's unadjusted row: accept iff p(x) >= l max p. Lossy.",
      ExpectedLossless::never,
      {field("lenience", &Rule::lenience, number(0, 1), "l; 0 leaves the decision to delta and top_k."),
       field("delta", &Rule::delta, number(0, 1),
             "Also requires p(x) >= max p - delta (relaxed_delta of TensorRT-LLM, there with lenience 0)."),
       integer_field(
           "top_k", &Rule::top_k, 0, 1 << 20,
           "Also requires one of the target's likeliest tokens, as many as this (relaxed_topk of TensorRT-LLM); 0: any.")});
  kind.surveyed = {surveyed_rule("lenient-greedy l=0.5", Rule{0.5}),
                   surveyed_rule("lenient-greedy delta 0.2 top 2", Rule(0, 0.2, 2))};
  return kind;
}

RuleKind typical_rule() {
  return rule_kind<TypicalRule>(
      "typical", "Typical acceptance: accept iff p(x) > min(epsilon, delta exp(-H(p))). Lossy.",
      ExpectedLossless::never,
      {field("epsilon", &TypicalRule::epsilon, number(0, 1), "Hard threshold (posterior_threshold of vLLM)."),
       field("delta", &TypicalRule::delta, number(0, 1000),
             "Threshold relative to exp(-entropy) (posterior_alpha of vLLM).")});
}

RuleKind cascade_rule() {
  return rule_kind<CascadeRule>(
      "cascade", "Speculative cascade: the draft is accepted where p(x) >= (1-slack) max p. Lossy.",
      ExpectedLossless::never,
      {field("slack", &CascadeRule::slack, number(0, 1), "How far below the target's best a token may be.")});
}

RuleKind deferral_rule() {
  RuleKind kind = rule_kind<DeferralRule>(
      "deferral", "Speculative cascade: uses the draft's row unless the cascade defers to the target. Lossy.",
      ExpectedLossless::never,
      {field("deferral", &DeferralRule::deferral,
             choice<Deferral>({{"chow", Deferral::chow},
                               {"difference", Deferral::difference},
                               {"optimal", Deferral::optimal}}),
             "When the cascade defers."),
       field("alpha", &DeferralRule::alpha, number(0, 1), "Price of a deferral.")});
  const DeferralRule optimal;
  kind.surveyed = {surveyed_rule("deferral chow", DeferralRule(Deferral::chow, optimal.alpha)),
                   surveyed_rule("deferral difference", DeferralRule(Deferral::difference, optimal.alpha)),
                   surveyed_rule("deferral optimal", optimal)};
  return kind;
}

RuleKind ensemble_rule() {
  return rule_kind<EnsembleRule>(
      "ensemble",
      "Token verification against w p + (1 - w) q (DIVERSED with a fixed weight). Lossy for w < 1.",
      [](const EnsembleRule& rule) { return rule.weight == 1; },
      {field("weight", &EnsembleRule::weight, number(0, 1), "w, the target's weight.")});
}

RuleKind tolerant_rule() {
  return rule_kind<TolerantRule>(
      "tolerant", "Accept with min(1, p/q + epsilon + beta (1 - max p)). Lossy where an addend is above 0.",
      [](const TolerantRule& rule) { return rule.epsilon == 0 && rule.beta == 0; },
      {field("epsilon", &TolerantRule::epsilon, number(0, 1), "Fixed addend."),
       field("beta", &TolerantRule::beta, number(0, 1),
             "Addend in proportion to the target's uncertainty (EARS).")});
}

RuleKind fuzzy_rule() {
  RuleKind kind = rule_kind<FuzzyRule>(
      "fuzzy", "Fuzzy speculative decoding: accept any token if the two rows are close. Lossy.",
      ExpectedLossless::never,
      {field("divergence", &FuzzyRule::divergence,
             choice<Nearness>({{"js", Nearness::js}, {"kl", Nearness::kl}, {"tv", Nearness::tv}}),
             "Jensen-Shannon or KL(p || q) in nats, or the total variation."),
       field("threshold", &FuzzyRule::threshold, number(0, 1000),
             "Largest divergence that counts as close.")});
  kind.surveyed = {surveyed_rule("fuzzy js 0.2", FuzzyRule{}),
                   surveyed_rule("fuzzy kl 0.5", FuzzyRule(Nearness::kl, 0.5)),
                   surveyed_rule("fuzzy tv 0.5", FuzzyRule(Nearness::tv, 0.5))};
  return kind;
}

RuleKind fly_rule() {
  RuleKind kind = rule_kind<FlyRule>(
      "fly",
      "FLy: accept a token other than the argmax if the target is unsure and agrees with the next tokens. Lossy.",
      ExpectedLossless::never,
      {field("entropy", &FlyRule::entropy, number(0, 1),
             "Smallest entropy, as a share of log V, at which the target counts as unsure."),
       integer_field("window", &FlyRule::window, 0, 64, "Number of next tokens that must be the argmax.")});
  kind.surveyed = {surveyed_rule("fly window 1", FlyRule(FlyRule{}.entropy, 1))};
  return kind;
}

RuleKind mars_rule() {
  return rule_kind<MarsRule>(
      "mars",
      "Margin-aware verification: accept the target's best token, or its second best with nearly the same logit; at temperature 0 from the target's unadjusted row. Lossy.",
      ExpectedLossless::never,
      {field("theta", &MarsRule::theta, number(0, 1),
             "Ratio of the two logits above which the second is accepted."),
       field("log_sum_exp", &MarsRule::log_sum_exp, number(-1e6, 1e6),
             "Logarithm of the sum of exp(logit), which probabilities do not determine.")});
}

RuleKind bild_rule() {
  return rule_kind<BildRule>(
      "bild",
      "Big little decoder: accept unless the draft is unsure or the target finds the token unlikely; at temperature 0 from the target's unadjusted row. Lossy.",
      ExpectedLossless::never,
      {field("fallback", &BildRule::fallback, number(0, 1),
             "The target takes over if the draft's largest probability is below this."),
       field("rollback", &BildRule::rollback, number(0, 1000),
             "Tokens with a larger -log p(x) are taken back.")});
}

RuleKind substitute_rule() {
  RuleKind kind = rule_kind<SubstituteRule>(
      "substitute",
      "Draw the target's token; if it is among the draft's likeliest, emit it and go on in the drafted text's rows. Lossy.",
      ExpectedLossless::never,
      {integer_field("top_k", &SubstituteRule::top_k, 0, 1 << 20,
                     "Number of the draft's likeliest tokens that may replace the drafted one.")});
  kind.surveyed = {surveyed_rule("substitute top 2", SubstituteRule(2))};
  return kind;
}

RuleKind sigmoid_rule() {
  return rule_kind<SigmoidRule>(
      "sigmoid",
      "Algorithm 1 on sigmoids of scaled logits instead of probabilities (Wagner et al. 2024). Lossy.",
      ExpectedLossless::never,
      {field("alpha", &SigmoidRule::alpha, number(-1e9, 1e9), "Smallest scaled logit."),
       field("beta", &SigmoidRule::beta, number(-1e9, 1e9), "Largest scaled logit.")},
      [](const SigmoidRule& rule, const std::string& path, const RuleRequest&) {
        if (rule.alpha >= rule.beta)
          throw ConfigError(path + "/beta", "{} is not above alpha = {}", rule.beta, rule.alpha);
        return rule;
      });
}

}  // namespace speclab
