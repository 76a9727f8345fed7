#include "sim/policies/bandit.hpp"
#include "experiments/catalog/policies/policy_kind.hpp"

namespace speclab {

PolicyKind bandit_policy() {
  struct P {
    double width = 0.2;
    std::int32_t most = 10;
  };
  return kind_entry<PolicyKind, P>(
      "bandit", "Upper confidence bounds: every gamma is an arm whose reward is tokens per time.",
      {field("width", &P::width, number(0, 100),
             "Width of the bounds, as a multiple of the largest reward; UCB1 has 1.414."),
       max_field<P>()},
      [](const P& own, const std::string&, const PolicyRequest& request) {
        return BanditPolicy(request.round_times(own.most), own.most, own.width);
      });
}

}  // namespace speclab
