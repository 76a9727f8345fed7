// The policy "heuristic".
#include "sim/policies/heuristic.hpp"
#include "experiments/catalog/policies/policy_kind.hpp"

namespace speclab {

namespace {

struct HeuristicParameters {
  std::int32_t start = 5;
  std::int32_t most = 20;
};

}  // namespace

PolicyKind heuristic_policy() {
  return kind_entry<PolicyKind, HeuristicParameters>(
      "heuristic", "Two more after a round that accepted everything, else one fewer (Hugging Face).",
      {integer_field("start", &HeuristicParameters::start, 1, max_tokens_drafted,
                     "Tokens in the first round."),
       max_field<HeuristicParameters>()},
      [](const HeuristicParameters& own, const std::string&, const PolicyRequest&) {
        return HeuristicPolicy(own.start, own.most);
      });
}

}  // namespace speclab
