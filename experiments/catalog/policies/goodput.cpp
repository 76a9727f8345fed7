#include "sim/policies/goodput.hpp"
#include "experiments/catalog/policies/policy_kind.hpp"

namespace speclab {

PolicyKind goodput_policy() {
  struct P {
    std::int32_t most = 20;
  };
  return kind_entry<PolicyKind, P>(
      "goodput",
      "The gamma with the most expected tokens per time, from the acceptance rates by position so far.",
      {max_field<P>()}, [](const P& own, const std::string&, const PolicyRequest& request) {
        return GoodputPolicy(request.round_times(own.most), own.most);
      });
}

}  // namespace speclab
