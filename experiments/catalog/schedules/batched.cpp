#include <fmt/format.h>

#include "analysis/theory/schedule_theory.hpp"
#include "experiments/base/format/config_error.hpp"
#include "experiments/catalog/schedules/schedule_kind.hpp"
#include "sim/schedules/batched.hpp"

namespace speclab {

ScheduleKind batched_schedule() {
  struct P {
    std::int32_t sequences = 8;
    std::optional<std::int32_t> gamma;
    std::optional<double> c;
    std::int32_t goal = 64;
    bool replaced = true;
    double saturation = 64;
  };
  return kind_entry<ScheduleKind, P>(
      "batched", "Sequences decoded in lockstep, compared with plain decoding of the same batch.",
      {integer_field("sequences", &P::sequences, 1, 1024, "Sequences that are decoded at the same time."),
       own_gamma_field<P>(), own_c_field<P>(),
       integer_field("goal", &P::goal, 1, 10000, "Tokens of a sequence."),
       field(
           "replaced", &P::replaced, boolean(),
           "If true, the next sequence replaces a finished one at once; else the batch is replaced when all are done."),
       field(
           "saturation", &P::saturation, number_above(0, 1e9),
           "Tokens at which a target run stops being bound by memory: it takes max(1, tokens / saturation).")},
      [](const P& own, const std::string& path, const ScheduleRequest& request) {
        const auto count = [](std::int32_t value) { return static_cast<std::uint64_t>(value); };
        const std::int32_t sequences = own.sequences;
        const std::int32_t goal = own.goal;
        const std::int32_t gamma = own.gamma.value_or(request.gamma);
        const double c = own.c.value_or(request.c);
        const SaturatingCost cost{own.saturation};
        const std::uint64_t least = count(sequences) * count(goal);
        if (least > request.length) {
          throw ConfigError(path + "/goal",
                            "{} sequences of {} tokens are {}, more than the {} of \"simulation/length\"",
                            sequences, goal, least, request.length);
        }
        const auto speedup_by = own.replaced ? batched_speedup_replaced : batched_speedup_waves;
        const auto usual = [=](double alpha) {
          return batched_speedup_usual(alpha, gamma, c, sequences, cost);
        };
        return MadeSchedule{
            .name = fmt::format("batch of {}, {}", sequences, own.replaced ? "refilled" : "emptied"),
            .schedule = Batched{count(sequences), count(gamma), c, count(goal), own.replaced, cost},
            .formula = [=](double alpha) { return speedup_by(alpha, gamma, c, sequences, goal, cost); },
            .printed = PrintedFormula{usual, "sequences without end"},
            .min_tokens = least};
      });
}

}  // namespace speclab
