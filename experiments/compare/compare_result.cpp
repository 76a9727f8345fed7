#include "experiments/compare/compare_result.hpp"

#include "experiments/run/result.hpp"

namespace speclab {

namespace {

const Typed<RunNumbers>& run_numbers_type() {
  using Own = RunNumbers;
  const auto& interval = interval_type();
  static const auto type = object<Own>(
      "numbers", "Numbers of one run of a drafter on a task.",
      {field<&Own::alpha_examined>("alpha_examined", interval, "Accepted tokens over examined ones."),
       field<&Own::alpha_drafted>("alpha_drafted", interval, "Accepted tokens over drafted ones."),
       field<&Own::drafted_per_round>("drafted_per_round", interval, "Drafted tokens a round."),
       field<&Own::tokens_per_target_step>("tokens_per_target_step", interval,
                                           "Emitted tokens per target step."),
       field<&Own::speedup>("speedup", interval, "Over plain decoding, in time.")});
  return type;
}

const Typed<GammaResult>& gamma_result_type() {
  static const auto type = object<GammaResult>(
      "gamma", "Decoding with one gamma in every round.",
      joined({field<&GammaResult::gamma>("gamma", count<std::int32_t>(), "The fixed gamma.")},
             inherited<GammaResult>(run_numbers_type())));
  return type;
}

const Typed<PolicyResult>& policy_result_type() {
  using Own = PolicyResult;
  static const auto type = object<Own>(
      "policy", "Decoding by one gamma policy.",
      joined(joined({field<&Own::name>("name", text(), "The policy's name."),
                     field<&Own::kind>("kind", text(), "Its kind.")},
                    inherited<Own>(run_numbers_type())),
             {field<&Own::gain>("gain", interval_type(),
                                "Speedup less that of the best fixed gamma, on the same random numbers."),
              field<&Own::speedup_drafting_free>("speedup_drafting_free", interval_type(),
                                                 "Of the upper bound: without the time of drafting.")}));
  return type;
}

}  // namespace

const Typed<CompareResult>& compare_result_type() {
  using Own = CompareResult;
  static const auto type = object<Own>(
      "comparison", "One drafter on one task.",
      {sparse_field<&Own::unsupported_reason>("unsupported_reason", text(),
                                              "Why the drafter cannot draft for the task."),
       sparse_field<&Own::sequences>("sequences", count<std::uint64_t>(), "Decoded sequences."),
       field<&Own::proposes>("proposes", interval_type(),
                             "Share of contexts in which the drafter proposes something."),
       sparse_field<&Own::best_gamma>("best_gamma", count<std::int32_t>(), "The fastest fixed gamma."),
       sparse_field<&Own::gammas>("gammas", list(gamma_result_type()), "By fixed gamma."),
       sparse_field<&Own::policies>("policies", list(policy_result_type()), "By policy.")});
  return type;
}

}  // namespace speclab
