#include <fmt/format.h>

#include "analysis/theory/schedule_theory.hpp"
#include "analysis/theory/theorems.hpp"
#include "experiments/catalog/schedules/schedule_kind.hpp"
#include "experiments/format/config_error.hpp"
#include "sim/schedules/dsi_as_charged.hpp"

namespace speclab {

namespace {

struct DsiAsChargedParameters {
  std::int32_t lookahead = 1;
  std::optional<double> c;
};

MadeSchedule make_dsi_as_charged(const DsiAsChargedParameters& own, const std::string& path,
                                 const ScheduleRequest& request) {
  const std::int32_t lookahead = own.lookahead;
  const double c = own.c.value_or(request.c);
  if (!(c > 0) || c > 1) {
    throw ConfigError(own_or_common(own.c.has_value(), path, "c", "/cost/c"),
                      fmt::format("{} is not a number > 0 and <= 1, as dsi-as-charged needs: no draft is "
                                  "slower than the target",
                                  c));
  }
  std::string name = "DSI as charged";
  if (lookahead > 1) name += fmt::format(", lookahead {}", lookahead);
  return {.name = std::move(name),
          .schedule = DsiAsCharged{static_cast<std::uint64_t>(lookahead), c},
          .formula = [=](double alpha) { return dsi_speedup_as_charged(alpha, c, lookahead); },
          .printed = PrintedFormula{[=](double alpha) { return speedup_bound_drafting_paid(alpha, c); },
                                    "1/(1−α+cα)"}};
}

}  // namespace

ScheduleKind dsi_as_charged_schedule() {
  using P = DsiAsChargedParameters;
  return kind_entry<ScheduleKind, P>(
      "dsi-as-charged",
      "Distributed speculative inference as its authors' offline simulation charges it: drafts up to the "
      "rejected one, then a target run.",
      {integer_field("lookahead", &P::lookahead, 1, 64, "Drafted tokens between two verifications."),
       own_c_field<P>()},
      make_dsi_as_charged);
}

}  // namespace speclab
