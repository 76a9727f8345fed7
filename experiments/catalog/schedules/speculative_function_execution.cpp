#include "sim/schedules/speculative_function_execution.hpp"

#include "analysis/theory/schedule_theory.hpp"
#include "experiments/catalog/schedules/schedule_kind.hpp"

namespace speclab {

namespace {

struct FunctionParameters {
  double t_f = 1;
  double t_g = 1;
  double t_q = 0.1;
  bool interrupts = false;
};

MadeSchedule make_speculative_function_execution(const FunctionParameters& own, const std::string&,
                                                 const ScheduleRequest&) {
  const auto [f, g, q, interrupts] = own;
  const SpeedupFormula without = [f = f, g = g, q = q](double beta) {
    return speculative_function_speedup(beta, f, g, q);
  };
  MadeSchedule made{
      .name = interrupts ? "speculative function execution, interrupting" : "speculative function execution",
      .schedule = SpeculativeFunctionExecution{f, g, q, interrupts},
      .formula = without};
  if (interrupts) {
    made.formula = [f = f, g = g, q = q](double beta) {
      return speculative_function_speedup_interrupting(beta, f, g, q);
    };
    made.printed = PrintedFormula{without, "without interrupts"};
  }
  return made;
}

}  // namespace

ScheduleKind speculative_function_execution_schedule() {
  using P = FunctionParameters;
  return formerly(kind_entry<ScheduleKind, P>(
                      "speculative_function_execution",
                      "g(f(x)) with the output of f speculated while f computes; a position is a call.",
                      {field("t_f", &P::t_f, number_above(0, 1000), "Time of f."),
                       field("t_g", &P::t_g, number_above(0, 1000), "Time of g."),
                       field("t_q", &P::t_q, number(0, 1000),
                             "Time of the approximation that speculates the output of f."),
                       field("interrupts", &P::interrupts, boolean(),
                             "Whether a run of g on a wrong output is stopped when f is done.")},
                      make_speculative_function_execution),
                  {"two_functions"});
}

}  // namespace speclab
