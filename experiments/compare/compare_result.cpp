#include "experiments/compare/compare_result.hpp"

#include "experiments/config/result_fields.hpp"
#include "experiments/run/result.hpp"

namespace speclab {

SPECLAB_RESULT(RunNumbers, "numbers", alpha_examined, alpha_drafted, drafted_per_round,
               tokens_per_target_step, speedup);

template <>
const Typed<GammaResult>& described() {
  using Own = GammaResult;
  static const auto type = result_object<Own>(
      "gamma", {}, joined({ResultField<Own>("gamma", &Own::gamma)}, inherited<Own>(described<RunNumbers>())));
  return type;
}

template <>
const Typed<PolicyResult>& described() {
  using Own = PolicyResult;
  static const auto type =
      result_object<Own>("policy", {SPECLAB_FIELDS(Own, gain, speedup_drafting_free)},
                         joined({ResultField<Own>("name", &Own::name), ResultField<Own>("kind", &Own::kind)},
                                inherited<Own>(described<RunNumbers>())));
  return type;
}

template <>
const Typed<CompareResult>& described() {
  using Own = CompareResult;
  static const auto type =
      result_object<Own>("comparison", {sparse("unsupported_reason", &Own::unsupported_reason),
                                        sparse("sequences", &Own::sequences),
                                        {"proposes", &Own::proposes},
                                        sparse("best_gamma", &Own::best_gamma),
                                        sparse("gammas", &Own::gammas),
                                        sparse("policies", &Own::policies)});
  return type;
}

}  // namespace speclab
