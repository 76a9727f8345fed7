#include <fmt/format.h>

#include "analysis/theory/schedule_theory.hpp"
#include "experiments/catalog/schedules/schedule_kind.hpp"
#include "sim/schedules/rounds.hpp"

namespace speclab {

ScheduleKind heads_schedule() {
  struct P {
    std::optional<std::int32_t> gamma;
    std::optional<double> c;
  };
  return kind_entry<ScheduleKind, P>(
      "heads",
      "gamma independent heads, for c per round, at the same acceptance rate (real heads have a lower one).",
      {own_gamma_field<P>(), own_c_field<P>()},
      [](const P& own, const std::string&, const ScheduleRequest& request) {
        const std::int32_t gamma = own.gamma.value_or(request.gamma);
        const double c = own.c.value_or(request.c);
        return MadeSchedule{.name = fmt::format("heads, γ = {}", gamma),
                            .schedule = Heads{static_cast<std::uint64_t>(gamma), c},
                            .formula = [=](double alpha) { return heads_speedup(alpha, gamma, c); }};
      });
}

}  // namespace speclab
