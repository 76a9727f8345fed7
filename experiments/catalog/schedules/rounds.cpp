// Schedules of rounds, one after the other (sim/schedules/rounds.hpp).
#include <fmt/format.h>

#include "analysis/theory/schedule_theory.hpp"
#include "analysis/theory/theorems.hpp"
#include "experiments/catalog/schedules/schedule_kind.hpp"
#include "sim/schedules/rounds.hpp"

namespace speclab {

namespace {

/// Returns the kind of rounds of gamma drafted tokens; `speedup_of` is the closed form of their speedup.
template <class Rounds>
ScheduleKind rounds_kind(const char* name, const char* sentence,
                         double (*speedup_of)(double alpha, int gamma, double c)) {
  struct P {
    std::optional<std::int32_t> gamma;
    std::optional<double> c;
  };
  return kind_entry<ScheduleKind, P>(
      name, sentence, {own_gamma_field<P>(), own_c_field<P>()},
      [name, speedup_of](const P& own, const std::string&, const ScheduleRequest& request) {
        const std::int32_t gamma = own.gamma.value_or(request.gamma);
        const double c = own.c.value_or(request.c);
        return MadeSchedule{.name = fmt::format("{}, γ = {}", name, gamma),
                            .schedule = Rounds{static_cast<std::uint64_t>(gamma), c},
                            .formula = [=](double alpha) { return speedup_of(alpha, gamma, c); }};
      });
}

}  // namespace

ScheduleKind plain_schedule() {
  struct P {};
  return kind_entry<ScheduleKind, P>("plain", "One token per target run.", {}, [](const auto&...) {
    return MadeSchedule{.name = "plain", .schedule = Plain{}, .formula = [](double) { return 1.0; }};
  });
}

ScheduleKind speculative_schedule() {
  return rounds_kind<Speculative>(
      "speculative", "Rounds of gamma drafted tokens and a target run: Theorem 3.8 of Leviathan et al. 2023.",
      speedup);
}

ScheduleKind upper_bound_schedule() {
  struct P {
    std::int32_t most = 64;
    bool drafting_paid = true;
    std::optional<double> c;
  };
  return kind_entry<ScheduleKind, P>(
      "upper-bound", "An upper bound: drafts exactly the tokens that will be accepted, up to a limit.",
      {integer_field("most", &P::most, 1, 1000, "Most tokens drafted in a round."),
       field("drafting_paid", &P::drafting_paid, boolean(), "Whether drafting takes time."),
       own_c_field<P>()},
      [](const P& own, const std::string&, const ScheduleRequest& request) {
        const std::int32_t most = own.most;
        const double c = own.drafting_paid ? own.c.value_or(request.c) : 0;
        return MadeSchedule{
            .name = own.drafting_paid ? "upper bound, drafting paid" : "upper bound, drafting free",
            .schedule = UpperBound{static_cast<std::uint64_t>(most), c},
            .formula = [=](double alpha) { return speedup_bound_capped(alpha, most, c); },
            .printed = PrintedFormula{[=](double alpha) { return speedup_bound_drafting_paid(alpha, c); },
                                      "no limit on the drafted tokens"}};
      });
}

ScheduleKind heads_schedule() {
  return rounds_kind<Heads>(
      "heads",
      "gamma independent heads, for c per round, at the same acceptance rate (real heads have a lower one).",
      heads_speedup);
}

}  // namespace speclab
