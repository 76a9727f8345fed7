#include "core/rules/tolerant.hpp"

#include "experiments/catalog/rules/rule_entry.hpp"

namespace speclab {

namespace {

struct Tolerance {
  double epsilon = 0;
  double beta = 0.2;
};

}  // namespace

RuleKind tolerant_rule() {
  RuleKind kind = rule_kind<Tolerance>(
      "tolerant", "Accept with min(1, p/q + epsilon + beta (1 - max p)). Lossy where an addend is above 0.",
      ExpectedLossless::never,
      {field("epsilon", &Tolerance::epsilon, number(0, 1), "Fixed addend."),
       field("beta", &Tolerance::beta, number(0, 1),
             "Addend in proportion to the target's uncertainty (EARS).")},
      [](const Tolerance& parameters, const std::string&, const RuleRequest&) {
        return TolerantRule(parameters.epsilon, parameters.beta);
      });
  kind.lossless_by_parameters = [](const SelectedKind& selected) {
    const auto& parameters = selected.as<Tolerance>();
    return parameters.epsilon == 0 && parameters.beta == 0;
  };
  return kind;
}

}  // namespace speclab
