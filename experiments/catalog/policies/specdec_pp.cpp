// The policy "specdec++".
#include "sim/policies/specdec_pp.hpp"
#include "experiments/catalog/policies/policy_kind.hpp"

namespace speclab {

namespace {

struct SpecdecPpParameters {
  double risk = 0.7;
  std::int32_t most = 20;
};

}  // namespace

PolicyKind specdec_pp_policy() {
  return formerly(
      kind_entry<PolicyKind, SpecdecPpParameters>(
          "specdec++",
          "SpecDec++: goes on while the predicted probability of a rejection so far stays below a risk.",
          {field("risk", &SpecdecPpParameters::risk, number(0, 1), "Drafting stops above this probability."),
           max_field<SpecdecPpParameters>()},
          [](const SpecdecPpParameters& own, const std::string&, const PolicyRequest&) {
            return SpecDecPpPolicy(own.risk, own.most);
          }),
      {"product"});
}

}  // namespace speclab
