// The policy "upper-bound".
#include "sim/policies/upper_bound.hpp"
#include "experiments/catalog/policies/policy_kind.hpp"

namespace speclab {

namespace {

struct UpperBoundParameters {
  std::int32_t most = 32;
};

}  // namespace

PolicyKind upper_bound_policy() {
  return formerly(
      kind_entry<PolicyKind, UpperBoundParameters>(
          "upper-bound",
          "An upper bound for all policies: drafts exactly the tokens that will be accepted, which no real policy knows.",
          {max_field<UpperBoundParameters>()},
          [](const UpperBoundParameters& own, const std::string&, const PolicyRequest&) {
            return UpperBoundPolicy(own.most);
          }),
      {"oracle"});
}

}  // namespace speclab
