#include <fmt/format.h>

#include <algorithm>

#include "analysis/theory/schedule_theory.hpp"
#include "analysis/theory/theorems.hpp"
#include "experiments/base/format/config_error.hpp"
#include "experiments/catalog/schedules/schedule_kind.hpp"
#include "sim/schedules/dsi.hpp"

namespace speclab {

/// Smallest c. The schedule's clock has a draft every c and keeps a target run for each between corrections.
/// A smaller c changes the speedup by less than 1e-4 per draft accepted in a row.
constexpr double min_c = 1e-4;

ScheduleKind dsi_schedule() {
  struct P {
    std::int32_t servers = 0;
    std::int32_t lookahead = 1;
    std::optional<double> c;
  };
  return kind_entry<ScheduleKind, P>(
      "dsi",
      "Distributed speculative inference (Timor et al. 2024): the draft never waits, several target servers run at the same time.",
      {integer_field("servers", &P::servers, 0, 1000, "Servers of the target; 0 is as many as can be used."),
       integer_field("lookahead", &P::lookahead, 1, 64, "Drafted tokens between two verifications."),
       own_c_field<P>()},
      [](const P& own, const std::string& path, const ScheduleRequest& request) {
        const std::int32_t servers = own.servers;
        const std::int32_t lookahead = own.lookahead;
        const double c = own.c.value_or(request.c);
        if (!(c >= min_c) || c > 1) {
          throw ConfigError(
              own_or_common(own.c.has_value(), path, "c", "/cost/c"),
              "{} is not a number >= {} and <= 1, as dsi needs: each of its drafts is an event, 1/c of them in a target run, and none is slower than the target",
              c, min_c);
        }
        const double max_servers = servers == 0 ? dsi_servers(c, lookahead) : servers;
        std::string name = servers == 0 ? fmt::format("DSI, all {} servers", dsi_servers(c, lookahead))
                                        : fmt::format("DSI, {} server{}", servers, servers == 1 ? "" : "s");
        if (lookahead > 1) name += fmt::format(", lookahead {}", lookahead);
        return MadeSchedule{
            .name = std::move(name),
            .schedule = Dsi{static_cast<std::uint64_t>(servers), static_cast<std::uint64_t>(lookahead), c},
            .formula =
                [=](double alpha) {
                  return servers == 0 ? dsi_speedup(alpha, c, lookahead)
                                      : dsi_speedup(alpha, c, lookahead, servers);
                },
            .printed = PrintedFormula{[=](double alpha) { return speedup_bound_drafting_paid(alpha, c); },
                                      "1/(1−α+cα)"},
            .runs_per_time = 1 / c + std::min(max_servers, 1 / c)};
      });
}

}  // namespace speclab
