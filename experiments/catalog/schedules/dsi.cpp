#include <fmt/format.h>

#include "analysis/theory/schedule_theory.hpp"
#include "analysis/theory/theorems.hpp"
#include "experiments/catalog/schedules/schedule_kind.hpp"
#include "experiments/config/config_error.hpp"
#include "sim/schedules/dsi.hpp"

namespace speclab {

namespace {

struct DsiParameters {
  std::int32_t servers = 0;
  std::int32_t lookahead = 1;
  std::optional<double> c;
};

MadeSchedule make(const DsiParameters& own, const std::string& path, const ScheduleRequest& request) {
  const std::int32_t servers = own.servers;
  const std::int32_t lookahead = own.lookahead;
  const double c = own.c.value_or(request.c);
  if (!(c > 0) || c > 1) {
    throw ConfigError(own_or_common(own.c.has_value(), path, "c", "/cost/c"),
                      fmt::format("{} is not a number > 0 and <= 1, as dsi needs: its draft is timed, and no "
                                  "slower than the target",
                                  c));
  }
  std::string name = servers == 0 ? fmt::format("DSI, all {} servers", dsi_servers(c, lookahead))
                                  : fmt::format("DSI, {} server{}", servers, servers == 1 ? "" : "s");
  if (lookahead > 1) name += fmt::format(", lookahead {}", lookahead);
  return {.name = std::move(name),
          .schedule = Dsi{static_cast<std::uint64_t>(servers), static_cast<std::uint64_t>(lookahead), c},
          .formula =
              [=](double alpha) {
                return servers == 0 ? dsi_speedup(alpha, c, lookahead)
                                    : dsi_speedup(alpha, c, lookahead, servers);
              },
          .printed = PrintedFormula{[=](double alpha) { return speedup_bound_drafting_paid(alpha, c); },
                                    "1/(1−α+cα)"}};
}

}  // namespace

ScheduleKind dsi_schedule() {
  using P = DsiParameters;
  return kind_entry<ScheduleKind, P>(
      "dsi",
      "Distributed speculative inference (Timor et al. 2024): the draft never waits, several target servers "
      "run at the same time.",
      {integer_field("servers", &P::servers, 0, 1000, "Servers of the target; 0 is as many as can be used."),
       integer_field("lookahead", &P::lookahead, 1, 64, "Drafted tokens between two verifications."),
       own_c_field<P>()},
      make);
}

}  // namespace speclab
