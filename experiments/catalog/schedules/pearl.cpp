#include <fmt/format.h>

#include "analysis/theory/schedule_theory.hpp"
#include "experiments/base/format/config_error.hpp"
#include "experiments/catalog/schedules/schedule_kind.hpp"
#include "sim/schedules/pearl.hpp"

namespace speclab {

namespace {

/// Restricts the formula to alpha < 1. The closed forms are long-run ratios between corrections, which
/// restart the schedule; without rejections there are none, and the forms do not describe a finite trial.
template <class Formula>
SpeedupFormula below_one(Formula formula) {
  return [formula](double alpha) { return alpha < 1 ? std::optional<double>(formula(alpha)) : std::nullopt; };
}

}  // namespace

ScheduleKind pearl_schedule() {
  struct P {
    std::optional<std::int32_t> gamma;
    std::optional<double> c;
    bool next_row = true;
  };
  return kind_entry<ScheduleKind, P>(
      "pearl", "PEARL (Liu et al. 2024): drafting and verification in lockstep, at the same time.",
      {own_gamma_field<P>(), own_c_field<P>(),
       field("next_row", &P::next_row, boolean(),
             "Use the target's last row of a step for the first of the next drafted tokens, as the authors' "
             "program does.")},
      [](const P& own, const std::string& path, const ScheduleRequest& request) {
        const std::int32_t gamma = own.gamma.value_or(request.gamma);
        const double c = own.c.value_or(request.c);
        if (gamma == 0) {
          throw ConfigError(own_or_common(own.gamma.has_value(), path, "gamma", "/gamma"),
                            "0 is not an integer >= 1, as pearl needs");
        }
        const auto without = below_one([=](double alpha) { return pearl_speedup(alpha, gamma, c); });
        MadeSchedule made{.name = fmt::format("PEARL, γ = {}{}", gamma, own.next_row ? "" : ", no next row"),
                          .schedule = Pearl{static_cast<std::uint64_t>(gamma), c, own.next_row},
                          .formula = without};
        if (own.next_row) {
          made.formula = below_one([=](double alpha) { return pearl_speedup_next_row(alpha, gamma, c); });
          made.printed = PrintedFormula{without, "without the next row"};
        }
        return made;
      });
}

}  // namespace speclab
