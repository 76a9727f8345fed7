#include "sim/policies/fixed.hpp"
#include "experiments/catalog/policies/policy_kind.hpp"

namespace speclab {

PolicyKind fixed_policy() {
  struct P {
    std::int32_t gamma = 0;
  };
  return kind_entry<PolicyKind, P>(
      "fixed", "The same number of drafted tokens every round.",
      {required(integer_field("gamma", &P::gamma, 0, max_tokens_drafted, "Tokens."))},
      [](const P& own, const auto&...) { return FixedPolicy(own.gamma); });
}

}  // namespace speclab
