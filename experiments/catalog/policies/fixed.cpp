// The policy "fixed".
#include "sim/policies/fixed.hpp"
#include "experiments/catalog/policies/policy_kind.hpp"

namespace speclab {

namespace {

struct FixedParameters {
  std::int32_t gamma = 0;
};

}  // namespace

PolicyKind fixed_policy() {
  return kind_entry<PolicyKind, FixedParameters>(
      "fixed", "The same number of drafted tokens every round.",
      {required(integer_field("gamma", &FixedParameters::gamma, 0, max_tokens_drafted, "Tokens."))},
      [](const FixedParameters& own, const std::string&, const PolicyRequest&) {
        return FixedPolicy(own.gamma);
      });
}

}  // namespace speclab
