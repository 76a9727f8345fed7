// The policy "bandit".
#include "sim/policies/bandit.hpp"
#include "experiments/catalog/policies/policy_kind.hpp"

namespace speclab {

namespace {

struct BanditParameters {
  double width = 0.2;
  std::int32_t most = 10;
};

}  // namespace

PolicyKind bandit_policy() {
  return kind_entry<PolicyKind, BanditParameters>(
      "bandit", "Upper confidence bounds: every gamma is an arm whose reward is tokens per time.",
      {field("width", &BanditParameters::width, number(0, 100),
             "Width of the bounds, as a multiple of the largest reward; UCB1 has 1.414."),
       max_field<BanditParameters>()},
      [](const BanditParameters& own, const std::string&, const PolicyRequest& request) {
        return BanditPolicy(request.round_times(own.most), own.most, own.width);
      });
}

}  // namespace speclab
