#include "analysis/exact/enumeration_program.hpp"
#include "analysis/exact/optimum.hpp"
#include "experiments/base/format/config_error.hpp"
#include "experiments/catalog/rules/rule_programs.hpp"
#include "experiments/verify/prove/proof.hpp"

namespace speclab {

namespace {

ProofNumber in_arithmetic(const Rational& value, Arithmetic arithmetic) {
  if (arithmetic == Arithmetic::rational) return value.str();
  return static_cast<double>(value);
}

}  // namespace

void check_optimum(const ProofTask& task) {
  if (task.gamma < 1) throw ConfigError("/gamma", "the optimum needs at least one drafted token");
  const auto drafting = make_rule(task.rule, task.gamma).enumerated->drafting();
  if (!drafting) {
    throw ConfigError("/rule/kind",
                      "the shape of a drafted \"{}\" depends on the draft; the optimum is of "
                      "paths and of trees of one shape",
                      task.rule.name());
  }
  const double variables =
      optimum_variables(largest_support(task.draft), largest_support(task.target), task.gamma, *drafting);
  if (variables <= max_optimum_variables) return;
  throw ConfigError("/gamma",
                    "the optimum is of up to {:.3g} variables; the limit is {:.3g}: lower gamma "
                    "({}), the number of drafts or the vocabulary ({})",
                    variables, max_optimum_variables, task.gamma, task.target.front().size());
}

ProofOptimum optimum_of(const ProofTask& task, Arithmetic arithmetic) {
  check_optimum(task);
  const ExactTable<Rational> target(task.target);
  const ExactTable<Rational> draft(task.draft);
  const Drafting drafting = *make_rule(task.rule, task.gamma).enumerated->drafting();
  const Optimum found =
      optimum(ModelRef<Rational>(target), ModelRef<Rational>(draft), task.gamma, drafting, task.context);
  ProofOptimum optimum{.expected_emitted = found.proved ? in_arithmetic(*found.proved, arithmetic)
                                                        : ProofNumber(found.expected_emitted),
                       .proved = found.proved.has_value(),
                       .upper_bound = in_arithmetic(found.upper_bound, arithmetic),
                       .outcomes = found.outcomes,
                       .variables = found.variables};
  if (drafting.tree) {
    optimum.nodes = drafting.tree->size();
  } else {
    optimum.paths = drafting.paths;
  }
  return optimum;
}

}  // namespace speclab
