#include "sim/policies/specdec_pp.hpp"
#include "experiments/catalog/policies/policy_kind.hpp"

namespace speclab {

PolicyKind specdec_pp_policy() {
  struct P {
    double risk = 0.7;
    std::int32_t most = 20;
  };
  return kind_entry<PolicyKind, P>(
      "specdec++",
      "SpecDec++: drafts while the predicted probability of a rejection so far stays below a risk.",
      {field("risk", &P::risk, number(0, 1), "Drafting stops above this probability."), max_field<P>()},
      [](const P& own, const auto&...) { return SpecDecPpPolicy(own.risk, own.most); });
}

}  // namespace speclab
