#include "sim/schedules/speculative_function_execution.hpp"

#include "analysis/theory/schedule_theory.hpp"
#include "experiments/catalog/schedules/schedule_kind.hpp"

namespace speclab {

ScheduleKind speculative_function_execution_schedule() {
  struct P {
    double t_f = 1;
    double t_g = 1;
    double t_q = 0.1;
    bool interrupts = false;
  };
  return kind_entry<ScheduleKind, P>(
      "speculative_function_execution",
      "g(f(x)) with the output of f speculated while f computes; a position is a call.",
      {field("t_f", &P::t_f, number_above(0, 1000), "Time of f."),
       field("t_g", &P::t_g, number_above(0, 1000), "Time of g."),
       field("t_q", &P::t_q, number(0, 1000), "Time of the approximation that speculates the output of f."),
       field("interrupts", &P::interrupts, boolean(),
             "If true, a run of g on a wrong output stops when f is done.")},
      [](const P& own, const auto&...) {
        const SpeedupFormula without = [own](double beta) {
          return speculative_function_speedup(beta, own.t_f, own.t_g, own.t_q);
        };
        MadeSchedule made{.name = "speculative function execution",
                          .schedule = SpeculativeFunctionExecution{own.t_f, own.t_g, own.t_q, own.interrupts},
                          .formula = without};
        if (own.interrupts) {
          made.name += ", interrupting";
          made.formula = [own](double beta) {
            return speculative_function_speedup_interrupting(beta, own.t_f, own.t_g, own.t_q);
          };
          made.printed = PrintedFormula{without, "without interrupts"};
        }
        return made;
      });
}

}  // namespace speclab
