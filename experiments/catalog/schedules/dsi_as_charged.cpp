#include <fmt/format.h>

#include "analysis/theory/schedule_theory.hpp"
#include "analysis/theory/theorems.hpp"
#include "experiments/base/format/config_error.hpp"
#include "experiments/catalog/schedules/schedule_kind.hpp"
#include "sim/schedules/dsi_as_charged.hpp"

namespace speclab {

ScheduleKind dsi_as_charged_schedule() {
  struct P {
    std::int32_t lookahead = 1;
    std::optional<double> c;
  };
  return kind_entry<ScheduleKind, P>(
      "dsi-as-charged",
      "Distributed speculative inference as its authors' offline simulation charges it: drafts up to the "
      "rejected one, then a target run.",
      {integer_field("lookahead", &P::lookahead, 1, 64, "Drafted tokens between two verifications."),
       own_c_field<P>()},
      [](const P& own, const std::string& path, const ScheduleRequest& request) {
        const std::int32_t lookahead = own.lookahead;
        const double c = own.c.value_or(request.c);
        if (!(c > 0) || c > 1) {
          throw ConfigError(own_or_common(own.c.has_value(), path, "c", "/cost/c"),
                            "{} is not a number > 0 and <= 1, as dsi-as-charged needs: no draft "
                            "is slower than the target",
                            c);
        }
        return MadeSchedule{
            .name = "DSI as charged" + (lookahead > 1 ? fmt::format(", lookahead {}", lookahead) : ""),
            .schedule = DsiAsCharged{static_cast<std::uint64_t>(lookahead), c},
            .formula = [=](double alpha) { return dsi_speedup_as_charged(alpha, c, lookahead); },
            .printed = PrintedFormula{[=](double alpha) { return speedup_bound_drafting_paid(alpha, c); },
                                      "1/(1−α+cα)"}};
      });
}

}  // namespace speclab
