#include "experiments/exact/exact_result.hpp"

#include <utility>

#include "experiments/config/result_fields.hpp"
#include "experiments/run/result.hpp"

namespace speclab {

namespace {

template <class T>
Typed<RoundQuantities<T>> quantities_type(const std::string& name, const Typed<T>& value) {
  using Q = RoundQuantities<T>;
  std::vector<ResultField<Q>> fields;
#define SPECLAB_QUANTITY_FIELD(name, sentence) fields.push_back({#name, &Q::name, value});
  SPECLAB_EXACT_QUANTITIES(SPECLAB_QUANTITY_FIELD)
#undef SPECLAB_QUANTITY_FIELD
  fields.push_back({"optimal_gamma", &Q::optimal_gamma});
  fields.push_back(sparse("distribution", &Q::distribution, value));
  return result_object<Q>(name, std::move(fields));
}

const Typed<FirstOrderFormula>& first_order_type() {
  using F = FirstOrderFormula;
  static const auto type = result_object<F>(
      "first_order",
      {{"tokens_per_target_step", &F::tokens_per_target_step}, {"error_percent", &F::error_percent}});
  return type;
}

const Typed<SolutionResult>& solution_type() {
  using S = SolutionResult;
  static const auto type = result_object<S>("solution", {{"iterations", &S::iterations},
                                                         {"residual", &S::residual},
                                                         {"damped", &S::damped},
                                                         {"converged", &S::converged}});
  return type;
}

const Typed<ClassResult>& class_type() {
  using C = ClassResult;
  static const auto type = result_object<C>(
      "class",
      {{"contexts", &C::contexts},
       sparse("start", &C::start, integer<Token>(0, 1e9)),
       {"iid", &C::iid, quantities_type("iid", any_number())},
       {"exact", &C::exact, quantities_type("exact", any_number())},
       {"tokens_per_target_step_from_start", &C::tokens_per_target_step_from_start},
       {"speedup_by_gamma", &C::speedup_by_gamma},
       {"first_order", &C::first_order, first_order_type()},
       {"iid_error_percent", &C::iid_error_percent, quantities_type("iid_error_percent", any_number())},
       {"simulated", &C::simulated, quantities_type("simulated", interval_type())},
       {"plain_solution", &C::plain_solution, solution_type()},
       {"round_solution", &C::round_solution, solution_type()},
       {"search_iterations", &C::search_iterations},
       {"remarks", &C::remarks}});
  return type;
}

const Typed<ChainResult>& chain_type() {
  using C = ChainResult;
  static const auto type = result_object<C>("chain", {{"memory", &C::memory},
                                                      {"contexts", &C::contexts},
                                                      {"transitions", &C::transitions},
                                                      {"transient_contexts", &C::transient_contexts},
                                                      {"closed_classes", &C::closed_classes},
                                                      {"dense", &C::dense}});
  return type;
}

}  // namespace

const Typed<ExactResult>& exact_result_type() {
  using E = ExactResult;
  static const auto type = result_object<E>("exact", {{"speclab", &E::version},
                                                      {"title", &E::title},
                                                      {"config", &E::config, config_type()},
                                                      {"interval_confidence", &E::interval_confidence},
                                                      {"chain", &E::chain, chain_type()},
                                                      {"classes", &E::classes, class_type()}});
  return type;
}

}  // namespace speclab
