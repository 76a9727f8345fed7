#include "experiments/compare/compare_result.hpp"

#include "experiments/config/result_fields.hpp"
#include "experiments/run/result.hpp"

namespace speclab {

namespace {

const Typed<RunNumbers>& run_numbers_type() {
  using Own = RunNumbers;
  const auto& interval = interval_type();
  static const auto type =
      result_object<Own>("numbers", {{"alpha_examined", &Own::alpha_examined, interval},
                                     {"alpha_drafted", &Own::alpha_drafted, interval},
                                     {"drafted_per_round", &Own::drafted_per_round, interval},
                                     {"tokens_per_target_step", &Own::tokens_per_target_step, interval},
                                     {"speedup", &Own::speedup, interval}});
  return type;
}

const Typed<GammaResult>& gamma_result_type() {
  static const auto type =
      result_object<GammaResult>("gamma", {},
                                 joined({ResultField<GammaResult>("gamma", &GammaResult::gamma)},
                                        inherited<GammaResult>(run_numbers_type())));
  return type;
}

const Typed<PolicyResult>& policy_result_type() {
  using Own = PolicyResult;
  static const auto type =
      result_object<Own>("policy",
                         {{"gain", &Own::gain, interval_type()},
                          {"speedup_drafting_free", &Own::speedup_drafting_free, interval_type()}},
                         joined({ResultField<Own>("name", &Own::name), ResultField<Own>("kind", &Own::kind)},
                                inherited<Own>(run_numbers_type())));
  return type;
}

}  // namespace

const Typed<CompareResult>& compare_result_type() {
  using Own = CompareResult;
  static const auto type =
      result_object<Own>("comparison", {sparse("unsupported_reason", &Own::unsupported_reason),
                                        sparse("sequences", &Own::sequences),
                                        {"proposes", &Own::proposes, interval_type()},
                                        sparse("best_gamma", &Own::best_gamma),
                                        sparse("gammas", &Own::gammas, gamma_result_type()),
                                        sparse("policies", &Own::policies, policy_result_type())});
  return type;
}

}  // namespace speclab
