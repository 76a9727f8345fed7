#include "core/rules/lenience.hpp"
#include "experiments/catalog/rules/rule_entry.hpp"

namespace speclab {

RuleKind lenient_greedy_rule() {
  using Rule = GreedyLenienceRule;
  RuleKind kind = rule_kind<Rule>(
      "lenient-greedy",
      "A.5 at temperature 0, over the target's unadjusted row: accept iff p(x) >= l max p. Lossy.",
      ExpectedLossless::never,
      {field("lenience", &Rule::lenience, number(0, 1), "l; 0 leaves the decision to delta and top_k."),
       field("delta", &Rule::delta, number(0, 1),
             "Also requires p(x) >= max p - delta (relaxed_delta of TensorRT-LLM, there with lenience 0)."),
       integer_field("top_k", &Rule::top_k, 0, 1 << 20,
                     "Also requires one of the target's likeliest tokens, as many as this (relaxed_topk of "
                     "TensorRT-LLM); 0: any.")});
  kind.surveyed = {surveyed_rule("lenient-greedy l=0.5", Rule{0.5}),
                   surveyed_rule("lenient-greedy delta 0.2 top 2", Rule(0, 0.2, 2))};
  return kind;
}

}  // namespace speclab
