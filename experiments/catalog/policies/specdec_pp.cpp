// The policy "specdec++".
#include "sim/policies/specdec_pp.hpp"
#include "experiments/catalog/policies/policy_kind.hpp"

namespace speclab {

namespace {

struct Parameters {
  double risk = 0.7;
  std::int32_t most = 20;
};

}  // namespace

const PolicyKind& specdec_pp_policy() {
  static const PolicyKind kind = [] {
    PolicyKind made = policy_kind<Parameters>(
        "specdec++",
        "SpecDec++: goes on while the predicted probability of a rejection so far stays below a risk.",
        {field<&Parameters::risk>("risk", number(0, 1), "Drafting stops above this probability."),
         most_field<&Parameters::most>()},
        [](const Parameters& own, const PolicyRequest&) { return SpecDecPpPolicy(own.risk, own.most); });
    made.aliases = {"product"};
    return made;
  }();
  return kind;
}

}  // namespace speclab
