#include "experiments/compare/compare_result.hpp"

#include "experiments/run/result.hpp"

namespace speclab {

namespace {

template <class Run>
void add_numbers(std::vector<Field>& fields) {
  const auto& interval = interval_type();
  fields.push_back(field<&RunNumbers::alpha_examined, Run>("alpha_examined", interval,
                                                           "Accepted tokens over examined ones."));
  fields.push_back(field<&RunNumbers::alpha_drafted, Run>("alpha_drafted", interval,
                                                          "Accepted tokens over drafted ones."));
  fields.push_back(
      field<&RunNumbers::drafted_per_round, Run>("drafted_per_round", interval, "Drafted tokens a round."));
  fields.push_back(field<&RunNumbers::tokens_per_target_step, Run>("tokens_per_target_step", interval,
                                                                   "Emitted tokens per target step."));
  fields.push_back(field<&RunNumbers::speedup, Run>("speedup", interval, "Over plain decoding, in time."));
}

const Typed<GammaResult>& gamma_result_type() {
  static const auto type = [] {
    std::vector<Field> fields{field<&GammaResult::gamma>("gamma", count<std::int32_t>(), "The fixed gamma.")};
    add_numbers<GammaResult>(fields);
    return object<GammaResult>("gamma", "Decoding with one gamma in every round.", std::move(fields));
  }();
  return type;
}

const Typed<PolicyResult>& policy_result_type() {
  static const auto type = [] {
    std::vector<Field> fields{field<&PolicyResult::name>("name", text(), "The policy's name."),
                              field<&PolicyResult::kind>("kind", text(), "Its kind.")};
    add_numbers<PolicyResult>(fields);
    fields.push_back(field<&PolicyResult::gain>(
        "gain", interval_type(), "Speedup less that of the best fixed gamma, on the same random numbers."));
    fields.push_back(field<&PolicyResult::speedup_drafting_free>(
        "speedup_drafting_free", interval_type(), "Of the upper bound: without the time of drafting."));
    return object<PolicyResult>("policy", "Decoding by one gamma policy.", std::move(fields));
  }();
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
