#include "sim/policies/upper_bound.hpp"
#include "experiments/catalog/policies/policy_kind.hpp"

namespace speclab {

PolicyKind upper_bound_policy() {
  struct P {
    std::int32_t most = 32;
  };
  return kind_entry<PolicyKind, P>(
      "upper-bound",
      "An upper bound for all policies: drafts exactly the tokens that will be accepted, which no real policy knows.",
      {max_field<P>()}, [](const P& own, const auto&...) { return UpperBoundPolicy(own.most); });
}

}  // namespace speclab
