#include "sim/policies/heuristic.hpp"
#include "experiments/catalog/policies/policy_kind.hpp"

namespace speclab {

PolicyKind heuristic_policy() {
  struct P {
    std::int32_t start = 5;
    std::int32_t most = 20;
  };
  return kind_entry<PolicyKind, P>(
      "heuristic", "Two more after a round that accepted everything, else one fewer (Hugging Face).",
      {integer_field("start", &P::start, 1, max_tokens_drafted, "Tokens in the first round."),
       max_field<P>()},
      [](const P& own, const auto&...) { return HeuristicPolicy(own.start, own.most); });
}

}  // namespace speclab
