#include "experiments/exact/exact_result.hpp"

#include <utility>

#include "experiments/run/result.hpp"

namespace speclab {

namespace {

template <class T>
Typed<RoundQuantities<T>> quantities_type(const std::string& name, const std::string& sentence,
                                          const Typed<T>& value) {
  using Q = RoundQuantities<T>;
  std::vector<Field> fields;
#define SPECLAB_QUANTITY_FIELD(name, sentence) fields.push_back(field<&Q::name>(#name, value, sentence));
  SPECLAB_EXACT_QUANTITIES(SPECLAB_QUANTITY_FIELD)
#undef SPECLAB_QUANTITY_FIELD
  fields.push_back(integer_field<&Q::optimal_gamma>("optimal_gamma", 0, 1e9, "The best gamma."));
  fields.push_back(sparse_field<&Q::distribution>(
      "distribution", list(value), "P(N = n) of the tokens N of a round, n = 1 .. gamma + 1."));
  return object<Q>(name, sentence, std::move(fields));
}

const Typed<FirstOrderFormula>& first_order_type() {
  using F = FirstOrderFormula;
  static const auto type = object<F>(
      "first_order", "The formula in which an acceptance depends on the one before.",
      {field<&F::tokens_per_target_step>("tokens_per_target_step", any_number(), "Tokens per target step."),
       field<&F::error_percent>("error_percent", any_number(), "Its error.")});
  return type;
}

const Typed<SolutionResult>& solution_type() {
  using S = SolutionResult;
  static const auto type =
      object<S>("solution", "How a stationary distribution was found, by power iteration.",
                {field<&S::iterations>("iterations", count<std::int32_t>(), "Iterations."),
                 field<&S::residual>("residual", any_number(), "L1 distance between it and its successor."),
                 field<&S::damped>("damped", boolean(), "Whether plain iteration had stalled."),
                 field<&S::converged>("converged", boolean(), "Whether the residual is small.")});
  return type;
}

const Typed<ClassResult>& class_type() {
  using C = ClassResult;
  static const auto type = object<C>(
      "class", "One closed class of contexts.",
      {field<&C::contexts>("contexts", count<std::uint64_t>(), "Contexts of the class."),
       sparse_field<&C::start>("start", list(integer<Token>(0, 1e9)),
                               "Where its simulation starts, of several classes."),
       field<&C::iid>("iid", quantities_type("iid", "Closed forms at the exact alpha.", any_number()),
                      "Closed forms of Leviathan et al. 2023 at the exact alpha."),
       field<&C::exact>("exact", quantities_type("exact", "Exact values.", any_number()),
                        "The same quantities of the chain over contexts."),
       field<&C::tokens_per_target_step_from_start>(
           "tokens_per_target_step_from_start", any_number(),
           "Expected tokens of a round after many, from one context."),
       field<&C::speedup_by_gamma>("speedup_by_gamma", list(any_number()),
                                   "Exact speedup of gamma = 0, 1, ..."),
       field<&C::first_order>("first_order", first_order_type(),
                              "Tokens per target step when an acceptance depends on the one before."),
       field<&C::iid_error_percent>(
           "iid_error_percent", quantities_type("iid_error_percent", "Errors of closed forms.", any_number()),
           "Errors of the closed forms."),
       field<&C::simulated>("simulated", quantities_type("simulated", "Simulated values.", interval_type()),
                            "The same quantities from a simulation."),
       field<&C::plain_solution>("plain_solution", solution_type(), "Of plain decoding."),
       field<&C::round_solution>("round_solution", solution_type(), "Of rounds."),
       field<&C::search_iterations>("search_iterations", count<std::int32_t>(), "For the other gammas."),
       field<&C::remarks>("remarks", list(text()), "What to know about these values.")});
  return type;
}

const Typed<ChainResult>& chain_type() {
  using C = ChainResult;
  static const auto type = object<C>(
      "chain", "The chain over contexts.",
      {field<&C::memory>("memory", count<std::int32_t>(), "Context tokens that the models read."),
       field<&C::contexts>("contexts", count<std::uint64_t>(), "Contexts."),
       field<&C::transitions>("transitions", count<std::uint64_t>(), "Pairs of a context and a next token."),
       field<&C::transient_contexts>("transient_contexts", count<std::uint64_t>(),
                                     "Contexts to which decoding does not return for ever."),
       field<&C::closed_classes>("closed_classes", count<std::uint64_t>(), "Closed classes of contexts."),
       field<&C::dense>("dense", boolean(), "Whether the transitions are stored densely.")});
  return type;
}

}  // namespace

const Typed<ExactResult>& exact_result_type() {
  using E = ExactResult;
  static const auto type = object<E>(
      "exact", "What `speclab exact` found.",
      {field<&E::version>("speclab", text(), "Version of the program."),
       field<&E::title>("title", text(), "Title of the config."),
       field<&E::config>("config", config_type(), "The config with every default."),
       field<&E::interval_confidence>("interval_confidence", any_number(), "Confidence of each interval."),
       field<&E::chain>("chain", chain_type(), "The chain over contexts."),
       field<&E::classes>("classes", list(class_type()),
                          "Closed classes of contexts, at most the first eight.")});
  return type;
}

}  // namespace speclab
