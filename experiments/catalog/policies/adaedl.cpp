// The policy "adaedl".
#include "sim/policies/adaedl.hpp"
#include "experiments/catalog/policies/policy_kind.hpp"

namespace speclab {

namespace {

struct AdaedlParameters {
  double kappa = 0.2;
  double least = 0.3;
  std::int32_t most = 20;
};

}  // namespace

PolicyKind adaedl_policy() {
  return formerly(
      kind_entry<PolicyKind, AdaedlParameters>(
          "adaedl", "AdaEDL: goes on while 1 - sqrt(kappa H(draft)) stays above a bound.",
          {with_unit(field("kappa", &AdaedlParameters::kappa, number(0, 100), "Factor of the entropy."),
                     "1/nat"),
           field("least", &AdaedlParameters::least, number(0, 1), "Drafting stops below this bound."),
           max_field<AdaedlParameters>()},
          [](const AdaedlParameters& own, const std::string&, const PolicyRequest&) {
            return AdaEdlPolicy(own.kappa, own.least, own.most);
          }),
      {"entropy"});
}

}  // namespace speclab
