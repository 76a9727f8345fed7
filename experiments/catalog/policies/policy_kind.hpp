// The gamma policies that the experiment "compare" can name: one file a policy, one line in all_policies.cpp.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "experiments/config/family.hpp"
#include "sim/policies/any_policy.hpp"

namespace speclab {

/// What a policy may need beyond its own parameters: the time of a round that drafts so many tokens, in
/// target runs.
struct PolicyRequest {
  std::function<double(std::int32_t drafted)> round_time;
};

struct PolicyKind : KindInfo {
  /// Keys that every policy has.
  struct Common {
    std::string label;  ///< key "name"; the kind when empty
  };
  std::function<AnyPolicy(const SelectedKind& selected, const PolicyRequest& request)> make;
};

using PolicyConfig = Selected<PolicyKind>;

Family<PolicyKind>& policy_family();

template <class P, class Make>
PolicyKind policy_kind(std::string name, std::string sentence, std::vector<Field> fields, Make make) {
  PolicyKind kind;
  kind.parameters = object<P>(name, sentence, std::move(fields)).type;
  kind.name = std::move(name);
  kind.sentence = std::move(sentence);
  kind.make = [make](const SelectedKind& selected, const PolicyRequest& request) {
    return make(*static_cast<const P*>(selected.parameters.get()), selected.path, request);
  };
  return kind;
}

}  // namespace speclab
