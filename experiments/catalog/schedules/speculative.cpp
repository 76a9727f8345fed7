#include <fmt/format.h>

#include "analysis/theory/theorems.hpp"
#include "experiments/catalog/schedules/schedule_kind.hpp"
#include "sim/schedules/rounds.hpp"

namespace speclab {

ScheduleKind speculative_schedule() {
  struct P {
    std::optional<std::int32_t> gamma;
    std::optional<double> c;
  };
  return kind_entry<ScheduleKind, P>(
      "speculative", "Rounds of gamma drafted tokens and a target run: Theorem 3.8 of Leviathan et al. 2023.",
      {own_gamma_field<P>(), own_c_field<P>()},
      [](const P& own, const std::string&, const ScheduleRequest& request) {
        const std::int32_t gamma = own.gamma.value_or(request.gamma);
        const double c = own.c.value_or(request.c);
        return MadeSchedule{.name = fmt::format("speculative, γ = {}", gamma),
                            .schedule = Speculative{static_cast<std::uint64_t>(gamma), c},
                            .formula = [=](double alpha) { return speedup(alpha, gamma, c); }};
      });
}

}  // namespace speclab
