// The policy "upper-bound".
#include "sim/policies/upper_bound.hpp"
#include "experiments/catalog/policies/policy_kind.hpp"

namespace speclab {

namespace {

struct Parameters {
  std::int32_t most = 32;
};

}  // namespace

const PolicyKind& upper_bound_policy() {
  static const PolicyKind kind = [] {
    PolicyKind made = policy_kind<Parameters>(
        "upper-bound", "The bound on all policies: drafts exactly what will be accepted. No program can.",
        {most_field<&Parameters::most>()},
        [](const Parameters& own, const PolicyRequest&) { return UpperBoundPolicy(own.most); });
    made.aliases = {"oracle"};
    return made;
  }();
  return kind;
}

}  // namespace speclab
