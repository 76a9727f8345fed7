// The policy "goodput".
#include "sim/policies/goodput.hpp"
#include "experiments/catalog/policies/policy_kind.hpp"

namespace speclab {

namespace {

struct GoodputParameters {
  std::int32_t most = 20;
};

}  // namespace

PolicyKind goodput_policy() {
  return kind_entry<PolicyKind, GoodputParameters>(
      "goodput",
      "The gamma with the most expected tokens per time, from the acceptance rates by position so far.",
      {max_field<GoodputParameters>()},
      [](const GoodputParameters& own, const std::string&, const PolicyRequest& request) {
        return GoodputPolicy(request.round_times(own.most), own.most);
      });
}

}  // namespace speclab
