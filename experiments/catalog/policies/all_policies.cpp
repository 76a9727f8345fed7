// Lists every gamma policy, one line each.
#include "experiments/catalog/policies/policy_kind.hpp"

// clang-format off
#define SPECLAB_POLICIES(ENTRY) \
  ENTRY(fixed)                  \
  ENTRY(heuristic)              \
  ENTRY(confidence)             \
  ENTRY(adaedl)                 \
  ENTRY(specdec_pp)             \
  ENTRY(goodput)                \
  ENTRY(bandit)                 \
  ENTRY(upper_bound)
// clang-format on

namespace speclab {

#define SPECLAB_DECLARE_POLICY(name) PolicyKind name##_policy();
SPECLAB_POLICIES(SPECLAB_DECLARE_POLICY)

Family<PolicyKind>& policy_family() {
  static const auto common = object<PolicyKind::Common>(
      "policy", "Keys of every policy.",
      {field("name", &PolicyKind::Common::label, text(), "Name in tables (default: the kind).")});
  static Family<PolicyKind> family("gamma policy", "Gamma policies", common.type,
                                   [](Family<PolicyKind>& all) {
#define SPECLAB_ADD_POLICY(name) all.add(name##_policy());
                                     SPECLAB_POLICIES(SPECLAB_ADD_POLICY)
                                   });
  return family;
}

RoundTimes PolicyRequest::round_times(std::int32_t most) const {
  RoundTimes times;
  for (std::int32_t drafted = 0; drafted <= most; ++drafted) times.times.push_back(round_time(drafted));
  return times;
}

const std::string& label_of(const PolicyConfig& policy) {
  return policy.label.empty() ? policy.name() : policy.label;
}

AnyPolicy make_policy(const PolicyConfig& policy, const PolicyRequest& request) {
  return policy.entry().make(policy, request);
}

}  // namespace speclab
