#include <fmt/format.h>

#include "analysis/theory/schedule_theory.hpp"
#include "experiments/catalog/schedules/schedule_kind.hpp"
#include "sim/schedules/asynchronous.hpp"

namespace speclab {

ScheduleKind asynchronous_schedule() {
  struct P {
    std::optional<std::int32_t> gamma;
    std::optional<double> c;
    double hit = 0.8;
    bool plain_after_miss = false;
  };
  return kind_entry<ScheduleKind, P>(
      "asynchronous",
      "Drafts for likely outcomes of a round while it is verified, on a device of their own (SSD; Kumar, Dao and May 2026).",
      {own_gamma_field<P>(), own_c_field<P>(),
       field("hit", &P::hit, number(0, 1), "Probability that the outcome is among those drafted for."),
       field(
           "plain_after_miss", &P::plain_after_miss, boolean(),
           "After another outcome: if true, the target runs without drafts; else the round is drafted first.")},
      [](const P& own, const std::string&, const ScheduleRequest& request) {
        const std::int32_t gamma = own.gamma.value_or(request.gamma);
        const double c = own.c.value_or(request.c);
        return MadeSchedule{
            .name = fmt::format("asynchronous, γ = {}{}", gamma, own.plain_after_miss ? ", plain" : ""),
            .schedule = Asynchronous{static_cast<std::uint64_t>(gamma), c, own.hit, own.plain_after_miss},
            .formula = [=](double alpha) {
              return asynchronous_speedup(alpha, gamma, c, own.hit, own.plain_after_miss);
            }};
      });
}

}  // namespace speclab
