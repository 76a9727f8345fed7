#include "experiments/verify/exact/exact_result.hpp"

#include "experiments/base/format/result_fields.hpp"
#include "experiments/config/config_types.hpp"
#include "experiments/run/result.hpp"

namespace speclab {

SPECLAB_RESULT(SolutionResult, "solution", direct, iterations, residual, damped, converged);
SPECLAB_RESULT(ChainResult, "chain", memory, contexts, transitions, transient_contexts, closed_classes,
               dense);

namespace {

template <class T>
Typed<RoundQuantities<T>> quantities_type(const std::string& name) {
  using Q = RoundQuantities<T>;
#define SPECLAB_QUANTITY_FIELD(name, sentence) {#name, &Q::name},
  return result_object<Q>(
      name, {SPECLAB_EXACT_QUANTITIES(SPECLAB_QUANTITY_FIELD){"optimal_gamma", &Q::optimal_gamma},
             sparse("distribution", &Q::distribution)});
#undef SPECLAB_QUANTITY_FIELD
}

}  // namespace

SPECLAB_OBJECT(ClassResult, "class", {"contexts", &ClassResult::contexts},
               sparse("start", &ClassResult::start),
               {"iid", &ClassResult::iid, quantities_type<double>("iid")},
               {"exact", &ClassResult::exact, quantities_type<double>("exact")},
               SPECLAB_FIELDS(ClassResult, tokens_per_target_step_from_start, speedup_by_gamma),
               {"iid_error_percent", &ClassResult::iid_error_percent,
                quantities_type<double>("iid_error_percent")},
               {"simulated", &ClassResult::simulated, quantities_type<Interval>("simulated")},
               SPECLAB_FIELDS(ClassResult, plain_solution, round_solution, search_iterations, remarks));

SPECLAB_OBJECT(ExactResult, "exact", {"speclab", &ExactResult::version}, {"title", &ExactResult::title},
               {"config", &ExactResult::config},
               SPECLAB_FIELDS(ExactResult, interval_confidence, chain, classes));

}  // namespace speclab
