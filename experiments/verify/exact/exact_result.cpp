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

template <>
const Typed<ClassResult>& described() {
  using C = ClassResult;
  static const auto type = result_object<C>(
      "class", {{"contexts", &C::contexts},
                sparse("start", &C::start),
                {"iid", &C::iid, quantities_type<double>("iid")},
                {"exact", &C::exact, quantities_type<double>("exact")},
                SPECLAB_FIELDS(C, tokens_per_target_step_from_start, speedup_by_gamma),
                {"iid_error_percent", &C::iid_error_percent, quantities_type<double>("iid_error_percent")},
                {"simulated", &C::simulated, quantities_type<Interval>("simulated")},
                SPECLAB_FIELDS(C, plain_solution, round_solution, search_iterations, remarks)});
  return type;
}

template <>
const Typed<ExactResult>& described() {
  using E = ExactResult;
  static const auto type =
      result_object<E>("exact", {{"speclab", &E::version},
                                 {"title", &E::title},
                                 {"config", &E::config},
                                 SPECLAB_FIELDS(E, interval_confidence, chain, classes)});
  return type;
}

}  // namespace speclab
