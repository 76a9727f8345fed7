#include "sim/policies/adaedl.hpp"
#include "experiments/catalog/policies/policy_kind.hpp"

namespace speclab {

PolicyKind adaedl_policy() {
  struct P {
    double kappa = 0.2;
    double least = 0.3;
    std::int32_t most = 20;
  };
  return kind_entry<PolicyKind, P>(
      "adaedl", "AdaEDL: drafts while 1 - sqrt(kappa H(draft)) stays above a bound.",
      {with_unit(field("kappa", &P::kappa, number(0, 100), "Factor of the entropy."), "1/nat"),
       field("least", &P::least, number(0, 1), "Drafting stops below this bound."), max_field<P>()},
      [](const P& own, const auto&...) { return AdaEdlPolicy(own.kappa, own.least, own.most); });
}

}  // namespace speclab
