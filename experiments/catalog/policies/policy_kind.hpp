// The gamma policies that the experiment "compare" can name. all_policies.cpp has their entries.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "experiments/base/format/family.hpp"
#include "sim/policies/any_policy.hpp"

namespace speclab {

/// Largest number of drafted tokens per round that a policy or a drafter may ask for.
inline constexpr std::int32_t max_tokens_drafted = 64;

/// Input of a policy besides its parameters: the time of a round with so many drafted tokens, in target runs.
struct PolicyRequest {
  std::function<double(std::int32_t drafted)> round_time;

  /// Returns the times of rounds with 0 to `most` drafted tokens.
  RoundTimes round_times(std::int32_t most) const;
};

struct PolicyKind : KindInfo {
  /// Keys that all policies share.
  struct Common {
    std::string label;  ///< key "name"; if empty, the kind
  };
  std::function<AnyPolicy(const SelectedKind& selected, const PolicyRequest& request)> make;
};

using PolicyConfig = Selected<PolicyKind>;

/// Returns the family of all policies; tests and other programs may add some.
Family<PolicyKind>& policy_family();

/// Returns the name of a policy in tables.
const std::string& label_of(const PolicyConfig& policy);

AnyPolicy make_policy(const PolicyConfig& policy, const PolicyRequest& request);

/// Describes the parameter "most".
template <class P>
Field max_field() {
  return integer_field("most", &P::most, 1, max_tokens_drafted, "Most tokens drafted in a round.");
}

}  // namespace speclab
